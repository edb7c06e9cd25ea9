"""Writes the golden files of the Avro decoder's tests with fastavro: containers, and single-object encoded records.

    python make_golden.py        (fastavro 1.13.1; the files beside this script are its output)
"""

from __future__ import annotations

import datetime as dt
import decimal
import io
import json
import uuid
from pathlib import Path

import fastavro
import fastavro.schema

HERE = Path(__file__).parent

ALL_TYPES = {
    "type": "record",
    "name": "AllTypes",
    "namespace": "firn.golden",
    "fields": [
        {"name": "a_boolean", "type": "boolean"},
        {"name": "an_int", "type": "int", "doc": "thirty-two bits"},
        {"name": "a_long", "type": "long"},
        {"name": "a_float", "type": "float"},
        {"name": "a_double", "type": "double"},
        {"name": "text", "type": "string"},
        {"name": "bytes", "type": "bytes"},
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["EARLY", "LATE"]}},
        {"name": "hash", "type": {"type": "fixed", "name": "Hash", "size": 4}},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "total", "type": {"type": "fixed", "name": "Total", "size": 8, "logicalType": "decimal", "precision": 18, "scale": 4}},
        {"name": "id", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "at_ms", "type": {"type": "int", "logicalType": "time-millis"}},
        {"name": "at_us", "type": {"type": "long", "logicalType": "time-micros"}},
        {"name": "ts_ms", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "ts_us", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "local_ms", "type": {"type": "long", "logicalType": "local-timestamp-millis"}},
        {"name": "local_us", "type": {"type": "long", "logicalType": "local-timestamp-micros"}},
        {"name": "maybe", "type": ["null", "long"]},
        {"name": "either", "type": ["null", "long", "string", "Kind"]},
        {"name": "list", "type": {"type": "array", "items": ["null", "int"]}},
        {"name": "map", "type": {"type": "map", "values": "double"}},
        {"name": "leg", "type": ["null", {"type": "record", "name": "Leg", "fields": [{"name": "from", "type": "string"}, {"name": "miles", "type": ["null", "int"]}]}]},
    ],
}  # fmt: skip

UTC = dt.timezone.utc
MOMENT = dt.datetime(2001, 1, 14, 12, 30, 15, 123456, UTC)
FULL = {
    "a_boolean": True, "an_int": -2, "a_long": 1 << 40, "a_float": 1.5, "a_double": -2.25, "text": "gr\u00fc\u00df", "bytes": b"\x00\xff", "kind": "LATE",
    "hash": b"abcd", "price": decimal.Decimal("-12.34"), "total": decimal.Decimal("99999999999999.9999"),
    "id": uuid.UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7"), "day": dt.date(1969, 12, 31), "at_ms": dt.time(23, 59, 59, 999000),
    "at_us": dt.time(0, 0, 0, 1), "ts_ms": MOMENT.replace(microsecond=123000), "ts_us": MOMENT, "local_ms": MOMENT.replace(tzinfo=None, microsecond=123000),
    "local_us": MOMENT.replace(tzinfo=None), "maybe": 7, "either": "word", "list": [1, None, 3], "map": {"x": 0.5},
    "leg": {"from": "SFO", "miles": 337},
}  # fmt: skip
BARE = {
    **FULL, "a_boolean": False, "price": decimal.Decimal("0.00"), "day": dt.date(2024, 2, 29), "maybe": None, "either": None, "list": [], "map": {}, "leg": None,
}  # fmt: skip
ENUM_SIDE = {**BARE, "either": ("firn.golden.Kind", "EARLY"), "leg": {"from": "LAX", "miles": None}}

FLIGHT = {
    "type": "record",
    "name": "Flight",
    "fields": [
        {"name": "date", "type": {"type": "long", "logicalType": "local-timestamp-millis"}},
        {"name": "delay", "type": "int"},
        {"name": "origin", "type": "string"},
    ],
}


def flights(count: int):
    for i in range(count):
        yield {"date": dt.datetime(2001, 1, 1) + dt.timedelta(minutes=i), "delay": i - 5, "origin": f"A{i % 7}"}


def container(name: str, schema: dict, records, codec: str, sync_interval: int = 16_000) -> None:
    with (HERE / name).open("wb") as file:
        fastavro.writer(file, schema, records, codec=codec, sync_interval=sync_interval, sync_marker=b"0123456789abcdef")


def single_object(record: dict) -> bytes:
    body = io.BytesIO()
    fastavro.schemaless_writer(body, FLIGHT, record)
    canonical = fastavro.schema.to_parsing_canonical_form(FLIGHT)
    fingerprint = bytes.fromhex(fastavro.schema.fingerprint(canonical, "CRC-64-AVRO"))
    return b"\xc3\x01" + fingerprint + body.getvalue()


if __name__ == "__main__":
    container("all_types.avro", ALL_TYPES, [FULL, BARE, ENUM_SIDE], "null")
    container("flights.avro", FLIGHT, flights(1000), "deflate", sync_interval=1000)
    (HERE / "flight.avsc").write_text(json.dumps(FLIGHT) + "\n")
    (HERE / "flight.single_object").write_bytes(single_object(next(flights(1))))
