"""Many tables behind one source: 300 topics into 300 tables by one rule, with 3 that fail; and the example of the documentation."""

from __future__ import annotations

import json
import re
import time
import urllib.request
from pathlib import Path

from confluent_kafka.admin import NewTopic
from firn import firn, start_firn, wait_until
from kafka_broker import ROOT, free_port
from memory import peak_bytes

TOPICS = 300
FAILING = (7, 123, 250)
COLUMNS = "[{name: id, type: long}, {name: text, type: string}]"


def name(i: int) -> str:
    return f"t{i:03}"


def make_topics(broker, topics: list[str], partitions: int = 1) -> None:
    made = broker.admin.create_topics([NewTopic(topic, partitions, 1) for topic in topics])
    for future in made.values():
        future.result(60)


def produce_round(broker, prefix: str, number: int, each: int) -> None:
    """`each` records to every topic; ids say which topic and where in it."""
    producer = broker.producer()
    for i in range(TOPICS):
        for k in range(number * each, (number + 1) * each):
            producer.produce(prefix + name(i), f'{{"id": {i * 1_000_000 + k}, "text": "record {k}"}}')
    assert producer.flush(60) == 0


def status(port: int) -> dict:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/status", timeout=10) as answer:
        return json.load(answer)["pipelines"][0]


def config_of(lake, broker, prefix: str, port: int) -> Path:
    return lake.config(
        f"""resources: {{memory: 256MiB, threads: 2}}
listen: 127.0.0.1:{port}
pipelines:
  many:
    source:
      kafka:
        bootstrap_servers: {broker.bootstrap}
        topics_pattern: "{prefix.replace(".", "[.]")}.*"
    decode: json
    tables:
      - match: {{topic: "{prefix.replace(".", "[.]")}(.*)"}}
        name: "lake.shop.{{topic:1}}"
        columns: {COLUMNS}
    commit: {{interval: 2s}}
"""
    )


def test_300_topics_go_to_300_tables_and_3_that_fail_harm_nobody(broker, lake, tmp_path):
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.schema import Schema
    from pyiceberg.types import NestedField, StringType

    prefix, each = "many.", 20
    make_topics(broker, [prefix + name(i) for i in range(TOPICS)])
    lake.warehouse.mkdir(parents=True)
    catalog = SqlCatalog("lake", uri=f"sqlite:///{lake.database}", warehouse=f"file://{lake.warehouse}")
    catalog.create_namespace("shop")
    for i in FAILING:
        catalog.create_table(f"shop.{name(i)}", Schema(NestedField(1, "id", StringType())))
    port = free_port()
    config = config_of(lake, broker, prefix, port)
    produce_round(broker, prefix, 0, each)
    running = start_firn("run", config, log=tmp_path / "firn.log")
    good = TOPICS - len(FAILING)
    wait_until(lambda: status(port)["rows-committed"] == good * each, timeout_s=90, what="the first round")

    produce_round(broker, prefix, 1, each)
    produced = time.monotonic()
    wait_until(lambda: status(port)["rows-committed"] == 2 * good * each, timeout_s=60, what="the second round")
    fresh_s = time.monotonic() - produced
    assert fresh_s < 30, f"the tables that are well were {fresh_s:.0f} s behind"
    tables = {table["table"]: table for table in status(port)["tables"]}
    assert len(tables) == TOPICS
    failed = sorted(table for table, shown in tables.items() if shown["state"] == "FAILED")
    assert failed == [f"lake.shop.{name(i)}" for i in FAILING]
    assert "declared long" in tables[failed[0]]["reason"]
    assert all(shown["positions"][0]["next"] == 2 * each for table, shown in tables.items() if table not in failed)
    text = firn("status", "--at", f"127.0.0.1:{port}").ok().out
    assert f"lake.shop.{name(7)}: " in text and "FAILED" in text

    peak = peak_bytes(running.process.pid)
    assert peak < 512 << 20, f"{peak >> 20} MiB"
    assert running.stop() == 1, running.output[-3000:]
    assert "3 of 300 tables failed" in running.output

    for i in FAILING:
        catalog.drop_table(f"shop.{name(i)}")
    produce_round(broker, prefix, 2, each)
    done = firn("run", config, "--until-caught-up").ok()
    assert "catches up by a read of its own" in done.err
    for i in range(TOPICS):
        ids = sorted(lake.read(f"shop.{name(i)}").column("id").to_pylist())
        assert ids == [i * 1_000_000 + k for k in range(3 * each)], name(i)
    print(f"siblings fresh after {fresh_s:.1f} s, peak memory {peak >> 20} MiB")


def example(broker, lake) -> Path:
    """The pipeline file of docs/many-tables.md, with the broker and the folders of the test."""
    text = (ROOT / "docs/many-tables.md").read_text()
    yaml = re.search(r"```yaml\n(.*?)```", text, re.DOTALL).group(1)
    yaml = yaml.replace("localhost:9092", broker.bootstrap).replace("sqlite:lake/catalog.db", f"sqlite:{lake.database}")
    yaml = yaml.replace("lake/warehouse", str(lake.warehouse))
    path = lake.folder / "example.yaml"
    path.write_text(yaml)
    return path


def test_the_example_of_the_documentation(broker, lake):
    make_topics(broker, ["shop.events", "shop.items", "shop.old-items"], partitions=2)
    broker.produce("shop.events", [
        '{"id": 1, "type": "order_made"}', '{"id": 2, "type": "click"}', '{"id": 3, "type": "order_sent"}', '{"id": 4}',
    ])  # fmt: skip
    broker.produce("shop.items", ['{"id": 10, "text": "a"}', '{"id": 11, "text": "b"}'])
    broker.produce("shop.old-items", ['{"id": 20, "text": "c"}'])
    config = example(broker, lake)
    checked = firn("check", config).ok().out
    assert "shop\\.events, type like order.* -> lake.shop.orders (will be created)" in checked
    assert "no table made yet" in checked
    dry = firn("run", config, "--dry-run").ok().out
    assert "lake.shop.old_items" in dry and "no table (no_table_name): 1 records" in dry
    firn("run", config, "--until-caught-up").ok()

    def ids(table: str) -> list[int]:
        return sorted(lake.read(table).column("id").to_pylist())

    assert ids("shop.orders") == [1, 3]
    assert ids("events.click") == [2]
    assert ids("shop.items") == [10, 11]
    assert ids("shop.old_items") == [20]
    letters = lake.read("shop.dead_letters").to_pylist()
    assert [letter["reason"] for letter in letters] == ["no_table_name"]
    assert "2 tables so far" in firn("check", config).ok().out
