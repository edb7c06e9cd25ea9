"""The same records in every format give equal tables; keys, `_kafka` and the examples of the formats' pages."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
import re
import time
from decimal import Decimal

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from firn import firn, start_firn
from kafka_broker import ROOT
from readers import assert_same_rows

UTC = dt.timezone.utc
COLUMNS = (
    "[{name: id, type: long}, {name: small, type: int}, {name: ratio, type: double}, {name: flag, type: boolean},"
    " {name: amount, type: 'decimal(9,2)'}, {name: day, type: date}, {name: local, type: timestamp},"
    " {name: instant, type: timestamptz}, {name: text, type: string}]"
)
SCHEMA = pa.schema(
    {
        "id": pa.int64(),
        "small": pa.int32(),
        "ratio": pa.float64(),
        "flag": pa.bool_(),
        "amount": pa.decimal128(9, 2),
        "day": pa.date32(),
        "local": pa.timestamp("us"),
        "instant": pa.timestamp("us", "UTC"),
        "text": pa.string(),
    }
)
TEXTS = ["plain", 'a "quoted" one', "two\nlines", "comma, semicolon; tab\t", "ä日本𝄞", " spaces ", "", None]


def expected(rows: int = 400) -> pa.Table:
    start = dt.datetime(1969, 12, 31, 23, 59, 59, 250000)

    def row(i: int) -> dict:
        at = start + dt.timedelta(hours=7 * i, microseconds=i)
        values = {
            "small": i - 200,
            "ratio": i / 8,
            "flag": i % 2 == 0,
            "amount": Decimal(i * 7 - 1000).scaleb(-2),
            "day": at.date(),
            "local": at,
            "instant": at.replace(tzinfo=UTC),
        }
        missing = list(values)[i % 9] if i % 9 < len(values) else None
        return {"id": i, **{k: None if k == missing else v for k, v in values.items()}, "text": TEXTS[i % len(TEXTS)]}

    return pa.Table.from_pylist([row(i) for i in range(rows)], SCHEMA)


def as_text(value) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (dt.datetime, dt.date)):
        return value.isoformat()
    return None if value is None else str(value)


def json_lines(table: pa.Table) -> list[str]:
    def plain(value):
        return value if value is None or isinstance(value, (bool, int, float, str)) else as_text(value)

    return [json.dumps({name: plain(value) for name, value in row.items()}) for row in table.to_pylist()]


def csv_lines(table: pa.Table, header: bool = False) -> list[str]:
    lines = []
    for row in ([table.column_names] if header else []) + [list(row.values()) for row in table.to_pylist()]:
        out = io.StringIO(newline="")
        csv.writer(out).writerow(["\\N" if value is None else as_text(value) for value in row])
        lines.append(out.getvalue())
    return lines


AVRO = {
    "type": "record",
    "name": "Row",
    "fields": [
        {"name": "id", "type": "long"},
        *(
            {"name": name, "type": ["null", type_]}
            for name, type_ in {
                "small": "int",
                "ratio": "double",
                "flag": "boolean",
                "amount": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
                "day": {"type": "int", "logicalType": "date"},
                "local": {"type": "long", "logicalType": "local-timestamp-micros"},
                "instant": {"type": "long", "logicalType": "timestamp-micros"},
                "text": "string",
            }.items()
        ),
    ],
}

CSV = "{value: {format: csv, null_text: '\\N'}}"


def kafka_config(broker, lake, topic: str, decode: str, columns: str | None = COLUMNS, table_extra: str = "") -> str:
    text = (
        f"pipelines:\n  t:\n    source: {{kafka: {{bootstrap_servers: '{broker.bootstrap}', topics: [{topic}]}}}}\n"
        f"    decode: {decode}\n    tables:\n      - name: lake.f.t\n"
    )
    if columns:
        text += f"        columns: {columns}\n"
    return lake.config(text + "".join(f"        {line}\n" for line in table_extra.splitlines()))


def files_config(lake, path, decode: str, columns: str | None = COLUMNS, table_extra: str = "", table: str = "t") -> str:
    text = f"pipelines:\n  {table}:\n    source: {{files: {{path: '{path}', mode: once, min_age: 0s}}}}\n    decode: {decode}\n    tables:\n      - name: lake.f.{table}\n"
    if columns:
        text += f"        columns: {columns}\n"
    return lake.config(text + "".join(f"        {line}\n" for line in table_extra.splitlines()))


def run(config) -> None:
    firn("run", config, "--until-caught-up", "--fail-on-dead-letters").ok()


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_messages_in_every_format_give_equal_tables(broker, lake, kind):
    topic = f"formats-{kind}"
    broker.create_topic(topic, partitions=2)
    broker.produce(topic, json_lines(expected()) if kind == "json" else csv_lines(expected()))
    run(kafka_config(broker, lake, topic, "json" if kind == "json" else CSV))
    assert_same_rows(lake.read("f.t"), expected())
    assert_same_rows(lake.read_duckdb("f.t"), expected())


def write_file(folder, kind: str, table: pa.Table) -> str:
    folder.mkdir()
    if kind == "json":
        (folder / "a.jsonl").write_text("\n".join(json_lines(table)) + "\n", encoding="utf-8")
    elif kind == "csv":
        (folder / "a.csv").write_bytes("".join(csv_lines(table, header=True)).encode())
    elif kind == "avro":
        with (folder / "a.avro").open("wb") as file:
            fastavro.writer(file, AVRO, table.to_pylist(), sync_interval=2000)
    else:
        pq.write_table(table, folder / "a.parquet", row_group_size=150)
    return f"{folder}/*"


DECODE = {"json": "json", "csv": CSV, "parquet": "parquet", "avro": "avro"}


@pytest.mark.parametrize("kind", list(DECODE))
def test_files_in_every_format_give_equal_tables(lake, tmp_path, kind):
    path = write_file(tmp_path / "in", kind, expected())
    run(files_config(lake, path, DECODE[kind]))
    assert_same_rows(lake.read("f.t"), expected())
    assert_same_rows(lake.read_duckdb("f.t"), expected())


def test_columns_of_a_new_table_come_from_a_parquet_file(lake, tmp_path):
    path = write_file(tmp_path / "in", "parquet", expected())
    run(files_config(lake, path, "parquet", columns=None))
    assert_same_rows(lake.read("f.t"), expected())


def test_a_later_file_brings_columns_and_wider_types(lake, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    config = files_config(lake, folder, "parquet", columns=None, table_extra="schema_evolution: add_and_widen")
    nested = pa.struct([("x", pa.int32())])
    wider = pa.struct([("x", pa.int64()), ("y", pa.string())])
    pq.write_table(pa.table({"id": pa.array([1], pa.int32()), "p": pa.array([{"x": 1}], nested)}), folder / "a.parquet")
    run(config)
    later = {"id": pa.array([2**40]), "p": pa.array([{"x": 2**40, "y": "new"}], wider), "more": ["m"]}
    pq.write_table(pa.table(later), folder / "b.parquet")
    run(config)
    assert lake.read("f.t").sort_by("id").to_pylist() == [
        {"id": 1, "p": {"x": 1, "y": None}, "more": None},
        {"id": 2**40, "p": {"x": 2**40, "y": "new"}, "more": "m"},
    ]


def test_a_later_csv_header_brings_columns_and_another_order(lake, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    config = files_config(lake, folder, "csv", columns=None, table_extra="schema_evolution: add")
    (folder / "a.csv").write_text("id,text\n1,a\n")
    run(config)
    (folder / "b.csv").write_text("text,more,id\nb,2.5,2\n")
    run(config)
    assert lake.read("f.t").sort_by("id").to_pylist() == [
        {"id": 1, "text": "a", "more": None},
        {"id": 2, "text": "b", "more": 2.5},
    ]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_big_file_is_gone_on_with_after_kills(lake, tmp_path, kind):
    folder = tmp_path / "in"
    folder.mkdir()
    ids = pa.array(range(400_000))
    table = pa.table({"id": ids, "text": pa.array([f"two\nlines {i}" for i in range(len(ids))])})
    if kind == "csv":
        with (folder / "a.csv").open("w", newline="") as file:
            out = csv.writer(file)
            out.writerow(table.column_names)
            out.writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))
    else:
        pq.write_table(table, folder / "a.parquet", row_group_size=70_000)
    config = files_config(lake, folder, kind, columns="[{name: id, type: long}, {name: text, type: string}]")
    config.write_text(config.read_text() + "    commit: {interval: 200ms, max_records: 50000}\n")
    for attempt in range(3):
        running = start_firn("run", config, log=tmp_path / f"log{attempt}")
        time.sleep(1.0)
        running.kill()
    run(config)
    assert_same_rows(lake.read("f.t"), table)


def test_columns_of_a_new_table_are_inferred_from_csv(lake, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.csv").write_text("id,price,ok,zip,day\n1,1.5,true,01234,2024-01-31\n2,2,FALSE,99999,\n")
    run(files_config(lake, f"{folder}/*", "csv", columns=None))
    schema = lake.read("f.t").schema
    assert [str(t) for t in schema.types] == ["int64", "double", "bool", "large_string", "large_string"] or [
        str(t) for t in schema.types
    ] == ["int64", "double", "bool", "string", "string"]
    assert lake.read("f.t").sort_by("id").to_pylist()[0] == {"id": 1, "price": 1.5, "ok": True, "zip": "01234", "day": "2024-01-31"}


def test_bad_csv_records_of_a_file_are_dead_letters_and_the_others_rows(lake, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.csv").write_text('id,text\n1,a\n2\n3,"x"y\nfour,d\n5,e\n6,"open\n')
    firn("run", files_config(lake, f"{folder}/*", "csv", columns="[{name: id, type: long}, {name: text, type: string}]"), "--until-caught-up").ok()
    assert sorted(lake.read("f.t").column("id").to_pylist()) == [1, 5]
    reasons = sorted(lake.read("f.t_dead_letters").column("reason").to_pylist())
    assert reasons == ["malformed_csv", "ragged_row", "type_mismatch", "unclosed_quote"]


def test_a_half_written_parquet_file_is_named(lake, tmp_path):
    path = write_file(tmp_path / "in", "parquet", expected())
    file = tmp_path / "in" / "a.parquet"
    file.write_bytes(file.read_bytes()[:-100])
    done = firn("run", files_config(lake, path, "parquet"), "--until-caught-up")
    assert done.code != 0
    assert "a.parquet" in done.err + done.out
    assert "cut off" in done.err + done.out


def test_keys_stand_beside_values(broker, lake):
    broker.create_topic("keyed", partitions=2)
    keys = [json.dumps({"id": i, "region": "eu"}) for i in range(50)]
    values = [json.dumps({"text": f"t{i}"}) for i in range(50)]
    broker.produce("keyed", values, keys=keys)
    run(kafka_config(broker, lake, "keyed", "{key: {format: json}, value: {format: json}}", columns=None))
    rows = lake.read("f.t").sort_by("id").to_pylist()
    assert [(r["id"], r["region"], r["text"]) for r in rows] == [(i, "eu", f"t{i}") for i in range(50)]


def test_plain_keys_and_raw_values(broker, lake):
    broker.create_topic("plain-keys", partitions=1)
    broker.produce("plain-keys", ["v1", "v2"], keys=["1", "2"])
    run(kafka_config(broker, lake, "plain-keys", "{key: {format: json, column: number}, value: {format: raw, value_type: string}}", columns=None))
    rows = lake.read("f.t").sort_by("number").to_pylist()
    assert [(r["number"], r["value"], r["key"]) for r in rows] == [(1, "v1", b"1"), (2, "v2", b"2")]


def test_each_row_tells_where_its_record_stood(broker, lake):
    broker.create_topic("positions", partitions=2)
    values = [json.dumps({"id": i}) for i in range(20)]
    broker.produce("positions", values, partition=1, keys=[f"k{i}" for i in range(20)], headers=[[("h", b"1"), ("h", b"2")]] * 20)
    run(kafka_config(broker, lake, "positions", "json", columns="[{name: id, type: long}]", table_extra="kafka_columns: true"))
    rows = lake.read("f.t").sort_by("id").to_pylist()
    assert [r["_kafka"]["offset"] for r in rows] == list(range(20))
    first = rows[0]["_kafka"]
    assert (first["topic"], first["partition"], first["key"]) == ("positions", 1, b"k0")
    assert [(h["key"], h["value"]) for h in first["headers"]] == [("h", b"1"), ("h", b"2")]
    assert abs(first["timestamp"] - dt.datetime.now(UTC)) < dt.timedelta(hours=1)
    assert lake.read_duckdb("f.t").num_rows == 20


def test_a_table_made_without_the_column_gets_it_by_evolution(broker, lake):
    broker.create_topic("positions-later", partitions=1)
    broker.produce("positions-later", [json.dumps({"id": 1})])
    run(kafka_config(broker, lake, "positions-later", "json", columns=None))
    broker.produce("positions-later", [json.dumps({"id": 2})])
    run(kafka_config(broker, lake, "positions-later", "json", columns=None, table_extra="kafka_columns: true"))
    rows = lake.read("f.t").sort_by("id").to_pylist()
    assert rows[0]["_kafka"] is None
    assert rows[1]["_kafka"]["offset"] == 1


@pytest.mark.parametrize("page", ["csv", "parquet-files", "raw"])
def test_the_examples_of_the_pages_are_accepted(lake, tmp_path, page):
    """Each example with `decode:` in a pipeline of its own."""
    examples = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / f"{page}.md").read_text(), re.S)
    assert examples
    for example in examples:
        source = f"{{files: {{path: '{tmp_path}/in/*'}}}}" if "parquet" in example else "{kafka: {bootstrap_servers: 'b:9092', topics: [t]}}"
        text = f"source: {source}\n{example}"
        text += "" if "decode:" in example else "decode: json\n"
        text += "" if "tables:" in example else "table: lake.f.t\n"
        config = lake.config("pipelines:\n  t:\n" + "".join(f"    {line}\n" for line in text.splitlines()))
        firn("check", "--offline", config).ok()


def test_what_makes_no_sense_is_refused_with_its_place(lake):
    source = "{kafka: {bootstrap_servers: 'b:9092', topics: [t]}}"
    for decode, message in [
        ("parquet", "format parquet is for files"),
        ("{value: {format: csv, delimiter: '1'}}", "no letter, digit"),
        ("{value: {format: csv, quote: ','}}", "same character"),
        ("{key: {format: nothing}, value: {format: json}}", "expected a map with format"),
        ("{key: {format: json, kolumn: x}, value: {format: json}}", "kolumn"),
    ]:
        config = lake.config(f"pipelines:\n  t:\n    source: {source}\n    decode: {decode}\n    table: lake.f.t\n")
        done = firn("check", "--offline", config)
        assert done.code == 2, done.out
        assert message in done.err + done.out
