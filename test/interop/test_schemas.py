"""The same records through declared columns, inferred ones and ones that evolution adds: equal schemas, equal rows, the same bad records."""

from __future__ import annotations

import datetime as dt
import json
import math
import re

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from firn import firn
from pipelines import pipeline
from pyiceberg.expressions import EqualTo
from readers import assert_same_rows
from values import as_compared, to_json

TABLE = "types.t"
DEPTH = 24


def deep(value, levels: int = DEPTH):
    for _ in range(levels):
        value = {"in": [value]}
    return value


DEEP_TYPE = "struct<in: list<" * DEPTH + "long" + ">>" * DEPTH
# The first record has each field with a value that shows its type: it is the one that evolution goes by.
COLUMNS = {
    "id": "long", "big": "long", "ratio": "double", "flag": "boolean", "text": "string", "deep": DEEP_TYPE,
    "lines": "list<struct<sku: string, n: long>>", "box": "struct<x: long>", "twice": "long",
    "a.b": "long", "with space": "string", "$dollar": "double", "名前": "string", "Ünï": "boolean", "in.side": "struct<c.d: string, e f: long>",
}  # fmt: skip
FIRST = {
    "id": 1, "big": 2**53 + 1, "ratio": 1.5, "flag": True, "text": "a", "deep": deep(7), "lines": [{"sku": "s", "n": 1}], "box": {"x": 1}, "twice": 0,
    "a.b": 1, "with space": "s", "$dollar": 0.5, "名前": "値", "Ünï": False, "in.side": {"c.d": "t", "e f": 1},
}  # fmt: skip
OTHERS = [
    {"id": 2, "big": -(2**63), "ratio": math.nan, "text": "Grüße \U0001f600", "lines": [], "box": {"x": None}, "名前": "", "in.side": {"c.d": None, "e f": -1}},
    {"id": 3, "big": 2**63 - 1, "ratio": math.inf, "text": "x" * 70_000, "lines": [{"sku": None, "n": None}], "a.b": -1, "$dollar": -math.inf},
    {"id": 4, "ratio": -math.inf, "flag": False, "lines": [], "deep": deep(None), "with space": "", "Ünï": True},
]
# Written by hand: a text for each, and what it must become.
SPELLED = {
    r'{"id":5,"text":"\ud83d\ude00\u0000\/","lines":[{}],"box":{},"twice":1,"twice":2}': {
        "id": 5, "text": "\U0001f600\0/", "lines": [{"sku": None, "n": None}], "box": {"x": None}, "twice": 2,
    },
    '{"id":6,"big":12e2,"ratio":-0.1e1,"lines":[],"box":{"x":1,"x":3},"deep":{"in":[]}, "ignored":{},"also":[]}': {
        "id": 6, "big": 1200, "ratio": -1.0, "lines": [], "box": {"x": 3}, "deep": {"in": []},
    },
    '{"id":7,"lines":[],"Text":"another case"}': {"id": 7, "lines": []},
}  # fmt: skip
BAD = {
    b'{"id":100,"text":"\xff"}': "invalid_utf8",
    b'{"id":101,"text":"\xed\xa0\xbd"}': "invalid_utf8",
    rb'{"id":102,"text":"\ud800"}': "malformed_json",
    rb'{"id":103,"text":"\udc00\ud800"}': "malformed_json",
    b'{"id":104,"big":9223372036854775808}': "out_of_range",
    b'{"id":105,"big":0.5}': "inexact",
    b'{"id":106,"ratio":1e400}': "out_of_range",
    b'{"id":107,"ratio":"nan"}': "type_mismatch",
    b'{"id":108,"ratio":NaN}': "malformed_json",
    b'{"id":109,"flag":"true"}': "type_mismatch",
    b'{"id":110,"box":[]}': "type_mismatch",
    b'{"id":111,"deep":' + b'{"in":[' * 1100 + b"]}" * 1100 + b"}": "malformed_json",
    b'{"id":112,"twice":"x","twice":1}': "type_mismatch",
}


