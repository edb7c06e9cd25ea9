"""The counting of ./dev test: nothing that failed may be lost on the way to the last line."""

import subprocess
import sys
from pathlib import Path

SUMMARY = Path(__file__).resolve().parents[2] / "tools" / "dev" / "summary.py"


def summarise(folder: Path) -> tuple[int, str]:
    done = subprocess.run([sys.executable, SUMMARY, folder], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.rstrip("\n").splitlines()[-1]


def write(folder: Path, name: str, text: str) -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


GOOD_AND_BAD = """<testsuites><testsuite name="A"><testcase name="x" classname="A" time="1.5"/>
<testcase name="y" classname="A" time="0.1"><failure message="no"/></testcase></testsuite></testsuites>"""
CTEST = """<testsuite><testcase name="{name}" classname="{name}" time="0.2" status="fail">{inside}</testcase></testsuite>"""


def test_cases_are_counted_once_though_ctest_reports_their_executable_too(tmp_path):
    write(tmp_path, "debug/a_test.xml", GOOD_AND_BAD)
    write(tmp_path, "debug-ctest.xml", CTEST.format(name="a_test", inside='<failure message=""/>'))
    assert summarise(tmp_path) == (1, "1 passed, 1 failed")


def test_an_executable_that_died_without_a_report_is_a_failure(tmp_path):
    write(tmp_path, "debug-ctest.xml", CTEST.format(name="b_test", inside='<failure message=""/>'))
    assert summarise(tmp_path) == (1, "0 passed, 1 failed")


def test_an_executable_that_failed_after_good_cases_is_a_failure(tmp_path):
    write(tmp_path, "asan/c_test.xml", '<testsuites><testsuite><testcase name="x" classname="C"/></testsuite></testsuites>')
    write(tmp_path, "asan-ctest.xml", CTEST.format(name="c_test", inside='<failure message=""/>'))
    assert summarise(tmp_path) == (1, "1 passed, 1 failed")


def test_an_executable_that_could_not_be_built_is_a_failure(tmp_path):
    write(tmp_path, "debug-ctest.xml", CTEST.format(name="d_test", inside='<skipped message="Unable to find executable"/>'))
    assert summarise(tmp_path) == (1, "0 passed, 1 failed")


def test_pytest_and_single_checks_are_added(tmp_path):
    write(tmp_path, "python/pytest.xml", GOOD_AND_BAD)
    write(tmp_path, "check-lint.tsv", "check\tlint\t0\n")
    write(tmp_path, "check-format.tsv", "check\tformat\t1\n")
    assert summarise(tmp_path) == (1, "2 passed, 2 failed")


def test_all_passed_is_success(tmp_path):
    write(tmp_path, "check-lint.tsv", "check\tlint\t0\n")
    assert summarise(tmp_path) == (0, "1 passed, 0 failed")


def test_a_run_without_any_test_is_a_failure(tmp_path):
    assert summarise(tmp_path) == (1, "0 passed, 1 failed")
