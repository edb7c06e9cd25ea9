"""Avro records with a schema registry, through a real broker into an Iceberg table."""

from __future__ import annotations

import json
import os
import time

import pyarrow.parquet as parquet
import pytest
from firn import firn, start_firn, wait_until
from pipelines import pipeline
from readers import assert_same_rows
from schema_registry import SchemaRegistry, frame

TABLE = "shop.orders"
V1 = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}, {"name": "amount", "type": "int", "doc": "in cents"}]}
V2 = {**V1, "fields": [*V1["fields"], {"name": "note", "type": ["null", "string"], "doc": "by the customer", "default": None}]}
V3 = {
    **V1,
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "amount", "type": "long", "doc": "in cents"},
        *V2["fields"][2:],
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "lines", "type": {"type": "array", "items": {"type": "record", "name": "Line", "fields": [{"name": "sku", "type": "string"}]}}},
    ],
}  # fmt: skip


@pytest.fixture
def registry():
    with SchemaRegistry() as running:
        yield running


@pytest.fixture
def topic(broker, request):
    name = request.node.name.replace("[", "-").replace("]", "")
    broker.create_topic(name, partitions=2)
    return name


def decode(registry, more: str = "") -> str:
    return f'{{value: {{format: avro}}, schema_registry: {{url: "{registry.url}"{more}}}}}'


def config_of(lake, broker, topic, registry, columns: str | None = None, **more):
    return lake.config(pipeline(broker, [topic], columns=columns, decode=decode(registry), **more))


def test_three_versions_of_a_schema_grow_the_table(broker, topic, registry, lake):
    from decimal import Decimal

    one, two, three = (registry.register(f"{topic}-value", schema) for schema in (V1, V2, V3))
    broker.produce(topic, (frame(one, V1, {"id": i, "amount": i}) for i in range(100)), partition=0)
    config = config_of(lake, broker, topic, registry)
    firn("run", config, "--until-caught-up").ok()
    later = {"id": 200, "amount": 1 << 40, "note": "n", "price": Decimal("12.34"), "lines": [{"sku": "a"}, {"sku": "b"}]}
    broker.produce(topic, [frame(two, V2, {"id": 100, "amount": 1, "note": "x"}), frame(three, V3, later), frame(one, V1, {"id": 300, "amount": 3})], partition=0)
    firn("run", config, "--until-caught-up").ok()
    rows = {row["id"]: row for row in lake.read(TABLE).to_pylist()}
    assert len(rows) == 103
    assert rows[7] == {"id": 7, "amount": 7, "note": None, "price": None, "lines": None}
    assert rows[100]["note"] == "x"
    assert rows[200] == later
    # PyIceberg does not tell a null list of structs from an empty one.
    assert {**rows[300], "lines": None} == {"id": 300, "amount": 3, "note": None, "price": None, "lines": None}
    schema = lake.pyiceberg().load_table(TABLE).schema()
    assert str(schema.find_field("amount").field_type) == "long"
    assert schema.find_field("note").doc == "by the customer"
    assert schema.find_field("amount").doc == "in cents"
    assert not schema.find_field("id").required


def test_an_id_that_the_registry_does_not_know_is_a_dead_letter(broker, topic, registry, lake):
    one = registry.register(f"{topic}-value", V1)
    other = registry.register("other", '{"type": "object"}', schema_type="JSON")
    good = frame(one, V1, {"id": 1, "amount": 1})
    bad = [frame(999, V1, {"id": 2, "amount": 2}), frame(other, V1, {"id": 3, "amount": 3}), b'{"id": 4}', good[:-1]]
    broker.produce(topic, [good, *bad, good], partition=0)
    firn("run", config_of(lake, broker, topic, registry, extra="dead_letters: {fail_above: {ratio: 1}}"), "--until-caught-up").ok()
    assert lake.read(TABLE).num_rows == 2
    letters = lake.read("shop.orders_dead_letters").to_pylist()
    reasons = [letter["reason"] for letter in sorted(letters, key=lambda letter: letter["offset"])]
    assert reasons == ["unknown_schema_id", "unusable_schema", "unframed_avro", "malformed_avro"]


def test_records_wait_for_a_registry_that_is_away(broker, topic, registry, lake, tmp_path):
    """FIRN_TEST_OUTAGE_S=600 makes the outage ten minutes (with --timeout=900)."""
    one, two = (registry.register(f"{topic}-value", schema) for schema in (V1, V2))
    broker.produce(topic, [frame(one, V1, {"id": 1, "amount": 1})], partition=0)
    running = start_firn("run", config_of(lake, broker, topic, registry, interval="500ms"), log=tmp_path / "firn.log")
    wait_until(lambda: lake.read(TABLE).num_rows == 1, what="the first row")
    registry.stop()
    broker.produce(topic, [frame(one, V1, {"id": 2, "amount": 2})], partition=1)
    wait_until(lambda: lake.read(TABLE).num_rows == 2, what="a record whose schema is known already")
    broker.produce(topic, [frame(two, V2, {"id": 3, "amount": 3, "note": "late"})], partition=0)
    wait_until(lambda: "waiting for schema" in running.output, what="the trouble in the log")
    time.sleep(float(os.environ.get("FIRN_TEST_OUTAGE_S", "0")))
    assert running.alive()
    registry.start()
    wait_until(lambda: lake.read(TABLE).num_rows == 3, what="the record that waited")
    assert running.stop() == 0, running.output
    assert sorted(lake.read(TABLE).column("id").to_pylist()) == [1, 2, 3]
    assert not lake.pyiceberg().table_exists("shop.orders_dead_letters") or lake.read("shop.orders_dead_letters").num_rows == 0


