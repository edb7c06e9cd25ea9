"""Parquet files as pyarrow writes them, one for each thing that a reader may trip over.

    python test/golden/parquet/make.py
"""

from __future__ import annotations

import datetime as dt
import decimal
import pathlib

import pyarrow as pa
import pyarrow.parquet as pq

HERE = pathlib.Path(__file__).parent
UTC = dt.timezone.utc
NOON = dt.datetime(2024, 3, 31, 12, 0, 0, 123456)


def write(name: str, table: pa.Table, **options) -> None:
    pq.write_table(table, HERE / f"{name}.parquet", **options)


def primitives() -> pa.Table:
    return pa.table(
        {
            "flag": pa.array([True, None, False]),
            "tiny": pa.array([1, None, -8], pa.int8()),
            "unsigned": pa.array([4294967295, None, 0], pa.uint32()),
            "huge": pa.array([18446744073709551615, None, 7], pa.uint64()),
            "real": pa.array([1.5, None, float("nan")], pa.float32()),
            "amount": pa.array([decimal.Decimal("12.50"), None, decimal.Decimal("-0.01")], pa.decimal128(5, 2)),
            "day": pa.array([dt.date(2024, 3, 31), None, dt.date(1969, 12, 31)]),
            "clock": pa.array([dt.time(23, 59, 59, 5000), None, dt.time(0)], pa.time32("ms")),
            "local": pa.array([NOON, None, NOON], pa.timestamp("us")),
            "instant": pa.array([NOON.replace(tzinfo=UTC), None, NOON.replace(tzinfo=UTC)], pa.timestamp("ms", "UTC")),
            "text": pa.array(["ä", None, ""]),
            "word": pa.array(["x", None, "y"]).dictionary_encode(),
            "bytes": pa.array([b"\x00\xff", None, b""]),
            "uuid": pa.array([bytes(range(16)), None, bytes(16)], pa.binary(16)),
        }
    )


def nested() -> pa.Table:
    point = pa.struct([("x", pa.int32()), ("tags", pa.list_(pa.string()))])
    return pa.table(
        {
            "point": pa.array([{"x": 1, "tags": ["a", None]}, None, {"x": None, "tags": []}], point),
            "points": pa.array([[{"x": 2, "tags": ["b"]}], [], None], pa.list_(point)),
            "map": pa.array([[("k", 1), ("l", None)], [], None], pa.map_(pa.string(), pa.int64())),
        }
    )


if __name__ == "__main__":
    write("primitives", primitives())
    write("nested", nested())
    write("two_level_lists", nested().select(["points"]), use_compliant_nested_type=False)
    write("int96", pa.table({"at": pa.array([NOON, None], pa.timestamp("us"))}), use_deprecated_int96_timestamps=True)
    write("small_decimals", pa.table({"amount": primitives()["amount"]}), store_decimal_as_integer=True)
    ids = pa.schema([pa.field("old_name", pa.int64(), metadata={"PARQUET:field_id": "1"})])
    write("field_ids", pa.table([pa.array([5, 6])], schema=ids))
    write("groups", pa.table({"id": pa.array(range(1000))}), row_group_size=300)
