"""`firn table ...` over tables that PyIceberg wrote, and what comes out of a pipe."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from datetime import date, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from firn import BINARY, firn

SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        pa.field("origin", pa.string()),
        pa.field("at", pa.timestamp("us")),
        pa.field("delay", pa.int32()),
        pa.field("day", pa.date32()),
    ]
)


def rows(begin: int, end: int, day: int) -> pa.Table:
    return pa.table(
        {
            "id": list(range(begin, end)),
            "origin": ["SEA" if i % 2 else "PDX" for i in range(begin, end)],
            "at": [datetime(2024, 1, day, 10, i % 60) for i in range(begin, end)],
            "delay": [None if i % 10 == 0 else i for i in range(begin, end)],
            "day": [date(2024, 1, day)] * (end - begin),
        },
        schema=SCHEMA,
    )


@pytest.fixture
def config(lake):
    """lake.travel.flights with three snapshots, one day and one file each, 100 rows in all."""
    config = lake.config()
    firn("catalog", "create-namespace", "lake.travel", "-c", config).ok()
    catalog = lake.pyiceberg()
    table = catalog.create_table("travel.flights", SCHEMA)
    with table.update_spec() as update:
        update.add_identity("day")
    table.append(rows(0, 40, 1))
    table.append(rows(40, 80, 2))
    table.append(rows(80, 100, 3))
    return config


def read(config, *arguments):
    done = firn("table", "read", "lake.travel.flights", "-c", config, "--format", "jsonl", *arguments).ok()
    return [json.loads(line) for line in done.out.splitlines()]


def test_list_names_every_table(config):
    assert firn("table", "list", "-c", config).ok().out.splitlines() == ["TABLE", "lake.travel.flights"]
    listed = json.loads(firn("table", "list", "lake.travel", "--json", "-c", config).ok().out)
    assert listed == {"tables": [{"catalog": "lake", "namespace": ["travel"], "name": "flights"}]}


def test_show_tells_layout_and_content(config):
    out = firn("table", "show", "lake.travel.flights", "-c", config).ok().out
    assert "100 rows, 3 data files" in out and "partitioned by  day\n" in out
    whole = json.loads(firn("table", "show", "lake.travel.flights", "--json", "-c", config).ok().out)
    assert whole["metadata"]["format-version"] == 2 and whole["metadata-location"].endswith(".metadata.json")


def test_schema_snapshots_history_and_files_agree_with_pyiceberg(config, lake):
    table = lake.pyiceberg().load_table("travel.flights")
    schema = json.loads(firn("table", "schema", "lake.travel.flights", "--json", "-c", config).ok().out)
    assert [field["name"] for field in schema["fields"]] == ["id", "origin", "at", "delay", "day"]
    snapshots = json.loads(firn("table", "snapshots", "lake.travel.flights", "--json", "-c", config).ok().out)["snapshots"]
    assert [s["snapshot-id"] for s in snapshots] == [s.snapshot_id for s in table.snapshots()]
    history = json.loads(firn("table", "history", "lake.travel.flights", "--json", "-c", config).ok().out)["history"]
    assert [h["snapshot-id"] for h in history] == [h.snapshot_id for h in table.history()]
    assert all(h["is-current-ancestor"] for h in history)
    files = json.loads(firn("table", "files", "lake.travel.flights", "--json", "-c", config).ok().out)["files"]
    assert sorted(f["file-path"] for f in files) == sorted(table.inspect.files()["file_path"].to_pylist())
    assert sum(f["record-count"] for f in files) == 100
    assert {f["partition"] for f in files} == {"day=2024-01-01", "day=2024-01-02", "day=2024-01-03"}


def test_read_gives_every_row_once(config):
    assert sorted(row["id"] for row in read(config)) == list(range(100))
    assert read(config, "--where", "id = 7") == [{"id": 7, "origin": "SEA", "at": "2024-01-01T10:07:00", "delay": 7, "day": "2024-01-01"}]


def test_read_chooses_columns_in_order(config):
    assert read(config, "--columns", "delay, id", "--where", "id = 10") == [{"delay": None, "id": 10}]


def test_read_filters(config):
    assert len(read(config, "--where", "origin = 'SEA' and delay is not null")) == 50
    assert len(read(config, "--where", "at >= '2024-01-02' and at < '2024-01-03'")) == 40
    assert len(read(config, "--where", "delay is null")) == 10
    assert len(read(config, "--limit", "3")) == 3
    assert read(config, "--limit", "0") == []


def test_read_prunes_by_partition_and_bounds(config, lake):
    """Files that a filter rules out are not even opened: they are gone, and nobody notices."""
    table = lake.pyiceberg().load_table("travel.flights")
    for file in table.inspect.files()["file_path"].to_pylist():
        if "2024-01-01" not in file:
            Path(file.removeprefix("file://")).unlink()
    assert len(read(config, "--where", "day = '2024-01-01'")) == 40
    assert len(read(config, "--where", "at < '2024-01-02'")) == 40
    assert len(read(config, "--where", "id < 40")) == 40
    done = firn("table", "read", "lake.travel.flights", "-c", config)
    assert done.code in (1, 2) and ".parquet" in done.err


def test_read_as_of_a_snapshot_or_a_time(config, lake):
    first = lake.pyiceberg().load_table("travel.flights").history()[0]
    assert len(read(config, "--snapshot", first.snapshot_id)) == 40
    assert len(read(config, "--as-of", str(first.timestamp_ms))) == 40


def test_csv_is_read_back_by_others(config):
    done = firn("table", "read", "lake.travel.flights", "-c", config, "--format", "csv", "--where", "id in (10, 11)").ok()
    assert sorted(csv.DictReader(io.StringIO(done.out)), key=lambda row: row["id"]) == [
        {"id": "10", "origin": "PDX", "at": "2024-01-01T10:10:00", "delay": "", "day": "2024-01-01"},
        {"id": "11", "origin": "SEA", "at": "2024-01-01T10:11:00", "delay": "11", "day": "2024-01-01"},
    ]


def test_reader_that_leaves_early_is_no_error(config):
    """`firn table read ... | head -1` ends with 0, for both."""
    script = 'set -o pipefail; "$0" table read lake.travel.flights -c "$1" --format jsonl | head -1'
    done = subprocess.run(["bash", "-c", script, BINARY, config], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 1 and done.stderr == ""


def test_output_that_cannot_be_written_is_an_error(config):
    with open("/dev/full", "w") as full:
        done = subprocess.run([BINARY, "table", "list", "-c", config], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1 and "cannot write the output" in done.stderr


def test_created_table_is_a_table_to_pyiceberg(lake):
    config = lake.config()
    firn(
        "table", "create", "lake.a.b.t", "-c", config, "--column", "id long required", "--column", "at timestamptz",
        "--column", "tags list<string>", "--partition-by", "month(at)", "--partition-by", "bucket(4, id)", "--sort-by", "id desc",
        "--property", "write.parquet.compression-codec=zstd",
    ).ok()  # fmt: skip
    table = lake.pyiceberg().load_table("a.b.t")
    assert [field.name for field in table.schema().fields] == ["id", "at", "tags"]
    assert [field.name for field in table.spec().fields] == ["at_month", "id_bucket"]
    assert table.sort_order().fields[0].direction.name == "DESC"
    assert table.properties["write.parquet.compression-codec"] == "zstd"
    assert table.properties["write.metadata.delete-after-commit.enabled"] == "true"


def test_drop_keeps_the_files_and_purge_does_not(lake):
    config = lake.config()
    for name in ("kept", "purged"):
        firn("table", "create", f"lake.travel.{name}", "-c", config, "--column", "id long").ok()
    assert "its files stay" in firn("table", "drop", "lake.travel.kept", "-c", config).ok().out
    firn("table", "drop", "lake.travel.purged", "--purge", "-c", config).ok()
    left = {path.parent.parent.name for path in lake.warehouse.rglob("*.metadata.json")}
    assert len(left) == 1 and "purged" not in "".join(left)
    assert firn("table", "list", "-c", config).ok().out.splitlines() == ["TABLE"]


def test_dates_and_nested_values_read_as_json(lake):
    config = lake.config()
    firn("catalog", "create-namespace", "lake.travel", "-c", config).ok()
    catalog = lake.pyiceberg()
    data = pa.table({"d": [date(1969, 12, 31)], "tags": [["a", None]], "point": [{"x": 1, "y": 2.5}]})
    catalog.create_table("travel.nested", data.schema).append(data)
    done = firn("table", "read", "lake.travel.nested", "-c", config, "--format", "jsonl").ok()
    assert json.loads(done.out) == {"d": "1969-12-31", "tags": ["a", None], "point": {"x": 1, "y": 2.5}}


def test_version_lists_the_libraries():
    version = json.loads(firn("version", "--json").ok().out)
    assert version["version"] and version["build-id"] and version["git-hash"] and version["compiler"]
    for library in ("arrow", "parquet", "librdkafka", "simdjson", "sqlite", "libpq", "fmt", "openssl", "expat", "allocator"):
        assert version["libraries"][library], library


def test_configuration_page_and_program_agree():
    from kafka_broker import ROOT

    assert firn("docs", "configuration").ok().out == (ROOT / "docs" / "configuration.md").read_text()
