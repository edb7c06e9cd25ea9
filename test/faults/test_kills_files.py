"""The same kills with files as the source: the position in a file and the list of those taken are part of the commit as offsets are."""

from __future__ import annotations

import os
import time
from functools import partial

import pytest
from fault_points import POINTS
from faulty_firn import Firn
from table_files import kind_of, left_behind

CELL = "sqlite-local"
MADE_OF = "new_home"
PIPELINE = """pipelines:
  p:
    id: {ns}
    source:
      files: {{path: "{landing}", mode: watch, poll_interval: 100ms, min_age: 0s}}
    decode: json
    tables:
      - {{name: lake.{ns}.orders, columns: [{{name: id, type: long}}]}}
    commit: {{interval: 200ms, max_records: 150}}
resources: {{threads: 2, memory: 256MiB}}
"""


class Landing:
    """A folder that files land in, each of `LINES` lines: more than one batch takes."""

    LINES = 400

    def __init__(self, home):
        self._home = home
        self.folder = home.folder / "landing"
        self.folder.mkdir()
        self.sent = 0

    def put(self, lines: int = LINES) -> None:
        path = self.folder / f"{self.sent:08}.jsonl"
        temporary = path.with_name(f".{path.name}.tmp")
        temporary.write_text("".join(f'{{"id": {i}}}\n' for i in range(self.sent, self.sent + lines)))
        past = time.time() - 60
        os.utime(temporary, (past, past))
        temporary.rename(path)
        self.sent += lines

    def config(self):
        path = self._home.folder / "firn.yaml"
        path.write_text(self._home.catalogs_yaml + PIPELINE.format(ns=self._home.ns, landing=self.folder))
        return path

    def all_in(self) -> bool:
        head = self._home.load("orders").current_snapshot()
        return int(head.summary["total-records"]) >= self.sent


def kill_at(point: str, new_home) -> None:
    home = new_home(CELL)
    landing = Landing(home)
    config = landing.config()
    for number, nth in enumerate(POINTS[point].dies_at):
        landing.put()
        with Firn(config, home.folder / f"{number}.log", f"{point}:{nth}:kill") as running:
            for _ in range(100):
                if (code := running.code_within(0.4)) is not None:
                    break
                landing.put(20)
            assert code == -9, running.output
    landing.put()
    with Firn(config, home.folder / "last.log") as last:
        last.wait_until(landing.all_in, "the last rows")
        last.ask_to_stop()
        assert last.wait() == 0, last.output
    table = home.load("orders")
    ids = sorted(table.scan().to_arrow().column("id").to_pylist())
    assert ids == list(range(landing.sent))
    surplus = {path for path in left_behind(home, table) if kind_of(path) not in POINTS[point].leaves}
    assert not surplus, surplus


CASES = {
    f"{point}-{CELL}": partial(kill_at, point)
    for point, place in POINTS.items()
    if place.pipeline == "one" and "sqlite" in place.catalogs and point != "group_offsets_after_commit"
}


def cells_of(case: str) -> list[str]:
    return [case.split("-", 1)[1]]


@pytest.mark.parametrize("case", CASES)
def test_each_row_of_the_files_comes_once_when_killed_at(case, at_once):
    at_once.result(case)
