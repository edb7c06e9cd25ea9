"""Runs the program under test."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from kafka_broker import ROOT, die_with_parent

BINARY = Path(os.environ.get("FIRN_BIN", ROOT / "build" / "firn"))


@dataclass
class Done:
    code: int
    out: str
    err: str

    def ok(self) -> Done:
        assert self.code == 0, f"exit code {self.code}\n--- stdout\n{self.out[-4000:]}\n--- stderr\n{self.err[-8000:]}"
        return self


def firn(*arguments, cwd: Path | None = None, timeout_s: float = 120, env: dict | None = None, stdin: str | None = None) -> Done:
    """Runs it to its end."""
    done = subprocess.run(
        [str(BINARY), *map(str, arguments)],
        cwd=cwd, env={**os.environ, **(env or {})}, input=stdin, capture_output=True, text=True, timeout=timeout_s, check=False,
        preexec_fn=die_with_parent,
    )  # fmt: skip
    return Done(done.returncode, done.stdout, done.stderr)


@dataclass
class Running:
    """A `firn` in the background; its output goes to a file, so that a full pipe never stops it."""

    process: subprocess.Popen
    log: Path
    started: float = field(default_factory=time.monotonic)

    @property
    def output(self) -> str:
        return self.log.read_text(errors="replace")

    def stop(self, timeout_s: float = 40) -> int:
        """The first SIGTERM: finish, commit, leave. Returns the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.wait(timeout_s)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def wait(self, timeout_s: float = 120) -> int:
        try:
            return self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"firn did not end within {timeout_s:.0f} s; its last words:\n{self.output[-4000:]}") from None

    def alive(self) -> bool:
        return self.process.poll() is None


def start_firn(*arguments, log: Path, cwd: Path | None = None, env: dict | None = None) -> Running:
    with log.open("wb") as file:
        process = subprocess.Popen(
            [str(BINARY), *map(str, arguments)],
            cwd=cwd, env={**os.environ, **(env or {})}, stdout=file, stderr=file, stdin=subprocess.DEVNULL,
            preexec_fn=die_with_parent,
        )  # fmt: skip
    return Running(process, log)


def wait_until(condition, timeout_s: float = 60, every_s: float = 0.2, what: str = "the condition"):
    """Returns the first true answer of `condition`; an exception in it counts as not yet."""
    deadline = time.monotonic() + timeout_s
    last = None
    while time.monotonic() < deadline:
        try:
            answer = condition()
            if answer:
                return answer
        except Exception as error:  # noqa: BLE001
            last = error
        time.sleep(every_s)
    raise AssertionError(f"{what} did not come true within {timeout_s:.0f} s" + (f" (last error: {last!r})" if last else ""))
