"""Writes metadata/pyiceberg-v*.metadata.json: table metadata as PyIceberg builds and serialises it. See README.md."""

import sys
import uuid
from pathlib import Path

from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.metadata import new_table_metadata
from pyiceberg.table.snapshots import Operation, Snapshot, Summary
from pyiceberg.table.sorting import SortField, SortOrder
from pyiceberg.table.update import AddSnapshotUpdate, SetPropertiesUpdate, SetSnapshotRefUpdate, update_table_metadata
from pyiceberg.transforms import BucketTransform, IdentityTransform, MonthTransform
from pyiceberg.types import BinaryType, DateType, ListType, LongType, NestedField, StringType, StructType, TimestampType

SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True, doc="the key"),
    NestedField(2, "day", DateType()),
    NestedField(3, "at", TimestampType()),
    NestedField(4, "payload", BinaryType()),
    NestedField(5, "who", StructType(NestedField(6, "name", StringType()), NestedField(7, "tags", ListType(8, StringType(), element_required=False)))),
    identifier_field_ids=[1],
)


def metadata(version: int):
    spec = PartitionSpec(PartitionField(1, 1000, BucketTransform(4), "id_bucket"), PartitionField(3, 1001, MonthTransform(), "at_month"))
    order = SortOrder(SortField(2, IdentityTransform()))
    return new_table_metadata(
        schema=SCHEMA,
        partition_spec=spec,
        sort_order=order,
        location="file:///lake/warehouse/db/events",
        properties={"format-version": str(version), "owner": "someone"},
        table_uuid=uuid.UUID("3d0f1a2b-0000-4000-8000-000000000001"),
    )


def with_snapshots(base):
    for number in (1, 2):
        snapshot = Snapshot(
            **{
                "snapshot-id": 700 + number,
                "parent-snapshot-id": None if number == 1 else 701,
                "sequence-number": number,
                "timestamp-ms": base.last_updated_ms + number,
                "manifest-list": f"file:///lake/warehouse/db/events/metadata/snap-{number}.avro",
                "summary": Summary(Operation.APPEND, **{"added-records": "5"}),
                "schema-id": 0,
            }
        )
        base = update_table_metadata(
            base,
            (
                AddSnapshotUpdate(snapshot=snapshot),
                SetSnapshotRefUpdate(ref_name="main", type="branch", snapshot_id=snapshot.snapshot_id),
                SetPropertiesUpdate(updates={"step": str(number)}),
            ),
        )
    return base


out = Path(sys.argv[1]) / "metadata"
for version in (1, 2):
    empty = metadata(version)
    (out / f"pyiceberg-v{version}-empty.metadata.json").write_text(empty.model_dump_json(exclude_none=True) + "\n")
    (out / f"pyiceberg-v{version}.metadata.json").write_text(with_snapshots(empty).model_dump_json(exclude_none=True) + "\n")
