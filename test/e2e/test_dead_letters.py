"""`firn dead-letters list|show|replay` with a real broker: records come in once, at their own positions, also when replay is killed."""

from __future__ import annotations

import json
import time

from firn import firn, start_firn
from pipelines import orders, pipeline

TABLE = "shop.orders"
STRICT = "[{name: id, type: long}, {name: text, type: string}, {name: size, type: int}]"
MENDED = "[{name: id, type: long}, {name: text, type: string}, {name: size, type: int, from: no_such_field}]"


def bad(first: int, count: int) -> list[str]:
    return [f'{{"id": {i}, "text": "order {i}", "size": "large"}}' for i in range(first, first + count)]


def config(broker, topic, lake, columns: str = STRICT, **more):
    unbounded = "dead_letters: {fail_above: {ratio: 1.0, min_records: 1000}}"
    return lake.config(pipeline(broker, [topic], columns=columns, table_extra="kafka_columns: true", extra=unbounded, **more))


def ids(lake) -> list[int]:
    return sorted(lake.read(TABLE).column("id").to_pylist())


def listed(file) -> list[dict]:
    return json.loads(firn("dead-letters", "list", file, "--json").ok().out)["letters"]


def test_list_and_show(broker, topic, lake):
    broker.produce(topic, [*orders(0, 5), "{broken", *bad(5, 3)], partition=1, keys=[f"k{i}" for i in range(9)])
    file = config(broker, topic, lake)
    assert firn("dead-letters", "list", file).ok().out.startswith("no letter waits")
    firn("run", file, "--until-caught-up").ok()
    assert {(g["reason"], g["waiting"], g["replayed"]) for g in listed(file)} == {("malformed_json", 1, 0), ("type_mismatch", 3, 0)}
    shown = [json.loads(line) for line in firn("dead-letters", "show", file, "--json").ok().out.splitlines()]
    assert sorted((s["partition"], s["offset"], s["key"]) for s in shown) == [(1, 5 + i, f"k{5 + i}") for i in range(4)]
    text = firn("dead-letters", "show", file, "--reason", "malformed_json").ok().out
    assert f"{topic}[1] offset 5" in text and "{broken" in text and "large" not in text
    assert "and 2 more" in firn("dead-letters", "show", file, "--reason", "type_mismatch", "--limit", "1").ok().out


def test_replay_brings_mended_records_in_once_with_their_positions(broker, topic, lake):
    broker.produce(topic, [*orders(0, 5), *bad(5, 3), *orders(8, 2)], partition=1)
    firn("run", config(broker, topic, lake), "--until-caught-up").ok()
    mended = config(broker, topic, lake, columns=MENDED)
    assert "3 letters wait. Nothing was changed" in firn("dead-letters", "replay", mended).ok().out
    assert len(ids(lake)) == 7
    done = json.loads(firn("dead-letters", "replay", mended, "--yes", "--json").ok().out)
    assert (done["letters"], done["bad-again"]) == (3, 0)
    rows = {r["id"]: r["_kafka"] for r in lake.read(TABLE).to_pylist()}
    assert sorted(rows) == list(range(10)) and all(rows[i]["offset"] == i and rows[i]["partition"] == 1 for i in rows)
    assert [(g["waiting"], g["replayed"]) for g in listed(mended)] == [(0, 3)]
    assert json.loads(firn("dead-letters", "replay", mended, "--yes", "--json").ok().out)["letters"] == 0
    broker.produce(topic, orders(10, 5), partition=1)
    firn("run", mended, "--until-caught-up").ok()
    assert ids(lake) == list(range(15))
    assert firn("verify", "lake." + TABLE, "-c", mended, "--pipeline", "orders").code == 0


def test_what_is_still_bad_is_set_aside_again(broker, topic, lake):
    broker.produce(topic, [*orders(0, 2), *bad(2, 3), "{broken"], partition=0)
    firn("run", config(broker, topic, lake), "--until-caught-up").ok()
    mended = config(broker, topic, lake, columns=MENDED)
    done = json.loads(firn("dead-letters", "replay", mended, "--yes", "--json").ok().out)
    assert (done["letters"], done["bad-again"]) == (4, 1)
    assert ids(lake) == list(range(5))
    assert sum(g["waiting"] for g in listed(mended)) == 1


def test_a_replay_that_is_killed_again_and_again_loses_and_doubles_nothing(broker, topic, lake, tmp_path):
    broker.produce(topic, [*orders(0, 500), *bad(500, 4000), *orders(4500, 500)], partition=0)
    broker.produce(topic, bad(5000, 1000), partition=1)
    firn("run", config(broker, topic, lake), "--until-caught-up").ok()
    mended = config(broker, topic, lake, columns=MENDED, interval="100ms")
    for after_s in (0.15, 0.3, 0.45, 0.6, 0.8, 1.0):
        running = start_firn("dead-letters", "replay", mended, "--yes", log=tmp_path / "replay.log")
        time.sleep(after_s)
        running.kill()
    firn("dead-letters", "replay", mended, "--yes").ok()
    assert ids(lake) == list(range(6000))
    assert sum(g["waiting"] for g in listed(mended)) == 0


def test_many_tables_and_records_that_had_no_table(broker, topic, lake):
    broker.produce(topic, [*orders(0, 5), *bad(5, 3)], partition=0)
    other = topic + "-other"
    broker.create_topic(other)
    broker.produce(other, orders(100, 4), partition=0)

    def rules(columns: str, more: str = "") -> object:
        return lake.config(
            f"pipelines:\n  orders:\n    source:\n      kafka:\n        bootstrap_servers: {broker.bootstrap}\n"
            f"        topics: [{topic}, {other}]\n    decode: json\n    tables:\n"
            f"      - {{match: {{topic: {topic}}}, name: lake.shop.orders, columns: {columns}}}\n{more}"
            "    dead_letters: {table: lake.shop.letters}\n"
        )  # fmt: skip

    firn("run", rules(STRICT), "--until-caught-up").ok()
    assert {(g["reason"], g["waiting"]) for g in listed(rules(STRICT))} == {("type_mismatch", 3), ("no_route", 4)}
    file = rules(MENDED, f"      - {{match: {{topic: {other}}}, name: lake.shop.others, columns: [{{name: id, type: long}}]}}\n")
    done = json.loads(firn("dead-letters", "replay", file, "--yes", "--json").ok().out)
    assert (done["letters"], done["bad-again"]) == (7, 0)
    assert ids(lake) == list(range(8))
    assert sorted(lake.read("shop.others").column("id").to_pylist()) == list(range(100, 104))
    broker.produce(other, orders(104, 2), partition=0)
    firn("run", file, "--until-caught-up").ok()
    assert sorted(lake.read("shop.others").column("id").to_pylist()) == list(range(100, 106))
    assert ids(lake) == list(range(8))
