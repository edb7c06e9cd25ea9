"""The Kafka source against a real broker: every record once and in order, whatever the group, the log and the broker do."""

from __future__ import annotations

import subprocess
import time
from itertools import count

import pytest
from confluent_kafka import Consumer, TopicPartition
from firn import wait_until
from kafka_broker import Broker, free_port
from source_driver import Failed, SourceDriver

names = count()


@pytest.fixture
def topic() -> str:
    return f"topic-{next(names)}"


@pytest.fixture
def group() -> str:
    return f"group-{next(names)}"


def values(n: int, start: int = 0) -> list[bytes]:
    return [b"v%d" % i for i in range(start, start + n)]


def consecutive(offsets: list[int]) -> bool:
    return offsets == list(range(offsets[0], offsets[0] + len(offsets))) if offsets else True


# --- records


def test_records_arrive_once_in_order_with_all_they_carry(broker, tmp_path, topic, group):
    broker.create_topic(topic, partitions=1, retention_ms="-1")  # the records are from 1970
    broker.produce(topic, [b"one", None, b""], keys=[b"k", None, b""], headers=[[("h", b"1"), ("h", None)], None, None],
                   timestamps_ms=[1000, 2000, 3000])  # fmt: skip
    with SourceDriver(broker, tmp_path, topics=[topic], group_id=group, values=True, headers=True).open().subscribe() as source:
        source.await_reached({f"{topic}:0": 3})
        (batch,) = source.batches[f"{topic}:0"]
        assert batch["records"] == [["k", "one", 1000], [None, None, 2000], ["", "", 3000]]
        assert batch["headers"] == [[0, "h", "1"], [0, "h", None]]
        assert (batch["from"], batch["to"], batch["offsets"]) == (0, 3, [0, 1, 2])


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_codecs(broker, tmp_path, topic, group, codec):
    broker.create_topic(topic, partitions=2)
    broker.produce(topic, values(5000), **{"compression.type": codec})
    with SourceDriver(broker, tmp_path, topics=[topic], group_id=group, values=True).open().subscribe() as source:
        wait_until(lambda: source.count() == 5000, 30)
        source.check_ranges()
        got = source.values(f"{topic}:0") + source.values(f"{topic}:1")
        assert sorted(got) == sorted(v.decode() for v in values(5000))


def test_large_records_within_a_small_share_of_memory(broker, tmp_path, topic, group):
    broker.create_topic(topic, partitions=2, max_message_bytes="4000000")
    broker.produce(topic, [b"%03d" % i + b"x" * 900_000 for i in range(60)], **{"message.max.bytes": 4_000_000})
    with SourceDriver(broker, tmp_path, topics=[topic], group_id=group, prefetch_bytes=4 << 20).open().subscribe() as source:
        wait_until(lambda: source.count() == 60, 60)
        source.check_ranges()
        assert source.do("prefetched") == 0


def test_a_long_backlog_over_two_lanes(broker, tmp_path, topic, group):
    broker.create_topic(topic, partitions=4)
    broker.produce(topic, (b'{"n": %d}' % i for i in range(200_000)))
    with SourceDriver(broker, tmp_path, topics=[topic], group_id=group).open().subscribe() as source:
        wait_until(lambda: source.count() == 200_000, 60)
        source.check_ranges()
        lanes = {batch["lane"] for batches in source.batches.values() for batch in batches}
        assert lanes == {0, 1}


# --- transactions


def transaction(broker, topic, records, commit: bool, partition=0):
    producer = broker.producer(**{"transactional.id": f"tx-{next(names)}"})
    producer.init_transactions(30)
    producer.begin_transaction()
    for record in records:
        producer.produce(topic, record, partition=partition)
    producer.flush(30)
    if commit:
        producer.commit_transaction(30)
    else:
        producer.abort_transaction(30)


