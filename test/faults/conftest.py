"""Fixtures of the tests that need the program with its fault points: ./dev build faults firn, or $FIRN_FAULTS_BIN."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from uuid import uuid4

import pytest
from kill_homes import Homes
from faulty_firn import BINARY
from kill_stream import PARTITIONS, Stream

AT_ONCE = 4


@pytest.fixture(scope="session", autouse=True)
def faults_binary():
    assert BINARY.exists(), f"{BINARY} is not there: ./dev build faults firn"


@pytest.fixture(scope="session")
def rest_server_on_s3(s3, tmp_path_factory):
    from kill_homes import BUCKET
    from rest_server import RestServer, on_s3

    with RestServer(tmp_path_factory.mktemp("rest-s3"), f"s3://{BUCKET}", on_s3(s3)) as running:
        yield running


@pytest.fixture(scope="session")
def homes(request, tmp_path_factory) -> Homes:
    return Homes(request, tmp_path_factory.mktemp("homes"))


@pytest.fixture(scope="session")
def new_home(homes):
    """A home of a name that nobody else has."""
    return lambda cell, **more: homes.make(cell, f"k{uuid4().hex[:12]}", **more)


@pytest.fixture(scope="session")
def new_case(broker, new_home):
    """A home, and a topic of the same name."""
    assert broker.admin is not None  # made here, not by the threads

    def make(cell: str, pipeline: str = "one"):
        home = new_home(cell)
        broker.create_topic(home.ns, partitions=PARTITIONS)
        return home, Stream(broker, home.ns, pipeline)

    return make


class AtOnce:
    """Runs the cases of a module several at a time, from the moment on when the first of its tests asks for its own."""

    def __init__(self):
        self._pool = ThreadPoolExecutor(AT_ONCE)
        self._futures: dict[str, Future] = {}

    def submit(self, key: str, run, *arguments) -> None:
        self._futures[key] = self._pool.submit(run, *arguments)

    def result(self, key: str):
        return self._futures[key].result(timeout=280)

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)


@pytest.fixture(scope="module")
def at_once(request, homes):
    """The module's `CASES`, those of them that are to run: name -> function of `new_case` or, where its module asks for it, `new_home`."""
    module = request.module
    wanted = [item.callspec.params["case"] for item in request.session.items if item.module is module and hasattr(item, "callspec")]
    homes.prepare({cell for name in wanted for cell in module.cells_of(name)})
    make = request.getfixturevalue(getattr(module, "MADE_OF", "new_case"))
    pool = AtOnce()
    for name in wanted:
        pool.submit(name, module.CASES[name], make)
    yield pool
    pool.close()
