"""Avro container files through the files source: columns from the files' schemas, codecs, damage, a restart in the middle."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import fastavro
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from firn import firn, start_firn, wait_until
from readers import assert_same_rows

TABLE = "travel.flights"
FLIGHT = {
    "type": "record",
    "name": "Flight",
    "fields": [
        {"name": "date", "type": {"type": "long", "logicalType": "local-timestamp-micros"}},
        {"name": "delay", "type": ["null", "int"]},
        {"name": "distance", "type": ["null", "int"]},
        {"name": "origin", "type": "string"},
        {"name": "destination", "type": "string"},
    ],
}


@pytest.fixture(scope="module")
def flights(flights_file) -> pa.Table:
    return pa.Table.from_batches([next(parquet.ParquetFile(flights_file).iter_batches(20_000))])


def put(path: Path, rows: list[dict], schema: dict = FLIGHT, codec: str = "null", sync_interval: int = 16_000) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        fastavro.writer(file, schema, rows, codec=codec, sync_interval=sync_interval)
    when = time.time() - 60
    os.utime(path, (when, when))
    return path


def config_of(lake, landing: Path, mode: str = "once", interval: str = "300ms") -> Path:
    return lake.config(
        "pipelines:\n  flights:\n    source:\n"
        f'      files: {{path: "{landing}", mode: {mode}, poll_interval: 200ms}}\n'
        f"    decode: avro\n    table: lake.{TABLE}\n    commit: {{interval: {interval}}}\n"
    )


def test_the_files_schema_makes_the_table_and_every_row_is_there(lake, tmp_path, flights):
    rows = flights.to_pylist()
    put(tmp_path / "landing/a.avro", rows[:5_000])
    put(tmp_path / "landing/b.avro", rows[5_000:15_000], codec="deflate")
    put(tmp_path / "landing/c.avro", rows[15_000:], codec="deflate", sync_interval=1_000_000)
    config = config_of(lake, tmp_path / "landing")
    firn("run", config).ok()
    assert_same_rows(lake.read(TABLE), flights)
    assert_same_rows(lake.read_duckdb(TABLE), flights)
    assert [str(field.field_type) for field in lake.pyiceberg().load_table(TABLE).schema().fields] == ["timestamp", "int", "int", "string", "string"]


def test_a_later_file_with_more_fields_grows_the_table(lake, tmp_path, flights):
    rows = flights.slice(0, 100).to_pylist()
    put(tmp_path / "landing/a.avro", rows)
    config = config_of(lake, tmp_path / "landing")
    firn("run", config).ok()
    more = {**FLIGHT, "fields": [*FLIGHT["fields"], {"name": "gate", "type": "string", "doc": "at departure"}]}
    put(tmp_path / "landing/b.avro", [{**row, "gate": "A1"} for row in rows], more)
    firn("run", config).ok()
    assert lake.read(TABLE)["gate"].to_pylist().count("A1") == 100
    assert lake.pyiceberg().load_table(TABLE).schema().find_field("gate").doc == "at departure"


def test_a_file_that_is_cut_off_ends_the_run_with_file_and_offset(lake, tmp_path, flights):
    path = put(tmp_path / "landing/a.avro", flights.slice(0, 5_000).to_pylist())
    data = path.read_bytes()
    path.write_bytes(data[: len(data) - 100])
    os.utime(path, (time.time() - 60,) * 2)
    done = firn("run", config_of(lake, tmp_path / "landing"))
    assert done.code == 1
    assert "a.avro" in done.out + done.err
    assert "offset" in done.out + done.err


def test_killed_in_the_middle_of_a_large_file_every_row_once(lake, tmp_path, flights):
    rows = [{"n": i, "text": f"row {i}"} for i in range(300_000)]
    schema = {"type": "record", "name": "Row", "fields": [{"name": "n", "type": "long"}, {"name": "text", "type": "string"}]}
    put(tmp_path / "landing/a.avro", rows, schema, codec="deflate")
    config = config_of(lake, tmp_path / "landing", mode="watch", interval="100ms")
    for attempt in range(3):
        running = start_firn("run", config, log=tmp_path / f"{attempt}.log")
        time.sleep(0.5 + random.Random(attempt).random())
        running.kill()
    running = start_firn("run", config, log=tmp_path / "last.log")
    wait_until(lambda: lake.read(TABLE).num_rows >= len(rows), what="all rows")
    assert running.stop() == 0, running.output
    assert sorted(lake.read(TABLE)["n"].to_pylist()) == list(range(len(rows)))