def test_aborted_records_are_invisible_and_the_end_lies_behind_control_records(broker, tmp_path, topic, group):
    broker.create_topic(topic, partitions=1)
    transaction(broker, topic, values(3), commit=True)  # 0-2, control record 3
    transaction(broker, topic, values(4, 100), commit=False)  # 4-7, control record 8
    with SourceDriver(broker, tmp_path, topics=[topic], group_id=group, values=True).open().subscribe() as source:
        source.await_reached({f"{topic}:0": 9})
        assert source.values(f"{topic}:0") == ["v0", "v1", "v2"]
        source.check_ranges()
        ((bound),) = source.do("bounds", partitions=[[topic, 0]])
        assert (bound["first"], bound["end"]) == (0, 9)
        # After the control records nothing is missing, and the range goes on where it ended.
        transaction(broker, topic, values(2, 200), commit=True)
        source.await_reached({f"{topic}:0": 12})
        assert source.offsets(f"{topic}:0") == [0, 1, 2, 9, 10]
        source.check_ranges()


def test_read_uncommitted_reads_aborted_records(broker, tmp_path, topic, group):
    broker.create_topic(topic, partitions=1)
    transaction(broker, topic, values(4), commit=False)
    with SourceDriver(broker, tmp_path, topics=[topic], group_id=group, isolation_level="read_uncommitted").open().subscribe() as source:
        source.await_reached({f"{topic}:0": 5})
        assert source.offsets(f"{topic}:0") == [0, 1, 2, 3]


def test_an_open_transaction_holds_the_end_back(broker, tmp_path, topic, group):
    broker.create_topic(topic, partitions=1)
    broker.produce(topic, values(2))
    producer = broker.producer(**{"transactional.id": f"tx-{next(names)}"})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(topic, b"open", partition=0)
    producer.flush(30)
    broker.produce(topic, values(2))
    with SourceDriver(broker, tmp_path, topics=[topic], group_id=group).open().subscribe() as source:
        source.await_reached({f"{topic}:0": 2})
        assert source.do("bounds", partitions=[[topic, 0]])[0]["end"] == 2
        producer.commit_transaction(30)
        source.await_reached({f"{topic}:0": 6})
        assert source.offsets(f"{topic}:0") == [0, 1, 2, 3, 4]
        source.check_ranges()


# --- the group


def test_partitions_move_to_a_second_member_and_back(broker, tmp_path, topic, group):
    broker.create_topic(topic, partitions=4)
    table: dict[str, int] = {}
    common = {"topics": [topic], "group_id": group, "table": table}
    broker.produce(topic, values(2000))
    with SourceDriver(broker, tmp_path, name="first", **common).open().subscribe() as first:
        wait_until(lambda: first.count() == 2000, 30)
        with SourceDriver(broker, tmp_path, name="second", **common).open().subscribe() as second:
            (revoked,) = first.await_told("revoked")
            assert len(revoked["partitions"]) == 2 and not revoked["lost"]
            assert second.await_told("assigned")[0]["partitions"] == revoked["partitions"]
            broker.produce(topic, values(2000, 2000))
            wait_until(lambda: first.count() + second.count() == 4000, 30, what="all records after the second member joined")
        assert len(first.await_told("assigned", 2)[1]["partitions"]) == 2
        broker.produce(topic, values(2000, 4000))
        wait_until(lambda: first.count() + second.count() == 6000, 30, what="all records after it left")
        first_told, second_told = first, second
    for partition in range(4):
        name = f"{topic}:{partition}"
        assert sorted(first_told.offsets(name) + second_told.offsets(name)) == list(range(broker.watermarks(topic, partition)[1]))


def test_the_group_waits_for_a_release_longer_than_the_session(broker, tmp_path, topic, group):
    broker.create_topic(topic, partitions=2)
    broker.produce(topic, values(100))
    table: dict[str, int] = {}
    common = {"topics": [topic], "group_id": group, "table": table, "properties": {"session.timeout.ms": "2000", "heartbeat.interval.ms": "500"}}
    with SourceDriver(broker, tmp_path, name="first", auto_release=False, **common).open().subscribe() as first:
        wait_until(lambda: first.count() == 100, 30)
        with SourceDriver(broker, tmp_path, name="second", **common).open().subscribe() as second:
            (revoked,) = first.await_told("revoked")
            broker.produce(topic, values(100, 100))
            time.sleep(5)
            assert not second.told("assigned") and len(first.told("revoked")) == 1
            first.release(revoked["partitions"])
            second.await_told("assigned")
            wait_until(lambda: first.count() + second.count() == 200, 30)
            assert not any(event["lost"] for event in first.told("revoked"))
            first.check_ranges()


