"""The oracle of the kill matrix has eyes: it refuses a table with a row too many, one too few, one out of place, and files that nothing explains."""

from __future__ import annotations

from pathlib import Path

import pytest
from fault_points import DATA
from faulty_firn import Firn
from kill_oracle import check
from table_files import files_added


@pytest.fixture
def filled(homes, new_case):
    homes.prepare({"sqlite-local"})
    home, stream = new_case("sqlite-local")
    stream.send(20)
    with Firn(stream.config(home), home.folder / "run.log", more=("--until-caught-up",)) as running:
        assert running.wait() == 0, running.output
    check(home, stream, set())
    return home, stream


def test_a_row_too_many_is_seen(filled):
    home, stream = filled
    table = home.load("orders")
    table.append(table.scan().to_arrow().slice(7, 1))
    with pytest.raises(AssertionError, match="doubled"):
        check(home, stream)


def test_rows_that_the_head_has_lost_are_seen(filled):
    home, stream = filled
    home.load("orders").delete("id >= 0")
    with pytest.raises(AssertionError, match="does not hold"):
        check(home, stream)


def test_a_record_that_never_came_is_seen(filled):
    home, stream = filled
    stream.send(1)
    with pytest.raises(AssertionError, match="missing"):
        check(home, stream)


def test_a_data_file_that_is_gone_is_seen(filled):
    home, stream = filled
    table = home.load("orders")
    Path(home.path_of(files_added(table, table.current_snapshot())[0])).unlink()
    with pytest.raises((AssertionError, FileNotFoundError)):
        check(home, stream)


def test_a_file_that_no_kill_explains_is_seen(filled):
    home, stream = filled
    folder = Path(home.path_of(home.load("orders").location()))
    (folder / "data/00000-left.parquet").write_bytes(b"x")
    check(home, stream, DATA)
    (folder / "metadata/snap-1-1-left.avro").write_bytes(b"x")
    with pytest.raises(AssertionError, match="that nothing names"):
        check(home, stream, DATA)
