"""Tables that change while firn runs: by the records, by a registry's new version, and by another engine. Each row is looked up
by the partition and offset of its record, in PyIceberg and in DuckDB."""

from __future__ import annotations

from decimal import Decimal

import pyarrow.parquet as pq
import pytest
from firn import firn, start_firn, wait_until
from pyiceberg.transforms import BucketTransform, IdentityTransform
from pyiceberg.types import LongType, StringType
from readers import local_path
from schema_registry import SchemaRegistry, frame
from table_stream import PARTITIONS, TableStream


@pytest.fixture(params=["lake", "rest_lake"])
def any_lake(request):
    return request.getfixturevalue(request.param)


# --- by the records


def test_new_fields_at_every_depth_become_columns_in_one_change(broker, topic, lake, tmp_path):
    columns = "[{name: id, type: long}, {name: place, type: 'struct<city: string>'}, {name: items, type: 'list<struct<sku: string>>'}, {name: by_day, type: 'map<string, struct<n: int>>'}]"
    stream = TableStream(broker, lake, topic, columns, "add")
    with stream.running(tmp_path / "log") as running:
        old = {"id": 0, "place": {"city": "A"}, "items": [{"sku": "a"}], "by_day": {"mon": {"n": 1}}}
        before = {"id": 0, "place": {"city": "A", "zip": None, "geo": None}, "items": [{"sku": "a", "count": None}], "by_day": [("mon", {"n": 1, "note": None})]}
        stream.send((old, before))
        stream.arrive()
        schemas, changes = len(stream.load().schemas()), running.output.count("schema changed")
        geo = {"lat": 1.5, "exact": {"by": "gps"}}
        new = {"id": 1, "place": {"city": "B", "zip": "1", "geo": geo}, "items": [{"sku": "b", "count": 2}, {"sku": "c"}],
               "by_day": {"tue": {"n": 2, "note": "x"}}, "owner": {"name": "o", "tags": ["t", "u"]}}  # fmt: skip
        after = {**new, "items": [{"sku": "b", "count": 2}, {"sku": "c", "count": None}], "by_day": [("tue", {"n": 2, "note": "x"})]}
        stream.send((new, after), (old, before), (new, after))
        stream.check()
        assert running.output.count("schema changed") == changes + 1
    assert len(stream.load().schemas()) == schemas + 1
    firn("run", stream.config, "--until-caught-up").ok()
    stream.check()


def test_two_processes_that_see_a_new_field_at_once_make_one_change(broker, topic, any_lake, tmp_path):
    stream = TableStream(broker, any_lake, topic, "[{name: id, type: long}]", "add")
    with stream.running(tmp_path / "first.log") as first, stream.running(tmp_path / "second.log") as second:
        logs = (first, second)

        def both_take_part() -> bool:
            for partition in range(PARTITIONS):
                stream.send(*(({"id": i}, {"id": i}) for i in range(5)), partition=partition)
            stream.arrive()
            return all("batch committed" in log.output for log in logs)

        wait_until(both_take_part, what="both processes' commits")
        schemas, changes = len(stream.load().schemas()), sum(log.output.count("schema changed") for log in logs)
        for round_ in range(3):
            for partition in range(PARTITIONS):
                record = {"id": round_, "price": 1.5, "buyer": {"name": f"n{partition}"}}
                stream.send((record, record), ({"id": -round_}, {"id": -round_, "buyer": None}), partition=partition)
        stream.check()
        assert sum(log.output.count("schema changed") for log in logs) == changes + 1
    table = stream.load()
    assert len(table.schemas()) == schemas + 1
    assert [field.name for field in table.schema().fields] == ["id", "_kafka", "price", "buyer"]


WIDE = "[{name: id, type: long}, {name: n, type: int}, {name: f, type: float}, {name: d, type: 'decimal(5,2)'}, {name: s, type: 'struct<n: int>'}, {name: l, type: 'list<int>'}]"


