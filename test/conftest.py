"""Fixtures of the tests that run the whole program. Those that need a Java machine are marked `jvm` by the fixtures they use."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

JVM_FIXTURES = {"broker", "own_broker", "spark", "rest_server", "own_rest_server", "rest_lake"}


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: "soak/" not in item.nodeid)  # the longest file first, where files are spread over processes
    for item in items:
        if JVM_FIXTURES & set(item.fixturenames):
            item.add_marker(pytest.mark.jvm)
        if "test/faults/" in item.nodeid or item.nodeid.startswith("faults/"):
            item.add_marker(pytest.mark.faults)


@pytest.fixture(scope="session")
def broker(tmp_path_factory):
    """The broker that most tests share; each makes topics of its own names."""
    from kafka_broker import Broker

    with Broker(tmp_path_factory.mktemp("kafka")) as running:
        yield running


@pytest.fixture
def topic(broker, request):
    """A topic of one test alone, with two partitions or as many as PARTITIONS of the test's module says."""
    name = request.node.name.replace("[", "-").replace("]", "")
    broker.create_topic(name, partitions=getattr(request.module, "PARTITIONS", 2))
    return name


@pytest.fixture
def own_broker(tmp_path):
    """A broker for one test alone, which may stop, pause or kill it."""
    from kafka_broker import Broker

    with Broker(tmp_path / "kafka") as running:
        yield running


@pytest.fixture(scope="session")
def s3(tmp_path_factory):
    """The S3 server that most tests share; each makes buckets of its own."""
    from s3_server import S3Server

    with S3Server(tmp_path_factory.mktemp("s3")) as running:
        yield running


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    from readers import Spark

    session = Spark(tmp_path_factory.mktemp("spark"))
    yield session
    session.stop()


@dataclass
class Lake:
    """A SQLite catalog and a local warehouse in a test's own folder, and the pipeline file that names them."""

    folder: Path
    name: str = "lake"

    @property
    def database(self) -> Path:
        return self.folder / "catalog.db"

    @property
    def warehouse(self) -> Path:
        return self.folder / "warehouse"

    @property
    def catalogs_yaml(self) -> str:
        return (
            f"catalogs:\n  {self.name}:\n    type: sql\n"
            f"    uri: sqlite:{self.database}\n    warehouse: {self.warehouse}\n"
        )  # fmt: skip

    def config(self, pipelines_yaml: str = "", file: str = "firn.yaml") -> Path:
        """Writes the pipeline file: the catalog, then what is given."""
        path = self.folder / file
        path.write_text(self.catalogs_yaml + pipelines_yaml)
        return path

    def pyiceberg(self):
        from readers import pyiceberg_catalog

        return pyiceberg_catalog(self.database, self.warehouse, self.name)

    def read(self, table: str, **scan):
        from readers import read_pyiceberg

        return read_pyiceberg(self.database, self.warehouse, table, self.name, **scan)

    def read_duckdb(self, table: str, **more):
        from readers import read_duckdb

        return read_duckdb(self.database, table, self.name, **more)

    def read_spark(self, spark, table: str, **more):
        return spark.read(self.database, table, self.name, **more)


@pytest.fixture
def lake(tmp_path) -> Lake:
    return Lake(tmp_path)


@pytest.fixture(scope="session")
def rest_server(tmp_path_factory):
    """The REST catalog that most tests share; each makes namespaces of its own names."""
    from rest_server import RestServer

    with RestServer(tmp_path_factory.mktemp("rest")) as running:
        yield running


@pytest.fixture
def own_rest_server(tmp_path):
    """A REST catalog for one test alone, which may stop or kill it."""
    from rest_server import RestServer

    with RestServer(tmp_path / "rest") as running:
        yield running


@pytest.fixture
def rest_lake(tmp_path, rest_server):
    from rest_server import RestLake

    return RestLake(tmp_path, rest_server)


@pytest.fixture(scope="session")
def postgres():
    """The PostgreSQL server that most tests share; each makes databases of its own names."""
    from postgres import Postgres

    with Postgres() as running:
        yield running


@pytest.fixture
def own_postgres():
    """A PostgreSQL server for one test alone, which may stop or crash it."""
    from postgres import Postgres

    with Postgres() as running:
        yield running


@pytest.fixture
def postgres_lake(postgres, tmp_path):
    from postgres_lake import PostgresLake

    database = f"lake_{uuid4().hex[:12]}"
    postgres.create_database(database)
    return PostgresLake(tmp_path, postgres, database)


@pytest.fixture(params=["sqlite", "postgres"])
def sql_lake(request):
    """What holds for a SQL catalog on either database."""
    return request.getfixturevalue("lake" if request.param == "sqlite" else "postgres_lake")


@pytest.fixture(scope="session")
def flights_file() -> Path:
    """3,000,000 US flights: date, delay, distance, origin, destination."""
    from kafka_broker import DEPS

    return DEPS / "flights/data/flights-3m.parquet"


@pytest.fixture(scope="session", autouse=True)
def quiet_environment():
    os.environ.setdefault("NO_COLOR", "1")
    os.environ.pop("FIRN_CONFIG", None)
