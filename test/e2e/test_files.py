"""The files source, end to end and without a broker: landing folders, kills, late, changed and half-written files."""

from __future__ import annotations

import gzip
import json
import os
import random
import time
from pathlib import Path

import pytest
import zstandard
from firn import firn, start_firn, wait_until
from s3_server import Proxy, throttle

TABLE = "shop.orders"


def pipeline(path, mode: str = "watch", columns: str | None = "[{name: id, type: long}, {name: text, type: string}]",
             source: str = "", commit: str = "{interval: 300ms}", extra: str = "") -> str:  # fmt: skip
    """One pipeline from files into lake.shop.orders. `source`: more keys of the source, comma separated."""
    more = f", {source}" if source else ""
    return (
        "pipelines:\n  orders:\n    id: orders\n    source:\n"
        f'      files: {{path: "{path}", mode: {mode}, poll_interval: 200ms{more}}}\n'
        "    decode: json\n    tables:\n      - name: lake.shop.orders\n"
        + (f"        columns: {columns}\n" if columns else "")
        + f"    commit: {commit}\n"
        + "".join(f"    {line}\n" for line in extra.splitlines())
    )


def lines(first: int, count: int) -> bytes:
    return b"".join(b'{"id": %d, "text": "order %d"}\n' % (i, i) for i in range(first, first + count))


