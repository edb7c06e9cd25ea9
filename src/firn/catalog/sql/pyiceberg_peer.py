"""The other program of pyiceberg_test.cc: PyIceberg on the same SQL catalog and warehouse. URI is SQLAlchemy's.

    pyiceberg_peer.py files FOLDER N         writes N Parquet files of one row each, ids 0 to N-1; one line each: path, bytes
    pyiceberg_peer.py append URI WAREHOUSE TABLE N    appends N times one row, ids 1000 on, again after each conflict
    pyiceberg_peer.py create URI WAREHOUSE TABLE      a table as PyIceberg makes it, with one row, id 999
    pyiceberg_peer.py read URI WAREHOUSE TABLE        the sorted ids, as PyIceberg and as DuckDB read them, a line each
"""

import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import CommitFailedException


def rows(*ids: int) -> pa.Table:
    field = pa.field("id", pa.int64(), metadata={"PARQUET:field_id": "1"})
    return pa.table([pa.array(ids, pa.int64())], schema=pa.schema([field]))


def files(folder: str, count: str):
    for i in range(int(count)):
        path = Path(folder) / f"{i}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(rows(i), path)
        print(path, path.stat().st_size)


def load(uri: str, warehouse: str):
    return SqlCatalog("lake", uri=uri, warehouse=warehouse)


def append(uri: str, warehouse: str, table: str, count: str):
    catalog = load(uri, warehouse)
    for i in range(int(count)):
        while True:
            try:
                catalog.load_table(table).append(rows(1000 + i))
                break
            except CommitFailedException:
                continue


def create(uri: str, warehouse: str, table: str):
    catalog = load(uri, warehouse)
    catalog.create_namespace_if_not_exists(table.split(".")[0])
    catalog.create_table(table, schema=rows().schema).append(rows(999))


def duckdb_ids(location: str):
    import duckdb

    session = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    packages = Path(duckdb.__file__).parents[1]
    for extension in ("avro", "httpfs", "iceberg"):
        session.execute(
            f"INSTALL '{packages}/duckdb_extension_{extension}/extensions/v{duckdb.__version__}/{extension}.duckdb_extension'; LOAD {extension}"
        )
    return [row[0] for row in session.execute(f"select id from iceberg_scan('{location}') order by id").fetchall()]


def read(uri: str, warehouse: str, table: str):
    loaded = load(uri, warehouse).load_table(table)
    print(*sorted(loaded.scan().to_arrow()["id"].to_pylist()))
    print(*duckdb_ids(loaded.metadata_location.removeprefix("file://")))


if __name__ == "__main__":
    {"files": files, "append": append, "create": create, "read": read}[sys.argv[1]](*sys.argv[2:])
