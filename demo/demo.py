"""What ./dev demo shows, once everything is installed and built: flights go into Kafka while Firn commits them into an Iceberg table.

Usage: demo.py FIRN-PROGRAM. Starts clean each time; leaves demo/lake to look at, and nothing running.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pyarrow.parquet as parquet

DEMO = Path(__file__).resolve().parent
sys.path.insert(0, str(DEMO.parent / "test" / "support"))

from kafka_broker import DEPS, Broker, die_with_parent  # noqa: E402
from readers import duckdb_session, local_path, metadata_location, pyiceberg_catalog  # noqa: E402

FLIGHTS = DEPS / "flights/data/flights-3m.parquet"
ROWS = 200_000
SECONDS = 12  # over which the producer spreads them
TABLE = "travel.flights"
LAKE, RUN = DEMO / "lake", DEMO / ".run"
DATABASE, WAREHOUSE = LAKE / "catalog.db", LAKE / "warehouse"


def headline(text: str) -> None:
    print(f"\n\033[1m== {text}\033[0m" if sys.stdout.isatty() else f"\n== {text}", flush=True)


def flights_as_json():
    rows = next(parquet.ParquetFile(FLIGHTS).iter_batches(ROWS)).to_pylist()
    for row in rows:
        row["date"] = row["date"].isoformat()
        yield row["origin"], json.dumps(row)


def send_flights(broker: Broker, failures: list) -> None:
    """Sends the records at an even pace, keyed by the airport they leave from."""
    try:
        producer = broker.producer()
        started = time.monotonic()
        for sent, (origin, record) in enumerate(flights_as_json()):
            producer.produce("flights", record, key=origin)
            if sent % 500 == 0:
                producer.poll(0)
                ahead = sent / ROWS * SECONDS - (time.monotonic() - started)
                if ahead > 0:
                    time.sleep(ahead)
        producer.flush()
    except Exception as error:  # noqa: BLE001  told by the main thread
        failures.append(error)


def rows_in_table() -> int:
    try:
        snapshot = pyiceberg_catalog(DATABASE, WAREHOUSE).load_table(TABLE).current_snapshot()
    except Exception:  # noqa: BLE001  not there yet
        return 0
    return int(snapshot.summary["total-records"]) if snapshot and snapshot.summary else 0


def stream(program: str, broker: Broker) -> None:
    """Runs `firn run` in this terminal until the table holds every record, then asks it to stop."""
    environment = {**os.environ, "FIRN_DEMO_KAFKA": broker.bootstrap}
    firn = subprocess.Popen([program, "run", str(DEMO / "flights.yaml")], env=environment, preexec_fn=die_with_parent)
    failures: list = []
    sender = threading.Thread(target=send_flights, args=(broker, failures), daemon=True)
    sender.start()
    deadline = time.monotonic() + 300
    while firn.poll() is None and not failures and rows_in_table() < ROWS and time.monotonic() < deadline:
        time.sleep(0.5)
    if firn.poll() is None:
        firn.send_signal(signal.SIGTERM)
    code = firn.wait(60)
    sender.join(30)
    if failures:
        sys.exit(f"demo: sending the flights failed: {failures[0]}")
    if code != 0:
        sys.exit(f"demo: firn run ended with exit code {code}")
    if rows_in_table() != ROWS:
        sys.exit(f"demo: the table holds {rows_in_table()} records, {ROWS} were sent")


def show(program: str, *command: str) -> None:
    print(f"$ firn {' '.join(command)}", flush=True)
    subprocess.run([program, *command, "-c", str(DEMO / "flights.yaml")], check=True)


def read_back_with_duckdb() -> None:
    session = duckdb_session()
    table = f"iceberg_scan('{local_path(metadata_location(DATABASE, TABLE))}')"
    print(f"$ select count(*) from {TABLE}")
    print(f"{session.execute(f'select count(*) from {table}').fetchone()[0]:,}\n")
    print("$ select origin, count(*) flights, round(avg(delay), 1) delay, max(distance) farthest ... group by origin")
    session.sql(
        f"select origin, count(*) flights, round(avg(delay), 1) delay, max(distance) farthest"
        f" from {table} group by origin order by flights desc limit 5"
    ).show()
    columns = "delay::int, distance::int, origin, destination"
    ours = f"select flight_date, {columns} from {table}"
    sent = f"select date, {columns} from (select * from read_parquet('{FLIGHTS}') limit {ROWS})"
    missing = session.execute(f"select count(*) from (({sent}) except all ({ours}))").fetchone()[0]
    surplus = session.execute(f"select count(*) from (({ours}) except all ({sent}))").fetchone()[0]
    print(f"compared with the input, field by field: {missing} records missing, {surplus} too many")
    if missing or surplus:
        sys.exit("demo: the table is not what was sent")


NEXT = """\
The table is in demo/lake: catalog.db is the SQLite catalog, warehouse/ the data. Try:

  build/firn table show lake.travel.flights -c demo/flights.yaml
  build/firn table read lake.travel.flights -c demo/flights.yaml --where "origin = 'SFO' and delay > 120" --limit 10
  python:  from pyiceberg.catalog.sql import SqlCatalog
           SqlCatalog("lake", uri="sqlite:///{database}").load_table("{table}").scan().to_arrow()
  (.deps/venv/bin/python has PyIceberg and DuckDB installed)

demo/flights.yaml is the whole pipeline: point it at your own broker and topic, `build/firn check` it, `build/firn run` it."""


def main(program: str) -> None:
    shutil.rmtree(LAKE, ignore_errors=True)
    shutil.rmtree(RUN, ignore_errors=True)
    headline("A Kafka broker, and a topic with four partitions")
    with Broker(RUN / "kafka") as broker:
        broker.create_topic("flights", partitions=4)
        print(f"listening on {broker.bootstrap}")
        headline(f"firn run demo/flights.yaml, while {ROWS:,} flights are sent as JSON")
        stream(program, broker)
    shutil.rmtree(RUN, ignore_errors=True)
    headline("What was committed")
    show(program, "table", "snapshots", f"lake.{TABLE}")
    show(program, "table", "files", f"lake.{TABLE}")
    headline("The same table read by DuckDB")
    read_back_with_duckdb()
    headline("Next")
    print(NEXT.format(database=DATABASE, table=TABLE))


if __name__ == "__main__":
    main(sys.argv[1])
