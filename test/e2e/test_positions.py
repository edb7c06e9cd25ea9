"""Where a pipeline resumes (docs/guarantees.md), row by row, against a real broker: nothing is lost or doubled, or the run stops with exit code 3."""

from __future__ import annotations

import json
import shutil
import time
import urllib.request

import pytest
from firn import firn, start_firn, wait_until
from kafka_broker import free_port
from pipelines import orders, pipeline

TABLE = "shop.orders"


def ids(lake) -> list[int]:
    return sorted(lake.read(TABLE).column("id").to_pylist())


def run(config, *more):
    return firn("run", config, "--until-caught-up", *more).ok()


def stops(config, word: str, *more) -> str:
    done = firn("run", config, "--until-caught-up", *more)
    words = done.err + done.out
    assert done.code == 3, f"exit code {done.code}: {words[-2000:]}"
    assert word in words, words[-2000:]
    return words


def table(lake):
    return lake.pyiceberg().load_table(TABLE)


def expire_all_but_the_head(lake) -> None:
    current = table(lake)
    head = current.current_snapshot().snapshot_id
    current.maintenance.expire_snapshots().by_ids([s.snapshot_id for s in current.metadata.snapshots if s.snapshot_id != head]).commit()


def foreign_rows(lake, first: int, count: int):
    rows = lake.read(TABLE).slice(0, count).to_pylist()
    import pyarrow as pa

    schema = lake.read(TABLE).schema
    table(lake).append(pa.Table.from_pylist([{**row, "id": first + i} for i, row in enumerate(rows)], schema=schema))


def shown_partitions(config) -> list[dict]:
    return json.loads(firn("offsets", "show", config, "--json").ok().out)["tables"][0]["partitions"]


def records_of(broker, topic: str, partition: int = 0) -> list[tuple[int, bytes]]:
    """Offset and value of all that the partition's log holds now."""
    from confluent_kafka import Consumer, TopicPartition

    low, end = broker.watermarks(topic, partition)
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "records-of", "enable.partition.eof": True})
    consumer.assign([TopicPartition(topic, partition, low)])
    found: list[tuple[int, bytes]] = []
    while end > low and (message := consumer.poll(10)) is not None and not message.error():
        found.append((message.offset(), message.value()))
    consumer.close()
    return found


def test_every_snapshot_of_ours_expired_by_another_engine(broker, topic, lake):
    broker.produce(topic, orders(0, 50), partition=0)
    broker.produce(topic, orders(50, 50), partition=1)
    config = lake.config(pipeline(broker, [topic]))
    run(config)
    foreign_rows(lake, 1000, 5)
    expire_all_but_the_head(lake)
    assert all("firn.pipeline" not in s.summary.additional_properties for s in table(lake).metadata.snapshots)
    broker.produce(topic, orders(100, 20), partition=1)
    run(config)
    assert ids(lake) == [*range(120), *range(1000, 1005)]


def test_without_the_property_the_newest_summary_serves(broker, topic, lake):
    broker.produce(topic, orders(0, 50), partition=0)
    config = lake.config(pipeline(broker, [topic]))
    run(config)
    with table(lake).transaction() as change:
        change.remove_properties("firn.progress.orders")
    broker.produce(topic, orders(50, 20), partition=0)
    run(config)
    assert ids(lake) == list(range(70))


def test_latest_on_an_idle_topic_is_decided_once(broker, topic, lake):
    broker.produce(topic, orders(0, 30), partition=0)
    config = lake.config(pipeline(broker, [topic], source_extra="starting_offsets: latest"))
    run(config)
    broker.produce(topic, orders(30, 10), partition=0)
    broker.produce(topic, orders(40, 10), partition=1)
    run(config)
    assert ids(lake) == list(range(30, 50))


def test_a_trimmed_log_names_the_range_and_goes_on_where_allowed(broker, topic, lake):
    broker.produce(topic, orders(0, 40), partition=0)
    config = lake.config(pipeline(broker, [topic]))
    run(config)
    broker.produce(topic, orders(40, 40), partition=0)
    broker.delete_records(topic, 0, 60)
    stops(config, "[40, 60)")
    run(lake.config(pipeline(broker, [topic], source_extra="on_data_loss: earliest")))
    assert ids(lake) == [*range(40), *range(60, 80)]


@pytest.mark.parametrize("records", [10, 40, 90], ids=["fewer", "as-many", "more"])
def test_a_recreated_topic_stops_whatever_it_holds(broker, topic, lake, records):
    broker.produce(topic, orders(0, 40), partition=0)
    config = lake.config(pipeline(broker, [topic]))
    run(config)
    broker.delete_topic(topic)
    broker.create_topic(topic, partitions=2)
    broker.produce(topic, orders(1000, records), partition=0)
    stops(config, "the source is not the one that was read")
    stops(config, "offsets reset", "--first-run")
    assert ids(lake) == list(range(40))


