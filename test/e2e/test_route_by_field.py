"""Rules by field for records that are not JSON: Avro with a registry and in files, CSV in messages and files."""

from __future__ import annotations

import os
import time
from pathlib import Path

import fastavro
from firn import firn, start_firn, wait_until
from schema_registry import SchemaRegistry, frame

EVENT = {
    "type": "record",
    "name": "Event",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "payload", "type": {"type": "record", "name": "P", "fields": [{"name": "kind", "type": ["null", "string"]}]}},
    ],
}
COLUMNS = "[{name: id, type: long}]"
PARTITIONS = 1  # of each test's topic


def from_files(lake, path: Path, decode: str, tables: str) -> Path:
    return lake.config(
        f'pipelines:\n  events:\n    source: {{files: {{path: "{path}", mode: once, poll_interval: 200ms}}}}\n'
        f"    decode: {decode}\n    tables:\n{tables}    dead_letters: {{table: lake.shop.letters, fail_above: {{ratio: 1}}}}\n"
        "    commit: {interval: 300ms}\n"
    )


def from_kafka(lake, broker, topic: str, decode: str, tables: str) -> Path:
    return lake.config(
        f"pipelines:\n  events:\n    source: {{kafka: {{bootstrap_servers: {broker.bootstrap}, topics: [{topic}]}}}}\n"
        f"    decode: {decode}\n    tables:\n{tables}    dead_letters: {{table: lake.shop.letters, fail_above: {{ratio: 1}}}}\n"
        "    commit: {interval: 300ms}\n"
    )


def rules(field: str) -> str:
    return (
        f"      - {{match: {{field: {{{field}: vip}}}}, name: lake.shop.vips, columns: {COLUMNS}}}\n"
        f'      - {{name: "lake.events.{{{field}}}", columns: {COLUMNS}}}\n'
    )


def ids(lake, table: str) -> list[int]:
    return sorted(lake.read(table)["id"].to_pylist())


def reasons(lake) -> list[str]:
    return lake.read("shop.letters")["reason"].to_pylist()


def settle(path: Path) -> None:
    when = time.time() - 60
    os.utime(path, (when, when))


def event(number: int, kind: str | None) -> dict:
    return {"id": number, "payload": {"kind": kind}}


def test_avro_files_go_to_tables_by_a_nested_field(lake, tmp_path):
    landing = tmp_path / "landing"
    landing.mkdir()
    with (landing / "a.avro").open("wb") as file:
        fastavro.writer(file, EVENT, [event(i, ("vip", "order", "refund", None)[i % 4]) for i in range(40)])
    settle(landing / "a.avro")
    config = from_files(lake, landing, "avro", rules("payload.kind"))
    firn("check", config, "--offline").ok()
    firn("run", config).ok()
    assert ids(lake, "shop.vips") == list(range(0, 40, 4))
    assert ids(lake, "events.order") == list(range(1, 40, 4))
    assert ids(lake, "events.refund") == list(range(2, 40, 4))
    assert reasons(lake) == ["no_table_name"] * 10


def test_csv_files_go_to_tables_by_the_names_of_their_header(lake, tmp_path):
    landing = tmp_path / "landing"
    landing.mkdir()
    (landing / "a.csv").write_text("id,kind\n" + "".join(f"{i},{('vip', 'order')[i % 2]}\n" for i in range(20)))
    (landing / "b.csv").write_text("kind,id\n" + "".join(f'"{("vip", "order")[i % 2]}",{i}\n' for i in range(20, 40)))
    for path in landing.iterdir():
        settle(path)
    firn("run", from_files(lake, landing, "csv", rules("kind"))).ok()
    assert ids(lake, "shop.vips") == list(range(0, 40, 2))
    assert ids(lake, "events.order") == list(range(1, 40, 2))


def test_formats_that_cannot_tell_fields_say_so_in_check(lake, tmp_path):
    for decode in ("parquet", "{value: {format: csv, header: false}}", "raw"):
        done = firn("check", from_files(lake, tmp_path, decode, rules("kind")), "--offline")
        assert done.code == 2, done.err
        assert "cannot be told apart by a field (kind)" in done.err + done.out, done.err


def test_avro_messages_wait_for_the_registry_that_tells_their_fields(broker, topic, lake, tmp_path):
    with SchemaRegistry() as registry:
        one, two = (registry.register(f"{topic}-value", schema) for schema in (EVENT, {**EVENT, "doc": "newer"}))
        decode = f'{{value: {{format: avro}}, schema_registry: {{url: "{registry.url}"}}}}'
        broker.produce(topic, [frame(one, EVENT, event(i, ("vip", "order")[i % 2])) for i in range(20)])
        running = start_firn("run", from_kafka(lake, broker, topic, decode, rules("payload.kind")), log=tmp_path / "firn.log")
        wait_until(lambda: len(ids(lake, "shop.vips")) == 10, what="the first rows")
        registry.stop()
        broker.produce(topic, [frame(two, EVENT, event(i, ("vip", "order")[i % 2])) for i in range(20, 40)])
        wait_until(lambda: "waiting for schema" in running.output, what="the trouble in the log")
        assert running.alive() and len(ids(lake, "shop.vips")) == 10
        registry.start()
        wait_until(lambda: len(ids(lake, "shop.vips")) == 20, what="the rows that waited")
        assert running.stop() == 0, running.output
    assert ids(lake, "shop.vips") == list(range(0, 40, 2))
    assert ids(lake, "events.order") == list(range(1, 40, 2))
    assert reasons(lake) == []


def test_csv_messages_go_to_tables_by_configured_names(broker, topic, lake):
    decode = "{value: {format: csv, columns: [id, kind]}}"
    broker.produce(topic, [f"{i},{('vip', 'order')[i % 2]}" for i in range(20)])
    firn("run", from_kafka(lake, broker, topic, decode, rules("kind")), "--until-caught-up").ok()
    assert ids(lake, "shop.vips") == list(range(0, 20, 2))
    assert ids(lake, "events.order") == list(range(1, 20, 2))
