"""The list of fault points in the header is the list that the tests kill at, and the program under test knows each of them."""

from __future__ import annotations

from fault_points import POINTS, names_in_header
from faulty_firn import BINARY
from kill_homes import CELLS
from test_kills import CASES


def test_the_matrix_kills_at_every_point_of_the_header():
    assert list(POINTS) == names_in_header()
    visited = {case.split("-")[0] for case in CASES if "@" not in case} - {"without_static_membership"}
    assert visited == set(names_in_header())


def test_every_point_is_killed_at_on_every_catalog_and_store_where_it_lies():
    for point, place in POINTS.items():
        cells = {case.split("-", 1)[1] for case in CASES if case.split("-")[0] == point}
        assert cells == {cell for cell in CELLS if place.lies_in(cell)}, point


def test_the_program_knows_every_point():
    text = BINARY.read_bytes()
    assert [name for name in names_in_header() if name.encode() + b"\0" not in text] == []
