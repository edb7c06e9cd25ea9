"""The oracle has eyes: it takes a good table, and refuses one with a hole, a repeat, a lost file, or words that are not true."""

from __future__ import annotations

import json
import time
from array import array
from pathlib import Path

import pyarrow as pa
import pytest
from home import local_store, sqlite_home
from soak.oracle import VALID_THROUGH, Oracle, Wrong

EACH = 20  # records of a partition
PARTITIONS = 2
POSITION = pa.struct([pa.field("topic", pa.string()), pa.field("partition", pa.int32()), pa.field("offset", pa.int64())])
SCHEMA = pa.schema([pa.field("id", pa.int64()), pa.field("_kafka", POSITION)])


class Topic:
    """What lies in it: partition p holds the ids p, p + 2, p + 4 ..."""

    topic = "events"

    def __init__(self):
        self.offsets = [array("q", range(EACH)) for _ in range(PARTITIONS)]
        self.ids = [array("q", (offset * PARTITIONS + p for offset in range(EACH))) for p in range(PARTITIONS)]

    def read_to_end(self) -> None:
        pass

    def next_of(self, partition: int) -> int:
        return len(self.offsets[partition])


class Case:
    def __init__(self, folder: Path):
        self.home = sqlite_home(folder, "soak", local_store(folder))
        self.home.pyiceberg_properties["init_catalog_tables"] = "true"
        self._catalog = self.home.pyiceberg()
        self._catalog.create_namespace("soak")
        self._catalog.create_table("soak.events", SCHEMA)
        self.topic = Topic()
        self.acked_ms = [[1000.0 * offset for offset in range(EACH)] for _ in range(PARTITIONS)]

    def table(self):
        return self._catalog.load_table("soak.events")

    def batch(self, begin: int, end: int, rows=None, position: int | None = None, **summary: str) -> None:
        """As Firn commits: the records [begin, end) of each partition, or these rows (partition, offset), with what is said about them."""
        rows = [(p, offset) for p in range(PARTITIONS) for offset in range(begin, end)] if rows is None else rows
        values = [{"id": o * PARTITIONS + p, "_kafka": {"topic": "events", "partition": p, "offset": o}} for p, o in rows]
        at = {str(p): [end if position is None else position] for p in range(PARTITIONS)}
        ranges = {"events": {str(p): [begin, end] for p in range(PARTITIONS)}}
        with self.table().transaction() as change:
            change.set_properties({"firn.progress.p": json.dumps({"sources": [{"topic": "events", "at": at}]})})
            change.append(pa.Table.from_pylist(values, SCHEMA), snapshot_properties={"firn.ranges": json.dumps(ranges), **summary})

    def look(self):
        acked = lambda p, index: self.acked_ms[p][index] if index < len(self.acked_ms[p]) else None  # noqa: E731
        return Oracle(self.home, "events", "p", self.topic, acked).look()


@pytest.fixture
def case(tmp_path) -> Case:
    made = Case(tmp_path)
    made.batch(0, 8)
    made.batch(8, 15)
    return made


def instant(ms: float) -> dict[str, str]:
    return {VALID_THROUGH: time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(ms / 1000)) + ".000Z"}


def test_a_good_table_is_taken_and_counted(case):
    seen = case.look()
    assert (seen.rows, seen.files, seen.behind) == (30, 2, 10)


def test_a_rewritten_and_expired_table_is_as_good(case):
    case.table().overwrite(case.table().scan().to_arrow())
    head = case.table().metadata.current_snapshot_id
    case.table().maintenance.expire_snapshots().by_ids([s.snapshot_id for s in case.table().metadata.snapshots if s.snapshot_id != head]).commit()
    assert case.look().rows == 30


def test_a_hole_is_seen(case):
    case.table().delete("id = 6")
    with pytest.raises(Wrong, match="missing before its last one: 1"):
        case.look()


def test_a_repeat_is_seen(case):
    case.table().append(case.table().scan().to_arrow().slice(3, 1))
    with pytest.raises(Wrong, match="doubled: 1"):
        case.look()


def test_a_row_that_was_never_sent_is_seen(case):
    row = {"id": 4711, "_kafka": {"topic": "events", "partition": 0, "offset": 15}}
    case.table().append(pa.Table.from_pylist([row], SCHEMA))
    with pytest.raises(Wrong, match="not in the log: 1"):
        case.look()


def test_a_lost_file_is_seen(case):
    Path(case.home.path_of(next(iter(case.table().scan().plan_files())).file.file_path)).unlink()
    with pytest.raises(Wrong, match="are gone"):
        case.look()


def test_a_file_that_only_an_old_snapshot_needs_is_missed_too(case):
    file = next(iter(case.table().scan().plan_files())).file.file_path
    case.table().overwrite(case.table().scan().to_arrow())
    Path(case.home.path_of(file)).unlink()
    with pytest.raises(Wrong, match="are gone"):
        case.look()


def test_a_file_that_is_named_twice_is_seen(case):
    file = next(iter(case.table().scan().plan_files())).file
    with case.table().transaction() as change, change.update_snapshot().fast_append() as append:
        append.append_data_file(file)
    with pytest.raises(Wrong, match="referenced twice"):
        case.look()


def test_a_batch_out_of_order_is_seen(case):
    case.batch(15, 18, [(0, 16), (0, 15), (0, 17), (1, 15), (1, 16), (1, 17)])
    with pytest.raises(Wrong, match="out of order"):
        case.look()


def test_a_batch_that_promises_more_than_it_holds_is_seen(case):
    case.batch(15, 18, [(p, o) for p in range(PARTITIONS) for o in range(15, 17)], position=17)
    with pytest.raises(Wrong, match="4 rows in its files, 6 records in its ranges"):
        case.look()


@pytest.mark.parametrize("position", [17, 19], ids=["behind", "ahead"])
def test_a_position_that_is_not_where_the_rows_end_is_seen(case, position):
    case.batch(15, 18, position=position)
    with pytest.raises(Wrong, match=f"its position {position} speaks of {position} records, it holds 18"):
        case.look()


def test_valid_through_may_be_as_late_as_what_is_missing_and_no_later(case):
    case.batch(15, 16, **instant(16_000))
    assert case.look().rows == 32
    case.batch(16, 17, **instant(18_000))
    with pytest.raises(Wrong, match="1000 ms past a record that it does not hold"):
        case.look()