def put(path: Path, data: bytes, age_s: float = 60) -> Path:
    """As a careful writer does: under another name first. The time is that of a file which nobody touches any more."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name("." + path.name + ".tmp")
    temporary.write_bytes(data)
    when = time.time() - age_s
    os.utime(temporary, (when, when))
    temporary.rename(path)
    return path


def ids(lake) -> list[int]:
    return sorted(lake.read(TABLE)["id"].to_pylist())


def assert_each_once(lake, count: int) -> None:
    found = ids(lake)
    assert len(found) == count, f"{len(found)} rows, {count} were written"
    assert found == list(range(count))


def test_once_reads_every_form_and_compression_and_ends(lake, tmp_path):
    landing = tmp_path / "landing"
    put(landing / "a.jsonl", lines(0, 10))
    put(landing / "b.jsonl.gz", gzip.compress(lines(10, 5)) + gzip.compress(lines(15, 5)))
    put(landing / "deep/er/c.jsonl.zst", zstandard.compress(lines(20, 10)))
    put(landing / "d.json", json.dumps([{"id": i, "text": "x"} for i in range(30, 40)], indent=1).encode())
    put(landing / "e.json", "".join(json.dumps({"id": i, "text": "x"}, indent=2) for i in range(40, 45)).encode())
    put(landing / "_SUCCESS", b"not json")
    put(landing / "f.jsonl.tmp", b"not json")
    put(landing / "empty.jsonl", b"")
    config = lake.config(pipeline(landing, mode="once"))
    assert "5 files there" in firn("check", config).ok().out
    out = firn("run", config).ok().out
    assert "45 rows to lake.shop.orders" in out
    assert_each_once(lake, 45)
    firn("run", config).ok()
    assert_each_once(lake, 45)
    put(landing / "later.jsonl", lines(45, 5))
    firn("run", config).ok()
    assert_each_once(lake, 50)


def test_columns_are_inferred_from_the_files(lake, tmp_path):
    put(tmp_path / "landing/a.jsonl", lines(0, 100))
    config = lake.config(pipeline(tmp_path / "landing", columns=None))
    assert "id bigint" in firn("run", "--dry-run", config).ok().out
    firn("run", "--until-caught-up", config).ok()
    assert_each_once(lake, 100)


def test_watch_takes_files_as_they_come_and_waits_for_those_that_grow(lake, tmp_path):
    landing = tmp_path / "landing"
    landing.mkdir()
    config = lake.config(pipeline(f"{landing}/**/*.jsonl", source="min_age: 1s"))
    running = start_firn("run", config, log=tmp_path / "log")
    try:
        put(landing / "a.jsonl", lines(0, 10))
        wait_until(lambda: ids(lake) == list(range(10)), what="the first file")
        with (landing / "slow.jsonl").open("wb") as growing:
            for piece in range(6):
                growing.write(lines(10 + piece * 10, 10))
                growing.flush()
                time.sleep(0.3)
        put(landing / "x/y/b.jsonl", lines(70, 10))
        wait_until(lambda: ids(lake) == list(range(80)), what="the file that grew, and the deep one")
    finally:
        code = running.stop()
    assert code == 0, running.output


def test_killed_again_and_again_each_row_comes_once(lake, tmp_path):
    """10,000 small files and a large one, in parts compressed, with kills all along."""
    landing = tmp_path / "landing"
    small, per_file, large = 10_000, 3, 300_000
    for i in range(small):
        data = lines(i * per_file, per_file)
        put(landing / f"{i % 50}/{i}.jsonl{'.gz' if i % 3 == 0 else ''}", gzip.compress(data, 1) if i % 3 == 0 else data,
            age_s=90_000 - i)  # fmt: skip
    put(landing / "large.jsonl", lines(small * per_file, large))
    put(landing / "large.jsonl.gz", gzip.compress(lines(small * per_file + large, large), 1))
    total = small * per_file + 2 * large
    config = lake.config(pipeline(landing, commit="{interval: 200ms}") + "resources: {memory: 256MiB}\n")
    chance = random.Random(5)
    for attempt in range(6):
        running = start_firn("run", config, log=tmp_path / f"log{attempt}")
        time.sleep(1 + 2 * chance.random())
        assert running.alive(), running.output
        running.kill()
    done = firn("run", "--until-caught-up", config, timeout_s=300)
    assert done.code == 0, done.err
    assert_each_once(lake, total)
    firn("run", "--until-caught-up", config).ok()
    assert_each_once(lake, total)


def test_a_changed_file_stops_the_run_and_the_policy_decides(lake, tmp_path):
    landing = tmp_path / "landing"
    put(landing / "a.jsonl", lines(0, 5))
    put(landing / "b.jsonl", lines(5, 5))
    config = lake.config(pipeline(landing, mode="once"))
    firn("run", config).ok()
    put(landing / "a.jsonl", lines(100, 2), age_s=30)
    done = firn("run", config)
    assert done.code == 3 and "a.jsonl" in done.err + done.out and "on_changed_file" in done.err + done.out
    assert_each_once(lake, 10)
    firn("run", lake.config(pipeline(landing, mode="once", source="on_changed_file: skip"), "skip.yaml")).ok()
    assert_each_once(lake, 10)
    assert firn("run", config).code == 3, "a decision is remembered with the next commit, and there was none"
    put(landing / "c.jsonl", lines(10, 5))
    firn("run", lake.config(pipeline(landing, mode="once", source="on_changed_file: skip"), "skip.yaml")).ok()
    firn("run", config).ok()
    assert_each_once(lake, 15)


def test_a_late_file_stops_the_run_and_the_policy_decides(lake, tmp_path):
    landing = tmp_path / "landing"
    for i in range(40):
        put(landing / f"{i}.jsonl", lines(i * 5, 5))
    keys = "lookback: 1h"
    config = lake.config(pipeline(landing, mode="once", source=keys))
    firn("run", config).ok()
    assert_each_once(lake, 200)
    put(landing / "late.jsonl", lines(200, 5), age_s=7 * 3600)
    done = firn("run", config)
    assert done.code == 3 and "late.jsonl" in done.err + done.out and "on_late_file" in done.err + done.out
    firn("run", lake.config(pipeline(landing, mode="once", source=keys + ", on_late_file: take"), "take.yaml")).ok()
    firn("run", config).ok()
    assert_each_once(lake, 205)


def test_another_path_is_another_source(lake, tmp_path):
    put(tmp_path / "landing/a.jsonl", lines(0, 5))
    put(tmp_path / "other/b.jsonl", lines(5, 5))
    firn("run", lake.config(pipeline(tmp_path / "landing", mode="once"))).ok()
    done = firn("run", lake.config(pipeline(tmp_path / "other", mode="once")))
    assert done.code == 3, done.err
    assert_each_once(lake, 5)


def test_cut_off_gzip_is_told_with_its_place_and_nothing_is_lost(lake, tmp_path):
    landing = tmp_path / "landing"
    packed = gzip.compress(lines(0, 5000))
    put(landing / "a.jsonl.gz", packed[:-100])
    config = lake.config(pipeline(landing, mode="once"))
    done = firn("run", config)
    assert done.code == 1, done.err
    assert "a.jsonl.gz" in done.err + done.out and "byte" in done.err + done.out
    (landing / "a.jsonl.gz").unlink()
    put(landing / "b.jsonl.gz", packed)
    done = firn("run", lake.config(pipeline(landing, mode="once", source="on_changed_file: skip"), "skip.yaml"))
    assert done.code == 0, done.err


def test_bad_records_go_to_dead_letters_with_file_and_line(lake, tmp_path):
    landing = tmp_path / "landing"
    put(landing / "a.jsonl", lines(0, 3) + b"{broken\n" + lines(3, 2))
    firn("run", lake.config(pipeline(landing, mode="once"))).ok()
    assert_each_once(lake, 5)
    letters = lake.read("shop.orders_dead_letters").to_pylist()
    assert [(row["file"], row["line"], row["value"]) for row in letters] == [
        (str(landing / "a.jsonl"), 4, b"{broken")
    ]


def test_two_processes_of_one_pipeline_double_nothing(lake, tmp_path):
    landing = tmp_path / "landing"
    config = lake.config(pipeline(landing))
    landing.mkdir()
    first = start_firn("run", config, log=tmp_path / "log1")
    second = start_firn("run", config, log=tmp_path / "log2")
    try:
        for i in range(20):
            put(landing / f"{i}.jsonl", lines(i * 5, 5))
            time.sleep(0.1)
        wait_until(lambda: ids(lake) == list(range(100)), what="every row once")
    finally:
        codes = sorted(process.stop() if process.alive() else process.wait() for process in (first, second))
    assert codes[0] == 0 and codes[1] in (0, 3)


def test_files_in_a_bucket_are_taken_once_whatever_the_store_does(lake, s3, tmp_path):
    """A third of the requests is turned away, and the program is killed in between."""
    s3.make_bucket("landing-files")
    bucket = s3.filesystem

    def upload(key: str, data: bytes) -> None:
        with bucket.open_output_stream(f"landing-files/{key}", compression=None) as out:
            out.write(data)

    for i in range(60):
        upload(f"in/{i % 3}/{i}.jsonl{'.gz' if i % 2 else ''}", gzip.compress(lines(i * 50, 50)) if i % 2 else lines(i * 50, 50))
    upload("in/large.jsonl", lines(3_000, 200_000))
    upload("other/x.jsonl", b"not for us")
    with Proxy(s3.endpoint, before=throttle(0.3)) as proxy:
        config = lake.config(
            pipeline("s3://landing-files/in/**/*.jsonl*", source=f"s3: {s3.catalog_keys(proxy.endpoint)}", commit="{interval: 200ms}")
        )
        for attempt in range(3):
            running = start_firn("run", config, log=tmp_path / f"log{attempt}", env=s3.environment)
            time.sleep(2)
            assert running.alive(), running.output
            running.kill()
        firn("run", "--until-caught-up", config, timeout_s=200, env=s3.environment).ok()
    assert_each_once(lake, 203_000)


@pytest.mark.parametrize("path", ["", "relative/[", "/x/{a,b"])
def test_bad_paths_are_refused(lake, path):
    done = firn("check", "--offline", lake.config(pipeline(path)))
    assert done.code == 2 and "path" in done.err


def test_the_example_of_the_docs_runs(lake, tmp_path):
    """docs/files-source.md shows it."""
    text = (Path(__file__).parents[2] / "docs/files-source.md").read_text()
    yaml = text.split("```yaml\n", 1)[1].split("```", 1)[0]
    (tmp_path / "firn.yaml").write_text(yaml)
    for i in range(3):
        put(tmp_path / f"landing/day={i}/orders.jsonl.gz", gzip.compress(lines(i * 10, 10)))
    firn("check", "firn.yaml", cwd=tmp_path).ok()
    firn("run", "--until-caught-up", "firn.yaml", cwd=tmp_path).ok()
    from readers import read_pyiceberg

    table = read_pyiceberg(tmp_path / "lake/catalog.db", tmp_path / "lake/warehouse", TABLE, "lake")
    assert sorted(table["id"].to_pylist()) == list(range(30))
