"""One column for each Iceberg type, with values at the edges: as JSON text for a topic, and as Arrow for the comparison."""

from __future__ import annotations

import base64
import datetime as dt
import json
import math
import uuid
from dataclasses import dataclass, replace
from decimal import Decimal

import pyarrow as pa

UTC = dt.timezone.utc


@dataclass(frozen=True)
class Written:
    """A value with its JSON text, where that is another one than to_json makes."""

    json: str
    value: object


@dataclass(frozen=True)
class Column:
    name: str
    type: str  # as written in a pipeline file
    arrow: pa.DataType
    values: list  # Python values (or Written), None included
    spark: bool = True  # Spark 4.1 with Iceberg 1.12 can load it
    options: str = ""  # more keys of the declared column

    def as_pyiceberg_reads_it(self) -> Column:
        """PyIceberg 0.12 gives a null list of structs as an empty one, in its own tables too."""
        if not self.type.startswith("list<struct"):
            return self
        return replace(self, values=[[] if value is None else value for value in self.values])

    def json_text(self, row: int) -> str:
        value = self.values[row % len(self.values)]
        return value.json if isinstance(value, Written) else to_json(value)

    def value(self, row: int):
        value = self.values[row % len(self.values)]
        return value.value if isinstance(value, Written) else value

    def array(self, rows: int) -> pa.Array:
        return pa.array([self.value(i) for i in range(rows)], self.arrow)


def to_json(value) -> str:
    if isinstance(value, bool) or value is None or isinstance(value, (int, str)):
        return json.dumps(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else NOT_FINITE[repr(value)]
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, bytes):
        return json.dumps(base64.b64encode(value).decode())
    if isinstance(value, (dt.datetime, dt.date, dt.time)):
        return json.dumps(value.isoformat())
    if isinstance(value, list):
        if value and all(isinstance(item, tuple) for item in value):  # a map
            return "{" + ",".join(f"{json.dumps(str(key))}:{to_json(item)}" for key, item in value) + "}"
        return "[" + ",".join(map(to_json, value)) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{to_json(item)}" for key, item in value.items()) + "}"
    raise TypeError(type(value))


INT32, INT64 = 2**31, 2**63
INF = math.inf
NOT_FINITE = {"nan": '"NaN"', "inf": '"Infinity"', "-inf": '"-Infinity"'}
FIRST, LAST = dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59, 999999)
UUID = "f79c3e09-677c-4bbd-a479-3f349cb785e7"

PRIMITIVES = [
    Column("boolean", "boolean", pa.bool_(), [True, False, None]),
    Column("int", "int", pa.int32(), [0, -1, INT32 - 1, -INT32, None]),
    Column("long", "long", pa.int64(), [0, -1, 2**53 + 1, Written("-12e2", -1200), INT64 - 1, -INT64, None]),
    Column("float", "float", pa.float32(), [0.0, -0.5, 1.5, 2.0**127, -(2.0**-126), math.nan, INF, -INF, None]),
    Column("double", "double", pa.float64(), [0.0, -0.1, 1e308, 5e-324, math.nan, INF, -INF, None]),
    Column("decimal9", "decimal(9,2)", pa.decimal128(9, 2), [Decimal("0.00"), Written('"-1.05"', Decimal("-1.05")), Decimal("9999999.99"), None]),
    Column("decimal18", "decimal(18,4)", pa.decimal128(18, 4), [Decimal("0.0001"), Decimal("-99999999999999.9999"), Written("1.5e3", Decimal("1500.0000")), None]),
    Column(
        "decimal38", "decimal(38,10)", pa.decimal128(38, 10),
        [Decimal("-1234567890123456789012345678.0123456789"), Written(f'"{"9" * 28}.{"9" * 10}"', Decimal(f'{"9" * 28}.{"9" * 10}')), Decimal("1.0000000000"), None],
    ),
    Column("date", "date", pa.date32(), [dt.date(1970, 1, 1), dt.date(1969, 12, 31), dt.date(1600, 2, 29), FIRST.date(), LAST.date(), None]),
    Column("time", "time", pa.time64("us"), [dt.time(0), dt.time(23, 59, 59, 999999), Written('"01:02"', dt.time(1, 2)), None], spark=False),
    Column(
        "timestamp", "timestamp", pa.timestamp("us"),
        [dt.datetime(1970, 1, 1), dt.datetime(1969, 12, 31, 23, 59, 59, 999999), FIRST, LAST,
         Written('"2026-02-28 12:30:15.000001000"', dt.datetime(2026, 2, 28, 12, 30, 15, 1)), None],
    ),
    Column(
        "timestamptz", "timestamptz", pa.timestamp("us", "UTC"),
        [dt.datetime(1970, 1, 1, tzinfo=UTC), dt.datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
         dt.datetime(2026, 2, 28, 12, 30, 15, 123000, tzinfo=dt.timezone(dt.timedelta(hours=5, minutes=30))),
         Written('"0001-01-01T01:00:00+01"', FIRST.replace(tzinfo=UTC)), Written('"9999-12-31T15:59:59.999999000-0800"', LAST.replace(tzinfo=UTC)), None],
    ),
    Column(
        "string", "string", pa.string(),
        ["", "plain", "Grüße, 世界 🌍", Written(r'"\ud83d\ude00\u0000"', "\U0001f600\0"), 'quoted " \\ \n \u0001', "x" * 300,
         "\U0010ffff" * 20, None],
    ),
    Column("uuid", "uuid", pa.string(), [str(uuid.UUID(int=0)), UUID, Written(f'"{UUID.upper()}"', UUID), str(uuid.UUID(int=2**128 - 1)), None]),
    Column("fixed", "fixed[4]", pa.binary(4), [b"\x00\x00\x00\x00", b"\xff\xfe\x00\x01", None]),
    Column("binary", "binary", pa.binary(), [b"", b"\x00\xff", bytes(range(256)), Written('"-_8"', b"\xfb\xff"), b"\xff" * 20, None]),
    Column("hex", "binary", pa.binary(), [Written('"00fF7e"', b"\0\xff~"), Written('""', b""), None], options=", encoding: hex"),
]  # fmt: skip

