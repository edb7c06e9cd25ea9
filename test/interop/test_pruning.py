"""Bounds in manifests enclose what the files hold, and filters of three engines find what a look at every row does: for values at the edges, in
files from before and after columns became wider."""

from __future__ import annotations

import datetime as dt
import math
import uuid
from dataclasses import replace
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
from firn import firn
from pipelines import pipeline
from pyiceberg.conversions import from_bytes
from pyiceberg.expressions import EqualTo, GreaterThanOrEqual, IsNaN, IsNull, LessThan, NotNull
from readers import duckdb_session, local_path, metadata_location
from values import INF, INT32, INT64, PRIMITIVES, UTC, Column, columns_yaml, records

TABLE = "types.t"
# A row is a file: each has one value of every column, and each value comes at least once.
ROWS = max(len(column.values) for column in PRIMITIVES)


def config_of(broker, lake, topic: str, columns: list[Column], extra: str = 'partition_by: ["id"]'):
    declared = "[{name: id, type: long}, " + columns_yaml(columns).removeprefix("[")
    return lake.config(pipeline(broker, [topic], f"lake.{TABLE}", declared, table_extra=extra))


def run(config) -> None:
    firn("run", config, "--until-caught-up", "--fail-on-dead-letters").ok()


# --- bounds


def data_files(table):
    for manifest in table.current_snapshot().manifests(table.io):
        for entry in manifest.fetch_manifest_entry(table.io):
            yield entry.data_file


def bound_of(type_, data: bytes):
    """Bounds of older files are of the type that the column had then: the format's way to tell is their length."""
    if str(type_) == "long" and len(data) == 4:
        return int.from_bytes(data, "little", signed=True)
    if str(type_) == "double" and len(data) == 4:
        return pa.array([data], pa.binary(4)).view(pa.float32())[0].as_py()
    value = from_bytes(type_, data)
    return value.bytes if isinstance(value, uuid.UUID) else value


