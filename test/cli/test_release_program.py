"""What is shipped has no way to be hurt on purpose."""

from __future__ import annotations

import json
import re

import pytest
from firn import BINARY, firn
from kafka_broker import ROOT


@pytest.fixture(scope="module")
def fault_points() -> list[str]:
    macro = (ROOT / "src/firn/runtime/fault_point.h").read_text().split("#define FIRN_FAULT_POINT_LIST(X)")[1].split("\n\n")[0]
    return re.findall(r"X\((\w+)\)", macro)


@pytest.fixture(autouse=True)
def release_build():
    if json.loads(firn("version", "--json").ok().out)["build-type"] != "Release":
        pytest.skip("a debug build has fault points")


def test_release_program_holds_the_name_of_no_fault_point(fault_points):
    assert len(fault_points) > 10
    text = BINARY.read_bytes()
    assert [name for name in fault_points if name.encode() in text] == []


def test_release_program_refuses_to_run_with_a_fault_armed(fault_points):
    done = firn("version", env={"FIRN_FAULT": f"{fault_points[0]}:1:kill"})
    assert done.code == 2, done.err
    assert "no fault points" in done.err
