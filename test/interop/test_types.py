"""Tables that Firn wrote, read back equal by PyIceberg, DuckDB and Spark: each type, nested types, each transform, format v2 and v3."""

from __future__ import annotations

import json
import shutil

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from firn import firn
from pipelines import pipeline
from readers import assert_same_rows
from values import NESTED, PRIMITIVES, as_compared, columns_yaml, expected, records

ROWS = 120
TABLE = "types.t"


def write(broker, lake, topic: str, columns, rows: int = ROWS, table_extra: str = "") -> None:
    broker.create_topic(topic, 2)
    broker.produce(topic, records(columns, rows))
    declared = "[{name: id, type: long}, " + columns_yaml(columns).removeprefix("[")
    config = lake.config(pipeline(broker, [topic], f"lake.{TABLE}", declared, table_extra=table_extra))
    firn("run", config, "--until-caught-up", "--fail-on-dead-letters").ok()


def check(found: pa.Table, columns, rows: int = ROWS) -> None:
    names = ["id", *(c.name for c in columns)]
    assert_same_rows(as_compared(found.select(names)), as_compared(expected(columns, rows)))


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("kind", ["primitive", "nested"])
def test_types_are_read_back_by_every_engine(broker, lake, spark, version, kind):
    columns = PRIMITIVES if kind == "primitive" else NESTED
    write(broker, lake, f"types-{kind}-{version}", columns, table_extra=f"format_version: {version}")
    check(lake.read(TABLE), [c.as_pyiceberg_reads_it() for c in columns])
    check(lake.read_duckdb(TABLE), columns)
    for_spark = [c for c in columns if c.spark]
    if for_spark != columns:
        write_without_what_spark_cannot_load(broker, lake, version, for_spark)
    check(lake.read_spark(spark, TABLE), for_spark)