def test_a_killed_member_is_replaced_after_its_session(broker, tmp_path, topic, group):
    broker.create_topic(topic, partitions=2)
    table: dict[str, int] = {}
    common = {"topics": [topic], "group_id": group, "table": table, "properties": {"session.timeout.ms": "2000", "heartbeat.interval.ms": "500"}}
    with SourceDriver(broker, tmp_path, name="first", **common).open().subscribe() as first:
        first.await_told("assigned")
        with SourceDriver(broker, tmp_path, name="second", **common).open().subscribe() as second:
            second.await_told("assigned")
            second.kill()
            wait_until(lambda: len(first.told("assigned")) >= 2, 30)
        broker.produce(topic, values(50))
        wait_until(lambda: first.count() == 50, 30)


def test_a_static_member_returns_without_a_rebalance(broker, tmp_path, topic, group):
    broker.create_topic(topic, partitions=2)
    table: dict[str, int] = {}
    common = {"topics": [topic], "group_id": group, "table": table}
    with SourceDriver(broker, tmp_path, name="first", group_instance_id="one", **common).open().subscribe() as first:
        first.await_told("assigned")
        second = SourceDriver(broker, tmp_path, name="second", group_instance_id="two", **common).open().subscribe()
        mine = second.await_told("assigned")[0]["partitions"]
        events = len(first.events)
        second.close()
        with SourceDriver(broker, tmp_path, name="again", group_instance_id="two", **common).open().subscribe() as again:
            assert again.await_told("assigned")[0]["partitions"] == mine
            broker.produce(topic, values(100))
            wait_until(lambda: first.count() + again.count() == 100, 30)
            assert len(first.events) == events


def test_a_static_member_whose_place_was_taken_for_a_moment_takes_it_again(broker, tmp_path, topic, group):
    broker.create_topic(topic, partitions=2)
    broker.produce(topic, values(100))
    config = {"topics": [topic], "group_id": group, "group_instance_id": "one", "properties": {"heartbeat.interval.ms": "500"}}
    with SourceDriver(broker, tmp_path, **config).open().subscribe() as source:
        wait_until(lambda: source.count() == 100, 30)
        other = Consumer({
            "bootstrap.servers": broker.bootstrap, "group.id": group, "group.instance.id": "one", "session.timeout.ms": 10_000,
            "partition.assignment.strategy": "cooperative-sticky",
        })  # fmt: skip
        other.subscribe([topic])
        wait_until(lambda: other.poll(0.1) is None and len(other.assignment()) == 2, 30, what="the other's assignment")
        other.close()
        (lost,) = source.await_told("revoked")
        assert lost["lost"] and len(lost["partitions"]) == 2
        (trouble,) = source.told("trouble")
        assert trouble["retry"] and f"group_instance_id 'one' in group '{group}'" in trouble["error"]
        source.await_told("assigned", 2)
        assert source.told("recovered")
        broker.produce(topic, values(100, 100))
        wait_until(lambda: source.count() == 200, 30)
        source.check_ranges()


def test_no_record_is_skipped_where_a_rebalance_meets_the_end_of_a_partition(broker, tmp_path, topic, group):
    """librdkafka counts an end-of-partition event as a record when it resumes after a rebalance."""
    broker.create_topic(topic, partitions=3)
    table: dict[str, int] = {}
    common = {"topics": [topic], "group_id": group, "table": table}
    for partition in range(3):
        broker.produce(topic, values(10), partition=partition)
    with SourceDriver(broker, tmp_path, name="first", **common).open().subscribe() as first:
        wait_until(lambda: first.count() == 30, 30)
        time.sleep(1)  # all ends are told now
        with SourceDriver(broker, tmp_path, name="second", **common).open().subscribe() as second:
            second.await_told("assigned")
            for partition in range(3):
                broker.produce(topic, values(10, 10), partition=partition)
            wait_until(lambda: first.count() + second.count() == 60, 15)
        first.await_told("assigned", 2)
        for partition in range(3):
            broker.produce(topic, values(1, 20), partition=partition)
        wait_until(lambda: first.count() + second.count() == 63, 15)
        for partition in range(3):
            name = f"{topic}:{partition}"
            assert sorted(first.offsets(name) + second.offsets(name)) == list(range(21))