NESTED = [
    Column("point", "struct<x: int, y: double>", pa.struct({"x": pa.int32(), "y": pa.float64()}),
           [{"x": 1, "y": 0.5}, {"x": None, "y": None}, {"x": -7, "y": 1e10}, None]),
    Column("numbers", "list<long>", pa.list_(pa.int64()), [[1, 2, 3], [], [None, -1], None]),
    Column("labels", "map<string, int>", pa.map_(pa.string(), pa.int32()), [[("a", 1), ("b", None)], [("c", -1)], None]),
    Column("lines", "list<struct<name: string, tags: list<string>>>",
           pa.list_(pa.struct({"name": pa.string(), "tags": pa.list_(pa.string())})),
           [[{"name": "n", "tags": ["t", None]}, {"name": None, "tags": []}], [], [{"name": "m", "tags": None}], None]),
    Column("days", "map<date, decimal(5,2)>", pa.map_(pa.date32(), pa.decimal128(5, 2)),
           [[(dt.date(1, 1, 1), Decimal("-999.99")), (dt.date(1969, 12, 31), None)], Written("{}", []), None]),
    Column("hashes", "list<fixed[2]>", pa.list_(pa.binary(2)), [Written('["00fF",null]', [b"\0\xff", None]), [], None], options=", encoding: hex"),
]  # fmt: skip


def columns_yaml(columns: list[Column]) -> str:
    return "[" + ", ".join(f'{{name: {c.name}, type: "{c.type}"{c.options}}}' for c in columns) + "]"


def records(columns: list[Column], rows: int, first: int = 0) -> list[str]:
    """JSON records, with a leading `id`."""
    return [
        f'{{"id":{i},' + ",".join(f'"{c.name}":{c.json_text(i)}' for c in columns) + "}" for i in range(first, first + rows)
    ]


def expected(columns: list[Column], rows: int) -> pa.Table:
    return pa.table({"id": pa.array(range(rows), pa.int64()), **{c.name: c.array(rows) for c in columns}})


def as_compared(table: pa.Table) -> pa.Table:
    """Engines hand out the same value in different Arrow types: view types, uuids as bytes, zones by other names, nested field names."""
    arrays = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        values = column.to_pylist()
        arrays.append(pa.array([_comparable(name, value) for value in values]))
    return pa.table(dict(zip(table.column_names, arrays, strict=True)))


def _comparable(name: str, value):
    if name == "uuid" and value is not None:
        return str(value) if isinstance(value, (uuid.UUID, str)) else str(uuid.UUID(bytes=bytes(value)))
    if isinstance(value, dt.datetime):
        return (value.astimezone(UTC) if value.tzinfo else value).isoformat()
    if isinstance(value, (dt.date, dt.time, Decimal)):
        return str(value)
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).hex()
    return value if value is None or isinstance(value, (bool, int, float, str)) else json.dumps(_nested(value), sort_keys=True, default=str)


def _nested(value):
    if isinstance(value, dict):
        return {key: _nested(item) for key, item in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        return {str(key): _nested(item) for key, item in value}
    return [_nested(item) for item in value] if isinstance(value, list) else value
