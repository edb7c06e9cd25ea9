"""Processes that share a pipeline by a consumer group: one that joins, sleeps, is thrown out or fenced loses and doubles nothing, and what stays
with a process is not read twice."""

from __future__ import annotations

import json
import signal
import sqlite3
import time
import urllib.request
from pathlib import Path

import pytest
from confluent_kafka import Consumer
from firn import firn, start_firn, wait_until
from kafka_broker import free_port
from pipelines import orders, pipeline

TABLE = "shop.orders"
PARTITIONS = 4  # of each test's topic
SESSION_S = 2.0


class Group:
    """The processes of one pipeline, each with a status of its own."""

    def __init__(self, broker, topic: str, lake, interval: str = "300ms", instance: str = "", **properties: str):
        self._broker, self._topic, self._lake, self._interval, self._instance = broker, topic, lake, interval, instance
        self._properties = {"session.timeout.ms": str(int(SESSION_S * 1000)), "heartbeat.interval.ms": "300"} | properties
        self._ports: dict[str, int] = {}
        self.sent = 0

    @property
    def id(self) -> str:
        return f"g-{self._topic}"

    def config(self, name: str = "firn") -> Path:
        port = self._ports.setdefault(name, free_port())
        source = f"group_id: {self.id}\nproperties: {json.dumps(self._properties)}\n"
        source += f"group_instance_id: {self._instance}\n" if self._instance else ""
        yaml = pipeline(self._broker, [self._topic], interval=self._interval, source_extra=source)
        return self._lake.config(f"listen: 127.0.0.1:{port}\n{yaml}", file=f"{name}.yaml")

    def start(self, name: str):
        return start_firn("run", self.config(name), log=self._lake.folder / f"{name}.log")

    def member(self) -> Consumer:
        """One that is not Firn, and whose records nobody needs."""
        consumer = Consumer({
            "bootstrap.servers": self._broker.bootstrap, "group.id": self.id, "group.instance.id": self._instance,
            "partition.assignment.strategy": "cooperative-sticky",
        })  # fmt: skip
        consumer.subscribe([self._topic])
        return consumer

    def send(self, each: int = 100) -> None:
        """To every partition."""
        for partition in range(PARTITIONS):
            self._broker.produce(self._topic, orders(self.sent, each), partition=partition)
            self.sent += each

    def status(self, name: str) -> dict:
        with urllib.request.urlopen(f"http://127.0.0.1:{self._ports[name]}/status", timeout=10) as answer:
            return json.load(answer)["pipelines"][0]

    def decoded(self, *names: str) -> int:
        return sum(self.status(name)["rows-decoded"] for name in names)

    def await_partitions(self, **counts: int) -> None:
        wait_until(lambda: {name: len(self.status(name)["partitions"]) for name in counts} == counts, what=f"partitions {counts}")

    def ids(self) -> list[int]:
        return sorted(self._lake.read(TABLE).column("id").to_pylist())

    def await_rows(self) -> None:
        wait_until(lambda: len(self.ids()) >= self.sent, what=f"{self.sent} rows")
        assert self.ids() == list(range(self.sent))


@pytest.fixture
def group(broker, topic, lake):
    return lambda **more: Group(broker, topic, lake, **more)


def stop_all(*running) -> None:
    for one in running:
        assert one.stop() == 0, one.output


def test_two_that_share_disjoint_partitions_leave_both_positions_when_every_snapshot_has_expired(group, lake):
    pair = group()
    first, second = pair.start("first"), pair.start("second")
    pair.await_partitions(first=2, second=2)
    pair.send()
    pair.await_rows()
    pair.send()
    pair.await_rows()
    stop_all(first, second)
    table = lake.pyiceberg().load_table(TABLE)
    theirs = [s for s in table.metadata.snapshots if s.summary.additional_properties.get("firn.epoch", "0") != "0"]
    assert len(theirs) >= 4, "each has committed its own partitions"
    table.append(lake.read(TABLE).slice(0, 1).set_column(0, table.schema().as_arrow().field(0), [[1_000_000]]))
    head = table.current_snapshot().snapshot_id
    table.maintenance.expire_snapshots().by_ids([s.snapshot_id for s in table.metadata.snapshots if s.snapshot_id != head]).commit()
    progress = json.loads(lake.pyiceberg().load_table(TABLE).properties["firn.progress.orders"])
    assert {partition: at[0] for partition, at in progress["sources"][0]["at"].items()} == {str(p): 200 for p in range(PARTITIONS)}
    pair.send()
    firn("run", pair.config(), "--until-caught-up").ok()
    assert pair.ids() == [*range(pair.sent), 1_000_000]


