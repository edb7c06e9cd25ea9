"""What ./dev demo shows, once everything is installed and built: flights go into Kafka while Firn commits them into an Iceberg table.
With --no-kafka they land as files in a folder instead, and nothing needs a Java machine.

Usage: demo.py FIRN-PROGRAM [--no-kafka]. Starts clean each time; leaves demo/lake to look at, and nothing running.
"""

from __future__ import annotations

import gzip
import itertools
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
FLIGHTS_A_FILE = 4_000
TABLE = "travel.flights"
LAKE, RUN, LANDING = DEMO / "lake", DEMO / ".run", DEMO / "landing"
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


def land_flights(failures: list) -> None:
    """Writes the records as files, at an even pace: under another name first, as one should."""
    try:
        records = (record for _, record in flights_as_json())
        started = time.monotonic()
        for number in range(ROWS // FLIGHTS_A_FILE):
            folder = LANDING / f"part={number % 5}"
            folder.mkdir(parents=True, exist_ok=True)
            lines = "".join(record + "\n" for record in itertools.islice(records, FLIGHTS_A_FILE))
            temporary = folder / f".flights-{number:03}.tmp"
            temporary.write_bytes(gzip.compress(lines.encode(), 3))
            temporary.rename(folder / f"flights-{number:03}.jsonl.gz")
            ahead = (number + 1) * FLIGHTS_A_FILE / ROWS * SECONDS - (time.monotonic() - started)
            if ahead > 0:
                time.sleep(ahead)
    except Exception as error:  # noqa: BLE001  told by the main thread
        failures.append(error)


def rows_in_table() -> int:
    try:
        snapshot = pyiceberg_catalog(DATABASE, WAREHOUSE).load_table(TABLE).current_snapshot()
    except Exception:  # noqa: BLE001  not there yet
        return 0
    return int(snapshot.summary["total-records"]) if snapshot and snapshot.summary else 0


def stream(program: str, config: Path, send, environment: dict) -> None:
    """Runs `firn run` in this terminal until the table holds every record, then asks it to stop."""
    firn = subprocess.Popen([program, "run", str(config)], env={**os.environ, **environment}, preexec_fn=die_with_parent)
    failures: list = []
    sender = threading.Thread(target=send, args=(failures,), daemon=True)
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


def show(program: str, config: Path, *command: str) -> None:
    print(f"$ firn {' '.join(command)}", flush=True)
    subprocess.run([program, *command, "-c", str(config)], check=True)


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

  build/firn table show lake.travel.flights -c demo/{config}
  build/firn table read lake.travel.flights -c demo/{config} --where "origin = 'SFO' and delay > 120" --limit 10
  python:  from pyiceberg.catalog.sql import SqlCatalog
           SqlCatalog("lake", uri="sqlite:///{database}").load_table("{table}").scan().to_arrow()
  (.deps/venv/bin/python has PyIceberg and DuckDB installed)

demo/{config} is the whole pipeline: point it at your own {source}, `build/firn check` it, `build/firn run` it."""


def stream_from_kafka(program: str) -> Path:
    config = DEMO / "flights.yaml"
    headline("A Kafka broker, and a topic with four partitions")
    with Broker(RUN / "kafka") as broker:
        broker.create_topic("flights", partitions=4)
        print(f"listening on {broker.bootstrap}")
        headline(f"firn run demo/{config.name}, while {ROWS:,} flights are sent as JSON")
        stream(program, config, lambda failures: send_flights(broker, failures), {"FIRN_DEMO_KAFKA": broker.bootstrap})
    return config


def stream_from_files(program: str) -> Path:
    config = DEMO / "flights-files.yaml"
    LANDING.mkdir()
    headline(f"firn run demo/{config.name}, while {ROWS:,} flights land in demo/landing as {ROWS // FLIGHTS_A_FILE} files of JSON lines")
    stream(program, config, land_flights, {})
    return config


def main(program: str, with_kafka: bool) -> None:
    for folder in (LAKE, RUN, LANDING):
        shutil.rmtree(folder, ignore_errors=True)
    config = stream_from_kafka(program) if with_kafka else stream_from_files(program)
    shutil.rmtree(RUN, ignore_errors=True)
    headline("What was committed")
    show(program, config, "table", "snapshots", f"lake.{TABLE}")
    show(program, config, "table", "files", f"lake.{TABLE}")
    headline("The same table read by DuckDB")
    read_back_with_duckdb()
    headline("Next")
    source = "broker and topic" if with_kafka else "folder"
    print(NEXT.format(database=DATABASE, table=TABLE, config=config.name, source=source))


if __name__ == "__main__":
    main(sys.argv[1], with_kafka="--no-kafka" not in sys.argv[2:])
