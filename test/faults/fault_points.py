"""The fault points of the program, as the tests that kill at them see them.

`POINTS` says for each name of src/firn/runtime/fault_point.h where it lies in the life of a batch, which pipeline passes it, and at which hit
each process of a case dies. test_names.py holds the list to the header's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kafka_broker import ROOT

HEADER = ROOT / "src/firn/runtime/fault_point.h"

SQL = ("sqlite", "postgres")
REST = ("rest",)
ALL = SQL + REST

# What may lie about unreferenced after a kill: nothing names these files, and nothing ever will. Data files may be those of the next batch, which
# is written while one commits.
DATA = {"data"}
MANIFEST = DATA | {"manifest"}
LIST = MANIFEST | {"list"}
METADATA = LIST | {"metadata"}


@dataclass(frozen=True)
class Point:
    leaves: frozenset[str]
    pipeline: str = "one"  # one table | large: the same with large records | letters: one table and bad records | many: tables by a field, and bad records
    dies_at: tuple[int, ...] = (1, 2)  # which hit kills the first process, the second one ...
    catalogs: tuple[str, ...] = ALL
    stores: tuple[str, ...] = ("local", "s3")
    commits: bool = False  # between the request and what follows from its answer

    def lies_in(self, cell: str) -> bool:
        """cell: as kill_homes.CELLS has them."""
        catalog, store = cell.split("-")
        return catalog in self.catalogs and store in self.stores


def _point(leaves: set[str], **more) -> Point:
    return Point(frozenset(leaves), **more)


POINTS: dict[str, Point] = {
    "data_file_before_create": _point(DATA),
    "data_file_during_write": _point(DATA),
    "upload_part_after_sent": _point(DATA, pipeline="large", stores=("s3",)),
    "data_file_after_finish": _point(DATA),
    "batch_before_finish": _point(DATA),
    "batch_after_finish": _point(DATA),
    "dead_letters_after_commit": _point(DATA, pipeline="letters"),
    "manifest_after_write": _point(MANIFEST),
    # From here on the first hits are those of the table's creation and of the marker of the first run.
    "manifest_list_after_write": _point(LIST),
    "metadata_after_write": _point(METADATA, dies_at=(1, 2, 2), catalogs=SQL),
    "commit_before_request": _point(LIST, commits=True),
    "commit_request_sent": _point(METADATA, catalogs=REST, commits=True),
    "commit_after_stored": _point(DATA, commits=True),
    "commit_after_answer": _point(DATA, commits=True),
    "group_offsets_after_commit": _point(DATA),
    # The first hit is that of the first run, the second one that of a clean stop.
    "bound_before_write": _point(METADATA, pipeline="many", dies_at=(1, 2)),
    "bound_after_write": _point(METADATA, pipeline="many", dies_at=(1, 1)),
}


def names_in_header() -> list[str]:
    """In the order of the list, which is the order of a batch's life."""
    text = HEADER.read_text()
    macro = text.split("#define FIRN_FAULT_POINT_LIST(X)")[1].split("\n\n")[0]
    return re.findall(r"X\((\w+)\)", macro)