@pytest.mark.parametrize("policy", ["dead_letter", "skip", "fail"])
def test_types_widen_and_what_the_format_forbids_follows_on_bad_record(broker, topic, lake, tmp_path, policy):
    stream = TableStream(broker, lake, topic, WIDE, "add_and_widen", extra=f"on_bad_record: {policy}")
    small = {"id": 0, "n": 1, "f": 0.5, "d": 1.25, "s": {"n": 1}, "l": [1, 2]}
    wide = {"id": 1, "n": 2**40, "f": 1e300, "d": 12345.67, "s": {"n": 2**33}, "l": [-(2**40)]}
    bad = [({"id": 2, "n": "text"}, "type_mismatch"), ({"id": 2, "n": 1.5}, "inexact"), ({"id": 2, "n": 2**70}, "out_of_range"), ({"id": 2, "d": 1.234}, "inexact"),
           ({"id": 2, "f": "x"}, "type_mismatch"), ({"id": 2, "s": 5}, "type_mismatch"), ({"id": 2, "l": 5}, "type_mismatch")]  # fmt: skip
    with stream.running(tmp_path / "log", code=1 if policy == "fail" else 0) as running:
        stream.send((small, {**small, "d": Decimal("1.25")}))
        stream.arrive()
        stream.send((wide, {**wide, "d": Decimal("12345.67")}))
        stream.arrive()
        stream.send(*((record, None) for record, _ in bad), (small, {**small, "d": Decimal("1.25")}))
        if policy == "fail":
            assert running.wait() == 1
            assert "offset 2: " in running.output
        else:
            stream.arrive()
    schema = stream.load().schema()
    assert [str(schema.find_field(name).field_type) for name in ("n", "f", "d", "s.n", "l.element")] == ["long", "double", "decimal(7, 2)", "long", "long"]
    config = stream.configure(WIDE, "add_and_widen", extra="on_bad_record: dead_letter") if policy == "fail" else stream.config
    firn("run", config, "--until-caught-up").ok()
    stream.check()
    if policy == "skip":
        assert not lake.pyiceberg().table_exists(f"{stream.table}_dead_letters")
        assert "7 bad records skipped" in running.output
    else:
        assert stream.letters() == {offset: reason for offset, (_, reason) in enumerate(bad, 2)}


def test_a_required_column_stays_so_and_new_ones_are_optional(broker, topic, lake, tmp_path):
    stream = TableStream(broker, lake, topic, "[{name: id, type: long, required: true}]", "add")
    with stream.running(tmp_path / "log"):
        stream.send(({"id": 1}, {"id": 1}), ({"note": "x"}, None), ({"id": None}, None), ({"id": 2, "note": "y"}, {"id": 2, "note": "y"}))
        stream.check()
        assert stream.letters() == {1: "missing_required", 2: "null_required"}
    assert [field.required for field in stream.load().schema().fields] == [True, False, False]


# --- by a registry's new version


@pytest.fixture
def registry():
    with SchemaRegistry() as running:
        yield running


def test_versions_that_drop_rename_relax_and_widen_fields(broker, topic, registry, lake, tmp_path):
    def version(*fields) -> tuple[int, dict]:
        schema = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}, *fields]}
        return registry.register(f"{topic}-value", schema), schema

    decode = f'{{value: {{format: avro}}, schema_registry: {{url: "{registry.url}"}}}}'
    stream = TableStream(broker, lake, topic, None, "add_and_widen", decode=decode)
    part = {"type": "record", "name": "Part", "fields": [{"name": "sku", "type": "string"}]}
    wider_part = {**part, "fields": [*part["fields"], {"name": "n", "type": ["null", "int"], "default": None}]}
    one = version({"name": "amount", "type": "int"}, {"name": "note", "type": "string"}, {"name": "delay", "type": "int"}, {"name": "parts", "type": {"type": "array", "items": part}})
    two = version({"name": "delay_minutes", "aliases": ["delay"], "type": "int"}, {"name": "amount", "type": ["null", "long"]}, {"name": "parts", "type": {"type": "array", "items": wider_part}})
    three = version({"name": "amount", "type": "string"})
    four = version({"name": "note", "type": ["null", "string"]})

    def record(of: tuple[int, dict], values: dict, row: dict | None) -> tuple[bytes, dict | None]:
        return frame(*of, values), row

    first = {"id": 1, "amount": 5, "note": "n", "delay": 7, "parts": [{"sku": "a"}]}
    stream.send(record(one, first, {**first, "parts": [{"sku": "a", "n": None}]}))
    with stream.running(tmp_path / "log"):
        stream.arrive()
        stream.send(
            record(two, {"id": 2, "delay_minutes": 8, "amount": 2**40, "parts": [{"sku": "b", "n": 3}]}, {"id": 2, "amount": 2**40, "delay": 8, "parts": [{"sku": "b", "n": 3}]}),
            record(two, {"id": 3, "delay_minutes": 9, "amount": None, "parts": []}, {"id": 3, "delay": 9, "parts": []}),
            record(one, first, {**first, "parts": [{"sku": "a", "n": None}]}),
            record(three, {"id": 4, "amount": "twelve"}, None),
            record(four, {"id": 5, "note": "back"}, {"id": 5, "note": "back"}),
        )
        stream.arrive()
        fields = {field.name: field for field in stream.load().schema().fields}
        assert list(fields) == ["id", "amount", "note", "delay", "parts", "_kafka"]
        assert not any(field.required for field in fields.values())
        assert str(fields["amount"].field_type) == "long"
    stream.check()
    assert stream.letters() == {4: "type_mismatch"}


