"""Engines that are not ours, each reading a table into one Arrow table: PyIceberg, DuckDB, Spark."""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from pathlib import Path

import pyarrow as pa

from kafka_broker import DEPS


def metadata_location(database: Path, table: str, catalog: str = "lake") -> str:
    """The table's current metadata file, straight from the SQL catalog's rows."""
    namespace, _, name = table.rpartition(".")
    with sqlite3.connect(database) as session:
        row = session.execute(
            "select metadata_location from iceberg_tables where catalog_name = ? and table_namespace = ? and table_name = ?",
            (catalog, namespace, name),
        ).fetchone()
    if row is None:
        raise LookupError(f"{database} has no table {table} under catalog {catalog}")
    return row[0]


def local_path(location: str) -> str:
    return location.removeprefix("file://").removeprefix("file:")


# --- PyIceberg


def pyiceberg_catalog(database: Path, warehouse: Path, catalog: str = "lake"):
    from pyiceberg.catalog.sql import SqlCatalog

    return SqlCatalog(catalog, uri=f"sqlite:///{database}", warehouse=f"file://{warehouse}", init_catalog_tables="false")


def read_pyiceberg(database: Path, warehouse: Path, table: str, catalog: str = "lake", **scan) -> pa.Table:
    return pyiceberg_catalog(database, warehouse, catalog).load_table(table).scan(**scan).to_arrow()


# --- DuckDB


def duckdb_session():
    import duckdb

    session = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    version = duckdb.__version__
    packages = Path(duckdb.__file__).parents[1]
    for extension in ("avro", "httpfs", "iceberg"):
        file = packages / f"duckdb_extension_{extension}/extensions/v{version}/{extension}.duckdb_extension"
        session.execute(f"INSTALL '{file}'; LOAD {extension};")
    session.execute("SET TimeZone = 'UTC'")
    return session


def read_duckdb(database: Path, table: str, catalog: str = "lake", where: str = "true", columns: str = "*") -> pa.Table:
    file = local_path(metadata_location(database, table, catalog))
    return duckdb_session().execute(f"select {columns} from iceberg_scan('{file}') where {where}").to_arrow_table()


# --- Spark


class Spark:
    """One session for the whole run: it takes eight seconds to start. Catalogs are added while it runs."""

    def __init__(self, folder: Path):
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
        from pyspark.sql import SparkSession

        jars = ",".join(str(jar) for jar in sorted((DEPS / "spark/lib").glob("*.jar")))
        self.session = (
            SparkSession.builder.master("local[2]")
            .config("spark.jars", jars)
            .config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
            .config("spark.sql.session.timeZone", "UTC")
            .config("spark.sql.warehouse.dir", str(folder / "spark-warehouse"))
            .config("spark.local.dir", str(folder / "spark-local"))
            .config("spark.driver.memory", "1g")
            .config("spark.driver.extraJavaOptions", f"-Dderby.system.home={folder}")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.log.level", "ERROR")
            .getOrCreate()
        )

    def add_catalog(self, name: str, database: Path, warehouse: Path, schema_version: str = "V1") -> None:
        """Java's JdbcCatalog over the SQLite file; `name` is also the catalog_name in its rows."""
        prefix = f"spark.sql.catalog.{name}"
        settings = {
            "": "org.apache.iceberg.spark.SparkCatalog",
            ".type": "jdbc",
            ".uri": f"jdbc:sqlite:{database}",
            ".jdbc.schema-version": schema_version,
            ".warehouse": f"file://{warehouse}",
            ".cache-enabled": "false",
        }
        for key, value in settings.items():
            self.session.conf.set(prefix + key, value)

    def sql(self, statement: str):
        return self.session.sql(statement)

    def read(self, database: Path, table: str, catalog: str = "lake", where: str = "true") -> pa.Table:
        """By metadata file, so that the catalog's name need not be known to the session."""
        location = metadata_location(database, table, catalog)
        return self.session.read.format("iceberg").load(local_path(location)).where(where).toArrow()

    def stop(self) -> None:
        self.session.stop()


# --- comparing


def _plain(value):
    """Nested values as hashable ones; NaN equal to itself."""
    if isinstance(value, dict):
        return tuple((key, _plain(item)) for key, item in value.items())
    if isinstance(value, list):
        return tuple(_plain(item) for item in value)
    if isinstance(value, float) and value != value:
        return "NaN"
    return value


def multiset(table: pa.Table, columns: list[str] | None = None) -> Counter:
    """Rows with their counts, fields in the order of `columns` (default: by name)."""
    names = columns or sorted(table.column_names)
    lists = [table.column(name).to_pylist() for name in names]
    return Counter(tuple(_plain(value) for value in row) for row in zip(*lists, strict=True))


def assert_same_rows(found: pa.Table, expected: pa.Table, columns: list[str] | None = None) -> None:
    """Every row of one in the other, as often, field by field; says which are missing or too many."""
    names = columns or sorted(expected.column_names)
    have, want = multiset(found, names), multiset(expected, names)
    missing, surplus = want - have, have - want
    assert not missing and not surplus, (
        f"{sum(missing.values())} rows missing, {sum(surplus.values())} too many, of {sum(want.values())} expected ({names})\n"
        f"missing: {list(missing.items())[:5]}\ntoo many: {list(surplus.items())[:5]}"
    )