def test_a_process_that_waits_for_the_registry_can_be_stopped(broker, topic, registry, lake, tmp_path):
    one = registry.register(f"{topic}-value", V1)
    broker.produce(topic, [frame(one, V1, {"id": 1, "amount": 1})], partition=0)
    registry.stop()
    config = config_of(lake, broker, topic, registry)
    running = start_firn("run", config, log=tmp_path / "firn.log")
    wait_until(lambda: "schema registry" in running.output, what="the trouble in the log")
    assert running.stop() == 0, running.output
    registry.start()
    firn("run", config, "--until-caught-up").ok()
    assert lake.read(TABLE).num_rows == 1


def test_wrong_credentials_end_the_run_with_a_remedy_and_no_secret(broker, topic, lake):
    with SchemaRegistry("user", "right") as registry:
        one = registry.register(f"{topic}-value", V1)
        broker.produce(topic, [frame(one, V1, {"id": 1, "amount": 1})], partition=0)
        for password, code in (("hunter2", 1), ("right", 0)):
            text = decode(registry, f", auth: {{username: user, password: {password}}}")
            done = firn("run", lake.config(pipeline(broker, [topic], columns=None, decode=text)), "--until-caught-up")
            assert done.code == code, done.err
            assert code == 0 or ("schema_registry.auth" in done.out and password not in done.err + done.out)


def test_the_same_flights_as_json_and_as_avro_give_equal_tables(broker, registry, lake, flights_file):
    flights = next(parquet.ParquetFile(flights_file).iter_batches(20_000)).to_pylist()
    schema = {
        "type": "record",
        "name": "Flight",
        "fields": [
            {"name": "date", "type": {"type": "long", "logicalType": "local-timestamp-micros"}},
            *({"name": name, "type": ["null", "int"]} for name in ("delay", "distance")),
            *({"name": name, "type": "string"} for name in ("origin", "destination")),
        ],
    }
    for name in ("flights-json", "flights-avro"):
        broker.create_topic(name, partitions=2)
    broker.produce("flights-json", (json.dumps({**row, "date": row["date"].isoformat()}) for row in flights))
    schema_id = registry.register("flights-avro-value", schema)
    broker.produce("flights-avro", (frame(schema_id, schema, row) for row in flights))
    columns = (
        "[{name: date, type: timestamp}, {name: delay, type: int}, {name: distance, type: int},"
        " {name: origin, type: string}, {name: destination, type: string}]"
    )
    firn("run", lake.config(pipeline(broker, ["flights-json"], "lake.travel.as_json", columns)), "--until-caught-up").ok()
    text = pipeline(broker, ["flights-avro"], "lake.travel.as_avro", None, key="avro", decode=decode(registry))
    firn("run", lake.config(text), "--until-caught-up").ok()
    assert_same_rows(lake.read("travel.as_avro"), lake.read("travel.as_json"))
    assert_same_rows(lake.read_duckdb("travel.as_avro"), lake.read("travel.as_json"))


def test_the_newest_schema_of_a_subject_makes_the_table_of_an_empty_topic(broker, topic, registry, lake, tmp_path):
    registry.register(f"{topic}-value", V1)
    registry.register(f"{topic}-value", V2)
    text = f'{{value: {{format: avro, subject: {topic}-value}}, schema_registry: {{url: "{registry.url}"}}}}'
    firn("run", lake.config(pipeline(broker, [topic], columns=None, decode=text)), "--until-caught-up").ok()
    assert lake.pyiceberg().load_table(TABLE).schema().column_names == ["id", "amount", "note"]


def test_the_example_of_the_docs(broker, lake, registry):
    """The pipeline file of docs/avro.md, with this test's addresses in it."""
    from kafka_broker import ROOT

    text = (ROOT / "docs/avro.md").read_text()
    example = text.split("```yaml\n", 1)[1].split("```", 1)[0]
    broker.create_topic("orders")
    one = registry.register("orders-value", V1)
    broker.produce("orders", [frame(one, V1, {"id": 1, "amount": 1})])
    path = lake.folder / "firn.yaml"
    path.write_text(example.replace("localhost:9092", broker.bootstrap).replace("http://localhost:8081", registry.url))
    firn("run", path, "--until-caught-up", cwd=lake.folder).ok()
    assert '"id":1,"amount":1' in firn("table", "read", "lake.shop.orders", "-c", path, "--format", "jsonl", cwd=lake.folder).ok().out
