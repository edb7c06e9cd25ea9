"""Compares a table with what lies in the topic, at any moment of a run and at its end.

A table that holds the records of a partition exactly once and in order is a prefix of that partition, whatever was rewritten or expired meanwhile:
the n records that it holds are the first n of the log. Its positions say the same n, and `firn.valid-through` is not later than that. All is
read past Firn: PyIceberg for the metadata, Parquet files as they lie there, a consumer of our own for the log.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as parquet
from home import Home
from table_files import files_added, named_by_snapshots

from soak.log import Log

COLUMNS = ["id", "_kafka.partition", "_kafka.offset"]
VALID_THROUGH = "firn.valid-through"


class Wrong(AssertionError):
    """What no run may show."""


def require(holds: bool, what: str) -> None:
    if not holds:
        raise Wrong(what)


@dataclass(frozen=True)
class Seen:
    """What one look at one table found."""

    rows: int
    files: int
    snapshots: int
    behind: int  # records of the log that the table does not hold yet


class Oracle:
    """One table and the records of it: those whose id leaves `remainder` when divided by `divisor`."""

    def __init__(self, home: Home, table: str, pipeline: str, log: Log, acked_ms, divisor: int = 1, remainder: int = 0):
        """acked_ms: partition -> when the broker had acknowledged each of its records, in order."""
        self._home, self._name, self._pipeline, self._log, self._acked_ms = home, table, pipeline, log, acked_ms
        self._divisor, self._remainder = divisor, remainder
        self._catalog = None
        self._files: dict[str, pa.Table] = {}
        self._looked_at: set[int] = set()

    def look(self) -> Seen:
        """Raises Wrong. Nobody may remove files meanwhile; anything else may go on."""
        table = self.load()
        self._log.read_to_end()  # after the table: it may hold what came just now
        wanted = [self._wanted(partition) for partition in range(len(self._log.ids))]
        self._nothing_is_gone(table)
        live = self._live_files(table)
        held = self._rows(live, wanted)
        self._positions(table, held, wanted)
        self._valid_through(table, held, wanted)
        self._batches(table, wanted)
        return Seen(sum(held), len(live), len(table.metadata.snapshots), sum(want.num_rows for want in wanted) - sum(held))

    def load(self):
        if self._catalog is None:
            self._catalog = self._home.pyiceberg()
        return self._catalog.load_table((self._home.ns, self._name))

    # --- what is asked of it

    def _wanted(self, partition: int) -> pa.Table:
        """Records of this table in the partition, in order, with their place (index) in the partition."""
        log = self._log
        columns = {"offset": log.offsets[partition], "id": log.ids[partition]}
        table = pa.table({name: pa.array(memoryview(values.tobytes()).cast("q")) if len(values) else pa.array([], pa.int64()) for name, values in columns.items()})
        table = table.append_column("index", pa.array(range(table.num_rows), pa.int64()))
        if self._divisor == 1:
            return table
        rest = pc.subtract(table["id"], pc.multiply(pc.divide(table["id"], self._divisor), self._divisor))
        return table.filter(pc.equal(rest, self._remainder))

    def _nothing_is_gone(self, table) -> None:
        named = {self._home.path_of(location) for location in named_by_snapshots(table)}
        gone = {path for path in named if not Path(path).exists()}
        require(not gone, f"{self._name}: files that its snapshots need are gone: {sorted(gone)[:5]}")

    def _live_files(self, table) -> list[str]:
        tasks = list(table.scan().plan_files())
        paths = [task.file.file_path for task in tasks]
        twice = [path for path, count in Counter(paths).items() if count > 1]
        require(not twice, f"{self._name}: data files referenced twice: {twice[:5]}")
        require(not any(task.delete_files for task in tasks), f"{self._name}: delete files in a table that nobody deletes from")
        return paths

    def _rows(self, live: list[str], wanted: list[pa.Table]) -> list[int]:
        """How many records of each partition the table holds."""
        found = pa.concat_tables([self._file(path) for path in live]) if live else self._no_rows()
        held = []
        for partition, want in enumerate(wanted):
            mine = found.filter(pc.equal(found["partition"], partition)).sort_by("offset").select(["offset", "id"]).combine_chunks()
            first = want.select(["offset", "id"]).slice(0, mine.num_rows).combine_chunks()
            require(mine.equals(first), f"{self._name}, partition {partition}: {difference(mine, want)}")
            held.append(mine.num_rows)
        require(sum(held) == found.num_rows, f"{self._name}: rows of partitions that the topic does not have")
        return held

    def _positions(self, table, held: list[int], wanted: list[pa.Table]) -> None:
        """The table stands where its rows end: neither ahead of them nor behind."""
        text = table.properties.get(f"firn.progress.{self._pipeline}")
        if text is None:
            require(sum(held) == 0, f"{self._name}: rows, but no progress property")
            return
        positions = {int(p): at[0] for source in json.loads(text)["sources"] if source["topic"] == self._log.topic for p, at in source["at"].items()}
        for partition, want in enumerate(wanted):
            at = positions.get(partition, 0)
            require(at <= self._log.next_of(partition), f"{self._name}, partition {partition}: position {at} is beyond the end of the log")
            below = pc.sum(pc.less(want["offset"], at)).as_py() or 0
            require(below == held[partition], f"{self._name}, partition {partition}: its position {at} speaks of {below} records, it holds {held[partition]}")

    def _valid_through(self, table, held: list[int], wanted: list[pa.Table]) -> None:
        """What a broker had acknowledged by then is in the table."""
        said = [s.summary.additional_properties.get(VALID_THROUGH) for s in table.metadata.snapshots if s.summary]
        said = [datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000 for text in said if text]
        if not said:
            return
        for partition, want in enumerate(wanted):
            if held[partition] == want.num_rows:
                continue
            index = want["index"][held[partition]].as_py()
            acked = self._acked_ms(partition, index)
            require(
                acked is None or acked >= max(said),
                f"{self._name}, partition {partition}: {VALID_THROUGH} is {max(said) - (acked or 0):.0f} ms past a record that it does not hold",
            )

    def _batches(self, table, wanted: list[pa.Table]) -> None:
        """Each batch of Firn's that was not looked at before holds the records of its ranges, in order within each file."""
        for snapshot in table.metadata.snapshots:
            summary = snapshot.summary.additional_properties if snapshot.summary else {}
            if snapshot.snapshot_id in self._looked_at or "firn.ranges" not in summary:
                continue
            files = files_added(table, snapshot)
            if all(path in self._files or Path(self._home.path_of(path)).exists() for path in files):
                self._batch(snapshot, json.loads(summary["firn.ranges"]).get(self._log.topic, {}), files, wanted)
            self._looked_at.add(snapshot.snapshot_id)

    def _batch(self, snapshot, ranges: dict[str, list[int]], files: list[str], wanted: list[pa.Table]) -> None:
        what = f"{self._name}, snapshot {snapshot.snapshot_id}"
        rows = 0
        for path in files:
            file = self._file(path)
            rows += file.num_rows
            for partition in pc.unique(file["partition"]).to_pylist():
                offsets = file.filter(pc.equal(file["partition"], partition))["offset"].to_pylist()
                require(offsets == sorted(offsets), f"{what}: partition {partition} of {path} is out of order")
                begin, end = ranges.get(str(partition), (0, 0))
                require(begin <= offsets[0] and offsets[-1] < end, f"{what}: partition {partition} of {path} is outside [{begin}, {end})")
        promised = 0
        for partition, (begin, end) in ranges.items():
            offsets = wanted[int(partition)]["offset"]
            promised += pc.sum(pc.and_(pc.greater_equal(offsets, begin), pc.less(offsets, end))).as_py() or 0
        require(rows == promised, f"{what}: {rows} rows in its files, {promised} records in its ranges {ranges}")

    def _file(self, path: str) -> pa.Table:
        """Files never change: each is read once. In their order."""
        if path not in self._files:
            with self._home.filesystem.open_input_file(self._home.path_of(path)) as file:
                read = parquet.ParquetFile(file).read(columns=COLUMNS)
            position = read["_kafka"].combine_chunks()
            partition, offset = (pc.cast(pc.struct_field(position, name), pa.int64()) for name in ("partition", "offset"))
            self._files[path] = pa.table({"partition": partition, "offset": offset, "id": read["id"]})
        return self._files[path]

    @staticmethod
    def _no_rows() -> pa.Table:
        return pa.table({name: pa.array([], pa.int64()) for name in ("partition", "offset", "id")})


