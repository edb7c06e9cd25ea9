"""Makes tables of format versions 1 and 2 with PyIceberg, and tells what it reads back from them; see README.md."""

from __future__ import annotations

import io
import json
import sys
from datetime import date, datetime, time, timezone
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.conversions import to_bytes
from pyiceberg.expressions import EqualTo
from pyiceberg.io import FileIO, InputFile, OutputFile
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import (
    BooleanType, DateType, DecimalType, DoubleType, FloatType, IntegerType, LongType, NestedField, StringType, TimestampType,
    TimestamptzType, TimeType,
)  # fmt: skip

FILES: dict[str, bytes] = {}


class Stream(io.BytesIO):
    def __init__(self, location: str):
        super().__init__()
        self.location = location

    def close(self):
        if not self.closed:
            FILES[self.location] = self.getvalue()
        super().close()


class MemoryInput(InputFile):
    def __len__(self):
        return len(FILES[self.location])

    def exists(self):
        return self.location in FILES

    def open(self, seekable=True):
        return io.BytesIO(FILES[self.location])


class MemoryOutput(OutputFile):
    def __len__(self):
        return len(FILES[self.location])

    def exists(self):
        return self.location in FILES

    def to_input_file(self):
        return MemoryInput(self.location)

    def create(self, overwrite=False):
        return Stream(self.location)


class MemoryFiles(FileIO):
    def new_input(self, location):
        return MemoryInput(location)

    def new_output(self, location):
        return MemoryOutput(location)

    def delete(self, location):
        FILES.pop(location if isinstance(location, str) else location.location, None)


TYPES = [BooleanType(), IntegerType(), LongType(), FloatType(), DoubleType(), DecimalType(9, 2), DecimalType(38, 10), DateType(),
         TimeType(), TimestampType(), TimestamptzType(), StringType()]  # fmt: skip
SCHEMA = Schema(*(NestedField(i + 1, f"c.{i + 1}", type, required=False) for i, type in enumerate(TYPES)))
SPEC = PartitionSpec(*(PartitionField(i + 1, 1000 + i, IdentityTransform(), f"c.{i + 1}") for i in range(len(TYPES))))


def rows(which: int) -> pa.Table:
    row = [which > 0, which * 70_000, (which + 5) * 1_000_000_007, which * 1.5, -0.0 if which == 2 else which * 1.5,
           Decimal(which * 314).scaleb(-2), Decimal(which * 314).scaleb(-10), date(1969, 12, 30 - which), time(1, 2, 3 + which),
           datetime(1969, 12, 31, 23, 59, 59, 999990 - which), datetime(2024, 2, 29, 1, 2, 3, which + 5, tzinfo=timezone.utc),
           f"größe{which}"]  # fmt: skip
    return pa.Table.from_pylist(
        [dict(zip((f.name for f in SCHEMA.fields), values)) for values in (row, [None] * len(row))], schema=SCHEMA.as_arrow()
    )


def hexed(value: bytes | None) -> str | None:
    return None if value is None else value.hex()


def entry(entry, spec, schema) -> dict:
    file = entry.data_file
    types = [field.field_type for field in spec.partition_type(schema).fields]
    values = [None if file.partition[i] is None else to_bytes(type, file.partition[i]) for i, type in enumerate(types)]
    return {
        "status": int(entry.status),
        "snapshot": entry.snapshot_id,
        "sequence": entry.sequence_number,
        "file-sequence": entry.file_sequence_number,
        "content": int(file.content),
        "path": file.file_path,
        "format": file.file_format.name,
        "partition": [hexed(value) for value in values],
        "records": file.record_count,
        "bytes": file.file_size_in_bytes,
        "column-sizes": dict(file.column_sizes or {}),
        "value-counts": dict(file.value_counts or {}),
        "null-counts": dict(file.null_value_counts or {}),
        "nan-counts": dict(file.nan_value_counts or {}),
        "lower": {key: hexed(value) for key, value in (file.lower_bounds or {}).items()},
        "upper": {key: hexed(value) for key, value in (file.upper_bounds or {}).items()},
        "key-metadata": hexed(file.key_metadata),
        "split-offsets": file.split_offsets or [],
        "equality-ids": file.equality_ids or [],
        "sort-order": file.sort_order_id,
        "first-row-id": None,
        "referenced": None,
        "offset": None,
        "size-in-file": None,
    }


def manifest(manifest, table) -> dict:
    spec = table.specs()[manifest.partition_spec_id]
    files = [manifest.added_files_count, manifest.existing_files_count, manifest.deleted_files_count]
    counts = [manifest.added_rows_count, manifest.existing_rows_count, manifest.deleted_rows_count]
    return {
        "path": manifest.manifest_path,
        "length": manifest.manifest_length,
        "spec": manifest.partition_spec_id,
        "content": int(manifest.content),
        "sequence": manifest.sequence_number,
        "min-sequence": manifest.min_sequence_number,
        "snapshot": manifest.added_snapshot_id,
        "files": files,
        "rows": counts,
        "first-row-id": None,
        "summaries": [[s.contains_null, s.contains_nan, hexed(s.lower_bound), hexed(s.upper_bound)] for s in manifest.partitions],
        "entries": [entry(e, spec, table.schema()) for e in manifest.fetch_manifest_entry(table.io, discard_deleted=False)],
    }


def make(version: int, out: Path):
    catalog = SqlCatalog("golden", uri="sqlite:///:memory:", warehouse="memory://golden", **{"py-io-impl": f"{__name__}.MemoryFiles"})
    catalog.create_namespace("pyiceberg")
    properties = {"format-version": str(version), "commit.manifest-merge.enabled": "true", "commit.manifest.min-count-to-merge": "3"}
    table = catalog.create_table(f"pyiceberg.v{version}", SCHEMA, partition_spec=SPEC, properties=properties)
    for which in (0, 1, -1):
        table.append(rows(which))
    table.delete(EqualTo("c.2", 70_000))
    table.append(rows(2))
    out.mkdir(parents=True, exist_ok=True)
    snapshots = []
    for snapshot in table.snapshots():
        manifests = snapshot.manifests(table.io)
        for location in [snapshot.manifest_list, *(m.manifest_path for m in manifests)]:
            (out / location.rsplit("/", 1)[1]).write_bytes(FILES[location])
        snapshots.append({"snapshot-id": snapshot.snapshot_id, "manifests": [manifest(m, table) for m in manifests]})
    (out / "metadata.json").write_bytes(FILES[table.metadata_location])
    (out / "expected.json").write_text(json.dumps(snapshots, indent=1) + "\n")


if __name__ == "__main__":
    for format_version in (1, 2):
        make(format_version, Path(sys.argv[1]) / f"pyiceberg-v{format_version}")