def test_one_that_joins_leaves_half_filled_files_of_what_stays_in_peace(group):
    """With a commit interval that never comes: only what the rebalance makes necessary is committed, and no record is read twice."""
    pair = group(interval="1h")
    first = pair.start("first")
    pair.await_partitions(first=4)
    pair.send()
    wait_until(lambda: pair.decoded("first") == pair.sent, what="rows in files that fill")
    second = pair.start("second")
    pair.await_partitions(first=2, second=2)
    pair.send()
    wait_until(lambda: pair.decoded("first", "second") >= pair.sent, what="rows in the files of both")
    stop_all(second)
    pair.await_partitions(first=4)
    pair.send()
    wait_until(lambda: pair.decoded("first") >= pair.sent - 200, what="the rows after the second has left")
    time.sleep(1)  # whatever else it reads
    assert pair.decoded("first") == pair.sent - 200, "two partitions of the second round were the other's; the rest is read once"
    stop_all(first)
    pair.await_rows()


def test_one_that_sleeps_longer_than_its_session_in_the_middle_of_a_batch(group):
    pair = group(interval="4s")
    first, second = pair.start("first"), pair.start("second")
    pair.await_partitions(first=2, second=2)
    before = pair.decoded("first")
    pair.send()
    wait_until(lambda: pair.decoded("first") == before + 200, what="a batch that fills")
    first.process.send_signal(signal.SIGSTOP)
    pair.await_partitions(second=4)
    pair.send()
    pair.await_rows()
    first.process.send_signal(signal.SIGCONT)
    pair.await_partitions(first=2, second=2)
    pair.send()
    pair.await_rows()
    stop_all(first, second)
    pair.await_rows()


def test_one_whose_catalog_stands_still_for_longer_than_the_group_waits_for_it(group, lake):
    """It cannot commit what a rebalance takes from it, is thrown out (max.poll.interval.ms) in the middle of that, and comes back."""
    alone = group(**{"max.poll.interval.ms": "3000"})
    running = alone.start("first")
    alone.await_partitions(first=4)
    alone.send()
    alone.await_rows()
    holder = sqlite3.connect(lake.database, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    alone.send()
    wait_until(lambda: alone.decoded("first") == alone.sent, what="rows that cannot be committed")
    other = alone.member()
    wait_until(lambda: (other.poll(0.1), "MAXPOLL" in running.output)[1], what="the end of the group's patience")
    holder.execute("ROLLBACK")
    holder.close()
    other.close()
    alone.await_partitions(first=4)
    alone.send()
    alone.await_rows()
    stop_all(running)
    alone.await_rows()


def test_two_with_one_group_instance_id_do_not_fight_for_ever(group):
    pair = group(instance="one-name")
    first = pair.start("first")
    pair.await_partitions(first=4)
    pair.send()
    pair.await_rows()
    second = pair.start("second")
    wait_until(lambda: not (first.alive() and second.alive()), what="the end of one of them")
    ended, left = (second, first) if first.alive() else (first, second)
    assert ended.wait() == 1, ended.output
    assert "group_instance_id 'one-name'" in ended.output and "Give each process a group_instance_id of its own" in ended.output
    pair.send()
    pair.await_rows()
    stop_all(left)
    pair.await_rows()


def test_a_static_member_whose_place_was_taken_for_a_moment_goes_on(group):
    alone = group(instance="one-name", interval="1s")
    running = alone.start("first")
    alone.await_partitions(first=4)
    alone.send()
    alone.await_rows()
    other = alone.member()
    wait_until(lambda: other.poll(0.1) is not None or len(other.assignment()) == 4, what="the other's assignment", every_s=0)
    alone.send()
    wait_until(lambda: "fenced" in running.output, what="the end of the first membership")
    other.close()
    alone.send()
    alone.await_rows()
    stop_all(running)


def test_a_static_member_whose_brokers_were_away_longer_than_its_session_goes_on(own_broker, lake):
    own_broker.create_topic("events", partitions=PARTITIONS)
    alone = Group(own_broker, "events", lake, instance="one-name")
    running = alone.start("first")
    alone.await_partitions(first=4)
    for round_ in range(2):
        alone.send()
        alone.await_rows()
        own_broker.kill() if round_ % 2 else own_broker.pause()
        time.sleep(SESSION_S * 1.5)
        own_broker.start() if round_ % 2 else own_broker.resume()
    alone.send()
    alone.await_rows()
    stop_all(running)