def rows() -> pa.Table:
    return pa.Table.from_pylist([{name: row.get(name) for name in COLUMNS} for row in [FIRST, *OTHERS, *SPELLED.values()]])


def config_of(broker, lake, topic: str, mode: str):
    columns = {
        "declared": "[" + ", ".join(f"{{name: {json.dumps(name)}, type: {json.dumps(quoted(type_))}}}" for name, type_ in COLUMNS.items()) + "]",
        "inferred": None,
        "evolved": "[{name: id, type: long}]",
    }[mode]
    extra = "dead_letters: {fail_above: {ratio: 1}}"
    return lake.config(pipeline(broker, [topic], f"lake.{TABLE}", columns, table_extra="schema_evolution: add" if mode == "evolved" else "", extra=extra))


def quoted(type_: str) -> str:
    return type_.replace("c.d:", "`c.d`:").replace("e f:", "`e f`:")


def names_and_types(lake) -> dict:
    return {field.name: str(field.field_type) for field in lake.pyiceberg().load_table(TABLE).schema().fields}


def without_ids(type_: str) -> str:
    return re.sub(r"(optional|required) |\d+: ", "", type_).replace(" ", "")


@pytest.mark.parametrize("mode", ["declared", "inferred", "evolved"])
def test_edge_values_are_the_same_declared_inferred_and_evolved(broker, lake, spark, mode):
    topic = f"schemas-{mode}"
    broker.create_topic(topic, 1)
    config = config_of(broker, lake, topic, mode)
    # What shows the types of all columns comes first; evolution begins with a table of `id` alone.
    for records in (*([['{"id": 0}']] if mode == "evolved" else []), [*map(to_json, [FIRST, *OTHERS])], [*SPELLED, *BAD]):
        broker.produce(topic, records)
        firn("run", config, "--until-caught-up").ok()
    found = {name: without_ids(type_) for name, type_ in names_and_types(lake).items()}
    assert found == {name: without_ids(type_) for name, type_ in COLUMNS.items()}
    for table in (lake.read(TABLE), lake.read_duckdb(TABLE), lake.read_spark(spark, TABLE)):
        assert_same_rows(as_compared(table.filter(pc.field("id") > 0)), as_compared(rows()))
    letters = lake.read("types.t_dead_letters").to_pylist()
    assert {letter["value"]: letter["reason"] for letter in letters} == BAD
    assert len(letters) == len(BAD)


def test_names_with_dots_spaces_and_other_letters_can_be_filtered_and_partitioned_by(broker, lake, spark):
    """A file for each value of each of these columns, so that a filter prunes by the partition and by the bounds."""
    names = {"a.b": "long", "with space": "string", "$dollar": "date", "名前": "string"}
    columns = ", ".join(f"{{name: {json.dumps(name)}, type: {type_}}}" for name, type_ in names.items())
    extra = 'partition_by: ["with space", "名前", "bucket(4, a.b)", "year($dollar)"]'
    config = lake.config(pipeline(broker, ["names"], f"lake.{TABLE}", f"[{{name: id, type: long}}, {columns}]", table_extra=extra))
    broker.create_topic("names", 1)
    values = [{"id": i, "a.b": i, "with space": f"s/{i} ", "$dollar": f"{1969 + i}-12-31", "名前": "値" * i} for i in range(4)]
    broker.produce("names", [json.dumps(value) for value in values])
    firn("run", config, "--until-caught-up", "--fail-on-dead-letters").ok()
    assert_same_rows(lake.read(TABLE, selected_fields=("id", *names)).select(["id", "a.b"]), pa.table({"id": range(4), "a.b": range(4)}))
    for name, sql in (("a.b", "2"), ("with space", "'s/2 '"), ("$dollar", "date '1971-12-31'"), ("名前", "'値値'")):
        if "." not in name:  # PyIceberg takes it for a path in its filters, also over its own tables
            assert lake.read(TABLE, row_filter=EqualTo(name, sql.removeprefix("date ").strip("'")))["id"].to_pylist() == [2], name
        assert lake.read_duckdb(TABLE, where=f'"{name}" = {sql}')["id"].to_pylist() == [2], name
        assert lake.read_spark(spark, TABLE, where=f"`{name}` = {sql}")["id"].to_pylist() == [2], name


