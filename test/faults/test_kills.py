"""Kills the program (-9) at every fault point, for each catalog on each store, starts it again, and looks whether each record came once.

A case is a row of processes: each dies at the point, the next one takes over as the same member of the group, and the last one is left alone.
Between two of them more records are sent; cases run several at a time.
"""

from __future__ import annotations

from functools import partial

import pytest
from kill_homes import CELLS
from kill_oracle import check
from fault_points import METADATA, POINTS
from faulty_firn import Firn


def kill_at(point: str, cell: str, new_case, static: bool = True, pipeline: str = "", dies_at: tuple[int, ...] = ()) -> None:
    """pipeline, dies_at: in the place of the point's own."""
    place = POINTS[point]
    home, stream = new_case(cell, pipeline or place.pipeline)
    config = stream.config(home, instance="member-1" if static else "", session_ms=30_000 if static else 1500)
    for number, nth in enumerate(dies_at or place.dies_at):
        stream.send()
        with Firn(config, home.folder / f"{number}.log", f"{point}:{nth}:kill", home.environment) as running:
            die(running, stream, home, at_stop=point.startswith("bound_") and number > 0)
    stream.send()
    with Firn(config, home.folder / "last.log", env=home.environment) as last:
        last.wait_until(lambda: stream.all_in(home), "the last rows")
        last.ask_to_stop()
        assert last.wait() == 0, last.output
    # With many tables one is killed in whatever it does while another one passes the point.
    check(home, stream, METADATA if stream.pipeline == "many" else set(place.leaves))


def die(running: Firn, stream, home, at_stop: bool) -> None:
    """Sends more while it waits: a second hit may need a second batch."""
    if at_stop:
        running.wait_until(lambda: stream.all_in(home), "rows before the stop")
        running.ask_to_stop()
    for _ in range(100):
        code = running.code_within(0.4)
        if code is not None:
            assert code == -9, running.output
            return
        if not at_stop:
            stream.send(10)
    raise AssertionError(f"the point was not reached:\n{running.output[-3000:]}")


CASES = {f"{point}-{cell}": partial(kill_at, point, cell) for point, place in POINTS.items() for cell in CELLS if place.lies_in(cell)}
# Nothing but the session's end tells the broker that this member is gone.
CASES |= {f"without_static_membership-{cell}": partial(kill_at, "commit_after_stored", cell, static=False) for cell in CELLS if cell.endswith("local")}
# Between the commits of two tables, and of a table and the dead letters: the first hits are the control table's.
CASES |= {
    f"many_tables@{point}-{cell}": partial(kill_at, point, cell, pipeline="many", dies_at=(2, 3))
    for point in ("commit_before_request", "commit_after_stored", "commit_after_answer", "dead_letters_after_commit", "group_offsets_after_commit")
    for cell in ("sqlite-local", "rest-local")
}


def cells_of(case: str) -> list[str]:
    return [case.split("-", 1)[1]]


@pytest.mark.parametrize("case", CASES)
def test_each_record_comes_once_when_killed_at(case, at_once):
    at_once.result(case)


def test_a_table_that_is_new_in_a_batch_whose_others_were_committed_before_the_kill(new_case):
    """No bound was written in between: the restart reads from below what the others have, and makes the table with its first record."""
    home, stream, config = killed_between_two_tables(new_case)
    with Firn(config, home.folder / "last.log", more=("--until-caught-up",)) as last:
        assert last.wait() == 0, last.output
    check(home, stream, METADATA)


def killed_between_two_tables(new_case):
    """Table a has its batch, and b, which is new in it, has not: they commit side by side, so that it may take some kills."""
    for _ in range(8):
        home, stream = new_case("sqlite-local", "many")
        config = stream.config(home)
        stream.send(kinds=("a",))
        with Firn(config, home.folder / "first.log", more=("--until-caught-up",)) as first:
            assert first.wait() == 0, first.output
        stream.send()
        with Firn(config, home.folder / "killed.log", "group_offsets_after_commit:1:kill") as killed:
            assert killed.wait() == -9, killed.output
        committed = str(sum(map(len, stream.expected("a"))))
        if home.load("a").current_snapshot().summary["total-records"] == committed and not has_rows(home, "b"):
            return home, stream, config
    raise AssertionError("no kill came between the commits of the two tables")


def has_rows(home, table: str) -> bool:
    """False also for a table that is not there."""
    if not home.pyiceberg().table_exists((home.ns, table)):
        return False
    head = home.load(table).current_snapshot()
    return head is not None and int(head.summary.get("total-records", 0)) > 0
