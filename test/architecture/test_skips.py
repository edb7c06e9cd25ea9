"""Tests that skip themselves are listed with their reason in test/skips.txt, and nothing else is."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SAYS = re.compile(r'(?:pytest\.skip\(\s*|GTEST_SKIP\(\)\s*<<\s*|mark\.skip(?:if)?\([^)]*reason=)f?"([^"]*)"')

PLACE = re.compile(r"pytest\.skip\(|GTEST_SKIP\(\)|mark\.skip|importorskip")


def listed() -> set[str]:
    lines = (ROOT / "test/skips.txt").read_text().splitlines()
    return {re.split(r"\s{2,}", line)[0] for line in lines if line and not line.startswith("#")}


def files_of_tests() -> list[Path]:
    files = [*(ROOT / "src").rglob("*_test.cc"), *(ROOT / "test").rglob("*.cc"), *(ROOT / "test").rglob("*.py")]
    return [file for file in files if file != Path(__file__)]


def test_every_skip_is_listed_and_nothing_else():
    found = {said.strip() for file in files_of_tests() for said in SAYS.findall(file.read_text())}
    assert found == listed()


def test_every_skip_says_why():
    for file in files_of_tests():
        text = file.read_text()
        assert len(PLACE.findall(text)) == len(SAYS.findall(text)), f"{file.relative_to(ROOT)} skips without a reason that stands there"
