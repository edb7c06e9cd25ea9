"""Adds up the reports of one ./dev test run: the ten slowest tests, the lanes with their minutes, and `N passed, N failed` as last line.

Reads below the folder given: GoogleTest's and pytest's XML reports, ctest's XML (only for executables that died before they could report,
and for tests that are no GoogleTest executables), and .tsv files of single checks (suite, name, exit status).
"""

import sys
import xml.etree.ElementTree as ET
from pathlib import Path


class Results:
    def __init__(self):
        self.passed, self.failed, self.skipped, self.times = 0, [], [], []

    def add(self, name: str, seconds: float, failed: bool, skipped: bool):
        if failed:
            self.failed.append(name)
        elif skipped:
            self.skipped.append(name)
        else:
            self.passed += 1
        self.times.append((seconds, name))


def is_ctest(path: Path) -> bool:
    return path.name.endswith("-ctest.xml")


def read_cases(path: Path, prefix: str, results: Results) -> tuple[int, int]:
    """One XML report of test cases; returns how many it holds and how many failed."""
    count = failures = 0
    for case in ET.parse(path).getroot().iter("testcase"):
        failed = case.find("failure") is not None or case.find("error") is not None
        skipped = case.find("skipped") is not None or case.get("status") == "notrun"
        name = f"{prefix} {case.get('classname')}.{case.get('name')}"
        results.add(name, float(case.get("time") or 0), failed, skipped)
        count, failures = count + 1, failures + failed
    return count, failures


def read_ctest(path: Path, reported: dict[str, tuple[int, int]], results: Results):
    preset = path.name.removesuffix("-ctest.xml")
    for case in ET.parse(path).getroot().iter("testcase"):
        name = case.get("name")
        failed = case.find("failure") is not None or case.find("skipped") is not None  # not run: no executable
        count, failures = reported.get(f"{preset}/{name}", (0, 0))
        # Its own report tells more, unless it died (a crash, a sanitizer, a time limit) with no failed case to show.
        if count == 0 or (failed and failures == 0):
            results.add(f"{preset} {name}", float(case.get("time") or 0), failed, False)


def main(folder: Path) -> int:
    results, reported = Results(), {}
    for path in sorted(folder.rglob("*.xml")):
        if not is_ctest(path):
            prefix = path.parent.name
            try:
                reported[f"{prefix}/{path.stem}"] = read_cases(path, prefix, results)
            except ET.ParseError:
                pass  # cut off by a crash: ctest's report has it
    for path in sorted(folder.rglob("*-ctest.xml")):
        read_ctest(path, reported, results)
    for path in sorted(folder.rglob("*.tsv")):
        suite, name, status = path.read_text().rstrip("\n").split("\t")
        results.add(f"{suite} {name}", 0, status != "0", False)

    if results.passed + len(results.failed) == 0:
        results.failed.append("no test ran")
    print("\nten slowest tests:")
    for seconds, name in sorted(results.times, reverse=True)[:10]:
        print(f"  {seconds:7.2f} s  {name}")
    lanes = folder / "lanes"
    if lanes.exists():
        print("\nlanes:")
        rows = [(lane, int(tests), int(preparing)) for lane, tests, preparing in map(str.split, lanes.read_text().splitlines())]
        rows.append(("all", sum(row[1] for row in rows), sum(row[2] for row in rows)))
        for lane, tests, preparing in rows:
            print(f"  {lane:8} tests {tests / 60:5.1f} min, installing and building {preparing / 60:5.1f} min")
    if results.skipped:
        print(f"\n{len(results.skipped)} skipped:")
        for name in results.skipped:
            print(f"  {name}")
    if results.failed:
        print("\nfailed:")
        for name in results.failed:
            print(f"  {name}")
    print(f"\n{results.passed} passed, {len(results.failed)} failed")
    return 1 if results.failed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
