"""A pipeline on a PostgreSQL catalog: crashes, a fail-over, cut connections and other writers lose and double nothing."""

from __future__ import annotations

import time

import pyarrow as pa
import pytest
from firn import firn, start_firn, wait_until
from pipelines import orders, pipeline
from postgres_lake import PostgresLake
from tcp_proxy import TcpProxy

TABLE = "shop.orders"
PARTITIONS = 4  # of each test's topic
SWAP = b"UPDATE iceberg_tables SET metadata_location"


@pytest.fixture
def own_lake(own_postgres, tmp_path):
    """On a server that the test may stop."""
    own_postgres.create_database("lake")
    return PostgresLake(tmp_path, own_postgres, "lake")


@pytest.fixture
def proxied_lake(postgres_lake):
    """Firn reaches the server through a proxy that cuts connections; PyIceberg does not."""
    with TcpProxy(postgres_lake.server.port) as proxy:
        postgres_lake.port = proxy.port
        yield postgres_lake, proxy


def ids(lake) -> list[int]:
    return sorted(lake.read(TABLE).column("id").to_pylist())


def count(lake) -> int:
    return lake.read(TABLE).num_rows


def test_records_land_once_and_a_second_run_adds_nothing(broker, topic, postgres_lake):
    broker.produce(topic, orders(0, 5000))
    config = postgres_lake.config(pipeline(broker, [topic]))
    done = firn("run", config, "--until-caught-up").ok()
    assert "postgresql+psycopg2://firn@127.0.0.1" in done.out, "the line to paste into PyIceberg"
    firn("run", config, "--until-caught-up").ok()
    assert ids(postgres_lake) == list(range(5000))
    assert "no problems found" in firn("check", config).ok().out


def test_server_that_crashes_and_comes_back_a_few_times(broker, topic, own_lake, own_postgres, tmp_path):
    running = start_firn("run", own_lake.config(pipeline(broker, [topic], interval="200ms")), log=tmp_path / "firn.log")
    sent = 0
    for round_ in range(4):
        for _ in range(8):
            broker.produce(topic, orders(sent, 250))
            sent += 250
            time.sleep(0.1)
        wait_until(lambda: count(own_lake) > 0, what="the first rows")
        own_postgres.crash() if round_ % 2 else own_postgres.stop()
        broker.produce(topic, orders(sent, 250))
        sent += 250
        time.sleep(1.5)
        assert running.alive(), running.output
        own_postgres.start()
    wait_until(lambda: count(own_lake) == sent, what="everything", timeout_s=120)
    assert running.stop() == 0, running.output
    assert ids(own_lake) == list(range(sent))
    assert f"postgresql://firn@127.0.0.1:{own_postgres.port}/lake" in running.output, "messages name the server"
    assert "dich" not in running.output, "and no password"


MANY = 'match: {topic: ".*"}'  # a rule with a match: a pipeline of many tables, with a control table


@pytest.mark.parametrize("table_extra, in_flight, comes_back, code", [
    ("", False, False, 0),  # nothing is left to do
    ("", True, False, 143),
    ("", True, True, 0),
    (MANY, False, False, 143),  # how far everything was read is not in the control table yet
    (MANY, False, True, 0),
], ids=["idle", "rows", "rows-in-time", "bound", "bound-in-time"])  # fmt: skip
def test_leaving_while_the_server_is_away(broker, topic, own_lake, own_postgres, tmp_path, table_extra, in_flight, comes_back, code):
    config = own_lake.config(pipeline(broker, [topic], interval="300ms", table_extra=table_extra))
    broker.produce(topic, orders(0, 100))
    firn("run", config, "--until-caught-up").ok()
    broker.produce(topic, orders(100, 100))
    running = start_firn("run", config, "--shutdown-timeout", "4s", log=tmp_path / "firn.log")
    wait_until(lambda: count(own_lake) == 200, what="the rows of the second life")
    own_postgres.stop()
    sent = 300 if in_flight else 200
    if in_flight:
        broker.produce(topic, orders(200, 100))
        time.sleep(1)  # they are read
    running.process.terminate()
    if comes_back:
        own_postgres.start()
    assert running.wait(40) == code, running.output
    if not comes_back:
        own_postgres.start()
    firn("run", config, "--until-caught-up").ok()
    assert ids(own_lake) == list(range(sent))


def test_bad_records_wait_for_the_server_as_rows_do(broker, topic, own_lake, own_postgres, tmp_path):
    running = start_firn("run", own_lake.config(pipeline(broker, [topic], interval="300ms")), log=tmp_path / "firn.log")
    broker.produce(topic, orders(0, 100))
    wait_until(lambda: count(own_lake) == 100, what="the first rows")
    own_postgres.stop()
    broker.produce(topic, ["{broken", *orders(100, 100)])
    wait_until(lambda: "dead letters wait for their table's catalog" in running.output, what="a batch with a letter")
    time.sleep(1)
    assert running.alive(), running.output
    own_postgres.start()
    wait_until(lambda: count(own_lake) == 200, what="everything", timeout_s=90)
    assert running.stop() == 0, running.output
    assert ids(own_lake) == list(range(200))
    assert own_lake.read(TABLE + "_dead_letters").num_rows == 1


