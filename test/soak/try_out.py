"""The independent try-out: records with ids flow while `firn run` is killed again and again, PyIceberg expires and Spark rewrites; in the end
three engines count. It shares no check with the soak: only the engines' own counts decide."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack
from pathlib import Path
from random import Random

from kafka_broker import Broker
from readers import duckdb_session, local_path

from soak import engines, pipeline_file
from soak.actors import Actor
from soak.book import Book
from soak.lakes import LAKES
from soak.producer import Producer
from soak.schedule import Event
from soak.run import Result
from soak.workers import Worker

TOPIC, PARTITIONS, TABLE = "events", 4, "events"
LIFE_S = (0.5, 6.0)
SHARE = 0.95  # of the time of the kills in which the records flow
LAST_RUN_S = 600
EXPIRES_AFTER_S = 30


class Again(threading.Thread):
    """Calls a function, over and over, until it is told to end."""

    def __init__(self, name: str, every_s: float, call, book: Book):
        super().__init__(name=name, daemon=True)
        self._every_s, self._call, self._book = every_s, call, book
        self._over = threading.Event()

    def run(self) -> None:
        while not self._over.wait(self._every_s):
            try:
                self._book.note(self.name, self._call(), f"{self.name}: done")
            except Exception as error:  # noqa: BLE001
                if not engines.forgives(error):
                    self._book.fail(self.name, repr(error))
                    return
                self._book.note(self.name, f"in vain: {engines.cause_of(error)}", f"{self.name}: in vain")

    def end(self) -> None:
        self._over.set()
        self.join()


class Killed(Worker):
    """Killed without a word after each of the times of its events."""

    def act(self, event: Event) -> str:
        self.tick()
        if self._process is None:
            self._begin()
        self._wait(event.more["seconds"])
        if self._process.poll() is not None:
            self._ended_by_itself(self._process.poll())
            return "it was gone before"
        self._process.kill()
        self._process.wait()
        self._process = None
        self._begin()
        return "killed"


class TryOut:
    def __init__(self, folder: Path, seed: int, records: int, kills: int, catalog: str):
        rng = Random(f"{seed}/try-out")
        self._lives = [round(rng.uniform(*LIFE_S), 2) for _ in range(kills)]
        self._records, self._catalog, self.folder = records, catalog, folder
        (folder / "logs").mkdir(parents=True)
        (folder / "plan.txt").write_text(f"seed {seed}: {records} records; killed after {self._lives} s\n")
        self.book = Book(folder / "happened.txt", loud=True)
        self.figures: dict[str, int] = {}

    def run(self) -> Result:
        try:
            with ExitStack() as opened:
                self._run(opened)
        except Exception as error:  # noqa: BLE001
            self.book.fail("try-out", repr(error))
        finally:
            self.book.close()
        self.figures |= dict(sorted(self.book.counts.items()))
        return Result(self.book.failures, self.figures, self.folder)

    def _run(self, opened: ExitStack) -> None:
        lake = opened.enter_context(LAKES[self._catalog](self.folder / "lake"))
        broker = opened.enter_context(Broker(self.folder / "kafka"))
        broker.create_topic(TOPIC, partitions=PARTITIONS)
        config = pipeline_file.write(lake.home, broker.bootstrap, TOPIC, "firn.yaml", instance="the-one")
        rate = int(self._records / (sum(self._lives) * SHARE)) + 1
        producer = Producer(broker, TOPIC, PARTITIONS, 1, rate, most=self._records)
        firn = Killed("firn", [Event(0, "firn", "kill", {"seconds": life}) for life in self._lives], self.book, config, self.folder / "logs")
        removing = threading.Lock()
        pyiceberg, spark = engines.PyIceberg(lake.home, removing), engines.SparkSql(self.folder / "spark", lake, removing)
        opened.callback(spark.stop)
        others = [
            # Not younger ones: Spark reads the snapshot that a rewrite began with for longer than that.
            Again("pyiceberg", 5, lambda: pyiceberg.expire(TABLE, EXPIRES_AFTER_S), self.book),
            Again("spark", 5, lambda: spark.rewrite(TABLE), self.book),
        ]
        self._flow(producer, firn, others, spark)
        self._count(lake, spark)

    def _flow(self, producer: Producer, firn: Actor, others: list[Again], spark: engines.SparkSql) -> None:
        assert spark.session is not None  # it takes a while to start
        begun = time.monotonic()
        for one in (producer, firn, *others):
            one.start()
        firn.done.wait()
        self.figures["seconds of kills"] = round(time.monotonic() - begun)
        producer.join()
        if producer.failed or producer.sent != self._records:
            raise RuntimeError(f"{producer.sent} records were sent, {len(producer.failed)} were not delivered")
        for one in others:
            one.end()
        firn.leave = True  # it finishes what it has in flight
        while not firn.is_gone:
            time.sleep(0.2)
        firn.over.set()
        firn.join()
        self._catch_up(firn)

    def _catch_up(self, firn: Worker) -> None:
        """The rest, in one bounded run."""
        last = Worker("last", [], self.book, firn._config, self.folder / "logs", ("--until-caught-up",))  # noqa: SLF001
        last._begin()  # noqa: SLF001
        code = last._process.wait(LAST_RUN_S)  # noqa: SLF001
        if code != 0:
            raise RuntimeError(f"the last run ended with {code}: {last.log}")

    def _count(self, lake, spark: engines.SparkSql) -> None:
        table = lake.home.load(TABLE)
        ids = table.scan(selected_fields=("id",)).to_arrow().column("id")
        location = local_path(table.metadata_location)
        counts = {
            "Spark": spark.count(TABLE),
            "DuckDB": duckdb_session().execute(f"SELECT count(*), count(DISTINCT id) FROM iceberg_scan('{location}')").fetchone(),
            "PyIceberg": (len(ids), len(ids.unique())),
        }
        for engine, (rows, distinct) in counts.items():
            self.figures |= {f"{engine}: rows": rows, f"{engine}: distinct ids": distinct}
            if (rows, distinct) != (self._records, self._records):
                self.book.fail("try-out", f"{engine} counts {rows} rows and {distinct} distinct ids, {self._records} were sent")