def test_a_rewritten_log_of_the_same_identity_is_told_by_the_fingerprint(broker, topic, lake):
    """As after a cluster was restored from elsewhere under its old ids: only the record before the position differs."""
    broker.produce(topic, orders(0, 40), partition=0)
    config = lake.config(pipeline(broker, [topic]))
    run(config)
    key = "firn.progress.orders"
    progress = json.loads(table(lake).properties[key])
    position = progress["sources"][0]["at"]["0"]
    position[3] = f"{int(position[3], 16) ^ 1:016x}"
    with table(lake).transaction() as change:
        change.set_properties({key: json.dumps(progress)})
    stops(config, "the record at offset 39 is not the one that was read")


def test_a_table_that_was_replaced_or_dropped_stops(broker, topic, lake):
    broker.produce(topic, orders(0, 40), partition=0)
    config = lake.config(pipeline(broker, [topic]))
    run(config)
    old = table(lake)
    schema, properties = old.schema(), {k: v for k, v in old.properties.items() if k.startswith("firn.progress")}
    lake.pyiceberg().drop_table(TABLE)
    lake.pyiceberg().create_table(TABLE, schema=schema, properties=properties)
    stops(config, "copied or replaced")
    lake.pyiceberg().drop_table(TABLE)
    lake.pyiceberg().create_table(TABLE, schema=schema)
    stops(config, "dropped or re-created")
    run(config, "--first-run")
    assert ids(lake) == list(range(40))


def test_a_rollback_to_before_our_first_commit_and_a_foreign_head(broker, topic, lake):
    broker.produce(topic, orders(0, 40), partition=0)
    config = lake.config(pipeline(broker, [topic]))
    run(config)
    foreign_rows(lake, 1000, 5)
    run(config)
    first = table(lake).metadata.snapshots[0].snapshot_id
    table(lake).manage_snapshots().set_current_snapshot(snapshot_id=first).commit()
    broker.produce(topic, orders(40, 10), partition=0)
    stops(config, "rolled back or replaced")
    firn("offsets", "set", config, "--to", "history", "--yes").ok()
    run(config)
    assert ids(lake) == list(range(50))


def test_a_second_pipeline_on_the_table_and_a_renamed_one(broker, topic, lake):
    broker.produce(topic, orders(0, 40), partition=0)
    run(lake.config(pipeline(broker, [topic])))
    broker.produce(topic, orders(40, 10), partition=0)
    renamed = lake.config(pipeline(broker, [topic], key="renamed"))
    stops(renamed, "--adopt orders")
    run(renamed, "--adopt", "orders")
    run(renamed)
    assert ids(lake) == list(range(50))


def test_partitions_that_are_added_are_read_from_their_first_record(broker, topic, lake):
    broker.produce(topic, orders(0, 40), partition=0)
    config = lake.config(pipeline(broker, [topic], source_extra="starting_offsets: latest"))
    run(config)
    broker.add_partitions(topic, 3)
    broker.produce(topic, orders(40, 10), partition=2)
    run(config)
    assert ids(lake) == list(range(40, 50))


def test_aborted_records_and_markers_at_the_tail_leave_no_lag(broker, topic, lake):
    producer = broker.producer(**{"transactional.id": topic})
    producer.init_transactions()

    def send(first: int, commit: bool) -> None:
        producer.begin_transaction()
        for value in orders(first, 10):
            producer.produce(topic, value, partition=0)
        producer.flush()
        producer.commit_transaction() if commit else producer.abort_transaction()

    config = lake.config(pipeline(broker, [topic]))
    send(0, commit=True)
    send(900, commit=False)
    run(config)
    shown = json.loads(firn("offsets", "show", config, "--json").ok().out)["tables"][0]["partitions"]
    assert [(p["lag"], p["state"]) for p in shown] == [(0, "goes on"), (0, "goes on")]
    send(900, commit=False)
    run(config)
    send(10, commit=True)
    run(config)
    assert ids(lake) == list(range(20))


