"""`firn verify` finds what a test plants, in tables of Firn and of others, by the numbers alone and against a real broker."""

from __future__ import annotations

import json

import pyarrow as pa
from firn import firn
from pipelines import orders, pipeline

TABLE = "shop.orders"


def verify(config, *more, table: str = "lake." + TABLE) -> tuple[int, dict]:
    done = firn("verify", table, "-c", config, "--json", *more)
    assert done.code in (0, 1), done.err
    return done.code, json.loads(done.out)


def found(report: dict, partition: int, what: str) -> list:
    return next(p for p in report["partitions"] if p["partition"] == partition)[what]["listed"]


def filled(broker, topic, lake, **more):
    broker.produce(topic, orders(0, 1000), partition=0)
    broker.produce(topic, orders(1000, 500), partition=1)
    config = lake.config(pipeline(broker, [topic], table_extra="kafka_columns: true", **more))
    firn("run", config, "--until-caught-up").ok()
    return config


def rows(lake, first: int, count: int) -> pa.Table:
    return lake.read(TABLE).filter(pa.compute.is_in(pa.compute.field("id"), pa.array(range(first, first + count))))


def delete(lake, first: int, count: int) -> None:
    lake.pyiceberg().load_table(TABLE).delete(f"id >= {first} and id < {first + count}")


def test_each_record_once_is_clean_with_and_without_the_broker(broker, topic, lake):
    config = filled(broker, topic, lake)
    for more in [(), ("--pipeline", "orders"), ("--pipeline", "orders", "--from-log-start")]:
        code, report = verify(config, *more)
        assert code == 0 and report["clean"] and report["rows"] == 1500, report
    text = firn("verify", "lake." + TABLE, "-c", config).ok().out
    assert "nothing is missing, nothing is there twice" in text


def test_a_hole_a_repeat_and_a_missing_tail_are_found(broker, topic, lake):
    config = filled(broker, topic, lake)
    lake.pyiceberg().load_table(TABLE).append(rows(lake, 20, 5))
    delete(lake, 100, 10)
    delete(lake, 1480, 20)
    for more in [(), ("--pipeline", "orders")]:
        code, report = verify(config, *more)
        assert code == 1, report
        assert found(report, 0, "holes") == [[100, 110]]
        assert found(report, 0, "repeated") == [[20, 25]]
        assert found(report, 1, "tail") == [[480, 500]]
        assert found(report, 1, "holes") == [] and found(report, 0, "tail") == []
    done = firn("verify", "lake." + TABLE, "-c", config, "--pipeline", "orders")
    assert done.code == 1
    assert f"{topic}[0]: 10 offsets of records without a row: 100 to 109" in done.out
    assert f"{topic}[0]: 5 offsets in more than one row: 20 to 24" in done.out
    assert f"{topic}[1]: 20 offsets of records without a row at the end: 480 to 499" in done.out


def test_what_waits_is_not_missing(broker, topic, lake):
    config = filled(broker, topic, lake)
    broker.produce(topic, orders(5000, 40), partition=1)
    code, report = verify(config, "--pipeline", "orders")
    assert code == 0 and [p["waiting"] for p in report["partitions"]] == [0, 40]


def test_dead_letters_tombstones_and_gaps_of_transactions_are_accounted_for(broker, topic, lake):
    broker.produce(topic, [*orders(0, 10), "{broken", None, *orders(10, 10)], partition=0)
    producer = broker.producer(**{"transactional.id": topic})
    producer.init_transactions()
    for abort in (False, True, False):
        producer.begin_transaction()
        for value in orders(100, 5):
            producer.produce(topic, value, partition=0)
        producer.abort_transaction() if abort else producer.commit_transaction()
    config = lake.config(pipeline(broker, [topic], table_extra="kafka_columns: true"))
    firn("run", config, "--until-caught-up").ok()
    code, report = verify(config, "--pipeline", "orders")
    assert code == 0, report
    assert (report["partitions"][0]["dead-letters"], report["partitions"][0]["tombstones"]) == (1, 1)
    code, report = verify(config)
    assert code == 1 and found(report, 0, "holes")[0] == [10, 12], "by the numbers alone these are holes"


def test_what_retention_took_is_unproven(broker, topic, lake):
    config = filled(broker, topic, lake)
    delete(lake, 100, 10)
    broker.delete_records(topic, 0, 500)
    code, report = verify(config, "--pipeline", "orders")
    assert code == 1 and found(report, 0, "unproven") == [[100, 110]] and found(report, 0, "holes") == []
    assert verify(config, "--pipeline", "orders", "--only-provable")[0] == 0


def test_a_table_of_somebody_else(broker, topic, lake):
    """Filled by another program, with columns of its own names; Firn's pipeline only names the source."""
    broker.produce(topic, orders(0, 100), partition=0)
    config = lake.config(pipeline(broker, [topic], table="lake.shop.unused"))
    offsets = [o for o in range(90) if o != 40] + [7]
    data = pa.table({"src_part": pa.array([0] * len(offsets), pa.int32()), "src_off": pa.array(offsets, pa.int64())})
    firn("catalog", "create-namespace", "lake.shop", "-c", config).ok()
    lake.pyiceberg().create_table(TABLE, schema=data.schema).append(data)
    missing = firn("verify", "lake." + TABLE, "-c", config)
    assert missing.code == 2 and "--offset-column" in missing.err
    named = ("--topic", topic, "--partition-column", "src_part", "--offset-column", "src_off")
    code, report = verify(config, *named)
    assert code == 1 and found(report, 0, "holes") == [[40, 41]] and found(report, 0, "repeated") == [[7, 8]]
    code, report = verify(config, *named, "--pipeline", "orders")
    assert code == 1 and found(report, 0, "tail") == [[90, 100]] and found(report, 0, "holes") == [[40, 41]]


def test_bad_input(broker, topic, lake):
    config = filled(broker, topic, lake)
    for arguments, word in [
        (["lake.shop.nothing"], "nothing"),
        (["lake." + TABLE, "--offset-column", "text"], "text"),
        (["lake." + TABLE, "--pipeline", "other"], "orders"),
        (["lake." + TABLE, "--from-log-start"], "--pipeline"),
        (["lake." + TABLE, "--topic", "a", "--topic-column", "b"], "exclude"),
    ]:
        done = firn("verify", *arguments, "-c", config)
        assert done.code == 2, (arguments, done.code, done.err)
        assert word in done.err, (arguments, done.err)
