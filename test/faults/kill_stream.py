"""What a case sends and what must have become of it."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable
from dataclasses import dataclass

from home import Home
from kafka_broker import Broker

PARTITIONS = 3
KINDS = ("a", "b")
LETTERS = "letters"
BAD_EVERY = 17

COLUMNS = "[{name: id, type: long}, {name: kind, type: string}, {name: pad, type: string}]"
PAD_BYTES = 90_000  # of a large record: the files of a batch are uploaded in several parts
KAFKA = """pipelines:
  p:
    id: {id}
    source:
      kafka:
        bootstrap_servers: {bootstrap}
        topics: [{topic}]
        group_instance_id: "{instance}"
        properties: {{session.timeout.ms: "{session_ms}", heartbeat.interval.ms: "300", fetch.wait.max.ms: "50"}}
    decode: json
    tables:
{tables}
    dead_letters: {{table: lake.{ns}.letters, fail_above: {{ratio: 1}}}}
    commit: {{interval: {interval}}}
resources: {{threads: 2, memory: 256MiB}}
"""


@dataclass(frozen=True)
class Record:
    offset: int
    id: int
    kind: str
    bad: bool


class Stream:
    """One topic of a case's own. `pipeline`: one, large, letters or many, as fault_points.py has it."""

    def __init__(self, broker: Broker, topic: str, pipeline: str = "one"):
        self._producer = broker.producer(**{"log_level": 0, "enable.idempotence": True})
        self._bootstrap = broker.bootstrap
        self.topic = topic
        self.pipeline = pipeline
        self.sent: list[list[Record]] = [[] for _ in range(PARTITIONS)]
        self._next_id = 0

    def send(self, each: int = 100, kinds: tuple[str, ...] = KINDS) -> None:
        """Returns when the broker has them all. kinds: in turn."""
        failed = []
        for _ in range(each):
            for partition, records in enumerate(self.sent):
                bad = self.has_letters and len(records) % BAD_EVERY == 5
                record = Record(len(records), self._next_id, kinds[self._next_id % len(kinds)], bad)
                self._next_id += 1
                records.append(record)
                value = f"{{{record.id}" if bad else json.dumps({"id": record.id, "kind": record.kind, "pad": self._pad()})
                self._producer.produce(self.topic, value, partition=partition, on_delivery=lambda error, _: error and failed.append(error))
        assert self._producer.flush(30) == 0 and not failed, failed

    def _pad(self) -> str | None:
        return base64.b85encode(random.randbytes(PAD_BYTES * 4 // 5)).decode() if self.pipeline == "large" else None

    # --- the pipeline

    @property
    def has_letters(self) -> bool:
        return self.pipeline in ("letters", "many")

    @property
    def tables(self) -> tuple[str, ...]:
        return KINDS if self.pipeline == "many" else ("orders",)

    def config(self, home: Home, instance: str = "", session_ms: int = 30_000, file: str = "firn.yaml", table_extra: str = "") -> str:
        """Writes the pipeline file. instance: the name of a static member."""
        rules = []
        for table in self.tables:
            match = f'match: {{field: {{kind: "{table}"}}}}, ' if self.pipeline == "many" else ""
            rules.append(f"      - {{{match}name: lake.{home.ns}.{table}, columns: {COLUMNS}, kafka_columns: true{table_extra}}}")
        text = KAFKA.format(
            id=home.ns, bootstrap=self._bootstrap, topic=self.topic, instance=instance, session_ms=session_ms, tables="\n".join(rules), ns=home.ns,
            interval="2s" if self.pipeline == "large" else "200ms",
        )  # fmt: skip
        if not instance:
            text = text.replace('        group_instance_id: ""\n', "")
        path = home.folder / file
        path.write_text(home.catalogs_yaml + text)
        return path

    # --- what is to be found

    def expected(self, table: str) -> list[list[tuple[int, int]]]:
        """Of each partition, offset and id of every record that belongs into this table, in order."""
        mine: Callable[[Record], bool] = lambda r: not r.bad and (self.pipeline != "many" or r.kind == table)  # noqa: E731
        return [[(record.offset, record.id) for record in records if mine(record)] for records in self.sent]

    def expected_letters(self) -> list[tuple[int, int]]:
        """Partition and offset of every bad record."""
        return [(partition, record.offset) for partition, records in enumerate(self.sent) for record in records if record.bad]

    def all_in(self, home: Home) -> bool:
        """Whether the tables count as many rows as there should be, or more."""
        wanted = {table: sum(map(len, self.expected(table))) for table in self.tables}
        if self.has_letters:
            wanted[LETTERS] = len(self.expected_letters())
        return all(_total_records(home, table) >= count for table, count in wanted.items())


def _total_records(home: Home, table: str) -> int:
    head = home.load(table).current_snapshot()
    return int(head.summary["total-records"]) if head else 0
