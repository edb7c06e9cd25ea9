"""`firn offsets show|set|reset` against a real broker: dry by default, through the fence, and the run that follows goes on there."""

from __future__ import annotations

import json
import time

from confluent_kafka import Consumer, TopicPartition
from firn import firn, start_firn, wait_until
from pipelines import orders, pipeline

TABLE = "shop.orders"


def ids(lake) -> list[int]:
    return sorted(lake.read(TABLE).column("id").to_pylist())


def run(config):
    return firn("run", config, "--until-caught-up").ok()


def show(config) -> dict:
    return json.loads(firn("offsets", "show", config, "--json").ok().out)["tables"][0]


def positions(config) -> dict[int, int]:
    return {p["partition"]: p["position"] for p in show(config)["partitions"]}


def filled(broker, topic, lake, count=100, **more):
    """Records 0..count-1 in partition 0 and count..2*count-1 in partition 1, all in the table."""
    broker.produce(topic, orders(0, count), partition=0)
    broker.produce(topic, orders(count, count), partition=1)
    config = lake.config(pipeline(broker, [topic], **more))
    run(config)
    return config


def test_show_tells_positions_and_lag(broker, topic, lake):
    config = filled(broker, topic, lake)
    broker.produce(topic, orders(200, 30), partition=1)
    shown = show(config)
    assert shown["goes-on"] and shown["epoch"] >= 1
    assert [(p["position"], p["log-end"], p["lag"], p["state"]) for p in shown["partitions"]] == [
        (100, 100, 0, "goes on"), (100, 130, 30, "goes on")]  # fmt: skip
    text = firn("offsets", "show", config).ok().out
    assert "POSITION" in text and "\t100\t0\t130\t30\tgoes on" in text
    offline = json.loads(firn("offsets", "show", config, "--json", "--offline").ok().out)["tables"][0]
    assert offline["partitions"][0]["log-end"] is None


def test_set_by_offset_is_dry_until_yes_and_then_reads_again(broker, topic, lake):
    config = filled(broker, topic, lake)
    dry = firn("offsets", "set", config, "--offset", f"{topic}:0=90").ok().out
    assert "10 read again" in dry and "Nothing was changed" in dry
    assert positions(config) == {0: 100, 1: 100}
    done = firn("offsets", "set", config, "--offset", f"{topic}:0=90", "--yes").ok().out
    assert "Committed as snapshot" in done
    assert positions(config) == {0: 90, 1: 100}
    head = lake.pyiceberg().load_table(TABLE).current_snapshot()
    assert head.summary["firn.operator"] == f"offsets set --offset {topic}:0=90"
    again = json.loads(firn("offsets", "set", config, "--offset", f"{topic}:0=90", "--yes", "--json").ok().out)
    assert again == {"moves": [], "outcome": "nothing-to-do"}
    run(config)
    assert ids(lake) == sorted([*range(200), *range(90, 100)])
    assert positions(config) == {0: 100, 1: 100}


def test_set_by_time_and_reset_to_the_ends(broker, topic, lake):
    base = int(time.time() * 1000) - 3_600_000
    broker.produce(topic, orders(0, 10), partition=0, timestamps_ms=[base + i * 1000 for i in range(10)])
    config = lake.config(pipeline(broker, [topic]))
    run(config)
    firn("offsets", "set", config, "--time", str(base + 7000), "--yes").ok()
    assert positions(config) == {0: 7, 1: 0}
    firn("offsets", "reset", config, "--yes").ok()
    assert positions(config) == {0: 0, 1: 0}
    broker.produce(topic, orders(10, 5), partition=0)
    firn("offsets", "reset", config, "--to", "latest", "--yes").ok()
    assert positions(config) == {0: 15, 1: 0}
    run(config)
    assert ids(lake) == list(range(10))


def test_set_from_a_consumer_group(broker, topic, lake):
    config = filled(broker, topic, lake)
    group = f"another-{topic}"
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group})
    consumer.commit(offsets=[TopicPartition(topic, 1, 42)], asynchronous=False)
    consumer.close()
    firn("offsets", "set", config, "--group", group, "--yes").ok()
    assert positions(config) == {0: 100, 1: 42}
    missing = firn("offsets", "set", config, "--group", "no-such-group", "--yes")
    assert missing.code == 2 and "no-such-group" in missing.err


def test_a_running_pipeline_goes_on_where_the_operator_says(broker, topic, lake, tmp_path):
    broker.produce(topic, orders(0, 100), partition=0)
    config = lake.config(pipeline(broker, [topic], interval="300ms"))
    running = start_firn("run", config, log=tmp_path / "firn.log")
    wait_until(lambda: len(ids(lake)) == 100, what="the first rows")
    firn("offsets", "set", config, "--offset", f"{topic}:0=95", "--yes").ok()
    broker.produce(topic, orders(100, 10), partition=0)
    wait_until(lambda: len(ids(lake)) >= 115, what="the rows that are read again")
    assert running.stop() == 0, running.output
    assert ids(lake) == sorted([*range(110), *range(95, 100)])