def test_new_partitions_are_found(broker, tmp_path, topic, group):
    broker.create_topic(topic, partitions=1)
    properties = {"topic.metadata.refresh.interval.ms": "500"}
    with SourceDriver(broker, tmp_path, topics=[topic], group_id=group, properties=properties).open().subscribe() as source:
        source.await_told("assigned")
        broker.add_partitions(topic, 3)
        wait_until(lambda: len(source.started) == 3, 30)
        for partition in range(3):
            broker.produce(topic, values(10), partition=partition)
        wait_until(lambda: source.count() == 30, 30)
        source.check_ranges()


def test_a_pattern_finds_a_topic_made_later(broker, tmp_path, topic, group):
    broker.create_topic(f"{topic}.a", partitions=1)
    broker.create_topic(f"not-{topic}.a", partitions=1)
    properties = {"topic.metadata.refresh.interval.ms": "500"}
    pattern = rf"{topic}\.(a|b)"
    with SourceDriver(broker, tmp_path, topics_pattern=pattern, group_id=group, properties=properties).open().subscribe() as source:
        assert source.await_told("assigned")[0]["partitions"] == [[f"{topic}.a", 0]]
        broker.create_topic(f"{topic}.b", partitions=2)
        broker.create_topic(f"{topic}.bc", partitions=1)
        wait_until(lambda: len(source.started) == 3, 30)
        broker.produce(f"{topic}.b", values(100))
        broker.produce(f"{topic}.bc", values(100))
        wait_until(lambda: source.count() == 100, 30)
        assert {bound["partition"][0] for bound in source.do("list")} == {f"{topic}.a", f"{topic}.b"}
        source.check_ranges()


# --- seek and release


def since_last_seek(source, name: str) -> list[dict]:
    with source._lock:
        journal = list(source.journal)
    last = max(i for i, told in enumerate(journal) if told["type"] == "sought")
    return [told for told in journal[last:] if told["type"] == "batch" and f"{told['partition'][0]}:{told['partition'][1]}" == name]


def test_after_a_seek_nothing_of_the_old_position_arrives(broker, tmp_path, topic, group):
    broker.create_topic(topic, partitions=2)
    for partition in range(2):
        broker.produce(topic, (b"x" * 50 for _ in range(60_000)), partition=partition)
    with SourceDriver(broker, tmp_path, topics=[topic], group_id=group).open().subscribe() as source:
        source.await_reached({f"{topic}:0": 1})
        for target in (100, 59_000, 0, 30_000, 17, 45_000, 3):
            source.seek({f"{topic}:0": target, f"{topic}:1": target + 5})
            time.sleep(0.05)
            for name, begin in ((f"{topic}:0", target), (f"{topic}:1", target + 5)):
                wait_until(lambda n=name: since_last_seek(source, n), 20)
                batches = since_last_seek(source, name)
                offsets = [offset for batch in batches for offset in batch["offsets"]]
                assert batches[0]["from"] == begin
                assert offsets[0] == begin and consecutive(offsets)
        source.await_reached({f"{topic}:0": 60_000, f"{topic}:1": 60_000})
        for name, begin in ((f"{topic}:0", 3), (f"{topic}:1", 8)):
            assert [o for b in since_last_seek(source, name) for o in b["offsets"]] == list(range(begin, 60_000))


def test_a_seek_right_after_the_start_counts(broker, tmp_path, topic, group):
    broker.create_topic(topic, partitions=1)
    broker.produce(topic, values(1000))
    with SourceDriver(broker, tmp_path, topics=[topic], group_id=group, auto_start=False).open().subscribe() as source:
        source.await_told("assigned")
        source.start({f"{topic}:0": 10})
        source.seek({f"{topic}:0": 900})
        wait_until(lambda: [o for b in since_last_seek(source, f"{topic}:0") for o in b["offsets"]] == list(range(900, 1000)), 20)


