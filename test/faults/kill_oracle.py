"""Looks at a table through PyIceberg and pyarrow and tells whether it holds what was sent: each record once and in order, every file that it
names there and named once, and nothing left behind but what a kill at that point may leave."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import chain

import pyarrow.parquet as parquet
from home import Home
from kill_stream import LETTERS, Stream
from table_files import files_added, kind_of, left_behind

Run = list[tuple[int, int]]  # offset and id


def check(home: Home, stream: Stream, leaves: set[str] | None = None) -> None:
    """leaves: the kinds of files that may lie about unreferenced; None: of any kind."""
    for table in stream.tables:
        check_rows(home, home.load(table), stream.expected(table))
    if stream.expected_letters():
        letters = home.load(LETTERS).scan(selected_fields=("partition", "offset")).to_arrow().to_pylist()
        found = Counter((letter["partition"], letter["offset"]) for letter in letters)
        assert found == Counter(stream.expected_letters()), "each bad record is one dead letter"
    if leaves is not None:
        for table in stream.tables:
            left = left_behind(home, home.load(table))
            surplus = {path for path in left if kind_of(path) not in leaves}
            assert not surplus, f"files that nothing names and that this kill cannot have left: {sorted(surplus)}"


def check_rows(home: Home, table, expected: list[Run]) -> None:
    """Order is that of the snapshots, and within one that of the offsets: each begins where the one before ended."""
    found: list[Run] = [[] for _ in expected]
    for snapshot in sorted(table.metadata.snapshots, key=lambda s: s.sequence_number):
        runs: dict[int, list[Run]] = defaultdict(list)
        for path in files_added(table, snapshot):
            for partition, run in runs_in(home, path).items():
                assert run == sorted(run), f"partition {partition} of {path} is out of order"
                runs[partition].append(run)
        for partition, of_partition in runs.items():
            found[partition] += chain.from_iterable(sorted(of_partition))
    for partition, (have, want) in enumerate(zip(found, expected, strict=True)):
        assert have == want, f"partition {partition}: {difference(have, want)}"
    live = [task.file.file_path for task in table.scan().plan_files()]
    assert len(live) == len(set(live)), "a data file is referenced twice"
    ids = sorted(table.scan(selected_fields=("id",)).to_arrow().column("id").to_pylist())
    assert ids == sorted(id_ for run in expected for _, id_ in run), "the head does not hold what the snapshots brought"


def difference(have: Run, want: Run) -> str:
    counts = Counter(have)
    doubled = [one for one, count in counts.items() if count > 1]
    missing = [one for one in want if one not in counts]
    return f"{len(have)} rows, {len(want)} expected; doubled {doubled[:5]}, missing {missing[:5]}, else out of order"


def runs_in(home: Home, path: str) -> dict[int, Run]:
    """The records of a data file, by source partition, as they lie in it."""
    rows = parquet.ParquetFile(home.filesystem.open_input_file(home.path_of(path))).read(columns=["id", "_kafka"]).to_pylist()
    runs: dict[int, Run] = defaultdict(list)
    for row in rows:
        runs[row["_kafka"]["partition"]].append((row["_kafka"]["offset"], row["id"]))
    return runs