def test_standby_is_promoted_after_the_primary_crashed(broker, topic, own_lake, own_postgres, tmp_path):
    with own_postgres.standby() as standby:
        # The standby is named first: it is passed over as long as it takes no changes.
        both = own_lake.uri.replace(f"@127.0.0.1:{own_postgres.port}/", f"@127.0.0.1:{standby.port},127.0.0.1:{own_postgres.port}/")
        running = start_firn("run", own_lake.config(pipeline(broker, [topic], interval="200ms"), uri=both), log=tmp_path / "firn.log")
        for begin in range(0, 5000, 250):
            broker.produce(topic, orders(begin, 250))
            time.sleep(0.05)
        wait_until(lambda: count(own_lake) > 0, what="rows by the primary")
        assert standby.is_standby()
        own_postgres.crash()
        broker.produce(topic, orders(5000, 250))
        time.sleep(1)
        standby.promote()
        own_lake.server = standby
        broker.produce(topic, orders(5250, 250))
        wait_until(lambda: count(own_lake) == 5500, what="everything by the promoted standby", timeout_s=120)
        assert running.stop() == 0, running.output
        assert ids(own_lake) == list(range(5500))


@pytest.mark.parametrize("what", ["request", "answer", "late"])
def test_connection_cut_in_the_middle_of_the_commit(broker, topic, proxied_lake, tmp_path, what):
    lake, proxy = proxied_lake
    running = start_firn("run", lake.config(pipeline(broker, [topic], interval="300ms")), log=tmp_path / "firn.log")
    broker.produce(topic, orders(0, 500))
    wait_until(lambda: count(lake) == 500, what="the first rows")
    for round_ in range(1, 4):
        proxy.cut(SWAP, what, delay_s=1.0)
        broker.produce(topic, orders(500 * round_, 500))
        wait_until(lambda: proxy.cuts_made == round_, what="the cut")  # noqa: B023
        wait_until(lambda: count(lake) == 500 * (round_ + 1), what="rows after the cut", timeout_s=90)  # noqa: B023
    assert running.stop() == 0, running.output
    assert ids(lake) == list(range(2000))


def test_connections_cut_again_and_again(broker, topic, proxied_lake, tmp_path):
    lake, proxy = proxied_lake
    running = start_firn("run", lake.config(pipeline(broker, [topic], interval="200ms")), log=tmp_path / "firn.log")
    for begin in range(0, 10_000, 500):
        broker.produce(topic, orders(begin, 500))
        time.sleep(0.25)
        proxy.cut_all()
    wait_until(lambda: count(lake) == 10_000, what="everything", timeout_s=120)
    assert running.stop() == 0, running.output
    assert ids(lake) == list(range(10_000))


def test_pyiceberg_appends_to_the_same_table_while_firn_runs(broker, topic, postgres_lake, tmp_path):
    from pyiceberg.exceptions import CommitFailedException

    lake = postgres_lake
    running = start_firn("run", lake.config(pipeline(broker, [topic], interval="300ms")), log=tmp_path / "firn.log")
    broker.produce(topic, orders(0, 100))
    wait_until(lambda: count(lake) == 100, what="the table")
    theirs = lake.pyiceberg()
    for round_ in range(10):
        broker.produce(topic, orders(100 + 500 * round_, 500))
        row = pa.table({"id": pa.array([1_000_000 + round_], pa.int64()), "text": pa.array(["theirs"])})
        for _ in range(50):
            try:
                theirs.load_table(TABLE).append(row)
                break
            except CommitFailedException:
                continue
    wait_until(lambda: count(lake) == 5110, what="both writers' rows")
    assert running.stop() == 0, running.output
    assert ids(lake) == [*range(5100), *range(1_000_000, 1_000_010)]


def test_two_processes_share_a_pipeline_and_a_catalog(broker, topic, postgres_lake, tmp_path):
    config = postgres_lake.config(pipeline(broker, [topic], interval="300ms"))
    running = [start_firn("run", config, log=tmp_path / f"{i}.log") for i in range(2)]
    for begin in range(0, 20_000, 1000):
        broker.produce(topic, orders(begin, 1000))
        time.sleep(0.2)
    wait_until(lambda: count(postgres_lake) == 20_000, what="everything", timeout_s=120)
    for one in running:
        assert one.stop() == 0, one.output
    assert ids(postgres_lake) == list(range(20_000))


def test_rights_that_are_taken_away_end_the_run_with_the_remedy(broker, topic, postgres_lake, postgres, tmp_path):
    firn("catalog", "create-namespace", "lake.shop", "-c", postgres_lake.config()).ok()
    worker = "worker_" + postgres_lake.database
    postgres.execute(f"CREATE ROLE {worker} LOGIN PASSWORD 'hunter2'")
    postgres.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {worker}", postgres_lake.database)
    uri = postgres.uri(postgres_lake.database, user=worker, password="hunter2")
    running = start_firn("run", postgres_lake.config(pipeline(broker, [topic], interval="300ms"), uri=uri), log=tmp_path / "firn.log")
    broker.produce(topic, orders(0, 500))
    wait_until(lambda: count(postgres_lake) == 500, what="the first rows")
    postgres.execute(f"REVOKE UPDATE ON iceberg_tables FROM {worker}", postgres_lake.database)
    broker.produce(topic, orders(500, 500))
    assert running.wait() in (1, 2), running.output
    assert "permission denied for table iceberg_tables" in running.output and "GRANT" in running.output
    assert "hunter2" not in running.output
    postgres.execute(f"GRANT UPDATE ON iceberg_tables TO {worker}", postgres_lake.database)
    firn("run", postgres_lake.config(pipeline(broker, [topic]), uri=uri), "--until-caught-up").ok()
    assert ids(postgres_lake) == list(range(1000))