def test_local_state_may_go_and_group_offsets_never_decide(broker, topic, lake):
    from confluent_kafka import Consumer, TopicPartition

    broker.produce(topic, orders(0, 40), partition=0)
    config = lake.config(pipeline(broker, [topic], source_extra=f"group_id: g-{topic}"))
    run(config)
    for offset in (5, 40):
        consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": f"g-{topic}"})
        consumer.commit(offsets=[TopicPartition(topic, 0, offset)], asynchronous=False)
        consumer.close()
        broker.produce(topic, orders(40 + offset * 10, 3), partition=0)
        run(config)
    for leftover in lake.folder.iterdir():
        if leftover not in (lake.warehouse, config) and not leftover.name.startswith("catalog.db"):
            shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
    run(config)
    assert ids(lake) == sorted([*range(40), *range(90, 93), *range(440, 443)])


def test_yesterdays_local_files_and_group_offsets_change_nothing(broker, topic, lake):
    """All that lies beside catalog and warehouse is put back to what it was a run ago, and the group's offsets with it."""
    from confluent_kafka import Consumer, TopicPartition

    def beside() -> list:
        return [one for one in lake.folder.iterdir() if one not in (lake.warehouse, config) and not one.name.startswith("catalog.db")]

    group = f"g-{topic}"
    config = lake.config(pipeline(broker, [topic], source_extra=f"group_id: {group}"))
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group})
    broker.produce(topic, orders(0, 40), partition=0)
    run(config)
    yesterday = {one.name: one.read_bytes() for one in beside() if one.is_file()}
    offsets = consumer.committed([TopicPartition(topic, 0)], timeout=10)
    assert offsets[0].offset == 40 and offsets[0].metadata.startswith("firn/"), "with the note that they were committed with"
    broker.produce(topic, orders(40, 10), partition=0)
    run(config)
    for one in beside():
        shutil.rmtree(one) if one.is_dir() else one.unlink()
    for name, content in yesterday.items():
        (lake.folder / name).write_bytes(content)
    consumer.commit(offsets=offsets, asynchronous=False)
    consumer.close()
    broker.produce(topic, orders(50, 10), partition=0)
    run(config)
    assert ids(lake) == list(range(60))
    assert [p["position"] for p in shown_partitions(config)] == [60, 0]


def test_a_compacted_log_has_gaps_and_loses_nothing(broker, lake):
    """Compaction takes records before, around and right below our position: nothing was trimmed, nothing was rewritten, no lag is left."""
    topic = "compacted"
    broker.create_topic(topic, cleanup_policy="compact", segment_ms="200", min_cleanable_dirty_ratio="0.01", delete_retention_ms="0")
    config = lake.config(pipeline(broker, [topic], table_extra="kafka_columns: true"))
    sent = 0

    def rounds(count: int) -> None:
        """Each key again, so that the log needs only the last round, and the segments roll."""
        nonlocal sent
        for _ in range(count):
            broker.produce(topic, orders(sent, 10), keys=[f"k{i}" for i in range(10)])
            sent += 10
            time.sleep(0.25)

    def check_rows(before: set[int], held: list[tuple[int, bytes]]) -> None:
        """Once each what the log holds, and at most what it held before the run: the cleaner goes on meanwhile."""
        found = ids(lake)
        now, then = ({json.loads(value)["id"] for _, value in records} for records in (records_of(broker, topic), held))
        assert len(found) == len(set(found)) and before | now <= set(found) <= before | then

    def compacted(below: int) -> list[tuple[int, bytes]]:
        """The log's records once those below the offset are gone."""
        return wait_until(lambda: (held := records_of(broker, topic)) and held[0][0] >= below and held, what="the cleaner")

    rounds(5)
    held = compacted(30)
    assert broker.watermarks(topic, 0) == (0, sent), "the log still begins at 0"
    run(config)
    assert [p["lag"] for p in shown_partitions(config)] == [0]
    check_rows(set(), held)
    taken, position = set(ids(lake)), sent
    rounds(4)
    held = compacted(position)  # the record that our position's fingerprint is of has gone as well
    assert [(p["position"], p["state"]) for p in shown_partitions(config)] == [(position, "goes on")]
    run(config)
    assert [(p["position"], p["lag"]) for p in shown_partitions(config)] == [(sent, 0)]
    check_rows(taken, held)
    report = json.loads(firn("verify", f"lake.{TABLE}", "-c", config, "--json", "--pipeline", "orders").ok().out)
    assert report["clean"], report
    assert firn("verify", f"lake.{TABLE}", "-c", config).code == 1, "by the numbers alone the gaps are holes"


