"""Other engines at work on the tables: files are rewritten and snapshots expired, with their files, while Firn commits."""

from __future__ import annotations

import sqlite3
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
from home import Home
from table_files import named_by_snapshots

BIG_ROWS = 60_000  # files of more rows are left as they are
TRIES = 6


def forgives(error: Exception) -> bool:
    """Lost races and catalogs that are away are no failures of these engines, nor of Firn's."""
    from pyiceberg.exceptions import CommitFailedException, CommitStateUnknownException, NoSuchTableError, RESTError, ServerError, ValidationException
    from requests.exceptions import RequestException
    from sqlalchemy.exc import SQLAlchemyError

    known = (CommitFailedException, CommitStateUnknownException, NoSuchTableError, RESTError, ServerError, ValidationException)
    # Spark's and Java's errors come as Py4J's and as PySpark's own.
    foreign = any(type(error).__module__.startswith(package) for package in ("py4j", "pyspark"))
    return foreign or isinstance(error, (*known, RequestException, SQLAlchemyError, sqlite3.OperationalError))


def cause_of(error: Exception) -> str:
    """In a line."""
    text = str(getattr(error, "java_exception", "") or error) or repr(error)
    return f"{type(error).__name__}: {text.splitlines()[0][:300]}"


class PyIceberg:
    """removing: held while files are removed."""

    def __init__(self, home: Home, removing: threading.Lock):
        self._home, self._removing = home, removing
        self._catalog = None

    def rewrite(self, name: str, files: int) -> str:
        """Puts the rows of up to so many small files, the oldest first, into one."""
        from pyiceberg.exceptions import CommitFailedException, ValidationException

        for attempt in range(1, TRIES + 1):
            try:
                return self._rewrite(name, files, attempt)
            except (CommitFailedException, ValidationException):
                if attempt == TRIES:
                    raise
        raise AssertionError

    def _rewrite(self, name: str, files: int, attempt: int) -> str:
        from pyiceberg.io.pyarrow import _dataframe_to_data_files

        table = self._load(name)
        small = [task.file for task in table.scan().plan_files() if task.file.record_count <= BIG_ROWS]
        chosen = sorted(small, key=lambda file: file.file_path)[:files]
        if len(chosen) < 2:
            return "too few small files"
        schema = table.schema().as_arrow()
        rows = pa.concat_tables([self._read(file.file_path).cast(schema) for file in chosen])
        with table.transaction() as change:
            with change.update_snapshot({"rewritten-by": "soak"}).overwrite() as overwrite:
                for file in chosen:
                    overwrite.delete_data_file(file)
                for file in _dataframe_to_data_files(change.table_metadata, rows, table.io):
                    overwrite.append_data_file(file)
        return f"{len(chosen)} files of {name}, {rows.num_rows} rows, try {attempt}"

    def _read(self, location: str) -> pa.Table:
        with self._home.filesystem.open_input_file(self._home.path_of(location)) as file:
            return parquet.ParquetFile(file).read()

    def expire(self, name: str, older_than_s: float) -> str:
        """All snapshots but the head that are older, and the files that nothing needs then."""
        with self._removing:
            before = self._load(name)
            named = named_by_snapshots(before)
            limit = datetime.now(UTC) - timedelta(seconds=older_than_s)
            expired = [s for s in before.metadata.snapshots if s.timestamp_ms < limit.timestamp() * 1000]
            if len(expired) < 2:
                return "too few snapshots"
            before.maintenance.expire_snapshots().older_than(limit).commit()
            after = self._load(name)
            released = named - named_by_snapshots(after)
            for location in released:
                Path(self._home.path_of(location)).unlink(missing_ok=True)
        left = len(after.metadata.snapshots)
        return f"{name}: {len(before.metadata.snapshots)} snapshots, {left} left, {len(released)} files removed"

    def _load(self, name: str):
        if self._catalog is None:
            self._catalog = self._home.pyiceberg()
        return self._catalog.load_table((self._home.ns, name))


class SparkSql:
    """Its session begins with the first call: that takes a while."""

    def __init__(self, folder: Path, lake, removing: threading.Lock):
        self._folder, self._lake, self._removing = folder, lake, removing
        self._spark = None

    def rewrite(self, name: str, everything: bool = False) -> str:
        options = "map('rewrite-all', 'true')" if everything else "map('min-input-files', '2')"
        row = self._call(f"rewrite_data_files(table => '{self._lake.home.ns}.{name}', options => {options})")
        return f"{name}: {row['rewritten_data_files_count']} files into {row['added_data_files_count']}"

    def rewrite_manifests(self, name: str) -> str:
        row = self._call(f"rewrite_manifests('{self._lake.home.ns}.{name}')")
        return f"{name}: {row['rewritten_manifests_count']} manifests into {row['added_manifests_count']}"

    def expire(self, name: str, older_than_s: float) -> str:
        limit = datetime.fromtimestamp(time.time() - older_than_s, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
        with self._removing:
            row = self._call(f"expire_snapshots(table => '{self._lake.home.ns}.{name}', older_than => TIMESTAMP '{limit}', retain_last => 1)")
        return f"{name}: {row['deleted_data_files_count']} data files and {row['deleted_manifest_files_count']} manifests removed"

    def count(self, name: str) -> tuple[int, int]:
        """Rows and distinct ids."""
        row = self.session.sql(f"SELECT count(*), count(DISTINCT id) FROM lake.{self._lake.home.ns}.{name}").collect()[0]
        return row[0], row[1]

    def stop(self) -> None:
        if self._spark is not None:
            self._spark.stop()

    @property
    def session(self):
        if self._spark is None:
            from readers import Spark

            self._spark = Spark(self._folder)
            prefix = "spark.sql.catalog.lake"
            self._spark.session.conf.set(prefix, "org.apache.iceberg.spark.SparkCatalog")
            for key, value in {**self._lake.spark, "cache-enabled": "false"}.items():
                self._spark.session.conf.set(f"{prefix}.{key}", value)
        return self._spark.session

    def _call(self, procedure: str):
        return self.session.sql(f"CALL lake.system.{procedure}").collect()[0]
