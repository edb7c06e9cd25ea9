"""./dev bench files-large: 10,000 small files and a large one through the files source, killed again and again; every row once, memory within the limit.

Usage: files_large.py FIRN-PROGRAM [GB] [KILLS] [SEED]. Shows rows/s over all runs together, and the highest resident size any of them had.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test" / "support"))

from ports import die_with_parent  # noqa: E402
from readers import pyiceberg_catalog  # noqa: E402

SMALL_FILES = 10_000
ROWS_PER_SMALL_FILE = 3
ROWS_PER_WRITE = 100_000
MEMORY_MIB = 512
PIPELINE = """\
catalogs:
  lake: {{type: sql, uri: "sqlite:{folder}/catalog.db", warehouse: "{folder}/warehouse"}}
pipelines:
  landed:
    source: {{files: {{path: "{folder}/landing/**/*.jsonl", mode: once}}}}
    decode: json
    tables:
      - name: lake.shop.orders
        columns:
          - {{name: id, type: long}}
          - {{name: customer, type: string}}
          - {{name: amount, type: double}}
          - {{name: note, type: string}}
    commit: {{interval: 5s}}
resources: {{memory: {memory}MiB}}
"""


def line(i: int) -> str:
    return '{"id":%d,"customer":"customer %d","amount":%d.25,"note":"order %d of a large file, with some text as such rows have"}\n' % (i, i % 9973, i % 500, i)  # fmt: skip


def write(path: Path, first: int, rows: int) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(map(line, range(first, first + rows)))
    path.write_text(text)
    return len(text)


def fill(landing: Path, gigabytes: float) -> tuple[int, int]:
    """Returns the rows and bytes written."""
    rows = total = 0
    for i in range(SMALL_FILES):
        total += write(landing / str(i % 50) / f"{i}.jsonl", rows, ROWS_PER_SMALL_FILE)
        rows += ROWS_PER_SMALL_FILE
    large = 0
    with (landing / "large.jsonl").open("w") as file:
        while large < gigabytes * 1e9:
            large += file.write("".join(map(line, range(rows, rows + ROWS_PER_WRITE))))
            rows += ROWS_PER_WRITE
    old = time.time() - 3600
    for path in landing.rglob("*.jsonl"):
        os.utime(path, (old, old))
    return rows, total + large


def run(program: str, config: Path, kill_after_s: float | None) -> tuple[float, int, bool]:
    """Wall seconds, peak memory in KiB, and whether the run came to its end."""
    started = time.monotonic()
    firn = subprocess.Popen([program, "run", str(config)], preexec_fn=die_with_parent, stderr=subprocess.DEVNULL)
    if kill_after_s is not None:
        time.sleep(kill_after_s)
        os.kill(firn.pid, signal.SIGKILL)  # not Popen.kill, which takes the status of one that has ended
    _, status, usage = os.wait4(firn.pid, 0)
    ended = os.waitstatus_to_exitcode(status)
    if ended not in (0, -9):
        sys.exit(f"firn run ended with exit code {ended}")
    return time.monotonic() - started, usage.ru_maxrss, ended == 0


def check(folder: Path, rows: int) -> int:
    """Counts with another engine; returns the number of snapshots."""
    table = pyiceberg_catalog(folder / "catalog.db", folder / "warehouse").load_table("shop.orders")
    files = [task.file.file_path.removeprefix("file://") for task in table.scan().plan_files()]
    found = duckdb.execute("SELECT count(*), count(DISTINCT id), min(id), max(id) FROM read_parquet(?)", [files]).fetchone()
    if found != (rows, rows, 0, rows - 1):
        sys.exit(f"{rows} rows were written; the table has (rows, distinct ids, first, last) = {found}")
    return len(table.snapshots())


def main(program: str, gigabytes: float, kills: int, seed: int) -> None:
    with tempfile.TemporaryDirectory(prefix="firn-bench-") as name:
        folder, chance = Path(name), random.Random(seed)
        rows, total = fill(folder / "landing", gigabytes)
        config = folder / "landed.yaml"
        config.write_text(PIPELINE.format(folder=folder, memory=MEMORY_MIB))
        wall, peak, killed = 0.0, 0, 0
        ended = False
        while not ended:
            kill_after_s = chance.uniform(1, 6) if killed < kills else None
            seconds, memory, ended = run(program, config, kill_after_s)
            killed += not ended
            wall, peak = wall + seconds, max(peak, memory)
        snapshots = check(folder, rows)
        print(f"{rows:,} rows ({total / 2**30:.2f} GiB of JSON in {SMALL_FILES + 1:,} files), {killed} kills: each row once, {snapshots} snapshots")
        print(f"{wall:.1f} s in all: {rows / wall:,.0f} rows/s; peak memory {peak / 1024:.0f} MiB, the limit is {MEMORY_MIB} MiB")


if __name__ == "__main__":
    numbers = [float(text) for text in sys.argv[2:]] + [5, 6, 1][len(sys.argv) - 2 :]
    main(sys.argv[1], numbers[0], int(numbers[1]), int(numbers[2]))