def test_the_status_tells_the_lag_of_the_table(broker, topic, lake, tmp_path):
    def status() -> dict:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/status", timeout=10) as answer:
            return json.load(answer)["pipelines"][0]

    port = free_port()
    config = lake.config(f"listen: 127.0.0.1:{port}\n" + pipeline(broker, [topic], interval="1h"))
    broker.produce(topic, orders(0, 40), partition=0)
    running = start_firn("run", config, log=tmp_path / "firn.log")
    shown = wait_until(lambda: (now := status())["rows-decoded"] == 40 and now["partitions"][0].get("lag-ms") and now, what="rows that are read")
    assert shown["lag-records"] == 40 and [p["lag-records"] for p in shown["partitions"]] == [40, 0]
    assert [p["lag"] for p in shown_partitions(config)] == [40, 0], "as the table has it"
    assert shown["valid-through"] is None and shown["partitions"][1]["lag-ms"] == 0
    assert running.stop() == 0, running.output
    running = start_firn("run", config, log=tmp_path / "again.log")
    shown = wait_until(lambda: (now := status())["valid-through"] and now, what="a table that has everything")
    assert shown["lag-records"] == 0 and shown["commits"] == 0
    assert running.stop() == 0, running.output
    assert ids(lake) == list(range(40))


def test_a_cluster_that_was_built_anew_under_its_names_stops(own_broker, lake, tmp_path):
    from kafka_broker import Broker

    own_broker.create_topic("orders", partitions=1)
    own_broker.produce("orders", orders(0, 40))
    config = lake.config(pipeline(own_broker, ["orders"]))
    run(config)
    own_broker.stop()
    with Broker(tmp_path / "anew", port=own_broker.port) as anew:
        anew.create_topic("orders", partitions=1)
        anew.produce("orders", orders(0, 40))  # the same records at the same offsets
        words = stops(config, "the source is not the one that was read")
        assert "what was read is cluster " in words and "firn offsets reset" in words, words
        assert ids(lake) == list(range(40))
        firn("offsets", "reset", config, "--to", "latest", "--yes").ok()
        anew.produce("orders", orders(40, 10))
        run(config)
        assert ids(lake) == list(range(50))


def test_progress_of_a_branch_is_its_own(broker, topic, lake):
    """A branch and main stand at positions of their own; a rollback of one is none of the other."""
    broker.produce(topic, orders(0, 40), partition=0)
    main = lake.config(pipeline(broker, [topic]))
    run(main)
    start = table(lake).current_snapshot().snapshot_id
    table(lake).manage_snapshots().create_branch(snapshot_id=start, branch_name="audit").commit()
    audit = lake.config(pipeline(broker, [topic], table_extra="branch: audit"), file="audit.yaml")

    def on_branch() -> list[int]:
        head = table(lake).refs()["audit"].snapshot_id
        return sorted(lake.read(TABLE, snapshot_id=head).column("id").to_pylist())

    broker.produce(topic, orders(40, 10), partition=0)
    run(audit)  # begins where the branch's own history ends, which is that of main
    assert (on_branch(), ids(lake)) == (list(range(50)), list(range(40)))
    run(main)
    assert (on_branch(), ids(lake)) == (list(range(50)), list(range(50)))
    table(lake).manage_snapshots().set_current_snapshot(snapshot_id=start).commit()
    stops(main, "rolled back or replaced")
    broker.produce(topic, orders(50, 10), partition=0)
    run(audit)
    assert on_branch() == list(range(60))


def test_a_head_set_to_a_foreign_snapshot_between_ours(broker, topic, lake):
    broker.produce(topic, orders(0, 40), partition=0)
    config = lake.config(pipeline(broker, [topic]))
    run(config)
    foreign_rows(lake, 1000, 5)
    foreign = table(lake).current_snapshot().snapshot_id
    broker.produce(topic, orders(40, 10), partition=0)
    run(config)
    table(lake).manage_snapshots().set_current_snapshot(snapshot_id=foreign).commit()
    stops(config, "rolled back or replaced")
    assert not json.loads(firn("offsets", "show", config, "--json").ok().out)["tables"][0]["goes-on"]
    firn("offsets", "set", config, "--to", "history", "--yes").ok()
    run(config)
    assert ids(lake) == [*range(50), *range(1000, 1005)]


def test_idle_and_empty_partitions_hold_nothing_back(broker, topic, lake, tmp_path):
    """Only one of two partitions ever brings a record, and yet commits say up to when the table is complete."""
    running = start_firn("run", lake.config(pipeline(broker, [topic], interval="300ms")), log=tmp_path / "firn.log")
    sent = 0

    def complete() -> bool:
        nonlocal sent
        broker.produce(topic, orders(sent, 10), partition=1)
        sent += 10
        return any("firn.valid-through" in one.summary.additional_properties for one in table(lake).metadata.snapshots)

    wait_until(complete, what="a commit that says so", every_s=0.4)
    wait_until(lambda: ids(lake) == list(range(sent)), what="all rows")
    assert running.stop() == 0, running.output
