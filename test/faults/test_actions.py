"""The other things that a fault point can do: an error, a second of delay, and a process that stands still while another one takes over."""

from __future__ import annotations

from functools import partial

import pytest
from fault_points import POINTS
from faulty_firn import Firn
from kill_oracle import check

COMMIT_POINTS = [point for point, place in POINTS.items() if place.commits]
LOCAL = ("sqlite-local", "postgres-local", "rest-local")


def go_wrong(point: str, action: str, cell: str, new_case) -> None:
    """Twice, as early as the point is reached and later; the run ends well or with an error, and the next one goes on."""
    home, stream = new_case(cell, POINTS[point].pipeline)
    config = stream.config(home)
    for nth in POINTS[point].dies_at:
        stream.send()
        fault = f"{point}:{nth}:{action}"
        with Firn(config, home.folder / f"{action}-{nth}.log", fault, home.environment, ("--until-caught-up",)) as running:
            code = running.wait()
            assert code == 0 or (action == "error" and code == 1), running.output
            if code == 1:
                assert f"injected fault at {point}" in running.output
            assert f"fault point reached point={point}" in running.output or nth > 1, running.output
    stream.send()
    with Firn(config, home.folder / "last.log", env=home.environment, more=("--until-caught-up",)) as last:
        assert last.wait() == 0, last.output
    check(home, stream)


def stand_still(point: str, cell: str, new_case) -> None:
    """Stopped at its second commit until another process has taken over and committed the same records and more."""
    home, stream = new_case(cell)
    config = stream.config(home, session_ms=1500)
    stream.send()
    with Firn(config, home.folder / "stopped.log", f"{point}:2:stop", home.environment) as stopped:
        stopped.wait_until(stopped.is_stopped, "the stop")
        stream.send()
        with Firn(config, home.folder / "successor.log", env=home.environment) as successor:
            successor.wait_until(lambda: stream.all_in(home), "the successor's rows")
            stopped.go_on()
            stream.send()
            successor.wait_until(lambda: stream.all_in(home), "the rows of both")
            for process in (stopped, successor):
                process.ask_to_stop()
            assert stopped.wait() in (0, 3), stopped.output
            assert successor.wait() == 0, successor.output
    check(home, stream)


CASES = {
    f"error@{point}-{cell}": partial(go_wrong, point, "error", cell)
    for point, place in POINTS.items()
    for cell in [f"sqlite-{place.stores[0]}"]
    if place.lies_in(cell)
}
for _cell in LOCAL:
    for _point in filter(lambda point: POINTS[point].lies_in(_cell), COMMIT_POINTS):
        CASES[f"error@{_point}-{_cell}"] = partial(go_wrong, _point, "error", _cell)
        CASES[f"delay@{_point}-{_cell}"] = partial(go_wrong, _point, "delay", _cell)
        CASES[f"stop@{_point}-{_cell}"] = partial(stand_still, _point, _cell)


def cells_of(case: str) -> list[str]:
    return [case.split("-", 1)[1]]


@pytest.mark.parametrize("case", CASES)
def test_each_record_comes_once_after(case, at_once):
    at_once.result(case)
