"""One soak: starts what the plan needs, lets the actors act, and asks the oracle in between and at the end."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from kafka_broker import Broker
from readers import duckdb_session, local_path

from soak import engines, pipeline_file
from soak.actors import Actor, Caller, Catalog, Kafka, Rate
from soak.book import Book
from soak.lakes import LAKES, Lake
from soak.log import Log
from soak.oracle import Oracle, Wrong, wait_until_all_in
from soak.producer import Producer
from soak.schedule import SESSION_S, Event, Plan
from soak.workers import Worker

TOPIC = "events"
ALL_IN_S = 240
# Its controller takes a killed broker for alive until then, and does not let it in again.
BROKER = {"broker.session.timeout.ms": "2000", "broker.heartbeat.interval.ms": "500"}


@dataclass
class Result:
    failures: list[str]
    figures: dict[str, int]
    folder: Path


class Soak:
    """`run` once. All that it makes is below the folder: `plan.txt`, `happened.txt`, `logs`, `lake`, `kafka`."""

    def __init__(self, plan: Plan, folder: Path, loud: bool = False):
        self.plan, self.folder = plan, folder
        (folder / "logs").mkdir(parents=True)
        (folder / "plan.txt").write_text(str(plan))
        self.book = Book(folder / "happened.txt", loud)
        self.figures: dict[str, int] = {}
        self._open = ExitStack()
        self._removing = threading.Lock()
        self._tables = pipeline_file.names(plan.tables)

    def run(self) -> Result:
        try:
            with self._open:
                self._run()
        except Exception as error:  # noqa: BLE001
            self.book.fail("oracle" if isinstance(error, Wrong) else "soak", str(error) or repr(error))
        finally:
            self.book.close()
        self.figures |= dict(sorted(self.book.counts.items()))
        return Result(self.book.failures, self.figures, self.folder)

    def _run(self) -> None:
        self._start()
        self.book.begin()
        self.book.until_s = self.plan.seconds + 1  # an actor may be behind its plan, on a busy machine by much
        for actor in [*self._workers, *self._others]:
            actor.start()
        self._producer.start()
        for actor in [*self._others, *self._workers]:
            self._await(actor.done, self.plan.seconds + 600)
        self._calm_down()

    # --- the beginning

    def _start(self) -> None:
        plan = self.plan
        self._lake: Lake = self._open.enter_context(LAKES[plan.catalog](self.folder / "lake"))
        self._broker = self._open.enter_context(Broker(self.folder / "kafka", BROKER))
        self._broker.create_topic(TOPIC, partitions=plan.partitions)
        self._producer = Producer(self._broker, TOPIC, plan.partitions, plan.tables, plan.rate)
        log = Log(self._broker.bootstrap, TOPIC, plan.partitions)
        self._oracles = [
            Oracle(self._lake.home, name, pipeline_file.PIPELINE, log, self._producer.acked_ms, plan.tables, number)
            for number, name in enumerate(self._tables)
        ]
        self._log = log
        self._workers = [self._worker(number, static) for number, static in enumerate(plan.workers)]
        self._others = self._make_others()
        self._open.callback(self._end_all)

    def _worker(self, number: int, static: bool) -> Worker:
        name, plan = f"worker-{number}", self.plan
        config = pipeline_file.write(
            self._lake.home, self._broker.bootstrap, TOPIC, f"{name}.yaml", plan.tables, plan.interval_ms, int(SESSION_S * 1000), name if static else ""
        )
        return Worker(name, plan.of(name), self.book, config, self.folder / "logs")

    def _make_others(self) -> list[Actor]:
        plan, book = self.plan, self.book
        pyiceberg = engines.PyIceberg(self._lake.home, self._removing)
        calls = {
            "rewriter": lambda event: " / ".join(pyiceberg.rewrite(name, event.more["files"]) for name in self._tables),
            "expirer": lambda event: " / ".join(pyiceberg.expire(name, event.more["older_than_s"]) for name in self._tables),
            "oracle": lambda event: self._look(),
        }
        if plan.spark:
            self._spark = engines.SparkSql(self.folder / "spark", self._lake, self._removing)
            self._open.callback(self._spark.stop)
            calls["spark"] = self._call_spark
        callers: list[Actor] = [Caller(name, plan.of(name), book, call, self._forgives) for name, call in calls.items()]
        catalog = Catalog(plan.of("catalog"), book, self._lake, plan.seed)
        return [Kafka(plan.of("kafka"), book, self._broker), catalog, Rate(plan.of("producer"), book, self._producer), *callers]

    def _call_spark(self, event: Event) -> str:
        calls = {"rewrite": self._spark.rewrite, "rewrite manifests": self._spark.rewrite_manifests, "expire": self._spark.expire}
        return " / ".join(calls[event.what](name, *event.more.values()) for name in self._tables)

    def _forgives(self, error: Exception) -> bool:
        from confluent_kafka import KafkaException

        return isinstance(error, (KafkaException, TimeoutError)) or engines.forgives(error)

    # --- the middle

    def _look(self) -> str:
        with self._removing:
            seen = [oracle.look() for oracle in self._oracles]
        return " / ".join(f"{one.rows} rows in {one.files} files, {one.behind} behind, {one.snapshots} snapshots" for one in seen)

    def _await(self, event: threading.Event, until_s: float) -> None:
        """The first failure ends the soak: what it left behind is to be looked at."""
        while not event.wait(0.2):
            if self.book.failures:
                raise Wrong("ended early by the failure above")
            if self.book.now() > until_s:
                raise Wrong(f"an actor is not done after {until_s:.0f} s")

    # --- the end

    def _calm_down(self) -> None:
        self.book.note("soak", "no more faults: everything has to come in")
        self._producer.end()
        self._log.read_to_end()
        if wrong := self._producer.agrees_with(self._log):
            raise RuntimeError(f"the topic does not hold what was sent, so nothing can be said about Firn: {wrong}")
        begun = self.book.now()
        wait_until_all_in(self._oracles, len(self._log), ALL_IN_S, self._no_failure)
        self.figures["seconds until all was in"] = round(self.book.now() - begun)
        for worker in self._workers:
            worker.leave = True
        for worker in self._workers:
            while not worker.is_gone:
                self._no_failure()
                time.sleep(0.2)
        self._last_look()

    def _no_failure(self) -> None:
        if self.book.failures:
            raise Wrong("ended early by the failure above")

    def _last_look(self) -> None:
        seen = [oracle.look() for oracle in self._oracles]
        if behind := sum(one.behind for one in seen):
            raise Wrong(f"{behind} records are missing at the end")
        self.figures |= {"records": len(self._log), "rows": sum(one.rows for one in seen), "live files": sum(one.files for one in seen)}
        for oracle, name, one in zip(self._oracles, self._tables, seen, strict=True):
            location = local_path(oracle.load().metadata_location)
            found = duckdb_session().execute(f"SELECT count(*), count(DISTINCT id) FROM iceberg_scan('{location}')").fetchone()
            if found != (one.rows, one.rows):
                raise Wrong(f"{name}: DuckDB counts {found[0]} rows and {found[1]} ids, {one.rows} are right")
            if self.plan.spark and self._spark.count(name) != (one.rows, one.rows):
                raise Wrong(f"{name}: Spark counts {self._spark.count(name)}, {one.rows} are right")
        self.book.note("oracle", f"each of {len(self._log)} records is there once")

    def _end_all(self) -> None:
        """Not before all is over: a server ends with the thread that started it."""
        for actor in [*self._workers, *self._others]:
            actor.over.set()
        self._producer.give_up()
        for actor in [*self._workers, *self._others]:
            if actor.is_alive():
                actor.join(60)