def test_stayers_are_sought_while_a_revocation_waits(broker, tmp_path, topic, group):
    broker.create_topic(topic, partitions=2)
    for partition in range(2):
        broker.produce(topic, values(1000), partition=partition)
    table: dict[str, int] = {}
    common = {"topics": [topic], "group_id": group, "table": table}
    with SourceDriver(broker, tmp_path, name="first", auto_release=False, **common).open().subscribe() as first:
        wait_until(lambda: first.count() == 2000, 30)
        with SourceDriver(broker, tmp_path, name="second", **common).open().subscribe() as second:
            (revoked,) = first.await_told("revoked")
            (stays,) = {0, 1} - {partition for _, partition in revoked["partitions"]}
            first.seek({f"{topic}:{stays}": 500})
            first.release(revoked["partitions"])
            second.await_told("assigned")
            wait_until(lambda: [o for b in since_last_seek(first, f"{topic}:{stays}") for o in b["offsets"]] == list(range(500, 1000)), 20)
            broker.produce(topic, values(5), partition=stays)
            wait_until(lambda: [o for b in since_last_seek(first, f"{topic}:{stays}") for o in b["offsets"]] == list(range(500, 1005)), 20)


def test_a_released_partition_can_start_again_at_once(broker, tmp_path, topic, group):
    broker.create_topic(topic, partitions=1)
    broker.produce(topic, (b"x" * 50 for _ in range(20_000)))
    with SourceDriver(broker, tmp_path, topics=[topic], group_id=group, auto_start=False).open().subscribe(bounded=True) as source:
        source.await_told("assigned")
        for begin in (0, 5000, 19_990, 7):
            source.start({f"{topic}:0": begin})
            wait_until(lambda at=begin: any(b["from"] == at for b in source.batches[f"{topic}:0"]), 20)
            source.release([[topic, 0]])
        source.batches.clear()
        source.start({f"{topic}:0": 15_000})
        source.await_reached({f"{topic}:0": 20_000})
        assert source.offsets(f"{topic}:0") == list(range(15_000, 20_000))


# --- bounds, starts, fingerprints, notes


def test_a_bounded_run_takes_all_partitions_without_a_group(broker, tmp_path, topic, group):
    broker.create_topic(topic, partitions=3)
    broker.produce(topic, values(300))
    with SourceDriver(broker, tmp_path, topics=[topic], group_id=group).open().subscribe(bounded=True) as source:
        (assigned,) = source.await_told("assigned")
        assert assigned["partitions"] == [[topic, 0], [topic, 1], [topic, 2]]
        wait_until(lambda: source.count() == 300, 30)
        source.check_ranges()
        members = broker.admin.describe_consumer_groups([group])[group].result(10).members
        assert members == []


def test_bounds_name_the_log(broker, tmp_path, topic, group):
    broker.create_topic(topic, partitions=2)
    broker.produce(topic, values(30), partition=1)
    broker.delete_records(topic, 1, 10)
    with SourceDriver(broker, tmp_path, topics=[topic], group_id=group).open() as source:
        first, second = source.do("list")
        assert (first["first"], first["end"], second["first"], second["end"]) == (0, 0, 10, 30)
        assert first["identity"]["cluster_id"] and first["identity"]["topic_id"]
        broker.delete_topic(topic)
        broker.create_topic(topic, partitions=2)
        again = wait_until(lambda: source.do("list"), 20)[0]
        assert again["identity"]["topic_id"] not in ("", first["identity"]["topic_id"])


def resolved(broker, tmp_path, topic, **config) -> list[int]:
    with SourceDriver(broker, tmp_path, topics=[topic], **config).open() as source:
        positions = source.do("resolve", partitions=[[topic, 0], [topic, 1]])
        assert all(position["identity"]["topic_id"] for position in positions)
        return [position["next"] for position in positions]