CASES = ['{"id":1,"text":"a"}', '{"id":2,"Text":"b"}', '{"id":3,"TEXT":"c","text":"d"}']


def test_names_that_differ_only_in_case_never_become_two_columns(broker, lake):
    broker.create_topic("cases", 1)
    broker.produce("cases", CASES)
    declared = lake.config(pipeline(broker, ["cases"], f"lake.{TABLE}", "[{name: id, type: long}, {name: text, type: string}, {name: Text, type: string}]"))
    done = firn("check", declared, "--offline")
    assert done.code == 2
    assert "text and Text differ only in case" in done.out + done.err
    inferred = firn("run", lake.config(pipeline(broker, ["cases"], f"lake.{TABLE}", columns=None)), "--until-caught-up")
    assert inferred.code != 0
    assert "'text' and 'Text', which differ only in case" in inferred.out + inferred.err
    assert not lake.pyiceberg().table_exists(TABLE)
    evolved = lake.config(
        pipeline(broker, ["cases"], f"lake.{TABLE}", "[{name: id, type: long}]", table_extra="schema_evolution: add\nunknown_fields: dead_letter",
                 extra="dead_letters: {fail_above: {ratio: 1}}")
    )  # fmt: skip
    firn("run", evolved, "--until-caught-up").ok()
    assert lake.read(TABLE).to_pylist() == [{"id": 1, "text": "a"}]
    letters = lake.read("types.t_dead_letters").to_pylist()
    assert [letter["reason"] for letter in letters] == ["unknown_field"] * 2
    assert "only in case from 'text'" in letters[0]["message"]


def test_a_name_with_a_dot_never_is_the_path_of_another_column(broker, lake):
    """Java and PyIceberg load no table in which it is: one such record would have taken the table from them."""
    broker.create_topic("paths", 1)
    broker.produce("paths", ['{"id":1,"a.b":1}', '{"id":2,"a":{"b":2}}', '{"id":3,"c":{"d":3},"c.d":4}'])
    extra = "schema_evolution: add\nunknown_fields: rescue"
    config = lake.config(pipeline(broker, ["paths"], f"lake.{TABLE}", "[{name: id, type: long}]", table_extra=extra))
    firn("run", config, "--until-caught-up", "--fail-on-dead-letters").ok()
    assert [(row["id"], row["a.b"], row["c"], row["_rescued"]) for row in lake.read(TABLE).sort_by("id").to_pylist()] == [
        (1, 1, None, None),
        (2, None, None, '{"a":{"b":2}}'),
        (3, None, {"d": 3}, '{"c.d":4}'),
    ]


def test_a_unit_and_an_encoding_leave_a_column_the_field_of_its_own_name(broker, lake):
    broker.create_topic("dotted", 1)
    broker.produce("dotted", ['{"a.b":-1,"h.x":"00ff","a":{"b":2},"h":{"x":"11"}}'])
    columns = "[{name: a.b, type: timestamp, unit: millis}, {name: h.x, type: binary, encoding: hex}]"
    firn("run", lake.config(pipeline(broker, ["dotted"], f"lake.{TABLE}", columns)), "--until-caught-up", "--fail-on-dead-letters").ok()
    assert lake.read(TABLE).to_pylist() == [{"a.b": dt.datetime(1969, 12, 31, 23, 59, 59, 999000), "h.x": b"\x00\xff"}]
