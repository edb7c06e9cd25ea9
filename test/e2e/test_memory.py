"""`resources.memory` holds, measured from outside: many partitions, many columns, huge records, a store that is slower than the source."""

from __future__ import annotations

import json
import os
import random
import re
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from firn import start_firn, wait_until
from memory import peak_to_the_end
from s3_server import Proxy

# Nothing but memory ends a batch.
ONE_BATCH = "{interval: 1h, max_input_bytes: 100GiB, max_records: 1000000000}"


def pipeline(path: Path, columns: str, memory: str = "256MiB", table_extra: str = "", commit: str = ONE_BATCH) -> str:
    return (
        f"resources: {{memory: {memory}, threads: 2}}\npipelines:\n  wide:\n    source: {{files: {{path: '{path}', mode: once, min_age: 0s}}}}\n    decode: json\n"
        f"    tables:\n      - name: lake.m.t\n        columns: {columns}\n"
        + "".join(f"        {line}\n" for line in table_extra.splitlines())
        + f"    commit: {commit}\n"
    )


def run(config: Path, folder: Path, limit_mib: int = 256, env: dict | None = None, timeout_s: float = 240) -> None:
    """Runs it to its end; its resident size stays within the limit all the way."""
    running = start_firn("run", config, "--until-caught-up", "--fail-on-dead-letters", log=folder / "firn.log", env=env)
    peak = peak_to_the_end(running, timeout_s)
    print(f"peak {peak >> 20} MiB of {limit_mib}")
    assert peak <= limit_mib << 20, f"{peak >> 20} MiB of {limit_mib}"


def test_five_thousand_partitions_in_one_batch(lake, tmp_path):
    rows = 100_000
    with (tmp_path / "in.jsonl").open("w") as file:
        file.writelines(f'{{"id": {i}, "part": {i * 7919 % 5000}, "text": "{"x" * 100}{i}"}}\n' for i in range(rows))
    columns = "[{name: id, type: long}, {name: part, type: int}, {name: text, type: string}]"
    run(lake.config(pipeline(tmp_path / "in.jsonl", columns, table_extra="partition_by: [part]")), tmp_path)
    found = lake.read("m.t", selected_fields=("id", "part"))
    assert sorted(found["id"].to_pylist()) == list(range(rows))
    assert len(set(found["part"].to_pylist())) == 5000


def test_two_thousand_columns(lake, tmp_path):
    names = [f"c{i}" for i in range(2000)]
    random.seed(1)
    with (tmp_path / "in.jsonl").open("w") as file:
        for i in range(4000):
            file.write(json.dumps({"id": i, **{name: random.random() if n % 2 else f"text {i} {n}" for n, name in enumerate(names)}}) + "\n")
    columns = "[{name: id, type: long}, " + ", ".join(f"{{name: {n}, type: {'double' if i % 2 else 'string'}}}" for i, n in enumerate(names)) + "]"
    run(lake.config(pipeline(tmp_path / "in.jsonl", columns, "512MiB")), tmp_path, 512)
    found = lake.read("m.t", selected_fields=("id", "c0", "c1998"))
    assert sorted(found["id"].to_pylist()) == list(range(4000))
    assert [row["c1998"] for row in found.to_pylist() if row["id"] == 17] == ["text 17 1998"]


def test_records_of_ten_megabytes(lake, tmp_path):
    noise = random.Random(2).randbytes(5_000_000).hex()
    for part in range(4):
        with (tmp_path / f"in{part}.jsonl").open("w") as file:
            file.writelines(f'{{"id": {part * 15 + i}, "text": "{i:03}{noise}"}}\n' for i in range(15))
    run(lake.config(pipeline(tmp_path / "in*.jsonl", "[{name: id, type: long}, {name: text, type: string}]", "512MiB")), tmp_path, 512)
    found = lake.read("m.t")
    assert sorted(found["id"].to_pylist()) == list(range(60))
    assert {len(text) for text in found["text"].to_pylist()} == {10_000_003}


