"""Where a pipeline resumes after Spark has replaced its table, rolled it back or picked a snapshot of it (docs/guarantees.md)."""

from __future__ import annotations

import pytest
from firn import firn
from pipelines import orders, pipeline


@pytest.fixture
def lake(lake, spark, topic):
    """Spark knows it by a name of the test's own: catalogs stay in its session."""
    lake.name = "".join(c if c.isalnum() else "_" for c in topic)
    lake.warehouse.mkdir()
    spark.add_catalog(lake.name, lake.database, lake.warehouse)
    return lake


def filled(broker, topic, lake, count: int = 40):
    broker.produce(topic, orders(0, count), partition=0)
    config = lake.config(pipeline(broker, [topic], table=f"{lake.name}.shop.orders"))
    firn("run", config, "--until-caught-up").ok()
    return config


def head(lake) -> int:
    return lake.pyiceberg().load_table("shop.orders").current_snapshot().snapshot_id


def ids(lake) -> list[int]:
    return sorted(lake.read("shop.orders").column("id").to_pylist())


def run(config) -> None:
    firn("run", config, "--until-caught-up").ok()


def stops(config, word: str) -> None:
    done = firn("run", config, "--until-caught-up")
    assert done.code == 3, done.err
    assert word in done.err + done.out and "firn offsets set" in done.err + done.out


@pytest.mark.parametrize("as_select", [False, True], ids=["empty", "as-select"])
def test_create_or_replace_stops_until_an_operator_decides(broker, topic, spark, lake, as_select):
    """Java keeps uuid and properties of the table: only its history tells."""
    name = lake.name
    config = filled(broker, topic, lake)
    uuid = lake.pyiceberg().load_table("shop.orders").metadata.table_uuid
    if as_select:
        spark.sql(f"CREATE OR REPLACE TABLE {name}.shop.orders USING iceberg AS SELECT * FROM {name}.shop.orders WHERE id < 10")
    else:
        spark.sql(f"CREATE OR REPLACE TABLE {name}.shop.orders (id BIGINT, text STRING) USING iceberg")
    replaced = lake.pyiceberg().load_table("shop.orders")
    assert replaced.metadata.table_uuid == uuid and "firn.progress.orders" in replaced.properties
    kept = list(range(10)) if as_select else []
    broker.produce(topic, orders(40, 10), partition=0)
    stops(config, "rolled back or replaced")
    assert ids(lake) == kept
    firn("offsets", "set", config, "--to", "recorded", "--yes").ok()
    run(config)
    assert ids(lake) == [*kept, *range(40, 50)]


def test_a_snapshot_of_ours_that_was_picked_onto_another_history(broker, topic, spark, lake):
    name = lake.name
    config = filled(broker, topic, lake)
    first = head(lake)
    broker.produce(topic, orders(40, 10), partition=0)
    run(config)
    ours = head(lake)
    spark.sql(f"CALL {name}.system.rollback_to_snapshot('shop.orders', {first})")
    spark.sql(f"CALL {name}.system.cherrypick_snapshot('shop.orders', {ours})")
    assert head(lake) == ours, "nothing came in between: it is the head again"
    broker.produce(topic, orders(50, 10), partition=0)
    run(config)
    assert ids(lake) == list(range(60))

    ours = head(lake)
    spark.sql(f"CALL {name}.system.rollback_to_snapshot('shop.orders', {first})")
    spark.sql(f"INSERT INTO {name}.shop.orders VALUES (1000, 'theirs')")
    spark.sql(f"CALL {name}.system.cherrypick_snapshot('shop.orders', {ours})")
    assert head(lake) != ours, "its files, in a snapshot of another engine"
    assert ids(lake) == [*range(40), *range(50, 60), 1000], "and not those of the snapshot before it"
    stops(config, "rolled back or replaced")
    # What is left of our history ends at 40: from there on all is read again, what was picked as well.
    firn("offsets", "set", config, "--to", "history", "--yes").ok()
    run(config)
    assert ids(lake) == sorted([*range(60), *range(50, 60), 1000])
