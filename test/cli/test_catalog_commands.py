"""`firn catalog ...` and `firn table rename`, on either database of a SQL catalog, and read back by PyIceberg."""

from __future__ import annotations

import json

import pytest
from firn import firn


@pytest.fixture
def config(sql_lake):
    """The pipeline file; its catalog is there and holds lake.shop."""
    config = sql_lake.config()
    firn("catalog", "create-namespace", "lake.shop", "-c", config).ok()
    return config


def lines(*arguments) -> list[str]:
    return firn(*arguments).ok().out.splitlines()


def refused(*arguments, code=2) -> str:
    done = firn(*arguments)
    assert done.code == code, f"exit code {done.code}\n{done.out}\n{done.err}"
    return done.err


def test_namespaces_are_made_listed_and_dropped(config, sql_lake):
    firn("catalog", "create-namespace", "lake.a.b", "-c", config, "--property", "owner=me").ok()
    assert lines("catalog", "namespaces", "-c", config) == ["NAMESPACE", "lake.a", "lake.a.b", "lake.shop"]
    assert lines("catalog", "namespaces", "lake.a", "-c", config)[1:] == ["lake.a.b"]
    found = json.loads(firn("catalog", "namespaces", "lake", "--json", "-c", config).ok().out)
    assert found == {"namespaces": [{"catalog": "lake", "namespace": ns} for ns in (["a"], ["a", "b"], ["shop"])]}
    assert sorted(sql_lake.pyiceberg().list_namespaces()) == [("a",), ("shop",)]
    assert "already" in refused("catalog", "create-namespace", "lake.shop", "-c", config)
    assert "not empty" in refused("catalog", "drop-namespace", "lake.a", "-c", config)
    assert lines("catalog", "drop-namespace", "lake.a.b", "-c", config) == ["dropped lake.a.b"]
    assert lines("catalog", "namespaces", "-c", config)[1:] == ["lake.shop"]


def test_a_namespace_with_tables_is_not_dropped(config):
    firn("table", "create", "lake.shop.orders", "-c", config, "--column", "id long").ok()
    assert "not empty" in refused("catalog", "drop-namespace", "lake.shop", "-c", config)


def test_properties_are_set_shown_and_unset(config, sql_lake):
    firn("catalog", "set-properties", "lake.shop", "owner=me", "note=a=b", "-c", config).ok()
    firn("catalog", "set-properties", "lake.shop", "owner=you", "-c", config).ok()
    shown = json.loads(firn("catalog", "properties", "lake.shop", "--json", "-c", config).ok().out)
    assert shown == {"catalog": "lake", "namespace": ["shop"], "properties": {"owner": "you", "note": "a=b"}}
    theirs = sql_lake.pyiceberg().load_namespace_properties("shop")
    assert theirs["owner"] == "you" and theirs["note"] == "a=b"
    firn("catalog", "unset-properties", "lake.shop", "note", "never-set", "-c", config).ok()
    assert lines("catalog", "properties", "lake.shop", "-c", config) == ["KEY\tVALUE", "owner\tyou"]


def test_properties_of_another_programs_namespace_are_seen(config, sql_lake):
    sql_lake.pyiceberg().create_namespace("theirs", {"location": f"file://{sql_lake.folder}/elsewhere"})
    assert "elsewhere" in firn("catalog", "properties", "lake.theirs", "-c", config).ok().out
    created = firn("table", "create", "lake.theirs.t", "-c", config, "--column", "id long").ok()
    assert "/elsewhere/t" in created.out, "the namespace's location is where its tables go"


def test_a_renamed_table_keeps_its_rows_and_place(config, sql_lake):
    import pyarrow as pa

    firn("table", "create", "lake.shop.orders", "-c", config, "--column", "id long").ok()
    sql_lake.pyiceberg().load_table("shop.orders").append(pa.table({"id": pa.array([1, 2], pa.int64())}))
    before = sql_lake.pyiceberg().load_table("shop.orders").metadata_location
    firn("catalog", "create-namespace", "lake.archive", "-c", config).ok()
    assert lines("table", "rename", "lake.shop.orders", "lake.archive.orders_2024", "-c", config) == [
        "renamed lake.shop.orders to lake.archive.orders_2024"
    ]
    table = sql_lake.pyiceberg().load_table("archive.orders_2024")
    assert table.metadata_location == before
    assert sorted(table.scan().to_arrow()["id"].to_pylist()) == [1, 2]
    refused("table", "show", "lake.shop.orders", "-c", config)


def test_rename_refuses_what_cannot_be(config):
    firn("table", "create", "lake.shop.a", "-c", config, "--column", "id long").ok()
    firn("table", "create", "lake.shop.b", "-c", config, "--column", "id long").ok()
    assert "already" in refused("table", "rename", "lake.shop.a", "lake.shop.b", "-c", config)
    assert "nowhere" in refused("table", "rename", "lake.shop.a", "lake.nowhere.a", "-c", config)
    assert "shop.none" in refused("table", "rename", "lake.shop.none", "lake.shop.c", "-c", config)
    assert "catalog" in refused("table", "rename", "lake.shop.a", "other.shop.a", "-c", config)


def test_wrong_arguments_are_told(config):
    assert "KEY=VALUE" in refused("catalog", "set-properties", "lake.shop", "oops", "-c", config)
    assert "catalog.namespace" in refused("catalog", "create-namespace", "lake", "-c", config)
    assert "nowhere" in refused("catalog", "properties", "lake.nowhere", "-c", config)
    assert "nowhere" in refused("catalog", "namespaces", "lake.nowhere", "-c", config)
    assert 'did you mean "lake"?' in refused("catalog", "namespaces", "lage", "-c", config)
    assert "did you mean 'create-namespace'" in refused("catalog", "create-namspace", "lake.x", "-c", config)


def test_only_what_makes_something_makes_the_catalog(sql_lake):
    config = sql_lake.config()
    for look in (["catalog", "namespaces"], ["table", "list"], ["table", "show", "lake.a.b"], ["table", "drop", "lake.a.b"],
                 ["catalog", "drop-namespace", "lake.a"], ["table", "rename", "lake.a.b", "lake.a.c"]):  # fmt: skip
        error = refused(*look, "-c", config)
        assert "there is no catalog in" in error and "firn table create" in error, look
    firn("table", "create", "lake.a.b", "-c", config, "--column", "id long", "--dry-run").ok()
    refused("table", "list", "-c", config)
    assert not sql_lake.warehouse.exists()
    firn("table", "create", "lake.a.b", "-c", config, "--column", "id long").ok()
    assert lines("table", "list", "-c", config) == ["TABLE", "lake.a.b"]
