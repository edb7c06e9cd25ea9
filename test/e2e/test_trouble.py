"""What goes wrong around a running pipeline: nothing is lost or doubled, the exit code and the words are the documented ones."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import time
from contextlib import contextmanager

import pytest
from firn import firn, start_firn, wait_until
from pipelines import orders, pipeline

TABLE = "shop.orders"


@pytest.fixture
def topic(broker, request):
    name = request.node.name.replace("[", "-").replace("]", "")
    broker.create_topic(name, partitions=4)
    return name


def ids(lake) -> list[int]:
    return sorted(lake.read(TABLE).column("id").to_pylist())


def count(lake) -> int:
    return lake.read(TABLE).num_rows


def test_a_topic_that_is_not_there_names_the_nearest(broker, topic, lake):
    done = firn("run", lake.config(pipeline(broker, [topic + "x"])), "--until-caught-up")
    assert done.code == 2, done.err
    assert topic in done.err + done.out


def test_a_table_that_is_not_there_is_not_made_with_create_false(broker, topic, lake):
    broker.produce(topic, orders(0, 10))
    done = firn("run", lake.config(pipeline(broker, [topic], columns=None, table_extra="create: false")), "--until-caught-up")
    assert done.code == 2, done.err
    assert "create: true" in done.err + done.out


def test_columns_that_contradict_the_table_are_all_named(broker, topic, lake):
    broker.produce(topic, orders(0, 10))
    firn("run", lake.config(pipeline(broker, [topic])), "--until-caught-up").ok()
    columns = "[{name: id, type: string}, {name: text, type: string}, {name: more, type: int}]"
    done = firn("run", lake.config(pipeline(broker, [topic], columns=columns)), "--until-caught-up")
    assert done.code == 2, done.err
    for word in ("id", "string", "long", "more"):
        assert word in done.err + done.out


@contextmanager
def small_disk(folder, size: str):
    folder.mkdir(parents=True, exist_ok=True)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], capture_output=True, text=True)
    assert mounted.returncode == 0, f"a small file system is needed for this test: {mounted.stderr}"
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_fails_the_run_and_nothing_is_lost(broker, topic, lake):
    text = "x" * 1000
    broker.produce(topic, [f'{{"id": {i}, "text": "{i}{text}"}}' for i in range(20_000)])
    lake.warehouse.mkdir(parents=True, exist_ok=True)
    uncompressed = 'properties: {write.parquet.compression-codec: uncompressed, write.parquet.dict-encoding-enabled.column.text: "false"}'
    config = lake.config(pipeline(broker, [topic], table_extra=uncompressed))
    with small_disk(lake.warehouse, "4m"):
        done = firn("run", config, "--until-caught-up")
        assert done.code == 1, done.err
        assert "space" in (done.err + done.out).lower()
        # The catalog is on the other disk; what it names must be there after the small disk is gone.
        shutil.copytree(lake.warehouse, lake.folder / "kept")
    shutil.copytree(lake.folder / "kept", lake.warehouse, dirs_exist_ok=True)
    firn("run", config, "--until-caught-up").ok()
    assert ids(lake) == list(range(20_000))


def test_a_locked_catalog_is_waited_for(broker, topic, lake, tmp_path):
    running = start_firn("run", lake.config(pipeline(broker, [topic], interval="300ms")), log=tmp_path / "firn.log")
    broker.produce(topic, orders(0, 1000))
    wait_until(lambda: count(lake) == 1000, what="the first rows")
    holder = sqlite3.connect(lake.database, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    broker.produce(topic, orders(1000, 1000))
    time.sleep(12)
    assert running.alive(), running.output
    holder.execute("ROLLBACK")
    holder.close()
    wait_until(lambda: count(lake) == 2000, what="rows after the lock")
    assert running.stop() == 0, running.output
    assert ids(lake) == list(range(2000))


def test_a_catalog_that_is_taken_away_stops_the_run_without_making_a_new_one(broker, topic, lake, tmp_path):
    running = start_firn("run", lake.config(pipeline(broker, [topic], interval="300ms")), log=tmp_path / "firn.log")
    broker.produce(topic, orders(0, 1000))
    wait_until(lambda: count(lake) == 1000, what="the first rows")
    away = lake.folder / "away"
    away.mkdir()
    for file in lake.folder.glob("catalog.db*"):
        file.rename(away / file.name)
    broker.produce(topic, orders(1000, 1000))
    time.sleep(5)
    assert not lake.database.exists() or not sqlite3.connect(lake.database).execute(
        "select name from sqlite_master where name = 'iceberg_tables'").fetchall(), "a new catalog beside the old one"
    running.kill()
    for file in lake.folder.glob("catalog.db*"):
        file.unlink()
    for file in away.iterdir():
        file.rename(lake.folder / file.name)
    firn("run", lake.config(pipeline(broker, [topic])), "--until-caught-up").ok()
    assert ids(lake) == list(range(2000))


def test_a_table_altered_by_another_engine_while_firn_runs(broker, topic, lake, tmp_path):
    from pyiceberg.types import StringType

    running = start_firn("run", lake.config(pipeline(broker, [topic], interval="300ms")), log=tmp_path / "firn.log")
    broker.produce(topic, orders(0, 1000))
    wait_until(lambda: count(lake) == 1000, what="the first rows")

    def alter() -> bool:
        with lake.pyiceberg().load_table(TABLE).update_schema() as update:
            update.add_column("note", StringType())
        return True

    wait_until(alter, what="PyIceberg's change")
    broker.produce(topic, orders(1000, 1000))
    wait_until(lambda: count(lake) == 2000, what="rows after the change")
    assert running.stop() == 0, running.output
    table = lake.read(TABLE)
    assert table.column("note").null_count == 2000
    assert ids(lake) == list(range(2000))


def test_a_dropped_column_that_is_declared_stops_with_its_name(broker, topic, lake, tmp_path):
    running = start_firn("run", lake.config(pipeline(broker, [topic], interval="300ms")), log=tmp_path / "firn.log")
    broker.produce(topic, orders(0, 1000))
    wait_until(lambda: count(lake) == 1000, what="the first rows")

    def drop() -> bool:
        with lake.pyiceberg().load_table(TABLE).update_schema(allow_incompatible_changes=True) as update:
            update.delete_column("text")
        return True

    wait_until(drop, what="PyIceberg's change")
    broker.produce(topic, orders(1000, 1000))
    assert running.wait() in (1, 2), running.output
    assert "text" in running.output
    assert sorted(lake.read(TABLE).column("id").to_pylist()) == list(range(2000))


def test_a_broker_that_dies_is_waited_for(own_broker, lake, tmp_path):
    own_broker.create_topic("events", partitions=2)
    running = start_firn("run", lake.config(pipeline(own_broker, ["events"], interval="300ms")), log=tmp_path / "firn.log")
    own_broker.produce("events", orders(0, 1000))
    wait_until(lambda: count(lake) == 1000, what="the first rows")
    own_broker.kill()
    time.sleep(3)
    assert running.alive(), running.output
    own_broker.start()
    own_broker.produce("events", orders(1000, 1000))
    wait_until(lambda: count(lake) == 2000, what="rows after the outage", timeout_s=120)
    assert running.stop() == 0, running.output
    assert ids(lake) == list(range(2000))