def test_starts(broker, tmp_path, topic):
    broker.create_topic(topic, partitions=2, retention_ms="-1")
    broker.produce(topic, values(10), partition=0, timestamps_ms=[1_700_000_000_000 + i * 1000 for i in range(10)])
    broker.delete_records(topic, 0, 2)
    assert resolved(broker, tmp_path, topic) == [2, 0]
    assert resolved(broker, tmp_path, topic, start_at="latest") == [10, 0]
    assert resolved(broker, tmp_path, topic, starting_offsets={f"{topic}:0": 7}) == [7, 0]
    assert resolved(broker, tmp_path, topic, starting_timestamp_ms=1_700_000_004_500) == [5, 0]
    assert resolved(broker, tmp_path, topic, starting_timestamp_ms=1_900_000_000_000) == [10, 0]
    with pytest.raises(Failed, match="starting_offsets: 1 of .* is outside of what the log holds, 2 to 10"):
        resolved(broker, tmp_path, topic, starting_offsets={f"{topic}:0": 1})


def test_fingerprint_is_that_of_the_range(broker, tmp_path, topic, group):
    broker.create_topic(topic, partitions=1)
    transaction(broker, topic, values(3), commit=True)  # 0-2, control record 3
    with SourceDriver(broker, tmp_path, topics=[topic], group_id=group).open().subscribe() as source:
        source.await_reached({f"{topic}:0": 4})
        last = [batch["last"] for batch in source.batches[f"{topic}:0"] if batch["last"]][-1]
        assert last["offset"] == 2
        fingerprint = lambda position: source.do("fingerprint", partition=[topic, 0], position=position)  # noqa: E731
        assert fingerprint(3) == last
        assert fingerprint(4) == last  # behind the control record
        assert fingerprint(2)["offset"] == 1 and fingerprint(2)["hash"] != last["hash"]
        assert fingerprint(0) is None
        assert fingerprint(100) is None  # beyond the end: nothing to compare with
        broker.delete_records(topic, 0, 3)
        assert fingerprint(3) is None


def test_acknowledged_positions_show_in_the_group_with_their_note(broker, tmp_path, topic, group):
    broker.create_topic(topic, partitions=2)
    broker.produce(topic, values(20))
    with SourceDriver(broker, tmp_path, topics=[topic], group_id=group).open() as source:
        assert source.do("notes") == []
        source.subscribe()
        wait_until(lambda: source.count() == 20, 30)
        source.do("acknowledge", positions={f"{topic}:0": 5}, note="firn/uuid/7")
        wait_until(lambda: source.do("notes") == ["firn/uuid/7"], 20)
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group})
    assert consumer.committed([TopicPartition(topic, 0)], timeout=10)[0].offset == 5
    consumer.close()


def test_group_offsets_never_decide_where_reading_starts(broker, tmp_path, topic, group):
    broker.create_topic(topic, partitions=1)
    broker.produce(topic, values(20))
    with SourceDriver(broker, tmp_path, topics=[topic], group_id=group).open().subscribe() as source:
        source.await_reached({f"{topic}:0": 20})
        source.do("acknowledge", positions={f"{topic}:0": 20}, note="n")
        wait_until(lambda: source.do("notes"), 20)
    with SourceDriver(broker, tmp_path, topics=[topic], group_id=group).open().subscribe() as source:
        source.await_reached({f"{topic}:0": 20})
        assert source.offsets(f"{topic}:0") == list(range(20))


# --- trouble


def test_a_trimmed_position_is_data_loss_and_a_seek_goes_on(broker, tmp_path, topic, group):
    broker.create_topic(topic, partitions=2)
    for partition in range(2):
        broker.produce(topic, values(30), partition=partition)
    broker.delete_records(topic, 0, 10)
    with SourceDriver(broker, tmp_path, topics=[topic], group_id=group).open().subscribe() as source:
        (trouble,) = source.await_told("trouble")
        assert trouble["kind"] == "data loss" and not trouble["retry"] and trouble["partition"] == [topic, 0]
        assert f"{topic}[0]: positions 0 to 9 are gone, the log now begins at 10" in trouble["error"]
        source.await_reached({f"{topic}:1": 30})
        source.seek({f"{topic}:0": 10})
        source.await_reached({f"{topic}:0": 30})
        assert source.offsets(f"{topic}:0") == list(range(10, 30))
        broker.produce(topic, values(5), partition=0)
        source.await_reached({f"{topic}:0": 35})