def test_after_a_rollback_history_reads_again_what_is_gone(broker, topic, lake):
    config = filled(broker, topic, lake)
    kept = lake.pyiceberg().load_table(TABLE).current_snapshot().snapshot_id
    broker.produce(topic, orders(200, 50), partition=0)
    run(config)
    lake.pyiceberg().load_table(TABLE).manage_snapshots().rollback_to_snapshot(kept).commit()
    assert len(ids(lake)) == 200
    stopped = firn("run", config, "--until-caught-up")
    assert stopped.code == 3 and "offsets set" in stopped.err + stopped.out
    assert not show(config)["goes-on"]
    firn("offsets", "set", config, "--to", "history", "--yes").ok()
    run(config)
    assert ids(lake) == list(range(250))


def test_after_a_rollback_recorded_leaves_what_is_gone(broker, topic, lake):
    config = filled(broker, topic, lake)
    kept = lake.pyiceberg().load_table(TABLE).current_snapshot().snapshot_id
    broker.produce(topic, orders(200, 50), partition=0)
    run(config)
    lake.pyiceberg().load_table(TABLE).manage_snapshots().rollback_to_snapshot(kept).commit()
    dry = firn("offsets", "set", config, "--to", "recorded").ok().out
    assert "numbers stay" in dry
    firn("offsets", "set", config, "--to", "recorded", "--yes").ok()
    broker.produce(topic, orders(250, 10), partition=0)
    run(config)
    assert ids(lake) == [*range(200), *range(250, 260)]


def test_a_recreated_topic_is_read_after_the_operators_word(broker, topic, lake):
    config = filled(broker, topic, lake, count=50)
    broker.delete_topic(topic)
    broker.create_topic(topic, partitions=2)
    broker.produce(topic, orders(1000, 70), partition=0)
    stopped = firn("run", config, "--until-caught-up")
    assert stopped.code == 3 and "firn offsets reset" in stopped.err + stopped.out
    firn("offsets", "reset", config, "--to", "earliest", "--yes").ok()
    run(config)
    assert ids(lake) == [*range(100), *range(1000, 1070)]


def test_bad_input_names_what_is_allowed(broker, topic, lake):
    config = filled(broker, topic, lake)
    for arguments, word in [
        (["set"], "exactly one way"),
        (["set", "--offset", f"{topic}:0=5", "--to", "recorded"], "exactly one way"),
        (["set", "--offset", f"{topic}=5"], "TOPIC:PARTITION=OFFSET"),
        (["set", "--offset", f"{topic}:0=101"], "0 to 100"),
        (["set", "--offset", f"{topic}x:0=1"], topic),
        (["set", "--offset", f"{topic}:7=1"], "[7]"),
        (["set", "--to", "latest"], "recorded or history"),
        (["set", "--time", "yesterday"], "yesterday"),
        (["reset", "--to", "begin"], "start, earliest or latest"),
        (["reset", "--topic", f"{topic}x"], topic),
        (["show", "--pipeline", "other"], "orders"),
    ]:
        done = firn("offsets", arguments[0], config, *arguments[1:])
        assert done.code == 2, (arguments, done.err)
        assert word in done.err, (arguments, done.err)
    assert positions(config) == {0: 100, 1: 100}


def test_a_table_that_is_not_there(broker, topic, lake):
    config = lake.config(pipeline(broker, [topic]))
    done = firn("offsets", "show", config)
    assert done.code in (1, 2) and done.err


def test_files_are_remembered_by_file(lake, tmp_path):
    landing = tmp_path / "landing"
    landing.mkdir()
    (landing / "a.jsonl").write_text("".join(line + "\n" for line in orders(0, 10)))
    config = lake.config(
        f"pipelines:\n  orders:\n    source: {{files: {{path: {landing}, mode: once}}}}\n    decode: json\n"
        "    tables:\n      - name: lake.shop.orders\n        columns: [{name: id, type: long}, {name: text, type: string}]\n"
    )  # fmt: skip
    firn("run", config).ok()
    shown = show(config)
    assert shown["goes-on"] and sum(p["position"] for p in shown["partitions"]) > 0
    refused = firn("offsets", "set", config, "--time", "2026-01-01")
    assert refused.code == 2 and "remembered by file" in refused.err
    firn("offsets", "reset", config, "--yes").ok()
    firn("run", config).ok()
    assert ids(lake) == sorted([*range(10), *range(10)])