def stored(value):
    """A cell as PyIceberg has bounds: dates and times as numbers."""
    if isinstance(value, dt.datetime):
        return (value.replace(tzinfo=None) - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1)
    if isinstance(value, dt.date):
        return (value - dt.date(1970, 1, 1)).days
    if isinstance(value, dt.time):
        return ((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond
    return value.bytes if isinstance(value, uuid.UUID) else value


def assert_bounds_enclose(table) -> int:
    """Of every top-level column of every file; gives the number of bounds that were looked at."""
    looked_at = 0
    for file in data_files(table):
        content = pq.ParquetFile(local_path(file.file_path)).read()
        for field in table.schema().fields:
            if field.name not in content.column_names:
                continue
            cells = [stored(cell) for cell in content[field.name].to_pylist()]
            numbers = [cell for cell in cells if cell is not None and cell == cell]
            where = f"{field.name} of {file.file_path}: {cells}"
            assert file.value_counts[field.field_id] == len(cells), where
            if str(field.field_type) == "uuid":
                continue  # has none of what follows, for Spark's sake
            assert file.null_value_counts[field.field_id] == cells.count(None), where
            if str(field.field_type) in ("float", "double"):
                assert file.nan_value_counts[field.field_id] == sum(cell is not None and cell != cell for cell in cells), where
            lower, upper = (bounds.get(field.field_id) for bounds in (file.lower_bounds, file.upper_bounds))
            if lower is not None:
                assert bound_of(field.field_type, lower) <= min(numbers), where
            if upper is not None:
                assert bound_of(field.field_type, upper) >= max(numbers), where
            looked_at += (lower is not None) + (upper is not None)
            assert (lower is not None) == bool(numbers), where
    return looked_at


# --- filters


def literal(column: Column, value, engine: str) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        name = {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN" if value != value else repr(value))
        return f"cast('{name}' as {column.type})"
    if isinstance(value, Decimal):
        return f"cast('{value:f}' as {column.type})"
    if isinstance(value, dt.datetime):
        kind = {"spark": "timestamp" if value.tzinfo else "timestamp_ntz", "duckdb": "timestamptz" if value.tzinfo else "timestamp"}[engine]
        return f"{kind} '{value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value}{'+00' if value.tzinfo and engine == 'duckdb' else ''}'"
    if isinstance(value, (dt.date, dt.time)):
        return f"{'time' if isinstance(value, dt.time) else 'date'} '{value.isoformat()}'"
    if isinstance(value, bytes):
        return f"X'{value.hex()}'" if engine == "spark" else f"from_hex('{value.hex()}')"
    if isinstance(value, str):
        return f"r'{value}'" if engine == "spark" else f"'{value}'" + ("::uuid" if column.type == "uuid" else "")
    return str(value)


def values_of(column: Column) -> list:
    """Each value once, without null."""
    found = []
    for i in range(len(column.values)):
        value = column.value(i)
        if value is not None and repr(value) not in map(repr, found):
            found.append(value)
    # A NUL cannot stand in a statement.
    return [value for value in found if not (isinstance(value, str) and "\0" in value)]


def ids_where(column: Column, holds) -> list[int]:
    return [i for i in range(len(column.values)) if holds(column.value(i))]


def conditions(column: Column, engine: str) -> dict[str, list[int]]:
    """Statements' conditions with the rows that they hold for. An order is asked for without NaN: engines that count it as the largest value
    still skip files by their bounds, in which the format leaves it out."""
    name, number = f"`{column.name}`" if engine == "spark" else f'"{column.name}"', column.type in ("float", "double")
    found = {f"{name} is null": ids_where(column, lambda cell: cell is None), f"{name} is not null": ids_where(column, lambda cell: cell is not None)}
    for value in values_of(column):
        found[f"{name} = {literal(column, value, engine)}"] = ids_where(column, lambda cell, value=value: cell == value or (cell != cell and value != value))
        if isinstance(value, bool) or value != value:
            continue
        if not in_order(column, value):
            continue
        for operator, compare in (("<", lambda a, b: a < b), (">=", lambda a, b: a >= b)):
            text = f"{name} {operator} {literal(column, value, engine)}" + (f" and not isnan({name})" if number else "")
            found[text] = ids_where(column, lambda cell, value=value, compare=compare: cell is not None and compare(cell, value))
    return found


def in_order(column: Column, value) -> bool:
    """Whether an engine is asked for what is less than the value, and the rest: one value of a column does."""
    values = values_of(column)
    return value is values[-1]


def found_by(query, source: str, wanted: dict[str, list[int]]) -> dict[str, list[int]]:
    """What the conditions find, each by a scan of its own in one statement."""
    texts = list(wanted)
    found: dict[str, list[int]] = {text: [] for text in texts}
    for number, row_id in query(" union all ".join(f"select {i} c, id from {source} where {text}" for i, text in enumerate(texts))):
        found[texts[number]].append(row_id)
    return {text: sorted(ids) for text, ids in found.items()}


def few(wanted: dict[str, list[int]]) -> dict[str, list[int]]:
    """Equal to the last value and to NaN, and both sides of the last: each condition costs Spark a tenth of a second and more."""
    return {text: ids for i, (text, ids) in enumerate(wanted.items()) if i >= len(wanted) - 3 or "NaN" in text}


def assert_spark_finds(spark, lake, columns) -> None:
    location = local_path(metadata_location(lake.database, TABLE))
    spark.session.read.format("iceberg").load(location).createOrReplaceTempView("edges")
    for column in columns:
        wanted = conditions(column, "spark") if len(columns) == 1 else few(conditions(column, "spark"))
        assert found_by(lambda statement: [tuple(row.values()) for row in spark.sql(statement).toArrow().to_pylist()], "edges", wanted) == wanted


def assert_duckdb_finds(lake, columns) -> None:
    session = duckdb_session()
    scan = f"iceberg_scan('{local_path(metadata_location(lake.database, TABLE))}')"
    for column in columns:
        wanted = conditions(column, "duckdb")
        assert found_by(lambda statement: session.execute(statement).fetchall(), scan, wanted) == wanted


def assert_pyiceberg_finds(lake, columns, refuses=lambda value: False) -> None:
    table = lake.pyiceberg().load_table(TABLE)
    files, left_out = sum(1 for _ in data_files(table)), 0
    for column in columns:
        for condition, wanted in pyiceberg_conditions(column, refuses):
            scan = table.scan(row_filter=condition, selected_fields=("id",))
            assert sorted(scan.to_arrow()["id"].to_pylist()) == wanted, condition
            left_out += files - len(list(scan.plan_files()))
    assert left_out > 10 * len(columns)


def pyiceberg_conditions(column: Column, refuses):
    name = column.name
    yield IsNull(name), ids_where(column, lambda cell: cell is None)
    yield NotNull(name), ids_where(column, lambda cell: cell is not None)
    for value in values_of(column):
        if value != value:
            yield IsNaN(name), ids_where(column, lambda cell: cell != cell)
            continue
        if refuses(value) or (isinstance(value, float) and math.isinf(value)):
            continue  # infinities PyIceberg 0.12 takes for beyond the range of float, and says false without looking
        yield EqualTo(name, value), ids_where(column, lambda cell, value=value: cell == value)
        if not isinstance(value, bool):
            yield LessThan(name, value), ids_where(column, lambda cell, value=value: cell is not None and cell < value)
            yield GreaterThanOrEqual(name, value), ids_where(column, lambda cell, value=value: cell is not None and cell >= value)


def test_filters_at_the_edges_return_what_a_full_scan_does(broker, lake, spark):
    columns = [column for column in PRIMITIVES if column.spark]
    broker.create_topic("edges", 1)
    broker.produce("edges", records(columns, ROWS))
    run(config_of(broker, lake, "edges", columns))
    assert assert_bounds_enclose(lake.pyiceberg().load_table(TABLE)) > 100
    columns = [replace(column, values=[column.value(i) for i in range(ROWS)]) for column in columns]
    assert_pyiceberg_finds(lake, columns)
    assert_duckdb_finds(lake, columns)
    assert_spark_finds(spark, lake, columns)


def test_uuids_are_found_in_a_file_of_many(broker, lake, spark):
    """Java orders them as signed numbers: by the bounds of such a file Spark would find none of them."""
    uuids = [f"{first:02x}{'0' * 6}-0000-4000-8000-{first:012x}" for first in (0, 0x10, 0x7F, 0x80, 0xFF)]
    column = Column("uuid", "uuid", pa.string(), uuids)
    broker.create_topic("uuids", 1)
    broker.produce("uuids", records([column], len(uuids)))
    run(config_of(broker, lake, "uuids", [column], extra=""))
    assert_duckdb_finds(lake, [column])
    assert_spark_finds(spark, lake, [column])


TENTH = 0.10000000149011612  # the float that is nearest to 0.1
NARROW = [
    Column("n", "int", pa.int32(), [-1, INT32 - 1, -INT32, None]),
    Column("r", "float", pa.float32(), [TENTH, -1.5, math.nan, 2.0**127, -INF]),
    Column("m", "decimal(5,2)", pa.decimal128(5, 2), [Decimal("-0.01"), Decimal("999.99"), Decimal("-999.99")]),
]
WIDE = [
    Column("n", "long", pa.int64(), [INT64 - 1, -INT64, 2**53 + 1, INT32, -1]),
    Column("r", "double", pa.float64(), [1e308, 0.1, math.nan, 5e-324, INF]),
    Column("m", "decimal(38,2)", pa.decimal128(38, 2), [Decimal("9" * 36 + ".99"), Decimal("-" + "9" * 36 + ".99"), Decimal("-0.01"), Decimal(1000)]),
]


def test_filters_return_what_a_full_scan_does_in_files_from_before_and_after_a_widening(broker, lake, spark):
    config = config_of(broker, lake, "widened", NARROW, 'partition_by: ["id"]\nschema_evolution: add_and_widen')
    broker.create_topic("widened", 1)
    for columns, first in ((NARROW, 0), (WIDE, 5)):
        broker.produce("widened", records(columns, 5, first))
        run(config)
    table = lake.pyiceberg().load_table(TABLE)
    assert [str(field.field_type) for field in table.schema().fields] == ["long", "long", "double", "decimal(38, 2)"]
    assert assert_bounds_enclose(table) > 40
    both = [
        replace(wide, values=[*(narrow.value(i) for i in range(5)), *(wide.value(i) for i in range(5, 10))]) for narrow, wide in zip(NARROW, WIDE, strict=True)
    ]
    # PyIceberg 0.12 fails where a file's older decimal has no room for the number that it looks for.
    assert_pyiceberg_finds(lake, both, refuses=lambda value: isinstance(value, Decimal) and abs(value) >= 1000)
    assert_duckdb_finds(lake, both)
    assert_spark_finds(spark, lake, both)