def test_a_log_that_ends_before_the_position_is_another_log(broker, tmp_path, topic, group):
    broker.create_topic(topic, partitions=1)
    broker.produce(topic, values(30))
    with SourceDriver(broker, tmp_path, topics=[topic], group_id=group, auto_start=False).open().subscribe() as source:
        source.await_told("assigned")
        source.start({f"{topic}:0": 1000})
        (trouble,) = source.await_told("trouble")
        assert trouble["kind"] == "data loss" and "the log ends at 30, before our position 1000" in trouble["error"]
        assert source.count() == 0


def test_a_broker_that_goes_away_and_comes_back(own_broker, tmp_path, topic, group):
    own_broker.create_topic(topic, partitions=2)
    own_broker.produce(topic, values(1000))
    with SourceDriver(own_broker, tmp_path, topics=[topic], group_id=group).open().subscribe() as source:
        wait_until(lambda: source.count() == 1000, 30)
        own_broker.kill()
        trouble = source.await_told("trouble", timeout_s=20)[0]
        assert trouble["retry"] and own_broker.bootstrap in trouble["error"]
        own_broker.start()
        source.await_told("recovered", timeout_s=40)
        own_broker.produce(topic, values(1000, 1000))
        wait_until(lambda: source.count() == 2000, 60)
        source.check_ranges()
        assert all(event["retry"] for event in source.told("trouble"))


def test_an_unreachable_broker_is_an_error_with_its_address(broker, tmp_path):
    port = free_port()
    began = time.monotonic()
    with SourceDriver(broker, tmp_path, bootstrap_servers=f"127.0.0.1:{port}", topics=["t"], connect_timeout_ms=2000) as source:
        with pytest.raises(Failed, match=rf"no answer from Kafka at 127.0.0.1:{port} within 2000 ms: .*refused.*bootstrap_servers") as failed:
            source.open()
        assert failed.value.answer["retry"] and time.monotonic() - began < 10


def test_a_host_that_nobody_knows_is_no_outage(broker, tmp_path):
    hosts = "no-such-host.invalid:9092,nor-this.invalid:9092"
    with SourceDriver(broker, tmp_path, bootstrap_servers=hosts, topics=["t"], connect_timeout_ms=2000) as source:
        with pytest.raises(Failed, match=rf"no answer from Kafka at {hosts} .*resolve.*bootstrap_servers") as failed:
            source.open()
        assert not failed.value.answer["retry"]


def test_a_missing_topic_is_an_error_with_the_nearest(broker, tmp_path, topic):
    broker.create_topic(f"flights-{topic}", partitions=1)
    with SourceDriver(broker, tmp_path, topics=[f"flihgts-{topic}"]) as source:
        with pytest.raises(Failed, match=f"topic 'flihgts-{topic}' does not exist.*'flights-{topic}'"):
            source.open()


def test_a_property_of_firns_own_is_refused(broker, tmp_path):
    source = SourceDriver(broker, tmp_path, topics=["t"], properties={"auto.offset.reset": "latest"})
    wait_until(lambda: source.refused, 10)
    assert "Use the source's own key 'starting_offsets'" in source.refused["error"]


def test_a_topic_recreated_under_the_reader_is_another_log(broker, tmp_path, topic, group):
    broker.create_topic(topic, partitions=1)
    broker.produce(topic, values(10))
    with SourceDriver(broker, tmp_path, topics=[topic], group_id=group).open().subscribe(bounded=True) as source:
        source.await_reached({f"{topic}:0": 10})
        broker.delete_topic(topic)
        broker.create_topic(topic, partitions=1)
        broker.produce(topic, values(50))  # long enough for the old position to exist
        wait_until(lambda: any(trouble["kind"] == "data loss" for trouble in source.told("trouble")), 30)
        (trouble,) = [trouble for trouble in source.told("trouble") if trouble["kind"] == "data loss"]
        assert f"topic '{topic}' was re-created while it was read" in trouble["error"]
        before = source.count()
        broker.produce(topic, values(50))
        time.sleep(1)
        assert source.count() == before


