"""Records from a real Kafka broker land in an Iceberg table, each once."""

from __future__ import annotations

import json
import time

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as parquet
import pytest
from firn import firn, start_firn, wait_until
from pipelines import orders, pipeline
from readers import assert_same_rows

TABLE = "shop.orders"
PARTITIONS = 4  # of each test's topic


def ids(lake) -> list[int]:
    return sorted(lake.read(TABLE).column("id").to_pylist())


def count(lake) -> int:
    return lake.read(TABLE).num_rows


def snapshots(lake) -> int:
    return len(lake.pyiceberg().load_table(TABLE).snapshots())


def run_until_caught_up(config):
    return firn("run", config, "--until-caught-up").ok()


def test_every_flight_lands_once_field_by_field(broker, topic, lake, flights_file):
    flights = next(parquet.ParquetFile(flights_file).iter_batches(200_000))
    rows = ({**row, "date": row["date"].isoformat()} for row in flights.to_pylist())
    broker.produce(topic, map(json.dumps, rows))
    columns = (
        "[{name: date, type: timestamp}, {name: delay, type: int}, {name: distance, type: int},"
        " {name: origin, type: string}, {name: destination, type: string}]"
    )
    config = lake.config(
        pipeline(broker, [topic], "lake.travel.flights", columns, table_extra='partition_by: ["month(date)"]')
    )
    run_until_caught_up(config)
    expected = pa.Table.from_batches([flights])
    assert_same_rows(lake.read("travel.flights"), expected)
    assert_same_rows(lake.read_duckdb("travel.flights"), expected)


def test_a_second_bounded_run_adds_nothing_and_makes_no_snapshot(broker, topic, lake):
    broker.produce(topic, orders(0, 1000))
    config = lake.config(pipeline(broker, [topic]))
    run_until_caught_up(config)
    before = snapshots(lake)
    run_until_caught_up(config)
    assert ids(lake) == list(range(1000))
    assert snapshots(lake) == before


def test_a_later_bounded_run_takes_only_what_is_new(broker, topic, lake):
    config = lake.config(pipeline(broker, [topic]))
    broker.produce(topic, orders(0, 500))
    run_until_caught_up(config)
    broker.produce(topic, orders(500, 500))
    run_until_caught_up(config)
    assert ids(lake) == list(range(1000))


def test_an_idle_pipeline_makes_no_snapshots_and_leaves_with_zero(broker, topic, lake, tmp_path):
    broker.produce(topic, orders(0, 100))
    running = start_firn("run", lake.config(pipeline(broker, [topic])), log=tmp_path / "firn.log")
    wait_until(lambda: count(lake) == 100, what="100 rows")
    before = snapshots(lake)
    time.sleep(4)  # four commit intervals
    assert snapshots(lake) == before
    assert running.stop() == 0, running.output
    assert snapshots(lake) == before


def test_a_second_process_joins_and_leaves(broker, topic, lake, tmp_path):
    config = lake.config(pipeline(broker, [topic]))
    first = start_firn("run", config, log=tmp_path / "first.log")
    broker.produce(topic, orders(0, 20_000))
    wait_until(lambda: count(lake) == 20_000, what="the first process alone")
    second = start_firn("run", config, log=tmp_path / "second.log")
    for begin in range(20_000, 60_000, 2_000):
        broker.produce(topic, orders(begin, 2_000))
        time.sleep(0.3)
    assert second.stop() == 0, second.output
    broker.produce(topic, orders(60_000, 10_000))
    wait_until(lambda: count(lake) >= 70_000, what="everything", timeout_s=90)
    assert first.stop() == 0, first.output
    assert ids(lake) == list(range(70_000))


def test_a_topic_gets_more_partitions_while_it_is_read(broker, topic, lake, tmp_path):
    settings = 'properties: {topic.metadata.refresh.interval.ms: "1000"}'
    config = lake.config(pipeline(broker, [topic], source_extra=settings))
    running = start_firn("run", config, log=tmp_path / "firn.log")
    broker.produce(topic, orders(0, 1000))
    wait_until(lambda: count(lake) == 1000, what="the first partitions")
    broker.add_partitions(topic, 6)
    for partition in (4, 5):
        broker.produce(topic, orders(1000 * partition, 1000), partition=partition)
    wait_until(lambda: count(lake) == 3000, what="the new partitions", timeout_s=90)
    assert running.stop() == 0, running.output
    assert ids(lake) == sorted([*range(1000), *range(4000, 6000)])


