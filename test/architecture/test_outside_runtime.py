"""Threads, sleep, time and randomness come in by constructor: nobody but runtime/ asks the system for them.

So test/sim can run the real pipeline on one thread, in an order, at a time and with ids that a seed decides.
"""

import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "firn"

SYSTEM = re.compile(
    r"std::j?thread\b|std::this_thread|std::async\b|\bsleep_(for|until)\b|\b(u|nano)?sleep\s*\(|_clock::now\b|\bClock::now\b"
    r"|\brandom_device\b|\bclock_gettime\b|\bgettimeofday\b|\btime\(nullptr\)|\bpthread_create\b|\bgetrandom\b"
)
# What waits there would stand still for ever in a simulation.
WAITS = re.compile(r"std::condition_variable|std::(shared_)?future|std::promise|\bSystem(Clock|Ids)\(")

# The folders that a simulation runs.
SIMULATED = ("commit/", "pipeline/", "route/", "write/", "iceberg/", "store/attempt_files")

# Each with its reason.
EXCEPTIONS = {
    "obs/log.cc": "stands below runtime/: the time of a log line",
    "db/postgres_connection.cc": "waits on sockets, until a time of the system's",
    "source/kafka/": "librdkafka has threads and waits of its own; a simulation has a broker of its own instead",
}


def without_comments(text):
    return re.sub(r"//[^\n]*", "", text)


def asks(path, text):
    """Lines that ask the system, as `path:line: text`."""
    if path.startswith(("runtime/", *EXCEPTIONS)) or path.endswith(("_test.cc", "_fixture.h")):
        return []
    patterns = [SYSTEM, WAITS] if path.startswith(SIMULATED) else [SYSTEM]
    return [
        f"src/firn/{path}:{number}: {line.strip()}"
        for number, line in enumerate(without_comments(text).splitlines(), 1)
        if any(pattern.search(line) for pattern in patterns)
    ]


def files():
    return {p.relative_to(SOURCE).as_posix(): p.read_text() for p in sorted(SOURCE.rglob("*")) if p.suffix in {".h", ".cc"}}


def test_only_runtime_asks_the_system_for_threads_time_and_randomness():
    wrong = [line for path, text in files().items() for line in asks(path, text)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("path", EXCEPTIONS)
def test_an_exception_is_still_needed(path):
    asking = [name for name, text in files().items() if name.startswith(path) and SYSTEM.search(without_comments(text))]
    assert asking, f"{path} asks for nothing any more"


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("pipeline/lane.h", "std::jthread thread_;"),
        ("cli/run_group.cc", "std::thread thread(run);"),
        ("commit/committer.cc", "std::this_thread::sleep_for(pause);"),
        ("commit/committer.cc", "const auto now = std::chrono::system_clock::now();"),
        ("store/metered_store.cc", "auto begin = steady_clock::now();"),
        ("write/writer.cc", "std::random_device seed;"),
        ("pipeline/lane.h", "std::condition_variable changed_;"),
        ("pipeline/table_run.h", "std::future<int> open_;"),
        ("pipeline/controller.cc", "runtime::SystemClock().NowMs();"),
    ],
)
def test_one_who_asks_is_caught(path, line):
    assert len(asks(path, f"#pragma once\n{line}\n")) == 1


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("runtime/clock.cc", "std::chrono::system_clock::now();"),
        ("pipeline/lane_test.cc", "std::jthread waiter;"),
        ("pipeline/lane.cc", "// nobody calls steady_clock::now here"),
        ("pipeline/patience.h", "clock.SleepMs(kPauseMs);"),
        ("source/files/file_lister.h", "std::unique_ptr<runtime::Thread> thread_;"),
    ],
)
def test_others_are_not(path, line):
    assert not asks(path, f"#pragma once\n{line}\n")
