"""One pipeline, unchanged but for `catalogs:`, on every catalog and every store; each table read back by PyIceberg, DuckDB and Spark, the
latter two without any of Firn's or PyIceberg's catalog code."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from firn import firn, start_firn, wait_until
from readers import assert_same_rows, duckdb_session, local_path

ROWS = 20_000
TABLE = "travel.flights"
PIPELINE = """
pipelines:
  flights:
    id: flights
    source: {{kafka: {{bootstrap_servers: "{bootstrap}", topics: [{topic}]}}}}
    decode: json
    tables:
      - name: lake.travel.flights
        columns:
          - {{name: flight_date, type: timestamp, from: date}}
          - {{name: delay, type: int}}
          - {{name: distance, type: int}}
          - {{name: origin, type: string}}
          - {{name: destination, type: string}}
        partition_by: ["month(flight_date)"]
    commit: {{interval: 1s}}
"""


@pytest.fixture(scope="module")
def flights(flights_file) -> pa.Table:
    return pa.Table.from_batches([next(parquet.ParquetFile(flights_file).iter_batches(ROWS))])


@pytest.fixture(scope="module")
def pipeline(broker, flights) -> str:
    """The pipelines: section, the same text for every cell; its topic holds the flights."""
    topic = f"matrix-{uuid4().hex[:8]}"
    broker.create_topic(topic, partitions=4)
    broker.produce(topic, (json.dumps({**row, "date": row["date"].isoformat()}) for row in flights.to_pylist()))
    return PIPELINE.format(bootstrap=broker.bootstrap, topic=topic)


@dataclass
class Place:
    """Where files lie: a warehouse, and what each program needs to know to reach it."""

    warehouse: str
    firn_keys: str = ""  # of a catalog
    environment: dict[str, str] = field(default_factory=dict)
    pyiceberg: dict[str, str] = field(default_factory=dict)
    java: dict[str, str] = field(default_factory=dict)
    duckdb: str = ""


def local_place(request, folder: Path) -> Place:
    return Place(f"file://{folder}/warehouse")


def s3_place(request, folder: Path) -> Place:
    s3 = request.getfixturevalue("s3")
    bucket = f"matrix-{uuid4().hex[:8]}"
    s3.make_bucket(bucket)
    return Place(
        f"s3://{bucket}/warehouse",
        firn_keys=f"    s3: {s3.catalog_keys()}\n",
        environment=s3.environment,
        pyiceberg=s3.pyiceberg_properties,
        java={
            "io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
            "s3.endpoint": s3.endpoint,
            "s3.path-style-access": "true",
            "s3.access-key-id": s3.access_key,
            "s3.secret-access-key": s3.secret_key,
            "client.region": s3.region,
        },
        duckdb=f"CREATE SECRET (TYPE s3, KEY_ID '{s3.access_key}', SECRET '{s3.secret_key}', REGION '{s3.region}',"
        f" ENDPOINT '127.0.0.1:{s3.port}', URL_STYLE 'path', USE_SSL false)",
    )


PLACES = {"local": local_place, "s3": s3_place}


@dataclass
class Cell:
    """One catalog on one store. `catalog_name` is its own: all cells share a Spark session."""

    folder: Path
    catalog_name: str
    catalogs_yaml: str
    place: Place
    pyiceberg_type: str
    pyiceberg_uri: str
    spark: dict[str, str]

    def config(self, pipeline: str) -> Path:
        path = self.folder / "firn.yaml"
        path.write_text(self.catalogs_yaml + pipeline)
        return path

    def pyiceberg(self):
        from pyiceberg.catalog import load_catalog

        return load_catalog(self.catalog_name, type=self.pyiceberg_type, uri=self.pyiceberg_uri, warehouse=self.place.warehouse, **self.place.pyiceberg)

    def read_pyiceberg(self) -> pa.Table:
        return self.pyiceberg().load_table(TABLE).scan().to_arrow()

    def read_duckdb(self) -> pa.Table:
        session = duckdb_session()
        if self.place.duckdb:
            session.execute(self.place.duckdb)
        location = local_path(self.pyiceberg().load_table(TABLE).metadata_location)
        return session.execute(f"select * from iceberg_scan('{location}')").to_arrow_table()

    def read_spark(self, spark) -> pa.Table:
        prefix = f"spark.sql.catalog.{self.catalog_name}"
        spark.session.conf.set(prefix, "org.apache.iceberg.spark.SparkCatalog")
        for key, value in {**self.spark, **self.place.java, "cache-enabled": "false"}.items():
            spark.session.conf.set(f"{prefix}.{key}", value)
        return spark.session.table(f"{self.catalog_name}.{TABLE}").toArrow()


def sql_yaml(uri: str, place: Place, name: str) -> str:
    warehouse = local_path(place.warehouse)
    return f'catalogs:\n  lake:\n    type: sql\n    name: {name}\n    uri: "{uri}"\n    warehouse: {warehouse}\n{place.firn_keys}'


def sqlite_cell(request, folder: Path, place: Place, name: str) -> Cell:
    spark = {"type": "jdbc", "uri": f"jdbc:sqlite:{folder}/catalog.db", "jdbc.schema-version": "V1", "warehouse": place.warehouse}
    return Cell(folder, name, sql_yaml(f"sqlite:{folder}/catalog.db", place, name), place, "sql", f"sqlite:///{folder}/catalog.db", spark)


def postgres_cell(request, folder: Path, place: Place, name: str) -> Cell:
    from postgres import PASSWORD, USER

    server = request.getfixturevalue("postgres")
    server.create_database(name)
    spark = {
        "type": "jdbc",
        "uri": f"jdbc:postgresql://127.0.0.1:{server.port}/{name}",
        "jdbc.user": USER,
        "jdbc.password": PASSWORD,
        "jdbc.schema-version": "V1",
        "warehouse": place.warehouse,
    }
    uri = server.uri(name, scheme="postgresql+psycopg2")
    return Cell(folder, name, sql_yaml(server.uri(name), place, name), place, "sql", uri, spark)


def rest_cell(request, folder: Path, place: Place, name: str) -> Cell:
    from rest_server import RestServer

    server = RestServer(folder / "rest", place.warehouse, place.java, place.environment)
    server.start()
    request.addfinalizer(server.stop)
    yaml = f"catalogs:\n  lake:\n    type: rest\n    uri: {server.uri}\n{place.firn_keys}"
    return Cell(folder, name, yaml, place, "rest", server.uri, {"type": "rest", "uri": server.uri})


CATALOGS = {"sqlite": sqlite_cell, "postgres": postgres_cell, "rest": rest_cell}


@pytest.fixture(params=[f"{catalog}-{place}" for catalog in CATALOGS for place in PLACES])
def cell(request, tmp_path) -> Cell:
    catalog, place = request.param.split("-")
    name = f"{catalog}_{place}_{uuid4().hex[:8]}"
    return CATALOGS[catalog](request, tmp_path, PLACES[place](request, tmp_path), name)


def test_same_pipeline_gives_the_same_table_everywhere(cell, pipeline, flights, spark):
    config = cell.config(pipeline)
    # The cells share the text, and so the group in which the others left their notes.
    firn("run", config, "--until-caught-up", "--first-run", env=cell.place.environment, timeout_s=180).ok()
    again = firn("run", config, "--until-caught-up", env=cell.place.environment, timeout_s=180).ok()
    assert "0 rows" in again.out, "a second run finds nothing to do"
    expected = flights.rename_columns(["flight_date" if name == "date" else name for name in flights.column_names])
    assert_same_rows(cell.read_pyiceberg(), expected)
    assert_same_rows(cell.read_duckdb(), expected)
    assert_same_rows(cell.read_spark(spark), expected)


def test_spark_and_pyiceberg_write_to_the_catalog_while_the_pipeline_runs(cell, pipeline, flights, spark):
    """Spark to the same table, PyIceberg to one of its own (it cannot write partitions by month): nobody's rows are lost."""
    running = start_firn("run", cell.config(pipeline), "--first-run", log=cell.folder / "firn.log", env=cell.place.environment)
    try:
        wait_until(lambda: cell.read_pyiceberg().num_rows > 0, what="the first rows", timeout_s=120)
        rows = cell.read_pyiceberg().slice(0, 10)
        theirs = cell.pyiceberg().create_table("travel.theirs", rows.schema)
        for _ in range(3):
            theirs.append(rows)
        cell.read_spark(spark)
        for _ in range(3):
            spark.sql(f"INSERT INTO {cell.catalog_name}.{TABLE} SELECT * FROM {cell.catalog_name}.travel.theirs LIMIT 2")
        wait_until(lambda: cell.read_pyiceberg().num_rows == ROWS + 6, what="everybody's rows", timeout_s=120)
        assert running.stop() == 0, running.output
    finally:
        if running.alive():
            running.kill()
    assert cell.read_pyiceberg().num_rows == ROWS + 6
    assert cell.pyiceberg().load_table("travel.theirs").scan().to_arrow().num_rows == 30