# --- by another engine


def test_another_engine_adds_renames_moves_widens_drops_and_relaxes_columns(broker, topic, rest_lake, tmp_path):
    columns = "[{name: id, type: long}, {name: text, type: string}, {name: n, type: int}, {name: must, type: int, required: true}]"
    stream = TableStream(broker, rest_lake, topic, columns, "add")
    firn("run", stream.config, "--until-caught-up").ok()
    stream.config = stream.configure(None, "none")
    stream.probe = ({"id": -1, "must": 0}, {"id": -1, "must": 0})
    with stream.running(tmp_path / "log"):
        first = {"id": 0, "text": "t0", "n": 1, "must": 0}
        stream.send(({**first, "extra": "not yet"}, first))
        stream.arrive()

        stream.alter_schema(lambda schema: schema.add_column("extra", StringType()))
        row = {**first, "extra": "e1"}
        stream.send((row, row))
        stream.check()

        stream.alter_schema(lambda schema: schema.rename_column("text", "note").move_first("must"))
        for old in stream.rows.values():
            if "text" in old:
                old["note"] = old.pop("text")
        row = {"id": 2, "note": "t2", "n": 2, "must": 0}
        stream.send(({**row, "text": "nobody's now"}, row))
        stream.check()

        stream.send(({**row, "n": 2**40}, None))
        stream.alter_schema(lambda schema: schema.update_column("n", LongType()))
        row = {"id": 3, "n": 2**40, "must": 0}
        stream.send((row, row))
        stream.check()
        assert stream.letters() == {3: "out_of_range"}

        stream.alter_schema(lambda schema: schema.delete_column("extra").add_column("extra", LongType()))
        for old in stream.rows.values():
            old.pop("extra", None)
        row = {"id": 4, "extra": 4, "must": 0}
        stream.send((row, row))
        stream.check()

        stream.alter_schema(lambda schema: schema.delete_column("note"))
        for old in stream.rows.values():
            old.pop("note", None)
        row = {"id": 5, "must": 0}
        stream.send(({**row, "note": "gone"}, row))
        stream.check()

        stream.alter_schema(lambda schema: schema.make_column_optional("must"))
        stream.send(({"id": 6}, {"id": 6}))
        stream.check()
    firn("run", stream.config, "--until-caught-up").ok()
    stream.check()


def test_a_dropped_column_that_records_still_bring_comes_back_without_its_old_values(broker, topic, lake, tmp_path):
    stream = TableStream(broker, lake, topic, None, "add")
    stream.send(({"id": 0, "text": "old"}, {"id": 0}))
    with stream.running(tmp_path / "log"):
        stream.arrive()
        id_before = stream.load().schema().find_field("text").field_id

        stream.alter_schema(lambda schema: schema.delete_column("text"))
        stream.send(({"id": 1, "text": "new"}, {"id": 1, "text": "new"}))
        stream.check()
        assert stream.load().schema().find_field("text").field_id > id_before


def test_a_column_that_another_engine_makes_required_takes_no_nulls(broker, topic, lake, tmp_path):
    stream = TableStream(broker, lake, topic, None, "add")
    stream.probe = ({"id": 0, "text": "t"}, {"id": 0, "text": "t"})
    stream.send(stream.probe)
    with stream.running(tmp_path / "log"):
        stream.alter_schema(lambda schema: schema.update_column("text", required=True))
        stream.send(({"id": 2}, None), ({"id": 3, "text": None}, None), ({"id": 4, "text": "v"}, {"id": 4, "text": "v"}))
        stream.check()
        assert stream.letters() == {1: "missing_required", 2: "null_required"}