def test_a_deleted_topic_is_told_while_the_others_go_on(broker, tmp_path, topic, group):
    broker.create_topic(f"{topic}-a", partitions=1)
    broker.create_topic(f"{topic}-b", partitions=1)
    with SourceDriver(broker, tmp_path, topics=[f"{topic}-a", f"{topic}-b"], group_id=group).open().subscribe() as source:
        broker.produce(f"{topic}-a", values(1))
        source.await_reached({f"{topic}-a:0": 1})
        broker.delete_topic(f"{topic}-a")
        wait_until(lambda: any("was deleted" in trouble["error"] for trouble in source.told("trouble")), 30)
        assert all(trouble["retry"] for trouble in source.told("trouble"))
        broker.produce(f"{topic}-b", values(10))
        source.await_reached({f"{topic}-b:0": 10})


SASL = {
    "sasl.enabled.mechanisms": "PLAIN",
    "listener.name.sasl_plaintext.plain.sasl.jaas.config": "org.apache.kafka.common.security.plain.PlainLoginModule required "
    'user_firn="right";',
}


@pytest.fixture(scope="module")
def sasl_broker(tmp_path_factory):
    port = free_port()
    with Broker(tmp_path_factory.mktemp("sasl"), properties=SASL, listeners={"SASL_PLAINTEXT": port}) as running:
        running.sasl = f"127.0.0.1:{port}"
        yield running


def sasl(broker, password: str) -> dict:
    properties = {"security.protocol": "sasl_plaintext", "sasl.mechanism": "PLAIN", "sasl.username": "firn", "sasl.password": password}
    return {"bootstrap_servers": broker.sasl, "properties": properties}


@pytest.mark.jvm
def test_sasl(sasl_broker, tmp_path, topic, group):
    sasl_broker.create_topic(topic, partitions=1)
    sasl_broker.produce(topic, values(10))
    with SourceDriver(sasl_broker, tmp_path, topics=[topic], group_id=group, **sasl(sasl_broker, "right")).open().subscribe() as source:
        source.await_reached({f"{topic}:0": 10})


@pytest.mark.jvm
def test_a_wrong_password_is_told_at_once_and_never_shown(sasl_broker, tmp_path, topic):
    began = time.monotonic()
    with SourceDriver(sasl_broker, tmp_path, topics=[topic], **sasl(sasl_broker, "wrong-hush")) as source:
        with pytest.raises(Failed, match="[Aa]uthentication failed.*sasl.password") as failed:
            source.open()
        assert failed.value.answer["kind"] == "permission denied" and time.monotonic() - began < 10
        assert not failed.value.answer["retry"]
    assert "wrong-hush" not in source.log.read_text() and "wrong-hush" not in str(failed.value)


@pytest.fixture(scope="module")
def tls_broker(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-days", "2",
         "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    (folder / "keystore.pem").write_text((folder / "key.pem").read_text() + (folder / "cert.pem").read_text())
    port = free_port()
    properties = {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(folder / "keystore.pem")}
    with Broker(folder / "kafka", properties=properties, listeners={"SSL": port}) as running:
        running.tls, running.certificate = f"127.0.0.1:{port}", str(folder / "cert.pem")
        yield running


@pytest.mark.jvm
def test_tls(tls_broker, tmp_path, topic, group):
    tls_broker.create_topic(topic, partitions=1)
    tls_broker.produce(topic, values(10))
    properties = {"security.protocol": "ssl", "ssl.ca.location": tls_broker.certificate}
    with SourceDriver(tls_broker, tmp_path, bootstrap_servers=tls_broker.tls, topics=[topic], group_id=group,
                      properties=properties).open().subscribe() as source:  # fmt: skip
        source.await_reached({f"{topic}:0": 10})


@pytest.mark.jvm
def test_an_untrusted_certificate_is_told_at_once(tls_broker, tmp_path, topic):
    began = time.monotonic()
    with SourceDriver(tls_broker, tmp_path, bootstrap_servers=tls_broker.tls, topics=[topic], properties={"security.protocol": "ssl"}) as source:
        with pytest.raises(Failed, match="certificate.*ssl.ca.location") as failed:
            source.open()
        assert time.monotonic() - began < 10 and not failed.value.answer["retry"]
