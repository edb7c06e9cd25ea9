"""The random soak, shortly: what ./dev soak does for an hour."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from soak import schedule
from soak.report import show
from soak.run import Soak

SEED = 4
SECONDS = 75
TEST = Path(__file__).resolve().parents[1]


@pytest.mark.jvm
@pytest.mark.timeout(600)
def test_each_record_comes_once_while_everything_goes_wrong(tmp_path):
    plan = schedule.draw(SEED, SECONDS, catalog="postgres", workers=2, rate=1500)
    result = Soak(plan, tmp_path / "soak").run()
    assert not result.failures, show("soak", SEED, result)
    for what in ("worker: kill", "worker: pause", "catalog: doubt", "rewriter: rewrite", "expirer: expire"):
        assert result.figures.get(what), f"{what}: it did not happen, {result.figures}"
    assert any(what.startswith("kafka: ") for what in result.figures)
    assert result.figures["records"] == result.figures["rows"] > 10_000


@pytest.mark.jvm
@pytest.mark.timeout(600)
def test_three_engines_count_what_was_sent_through_kills(tmp_path):
    """In a process of its own: it has a Spark session of its own."""
    command = [sys.executable, "-m", "soak", "--try-out", "--seed", "1", "--records", "30000", "--kills", "5", "--folder", str(tmp_path / "try-out")]
    environment = {**os.environ, "PYTHONPATH": f"{TEST}:{TEST / 'support'}"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=580, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert len(re.findall(r"(?:rows|distinct ids) +30,000\n", done.stdout)) == 6, done.stdout[-3000:]
    assert re.search(r"firn: kill +5\n", done.stdout), done.stdout[-3000:]
