"""clang-tidy over the sources, two at a time, skipping what was found clean before.

A source file is looked at again when it, a header of ours that it reaches, the list of checks, the compile command, or clang-tidy
changed; the marks of clean files lie in ~/.cache/firn/lint, outside the clone.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*"(firn/[^"]+)"', re.MULTILINE)
CLEAN = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "firn" / "lint"


@cache
def reached(root: Path, file: Path) -> frozenset[Path]:
    """The file and every header of ours that it includes, directly or not."""
    found, todo = set(), [file]
    while todo:
        current = todo.pop()
        if current in found or not current.exists():
            continue
        found.add(current)
        todo += [root / "src" / name for name in INCLUDE.findall(current.read_text())]
    return frozenset(found)


PRECOMPILED = re.compile(r"-Winvalid-pch |-Xclang -include(?:-pch)? -Xclang \S*cmake_pch\S* ")


def commands(build: Path) -> list[dict]:
    """How each file is compiled, without precompiled headers: they may not be there yet."""
    entries = json.loads((build / "compile_commands.json").read_text())
    for entry in entries:
        entry["command"] = PRECOMPILED.sub("", entry["command"])
    return entries


def fingerprint(root: Path, version: str, file: Path, command: str) -> str:
    digest = hashlib.sha256(version.encode())
    digest.update((root / ".clang-tidy").read_bytes())
    digest.update(command.replace(str(root), ".").encode())
    for path in sorted(reached(root, file)):
        digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


def look_at(clang_tidy: Path, build: Path, file: Path) -> str:
    done = subprocess.run([clang_tidy, "--quiet", "-p", build, file], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + ("" if "warning:" in done.stdout or "error:" in done.stdout else done.stderr)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("build", type=Path)
    parser.add_argument("--clang-tidy", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    root = arguments.root
    version = subprocess.run([arguments.clang_tidy, "--version"], capture_output=True, text=True, check=True).stdout

    todo = {}
    entries = commands(arguments.build)
    for entry in entries:
        file = Path(entry["file"])
        if file.is_relative_to(root / "src") and not file.name.endswith("_test.cc"):
            mark = CLEAN / fingerprint(root, version, file, entry["command"].replace(str(arguments.build), "build"))
            if not mark.exists():
                todo[file] = mark
    CLEAN.mkdir(parents=True, exist_ok=True)

    findings = 0
    with tempfile.TemporaryDirectory(prefix="firn-lint-") as database, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        (Path(database) / "compile_commands.json").write_text(json.dumps(entries))
        running = {pool.submit(look_at, arguments.clang_tidy, Path(database), file): file for file in todo}
        for done in concurrent.futures.as_completed(running):
            file, said = running[done], done.result()
            if said:
                findings += 1
                print(said, flush=True)
            else:
                todo[file].touch()
    print(f"lint: {len(todo)} files looked at, {findings} with findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
