"""A table that changes while firn fills it: what was sent, and what has to come of it."""

from __future__ import annotations

import json
from contextlib import contextmanager

import pyarrow as pa
from firn import start_firn, wait_until
from pipelines import pipeline
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.manifest import ManifestEntryStatus

PARTITIONS = 4  # of the topic


class TableStream:
    """A pipeline into one table, what was sent to it, and what has to come of that."""

    def __init__(self, broker, lake, topic: str, columns: str | None, evolution: str, table_extra: str = "", extra: str = "", decode: str = "json"):
        self.broker, self.lake, self.topic = broker, lake, topic
        self.table = f"{topic.replace('-', '_')[:60]}.events"
        self.decode, self.extra = decode, extra
        self.config = self.configure(columns, evolution, table_extra)
        self.sent = [0] * PARTITIONS
        self.probe = ({"id": -1}, {"id": -1})  # a record, and its row, that any table of the test takes
        self.rows: dict[tuple[int, int], dict] = {}  # by partition and offset

    def configure(self, columns: str | None, evolution: str, table_extra: str = "", extra: str | None = None):
        more = f"kafka_columns: true\nschema_evolution: {evolution}\n{table_extra}"
        return self.lake.config(
            pipeline(
                self.broker, [self.topic], f"{self.lake.name}.{self.table}", columns, key=self.topic, interval="200ms", table_extra=more,
                extra=self.extra if extra is None else extra, decode=self.decode,
            )
        )  # fmt: skip

    def send(self, *records, partition: int = 0) -> None:
        """Pairs of a record (bytes, or an object to be sent as JSON) and the row that it becomes; None: it becomes none."""
        values = [value if isinstance(value, bytes) else json.dumps(value) for value, _ in records]
        for offset, (_, row) in enumerate(records, self.sent[partition]):
            if row is not None:
                self.rows[partition, offset] = row
        self.sent[partition] += len(records)
        self.broker.produce(self.topic, values, partition=partition)

    def load(self):
        return self.lake.pyiceberg().load_table(self.table)

    def count(self) -> int:
        return int(self.load().current_snapshot().summary["total-records"])

    def arrive(self) -> None:
        wait_until(lambda: self.count() == len(self.rows), what=f"{len(self.rows)} rows in {self.table}", every_s=0.05)

    def check(self) -> None:
        """Every row where it has to be, field by field, and no other; a column that a row does not name is null."""
        self.arrive()
        self.check_rows(self.lake.read_duckdb(self.table))
        # PyIceberg does not tell a null list of structs from an empty one.
        self.check_rows(self.lake.read(self.table), lambda value: None if value == [] else value)

    def check_rows(self, found: pa.Table, seen_as=lambda value: value) -> None:
        """seen_as: what an engine makes of a value."""
        columns = [name for name in found.column_names if name != "_kafka"]
        rows = {}
        for row in found.to_pylist():
            at = row.pop("_kafka")
            key = (at["partition"], at["offset"])
            assert at["topic"] == self.topic and key not in rows
            rows[key] = {name: seen_as(value) for name, value in row.items()}
        want = {key: {name: seen_as(value) for name, value in {**dict.fromkeys(columns), **row}.items()} for key, row in self.rows.items()}
        other = {key: {"found": rows.get(key), "wanted": want.get(key)} for key in rows.keys() | want.keys() if rows.get(key) != want.get(key)}
        assert not other, other

    def letters(self) -> dict[int, str]:
        """Reasons of partition 0's dead letters, by offset."""
        return {letter["offset"]: letter["reason"] for letter in self.lake.read(f"{self.table}_dead_letters").to_pylist()}

    @contextmanager
    def running(self, log, code: int = 0):
        self.process = start_firn("run", self.config, log=log)
        try:
            yield self.process
            assert self.process.stop() == code, self.process.output
        finally:
            if self.process.alive():
                self.process.kill()

    def alter(self, change, heed: bool = True) -> None:
        """`change(table)` by PyIceberg, which gives a lost race back to its caller; then firn has heard of it."""

        def altered() -> bool:
            try:
                change(self.load())
                return True
            except CommitFailedException:
                return False

        wait_until(altered, what="PyIceberg's change", every_s=0.05)
        if heed:
            self.heed()

    def alter_schema(self, change, heed: bool = True) -> None:
        """`change(update)` of PyIceberg's schema update."""

        def alter(table) -> None:
            with table.update_schema(allow_incompatible_changes=True) as update:
                change(update)

        self.alter(alter, heed)

    def heed(self) -> None:
        """Two commits of firn's own: by the first it hears of what others did, with the second all of its lanes have."""
        for _ in range(2):
            before = self.process.output.count("batch committed")
            self.send(self.probe, partition=3)
            wait_until(lambda: self.process.output.count("batch committed") > before, what="firn's next commit", every_s=0.05)
        self.arrive()

    def newest_files(self) -> list:
        """The data files of firn's last commit."""
        table = self.load()
        snapshot = table.current_snapshot()
        return [
            entry.data_file
            for manifest in snapshot.manifests(table.io)
            for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=True)
            if entry.snapshot_id == snapshot.snapshot_id and entry.status == ManifestEntryStatus.ADDED
        ]