def test_a_matching_topic_that_appears_later_is_read(broker, lake, tmp_path):
    broker.create_topic("later-a", 2)
    settings = 'properties: {topic.metadata.refresh.interval.ms: "1000"}'
    config = lake.config(pipeline(broker, topics_pattern="later-.*", source_extra=settings))
    running = start_firn("run", config, log=tmp_path / "firn.log")
    broker.produce("later-a", orders(0, 1000))
    wait_until(lambda: count(lake) == 1000, what="the first topic")
    broker.create_topic("later-b", 2)
    broker.produce("later-b", orders(1000, 1000))
    wait_until(lambda: count(lake) == 2000, what="the new topic", timeout_s=90)
    assert running.stop() == 0, running.output
    assert ids(lake) == list(range(2000))


def test_killed_in_mid_stream_a_few_times_every_record_once(broker, topic, lake, tmp_path):
    # A killed member keeps its partitions for this long.
    session = 'properties: {session.timeout.ms: "3000", heartbeat.interval.ms: "500"}'
    config = lake.config(pipeline(broker, [topic], interval="500ms", source_extra=session))
    sent = 0
    for attempt in range(4):
        running = start_firn("run", config, log=tmp_path / f"{attempt}.log")
        deadline = time.monotonic() + 3 + attempt
        while time.monotonic() < deadline:
            broker.produce(topic, orders(sent, 500))
            sent += 500
            time.sleep(0.05)
        running.kill()
    firn("run", config, "--until-caught-up", timeout_s=180).ok()
    assert ids(lake) == list(range(sent))


def test_another_writer_appends_to_the_same_table_while_firn_runs(broker, topic, lake, tmp_path):
    running = start_firn("run", lake.config(pipeline(broker, [topic], interval="300ms")), log=tmp_path / "firn.log")
    broker.produce(topic, orders(0, 100))
    wait_until(lambda: count(lake) == 100, what="the table")
    theirs = 0
    for round_ in range(8):
        broker.produce(topic, orders(100 + 500 * round_, 500))
        theirs += append_with_pyiceberg(lake, 1_000_000 + round_)
        time.sleep(0.2)
    wait_until(lambda: count(lake) == 4100 + theirs, what="both writers' rows")
    assert running.stop() == 0, running.output
    assert ids(lake) == [*range(4100), *range(1_000_000, 1_000_000 + theirs)]


def append_with_pyiceberg(lake, id_: int, tries: int = 50) -> int:
    """One row; PyIceberg gives a conflict back to its caller, so it is tried again."""
    from pyiceberg.exceptions import CommitFailedException

    row = pa.table({"id": pa.array([id_], pa.int64()), "text": pa.array(["theirs"])})
    for _ in range(tries):
        try:
            lake.pyiceberg().load_table(TABLE).append(row)
            return 1
        except CommitFailedException:
            continue
    raise AssertionError("PyIceberg lost every race")


def test_bad_records_go_to_the_dead_letter_table_and_the_others_land(broker, topic, lake):
    good = orders(0, 2000)
    bad = ['{"id": 1.5, "text": "x"}', "not json", '{"id": "text", "text": "x"}', "[1]"]
    broker.produce(topic, good + bad)
    run_until_caught_up(lake.config(pipeline(broker, [topic])))
    assert ids(lake) == list(range(2000))
    letters = lake.read("shop.orders_dead_letters")
    assert letters.num_rows == len(bad)


def test_records_of_a_transaction_that_was_aborted_are_not_taken(broker, topic, lake):
    producer = broker.producer(**{"transactional.id": f"t-{topic}"})
    producer.init_transactions()
    for first, keep in ((0, True), (100, False), (200, True)):
        producer.begin_transaction()
        for record in orders(first, 100):
            producer.produce(topic, record)
        producer.flush()
        (producer.commit_transaction if keep else producer.abort_transaction)()
    run_until_caught_up(lake.config(pipeline(broker, [topic])))
    assert ids(lake) == [*range(100), *range(200, 300)]


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_compressed_topics_are_read(broker, lake, codec):
    topic = f"compressed-{codec}"
    broker.create_topic(topic, 2)
    broker.produce(topic, orders(0, 2000), **{"compression.type": codec})
    run_until_caught_up(lake.config(pipeline(broker, [topic])))
    assert ids(lake) == list(range(2000))


def test_a_new_field_becomes_a_column_where_evolution_is_on(broker, topic, lake):
    config = lake.config(pipeline(broker, [topic], table_extra="schema_evolution: add"))
    broker.produce(topic, orders(0, 100))
    run_until_caught_up(config)
    broker.produce(topic, ['{"id": 100, "text": "x", "price": 1.5}', '{"id": 101, "text": "y"}'], partition=0)
    run_until_caught_up(config)
    table = lake.read(TABLE)
    assert ids(lake) == list(range(102))
    priced = table.filter(pc.is_valid(table.column("price")))
    assert priced.select(["id", "price"]).to_pylist() == [{"id": 100, "price": 1.5}]
