"""Reads the two tables of ARCHITECTURE.md and judges the includes of the tree by them.

It works on file patterns alone: no compiler, no build. A "unit" is a row's name: a folder ("iceberg/meta"), a plug-in pattern
("catalog/*"), or one header with its source file ("record/position.h").
"""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
CPP = {".h", ".cc"}
# Free to use anywhere, besides the headers without a dot or folder (the C++ standard library) and those of C and POSIX.
FREE_LIBRARIES = ["fmt/*", "nlohmann/*"]
TEST_LIBRARIES = ["gtest/*", "gmock/*"]
BENCH_LIBRARIES = ["benchmark/*"]
C_AND_POSIX = ["*.h", "sys/*.h", "linux/*.h", "netinet/*.h", "arpa/*.h", "bits/*.h"]


@dataclass(frozen=True)
class Table:
    allowed: dict[str, list[str]]  # unit -> units named in its row, in the order of the table
    test_extras: list[str]
    fences: list[tuple[str, list[str], list[str]]]  # library, header patterns, folders

    def unit_of(self, path: str) -> str | None:
        """The unit of a file (relative to src/firn): a row that names the file, else the longest folder, else a plug-in pattern."""
        header = re.sub(r"(_test)?\.(h|cc)$", ".h", path)
        if header in self.allowed:
            return header
        folder = path.rpartition("/")[0]
        while folder:
            if folder in self.allowed:
                return folder
            for pattern in self.allowed:
                if pattern.endswith("/*") and fnmatch.fnmatch(folder, pattern) and folder.count("/") == pattern.count("/"):
                    return folder
            folder = folder.rpartition("/")[0]
        return None

    def row_of(self, unit: str) -> list[str]:
        if unit in self.allowed:
            return self.allowed[unit]
        for pattern, row in self.allowed.items():
            if pattern.endswith("/*") and fnmatch.fnmatch(unit, pattern):
                return row
        return []

    def reach(self, unit: str) -> set[str]:
        """The unit itself, what its row names, and everything that those may include in turn."""
        seen, todo = set(), [unit]
        while todo:
            current = todo.pop()
            if current not in seen:
                seen.add(current)
                todo.extend(self.row_of(current))
        return seen

    def may_include(self, unit: str, other: str, is_test: bool) -> bool:
        reach = self.reach(unit)
        if is_test:
            for extra in self.test_extras:
                reach |= self.reach(extra)
        if "everything" in reach or other in reach:
            return True
        # A unit that is one header belongs to its folder: a folder that may be included brings its headers along.
        return other.endswith(".h") and other.rpartition("/")[0] in reach


def _rows(markdown: str, heading: str) -> list[list[str]]:
    lines = markdown.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(heading))
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def _names(cell: str) -> list[str]:
    return [name.strip() for name in cell.split(",") if name.strip()]


def read_table(markdown: str) -> Table:
    allowed = {row[0]: _names(row[1]) for row in _rows(markdown, "| folder | may include |")}
    fences = [(row[0], _names(row[1]), _names(row[2])) for row in _rows(markdown, "| library | headers | folders |")]
    extras = re.search(r"^A unit test .*?:\n(.*?)\.$", markdown, re.MULTILINE | re.DOTALL)
    return Table(allowed, _names(extras.group(1)), fences)


def includes(text: str) -> list[tuple[int, str]]:
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            found.append((number, match.group(2)))
    return found


def _inside(folder: str, parents: list[str]) -> bool:
    return any(folder == parent or folder.startswith(parent + "/") for parent in parents)


def _judge_library(table: Table, folder: str, unit: str, header: str, is_test: bool) -> str | None:
    matches = lambda patterns: any(fnmatch.fnmatch(header, pattern) for pattern in patterns)  # noqa: E731
    for library, patterns, folders in table.fences:
        if matches(patterns):
            if unit == "app" or _inside(folder, folders):
                return None
            return f"{library} belongs to {', '.join(folders)}"
    if "/" not in header and "." not in header:
        return None
    if matches(FREE_LIBRARIES) or (is_test and matches(TEST_LIBRARIES)):
        return None
    if matches([p for p in C_AND_POSIX if "/" in p]) or ("/" not in header and header.endswith(".h") and _is_system_header(header)):
        return None
    return "no row of the library table names this header"


def _is_system_header(header: str) -> bool:
    """A header of C or POSIX. Listed, so that a library's own top-level header cannot pass for one."""
    return header in {
        "aio.h", "assert.h", "cpuid.h", "cxxabi.h", "dirent.h", "dlfcn.h", "elf.h", "emmintrin.h", "errno.h", "execinfo.h", "fcntl.h", "getopt.h", "glob.h",
        "immintrin.h", "inttypes.h", "langinfo.h", "libgen.h", "limits.h", "link.h", "locale.h", "malloc.h", "math.h", "netdb.h", "poll.h",
        "pthread.h", "pwd.h", "regex.h", "sched.h", "semaphore.h", "signal.h", "stdalign.h", "stdarg.h", "stddef.h", "stdint.h", "stdio.h",
        "spawn.h", "stdlib.h", "string.h", "strings.h", "syslog.h", "termios.h", "time.h", "ucontext.h", "unistd.h", "utime.h", "wchar.h",
    }  # fmt: skip


def judge_file(table: Table, path: str, text: str) -> list[str]:
    """What is wrong with the includes of one file; path is relative to src/firn."""
    folder = path.rpartition("/")[0]
    is_test = path.endswith("_test.cc") or re.search(r"_(test|fixture)\w*\.h$", path) is not None
    unit = table.unit_of(path)
    if unit is None:
        return [f"src/firn/{path}: no row of the include table in ARCHITECTURE.md covers this folder"]
    wrong = []
    for line, header in includes(text):
        where = f"src/firn/{path}:{line}: {header}"
        if header == "firn/build_info.h":  # generated
            continue
        if header.startswith("support/"):
            if not is_test:
                wrong.append(f"{where}: only tests may include test/support")
        elif header.startswith("firn/"):
            other = table.unit_of(header.removeprefix("firn/"))
            if other is None:
                wrong.append(f"{where}: no row of the include table covers it")
            elif not table.may_include(unit, other, is_test):
                wrong.append(f"{where}: {unit} may not include {other}")
        else:
            reason = _judge_library(table, folder, unit, header, is_test)
            if reason:
                wrong.append(f"{where}: {reason}")
    return wrong


def judge_tree(root: Path) -> list[str]:
    table = read_table((root / "ARCHITECTURE.md").read_text())
    source = root / "src" / "firn"
    wrong = []
    for file in sorted(source.rglob("*")):
        if file.suffix in CPP:
            wrong += judge_file(table, file.relative_to(source).as_posix(), file.read_text())
    return wrong