@pytest.mark.parametrize("commit", [ONE_BATCH, "{interval: 500ms}"])
def test_a_store_that_is_ten_times_slower_than_the_source(lake, s3, tmp_path, commit):
    """All bytes to the store share 4 MiB a second; the files could be read at many times that."""
    bucket = f"slow-{'large' if '1h' in commit else 'small'}"
    s3.make_bucket(bucket)
    noise = random.Random(3)
    rows = 200_000
    with (tmp_path / "in.jsonl").open("w") as file:
        file.writelines(f'{{"id": {i}, "text": "{noise.randbytes(200).hex()}"}}\n' for i in range(rows))

    def slow(seen):
        time.sleep(len(seen.body) / (4 << 20))

    with Proxy(s3.endpoint, before=slow) as proxy:
        config = lake.config(pipeline(tmp_path / "in.jsonl", "[{name: id, type: long}, {name: text, type: string}]", commit=commit))
        text = config.read_text()
        warehouse = f"warehouse: s3://{bucket}/lake\n    s3: {s3.catalog_keys(proxy.endpoint)}"
        config.write_text(text.replace(f"warehouse: {lake.warehouse}", warehouse))
        run(config, tmp_path, env=s3.environment)
        text = config.read_text()
    from pyiceberg.catalog.sql import SqlCatalog

    catalog = SqlCatalog("lake", uri=f"sqlite:///{lake.database}", **s3.pyiceberg_properties)
    assert sorted(catalog.load_table("m.t").scan(selected_fields=("id",)).to_arrow()["id"].to_pylist()) == list(range(rows))


@contextmanager
def memory_cgroup(limit_bytes: int):
    """A control group whose processes the kernel kills when they take more: (what a process is put in, how many were killed)."""
    unified = Path("/sys/fs/cgroup/cgroup.controllers").exists()
    group = Path("/sys/fs/cgroup" if unified else "/sys/fs/cgroup/memory") / f"firn-test-{os.getpid()}"
    try:
        group.mkdir()
        (group / ("memory.max" if unified else "memory.limit_in_bytes")).write_text(str(limit_bytes))
    except OSError as why:
        pytest.skip(f"no control group for memory can be made here: {why}")
    kills = group / ("memory.events" if unified else "memory.oom_control")
    try:
        yield lambda process: (group / "cgroup.procs").write_text(str(process.pid)), lambda: int(re.search(r"^oom_kill (\d+)$", kills.read_text(), re.MULTILINE).group(1))
    finally:
        wait_until(lambda: group.rmdir() is None, what="the end of the control group")


def test_a_process_that_the_kernel_killed_for_its_memory_goes_on(lake, tmp_path):
    """The limit in the file is wrong for the machine: the kernel kills in mid-batch, again and again; with a right one it goes on."""
    noise = random.Random(4)

    def write(first: int, rows: int) -> None:
        with (tmp_path / f"in{first}.jsonl").open("w") as file:
            file.writelines(f'{{"id": {i}, "text": "{noise.randbytes(400).hex()}"}}\n' for i in range(first, first + rows))

    columns = "[{name: id, type: long}, {name: text, type: string}]"
    too_much = lake.config(pipeline(tmp_path / "in*.jsonl", columns, "4GiB"))
    write(0, 1000)
    run(too_much, tmp_path, 4096)
    write(1000, 200_000)
    with memory_cgroup(100 << 20) as (put, killed):
        for attempt in range(1, 4):
            running = start_firn("run", too_much, "--until-caught-up", log=tmp_path / "firn.log")
            put(running.process)
            assert running.wait() == -9, running.output[-4000:]
            assert killed() == attempt
    run(lake.config(pipeline(tmp_path / "in*.jsonl", columns)), tmp_path)
    assert sorted(lake.read("m.t", selected_fields=("id",))["id"].to_pylist()) == list(range(201_000))
