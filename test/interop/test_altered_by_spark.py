"""Spark alters a table, by what only it can do or does in its own way, while firn fills it; everybody reads the result alike."""

from __future__ import annotations

import pytest
from firn import firn
from table_stream import PARTITIONS, TableStream  # noqa: F401


@pytest.fixture
def stream(broker, topic, lake, spark):
    """Of a table in a catalog that Spark knows as well, under a name of its own."""

    def make(columns: str, table_extra: str = "") -> TableStream:
        lake.name = f"lake_{topic[:40]}"
        stream = TableStream(broker, lake, topic, columns, "add", table_extra)
        firn("run", stream.config, "--until-caught-up").ok()
        spark.add_catalog(lake.name, lake.database, lake.warehouse)
        return stream

    return make


def check_in_spark(stream: TableStream, spark) -> None:
    stream.check()
    stream.check_rows(spark.sql(f"select * from {stream.lake.name}.{stream.table}").toArrow())


def test_columns_specs_and_orders_that_spark_alters_are_followed(stream, spark, tmp_path):
    table = stream(
        "[{name: id, type: int}, {name: cat, type: string, required: true}, {name: place, type: 'struct<city: string>'}, {name: items, type: 'list<struct<sku: string>>'}]",
        "partition_by: [cat]",
    )
    table.config = table.configure(None, "none")
    table.probe = ({"id": -1, "cat": "p", "category": "p"}, {"id": -1, "cat": "p"})
    name = f"{table.lake.name}.{table.table}"

    def alter(*statements: str) -> None:
        for statement in statements:
            spark.sql(f"alter table {name} {statement}")
        table.heed()

    with table.running(tmp_path / "log"):
        table.send(({"id": 0, "cat": "a", "place": {"city": "A"}, "items": [{"sku": "s"}]}, {"id": 0, "cat": "a", "place": {"city": "A"}, "items": [{"sku": "s"}]}))
        table.arrive()
        alter(
            "add column (place.zip string, items.element.count int)",
            "alter column id type bigint",
            "alter column cat drop not null",
            "rename column cat to category",
            "alter column category first",
            "replace partition field category with bucket(4, id) as shard",
            "write ordered by id desc",
        )
        for old in table.rows.values():
            if "cat" in old:
                old["category"] = old.pop("cat")
            if "place" in old:
                old["place"] = {"city": "A", "zip": None}
                old["items"] = [{"sku": "s", "count": None}]
        table.probe = ({"id": -2}, {"id": -2})
        rows = [{"id": 2**40 + i, "category": "b", "place": {"city": "B", "zip": "1"}, "items": [{"sku": "t", "count": i}]} for i in range(20)]
        table.send(*((row, row) for row in rows), ({"id": 1, "place": None}, {"id": 1}))
        table.arrive()
        files = table.newest_files()
        assert {file.spec_id for file in files} == {table.load().spec().spec_id}
        assert len({file.partition[0] for file in files}) == len(files) > 1
        assert {file.sort_order_id for file in files} == {table.load().sort_order().order_id}
        alter("drop partition field shard", "drop column place", "add column place string")
        for old in table.rows.values():
            old.pop("place", None)
        table.send(({"id": 2, "place": "here"}, {"id": 2, "place": "here"}))
        check_in_spark(table, spark)
    firn("run", table.config, "--until-caught-up").ok()
    check_in_spark(table, spark)


def test_a_required_column_with_a_default_that_java_adds_is_filled(stream, spark, tmp_path):
    table = stream("[{name: id, type: long}]", "format_version: 3")
    table.config = table.configure(None, "none")
    with table.running(tmp_path / "log"):
        table.send(({"id": 0}, {"id": 0, "grade": 7}))
        table.arrive()
        jvm = spark.session._jvm
        loaded = jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(spark.session._jsparkSession, f"{table.lake.name}.{table.table}")
        integer, seven = jvm.org.apache.iceberg.types.Types.IntegerType.get(), jvm.org.apache.iceberg.expressions.Literal.of(7)
        loaded.updateSchema().addRequiredColumn("grade", integer, seven).commit()
        table.probe = ({"id": -1}, {"id": -1, "grade": 7})
        table.heed()
        table.send(({"id": 1}, {"id": 1, "grade": 7}), ({"id": 2, "grade": None}, None), ({"id": 3, "grade": 8}, {"id": 3, "grade": 8}))
        check_in_spark(table, spark)
        assert table.letters() == {2: "null_required"}
