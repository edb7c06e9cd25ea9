"""./dev bench ingest-first: 2,000,000 flights from Kafka into an Iceberg table with --until-caught-up, in rows/s and CPU-seconds.

Usage: ingest_first.py FIRN-PROGRAM [ROWS]. The records are in the topic before the clock starts; the broker shares the machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow.parquet as parquet

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test" / "support"))

from kafka_broker import DEPS, Broker, die_with_parent  # noqa: E402
from readers import pyiceberg_catalog  # noqa: E402

PIPELINE = """\
catalogs:
  lake: {{type: sql, uri: "sqlite:{folder}/catalog.db", warehouse: "{folder}/warehouse"}}
pipelines:
  flights:
    source: {{kafka: {{bootstrap_servers: "{bootstrap}", topics: [flights]}}}}
    decode: json
    tables:
      - name: lake.travel.flights
        columns:
          - {{name: flight_date, type: timestamp, from: date}}
          - {{name: delay, type: int}}
          - {{name: distance, type: int}}
          - {{name: origin, type: string}}
          - {{name: destination, type: string}}
        partition_by: ["month(flight_date)"]
"""


def fill(broker: Broker, rows: int) -> int:
    """Sends the first rows; returns their bytes."""
    sent = total = 0
    for batch in parquet.ParquetFile(DEPS / "flights/data/flights-3m.parquet").iter_batches(200_000):
        values = batch.slice(0, rows - sent).to_pylist()
        texts = [json.dumps({**row, "date": row["date"].isoformat()}) for row in values]
        broker.produce("flights", texts)
        sent += len(texts)
        total += sum(map(len, texts))
        if sent >= rows:
            return total
    raise ValueError(f"the file has only {sent} rows")


def run(program: str, config: Path) -> tuple[float, float, int]:
    """Wall seconds, CPU seconds, peak memory in KiB of one bounded run."""
    started = time.monotonic()
    firn = subprocess.Popen([program, "run", str(config), "--until-caught-up"], preexec_fn=die_with_parent)
    _, status, usage = os.wait4(firn.pid, 0)
    wall = time.monotonic() - started
    if status != 0:
        sys.exit(f"firn run ended with exit code {os.waitstatus_to_exitcode(status)}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def main(program: str, rows: int) -> None:
    with tempfile.TemporaryDirectory(prefix="firn-bench-") as name, Broker(Path(name) / "kafka") as broker:
        folder = Path(name)
        broker.create_topic("flights", partitions=4)
        total = fill(broker, rows)
        config = folder / "flights.yaml"
        config.write_text(PIPELINE.format(folder=folder, bootstrap=broker.bootstrap))
        wall, cpu, peak = run(program, config)
        table = pyiceberg_catalog(folder / "catalog.db", folder / "warehouse").load_table("travel.flights")
        found = int(table.current_snapshot().summary["total-records"])
        if found != rows:
            sys.exit(f"{rows} records were sent, the table holds {found}")
        print(f"{rows:,} rows ({total / 2**20:.0f} MiB of JSON) in {wall:.2f} s: {rows / wall:,.0f} rows/s, {total / 2**20 / wall:.0f} MiB/s")
        print(f"{cpu:.2f} CPU-seconds: {rows / cpu:,.0f} rows per CPU-second; peak memory {peak / 1024:.0f} MiB; {len(table.snapshots())} snapshots")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 2_000_000)