def test_a_declared_column_that_another_engine_makes_otherwise_stops_with_what_to_do(broker, topic, lake, tmp_path):
    stream = TableStream(broker, lake, topic, "[{name: id, type: long}, {name: text, type: string}]", "add")
    stream.send(({"id": 0, "text": "t"}, {"id": 0}))
    process = start_firn("run", stream.config, log=tmp_path / "log")
    stream.arrive()

    stream.alter_schema(lambda schema: schema.delete_column("text").add_column("text", LongType()), heed=False)
    stream.send(({"id": 1, "text": "u"}, None))
    assert process.wait() == 1
    assert "column 'text' is declared string, but long in the table" in process.output
    stream.check()


# --- specs, orders and properties


def test_another_engines_partition_specs_are_followed(broker, topic, lake, tmp_path):
    columns = "[{name: id, type: long}, {name: cat, type: string}, {name: other, type: string}]"
    stream = TableStream(broker, lake, topic, columns, "add", table_extra="partition_by: [cat]")
    steps = [
        (lambda spec: spec.add_field("id", BucketTransform(4), "id_bucket"), ["cat", "id_bucket"]),
        (lambda spec: spec.rename_field("id_bucket", "shard"), ["cat", "shard"]),
        (lambda spec: spec.remove_field("cat"), ["shard"]),
        (lambda spec: spec.remove_field("shard"), []),
        (lambda spec: spec.add_field("other", IdentityTransform(), "other_part"), ["other_part"]),
    ]
    with stream.running(tmp_path / "log"):
        for step, (change, names) in enumerate([(None, ["cat"]), *steps]):
            if change is not None:

                def update(table, change=change) -> None:
                    with table.update_spec() as spec:
                        change(spec)

                stream.alter(update)
            rows = [{"id": 10 * step + i, "cat": f"c{i % 2}", "other": f"o{step}"} for i in range(4)]
            stream.send(*((row, row) for row in rows), partition=step % 2)
            stream.arrive()
            table, files = stream.load(), stream.newest_files()
            assert [field.name for field in table.spec().fields] == names
            assert {file.spec_id for file in files} == {table.spec().spec_id}
            assert all(len(file.partition) == len(names) for file in files)
        stream.check()
    firn("run", stream.config, "--until-caught-up").ok()
    stream.check()
    assert len({*table.specs()}) == 6
    want = sorted(row["id"] for row in stream.rows.values() if row.get("cat") == "c1")
    assert sorted(lake.read(stream.table, row_filter="cat == 'c1'").column("id").to_pylist()) == want
    last = sorted(row["id"] for row in stream.rows.values() if row.get("other") == "o5")
    assert sorted(lake.read(stream.table, row_filter="other == 'o5'").column("id").to_pylist()) == last


def test_another_engines_sort_order_and_properties_are_followed(broker, topic, lake, tmp_path):
    stream = TableStream(broker, lake, topic, "[{name: id, type: long}]", "add")

    def records(first: int) -> list:
        return [({"id": i}, {"id": i}) for i in (first + 2, first, first + 1)]

    def newest():
        (file,) = stream.newest_files()
        parquet = pq.ParquetFile(local_path(file.file_path))
        return file, parquet.read(["id"]).column(0).to_pylist(), parquet.metadata.row_group(0).column(0).compression

    with stream.running(tmp_path / "log"):
        stream.send(*records(0))
        stream.arrive()
        assert newest()[1:] == ([2, 0, 1], "ZSTD")

        def order(table) -> None:
            with table.update_sort_order() as update:
                update.desc("id", IdentityTransform())

        stream.alter(order)
        stream.send(*records(10))
        stream.arrive()
        file, ids, _ = newest()
        assert (file.sort_order_id, ids) == (stream.load().sort_order().order_id, [12, 11, 10])

        def properties(table) -> None:
            with table.transaction() as transaction:
                transaction.set_properties({"write.parquet.compression-codec": "gzip"})

        stream.alter(properties)
        stream.send(*records(20))
        stream.arrive()
        assert newest()[2] == "GZIP"
        stream.check()