AVRO_TYPES = {
    "float": "float", "double": "double", "boolean": "boolean", "int": "int", "long": "long", "string": "string",
    "date": {"type": "int", "logicalType": "date"},
    "time": {"type": "long", "logicalType": "time-micros"},
    "timestamp": {"type": "long", "logicalType": "local-timestamp-micros"},
    "timestamptz": {"type": "long", "logicalType": "timestamp-micros"},
    "uuid": {"type": "string", "logicalType": "uuid"},
    "fixed": {"type": "fixed", "name": "four", "size": 4},
    "binary": "bytes", "hex": "bytes",
    "decimal9": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
    "decimal18": {"type": "fixed", "name": "eight", "size": 8, "logicalType": "decimal", "precision": 18, "scale": 4},
    "decimal38": {"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 10},
}  # fmt: skip


def write_file(folder, kind: str, columns) -> None:
    folder.mkdir()
    rows = expected(columns, ROWS)
    if kind == "parquet":
        pq.write_table(rows, folder / "a.parquet")
    elif kind == "csv":
        texts = [[column.json_text(i) for column in columns] for i in range(ROWS)]
        lines = [",".join([str(i), *map(csv_field, row)]) for i, row in enumerate(texts)]
        (folder / "a.csv").write_text("\n".join([",".join(["id", *(c.name for c in columns)]), *lines]) + "\n", encoding="utf-8")
    else:
        fields = [{"name": c.name, "type": ["null", AVRO_TYPES[c.name]]} for c in columns]
        schema = {"type": "record", "name": "Row", "fields": [{"name": "id", "type": "long"}, *fields]}
        with (folder / "a.avro").open("wb") as file:
            fastavro.writer(file, schema, rows.to_pylist())


def csv_field(text: str) -> str:
    """The JSON text of a value as a CSV field: an empty field is null."""
    if text == "null":
        return ""
    if not text.startswith('"'):
        return text
    return '"' + json.loads(text).replace('"', '""') + '"'


@pytest.mark.parametrize(("kind", "declared"), [("csv", True), ("avro", True), ("avro", False), ("parquet", True), ("parquet", False)])
def test_edge_values_come_through_files_of_every_format(lake, tmp_path, kind, declared):
    write_file(tmp_path / "in", kind, PRIMITIVES)
    columns = f"        columns: [{{name: id, type: long}}, {columns_yaml(PRIMITIVES).removeprefix('[')}\n" if declared else ""
    config = lake.config(
        f"pipelines:\n  t:\n    source: {{files: {{path: '{tmp_path}/in', mode: once, min_age: 0s}}}}\n    decode: {kind}\n"
        f"    tables:\n      - name: lake.{TABLE}\n{columns}"
    )
    firn("run", config, "--until-caught-up", "--fail-on-dead-letters").ok()
    check(lake.read(TABLE), PRIMITIVES)


def write_without_what_spark_cannot_load(broker, lake, version: int, columns) -> None:
    """A table of its own: Spark refuses a whole table for one column."""
    shutil.rmtree(lake.warehouse)
    lake.database.unlink()
    write(broker, lake, f"types-for-spark-{version}", columns, table_extra=f"format_version: {version}")


TRANSFORMS = [
    ("identity-int", "int", "int = -1"),
    ("identity-string", "string", "string = 'plain'"),
    ("identity-date", "date", "date < date '1970-01-01'"),
    ("identity-decimal", "decimal9", "decimal9 < 0"),
    ("bucket-long", "bucket(7, long)", "long = -1"),
    ("bucket-string", "bucket(7, string)", "string = 'plain'"),
    ("bucket-decimal", "bucket(7, decimal18)", "decimal18 = 0.0001"),
    ("bucket-timestamp", "bucket(5, timestamp)", "timestamp = timestamp '1970-01-01 00:00:00'"),
    ("truncate-int", "truncate(10, int)", "int = -1"),
    ("truncate-string", "truncate(3, string)", "string = 'plain'"),
    ("truncate-decimal", "truncate(50, decimal9)", "decimal9 < 0"),
    ("year-date", "year(date)", "date < date '1970-01-01'"),
    ("month-timestamp", "month(timestamp)", "timestamp < timestamp '1970-01-01 00:00:00'"),
    ("day-timestamp", "day(timestamp)", "timestamp < timestamp '1970-01-01 00:00:00'"),
    ("hour-timestamptz", "hour(timestamptz)", "timestamptz > timestamp '2000-01-01 00:00:00'"),
    ("void-long", "void(long)", "long = -1"),
]


@pytest.mark.parametrize(("name", "transform", "where"), TRANSFORMS, ids=[t[0] for t in TRANSFORMS])
def test_pruning_by_a_partition_returns_what_a_full_scan_does(broker, lake, spark, name, transform, where):
    columns = [c for c in PRIMITIVES if c.spark]
    write(broker, lake, f"prune-{name}", columns, table_extra=f'partition_by: ["{transform}"]')
    check(lake.read(TABLE), columns)
    everything = lake.read_duckdb(TABLE)
    matching = duckdb_filter(everything, where)
    assert 0 < matching.num_rows < everything.num_rows
    assert lake.read_duckdb(TABLE, where=where, columns="id").num_rows == matching.num_rows
    assert lake.read_spark(spark, TABLE, where=where).num_rows == matching.num_rows
    assert set(lake.read_spark(spark, TABLE, where=where)["id"].to_pylist()) == set(matching["id"].to_pylist())


def duckdb_filter(table: pa.Table, where: str) -> pa.Table:
    """The filter over rows already in memory: no pruning can take part in it."""
    import duckdb

    session = duckdb.connect()
    session.execute("SET TimeZone = 'UTC'")
    session.register("everything", table)
    return session.execute(f"select * from everything where {where}").to_arrow_table()


def test_a_table_made_by_pyiceberg_is_appended_to(broker, lake, spark):
    from pyiceberg.catalog.sql import SqlCatalog

    catalog = SqlCatalog("lake", uri=f"sqlite:///{lake.database}", warehouse=f"file://{lake.warehouse}")
    catalog.create_namespace("types")
    columns = [c for c in PRIMITIVES if c.spark and c.name != "uuid" and not c.options]
    theirs = expected(columns, 10)
    catalog.create_table(TABLE, schema=theirs.schema).append(theirs)
    append_to_theirs(broker, lake, "onto-pyiceberg", columns)
    both = pa.concat_tables([theirs, expected(columns, 30).slice(10)])
    assert_same_rows(as_compared(lake.read(TABLE)), as_compared(both))
    assert_same_rows(as_compared(lake.read_duckdb(TABLE)), as_compared(both))
    assert_same_rows(as_compared(lake.read_spark(spark, TABLE)), as_compared(both))


def append_to_theirs(broker, lake, topic: str, columns) -> None:
    """Records 10 to 29; the columns are the table's own."""
    broker.create_topic(topic, 1)
    broker.produce(topic, records(columns, 20, first=10))
    config = lake.config(pipeline(broker, [topic], f"lake.{TABLE}", columns=None, table_extra="create: false"))
    firn("run", config, "--until-caught-up", "--fail-on-dead-letters").ok()


@pytest.mark.parametrize("version", [2, 3])
def test_a_table_made_by_spark_is_appended_to_and_spark_goes_on(broker, lake, spark, version):
    name = f"lake_{version}"
    lake.name = name
    lake.warehouse.mkdir()
    spark.add_catalog(name, lake.database, lake.warehouse)
    spark.sql(f"create namespace {name}.types")
    spark.sql(
        f"create table {name}.{TABLE} (id bigint, text string, day date) using iceberg"
        f" partitioned by (bucket(4, text), months(day)) tblproperties ('format-version'='{version}')"
    )
    spark.sql(f"insert into {name}.{TABLE} values (1, 'spark', date '2020-02-29'), (2, null, null)")
    topic = f"onto-spark-{version}"
    broker.create_topic(topic, 1)
    broker.produce(topic, ['{"id": 3, "text": "firn", "day": "1969-12-31"}', '{"id": 4, "text": null}'])
    config = lake.config(pipeline(broker, [topic], f"{name}.{TABLE}", columns=None, table_extra="create: false"))
    firn("run", config, "--until-caught-up", "--fail-on-dead-letters").ok()
    spark.sql(f"insert into {name}.{TABLE} values (5, 'spark again', date '2020-03-01')")
    rows = spark.sql(f"select id, text, cast(day as string) day from {name}.{TABLE} order by id").toArrow().to_pylist()
    assert rows == [
        {"id": 1, "text": "spark", "day": "2020-02-29"},
        {"id": 2, "text": None, "day": None},
        {"id": 3, "text": "firn", "day": "1969-12-31"},
        {"id": 4, "text": None, "day": None},
        {"id": 5, "text": "spark again", "day": "2020-03-01"},
    ]
    assert lake.read_duckdb(TABLE).num_rows == 5
    assert lake.read(TABLE).num_rows == 5


def test_an_evolved_schema_is_read_by_every_engine(broker, lake, spark):
    broker.create_topic("evolved", 1)
    extra = "schema_evolution: add_and_widen"
    config = lake.config(
        pipeline(broker, ["evolved"], f"lake.{TABLE}", "[{name: id, type: int}, {name: inner, type: 'struct<a: int>'}]", table_extra=extra)
    )
    broker.produce("evolved", ['{"id": 1, "inner": {"a": 1}}'])
    firn("run", config, "--until-caught-up").ok()
    broker.produce("evolved", ['{"id": 3000000000, "inner": {"a": 2, "b": "x"}, "more": [1.5]}', '{"id": 3, "inner": null}'])
    firn("run", config, "--until-caught-up", "--fail-on-dead-letters").ok()
    want = [
        {"id": 1, "inner": {"a": 1, "b": None}, "more": None},
        {"id": 3, "inner": None, "more": None},
        {"id": 3_000_000_000, "inner": {"a": 2, "b": "x"}, "more": [1.5]},
    ]
    for table in (lake.read(TABLE), lake.read_duckdb(TABLE), lake.read_spark(spark, TABLE)):
        assert sorted(table.to_pylist(), key=lambda row: row["id"]) == want


def test_parquet_files_of_spark_are_taken_into_a_table(lake, spark, tmp_path):
    """Spark writes timestamps as INT96, as it has always done unless told otherwise, and names its files and folders its own way."""
    rows = (
        "select id, cast(id * 1.5 as decimal(12,3)) amount, timestamp_micros(id * 86399123457 - 1000000) at,"
        " date_add(date '1969-12-30', cast(id as int)) day, named_struct('x', id, 'tags', array('a', null)) inner,"
        " if(id % 7 = 0, null, concat('text ', id)) text from range(500)"
    )
    spark.sql("set spark.sql.parquet.outputTimestampType=INT96")
    spark.session.sql(rows).repartition(3).write.parquet(f"file://{tmp_path}/in")
    written = sorted((tmp_path / "in").glob("*.parquet"))
    assert len(written) == 3
    assert pq.ParquetFile(written[0]).schema.column(2).physical_type == "INT96"
    firn(
        "run",
        lake.config(
            f"pipelines:\n  spark:\n    source: {{files: {{path: '{tmp_path}/in', mode: once, min_age: 0s}}}}\n    decode: parquet\n"
            f"    tables:\n      - name: lake.{TABLE}\n"
        ),
        "--until-caught-up", "--fail-on-dead-letters",
    ).ok()  # fmt: skip
    want = spark.session.sql(rows).toArrow()
    assert want.num_rows == 500
    for found in (lake.read(TABLE), lake.read_duckdb(TABLE), lake.read_spark(spark, TABLE)):
        assert_same_rows(as_compared(found), as_compared(want))