def difference(mine: pa.Table, want: pa.Table) -> str:
    """In what the rows (offset, id) of a partition are not its first ones."""
    have = list(zip(mine["offset"].to_pylist(), mine["id"].to_pylist(), strict=True))
    log = list(zip(want["offset"].to_pylist(), want["id"].to_pylist(), strict=True))
    counts, known = Counter(have), set(log)
    doubled = [one for one, count in counts.items() if count > 1]
    unknown = [one for one in counts if one not in known]
    last = max((offset for offset, _ in have), default=-1)
    missing = [one for one in log if one[0] <= last and one not in counts]
    return f"{len(have)} rows (offset, id); doubled: {shown(doubled)}; missing before its last one: {shown(missing)}; not in the log: {shown(unknown)}"


def shown(some: list) -> str:
    return f"{len(some)} {some[:3] + ['...'] + some[-2:] if len(some) > 5 else some}" if some else "none"


def wait_until_all_in(oracles: list[Oracle], wanted: int, timeout_s: float, still) -> None:
    """By the counts of the heads' summaries. still: raises when there is nothing to wait for any more."""
    deadline, last = time.monotonic() + timeout_s, "nothing was seen"
    while time.monotonic() < deadline:
        still()
        try:
            counts = [int(head.summary["total-records"]) if (head := one.load().current_snapshot()) else 0 for one in oracles]
            if sum(counts) >= wanted:
                return
            last = f"the tables hold {counts} records"
        except Exception as error:  # noqa: BLE001  a catalog that is just coming back
            last = repr(error)
        time.sleep(0.5)
    raise Wrong(f"{wanted} records are in the topic, and after {timeout_s:.0f} s without any fault {last}")
