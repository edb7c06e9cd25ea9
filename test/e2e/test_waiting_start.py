"""A run that begins while its catalog or its source is away: it waits, says so, and takes a refusal for an answer."""

from __future__ import annotations

import json
import os
import time
import urllib.request
from pathlib import Path

import pytest
from firn import start_firn, wait_until
from http_server import HttpServer, QuietHandler
from kafka_broker import free_port
from pipelines import orders, pipeline


class FakeCatalog(HttpServer):
    """Answers everything with one status, and counts how often it was asked."""

    def __init__(self):
        self.status, self.asked = 503, 0
        fake = self

        class Handler(QuietHandler):
            def do_GET(self):
                fake.asked += 1
                body = json.dumps({"error": {"message": "said so", "type": "Exception", "code": fake.status}}).encode()
                self.send_response(fake.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        super().__init__(Handler)


def config_of(folder: Path, catalog: str, port: int) -> Path:
    (folder / "landing").mkdir(exist_ok=True)
    (folder / "landing/a.jsonl").write_text('{"id": 1}\n')
    when = time.time() - 60
    os.utime(folder / "landing/a.jsonl", (when, when))
    path = folder / "firn.yaml"
    path.write_text(
        f"listen: 127.0.0.1:{port}\ncatalogs:\n  lake: {catalog}\n"
        "pipelines:\n  orders:\n    source: {files: {path: landing, mode: once}}\n    decode: json\n"
        "    tables: [{name: lake.shop.orders, columns: [{name: id, type: long}]}]\n"
    )
    return path


def state(port: int) -> tuple[str, str]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/status", timeout=10) as answer:
        shown = json.load(answer)["pipelines"][0]
    return shown["state"], shown.get("reason", "")


@pytest.mark.parametrize("status, bounded", [(401, False), (403, True), (404, False)])
def test_a_bounded_and_an_endless_run_wait_for_a_rest_catalog_until_it_refuses(tmp_path, status, bounded):
    port = free_port()
    with FakeCatalog() as catalog:
        config = config_of(tmp_path, f'{{type: rest, uri: "{catalog.uri}", rest.client.max-retries: "1"}}', port)
        running = start_firn("run", config, *(["--until-caught-up"] if bounded else []), log=tmp_path / "firn.log")
        wait_until(lambda: catalog.asked >= 5, what="a third try, each of two requests")
        shown, reason = state(port)
        assert shown == "DEGRADED" and "503" in reason, (shown, reason)
        catalog.status = status
        assert running.wait(60) in (1, 2), running.output
        assert str(status) in running.output and "waiting for a catalog" in running.output


@pytest.mark.parametrize("kind", ["rest", "postgresql"])
def test_a_run_that_waits_for_its_catalog_can_be_stopped(tmp_path, kind):
    port, away = free_port(), free_port()
    catalog = {
        "rest": f'{{type: rest, uri: "http://127.0.0.1:{away}", rest.client.max-retries: "1"}}',
        "postgresql": f'{{type: sql, uri: "postgresql://firn@127.0.0.1:{away}/lake", warehouse: warehouse}}',
    }[kind]
    running = start_firn("run", config_of(tmp_path, catalog, port), log=tmp_path / "firn.log")
    wait_until(lambda: state(port)[0] == "DEGRADED", what="the trouble in the status")
    begin = time.monotonic()
    assert running.stop() == 0, running.output
    assert time.monotonic() - begin < 15


class NoBroker:
    """Nobody listens there."""

    def __init__(self):
        self.bootstrap = f"127.0.0.1:{free_port()}"


def test_without_kafka_a_run_waits_until_it_is_stopped_and_a_dry_run_or_an_unknown_host_does_not(lake, tmp_path):
    away = NoBroker()
    port = free_port()
    yaml = pipeline(away, ["orders"], columns=None)  # they are inferred: the first look at the source
    config = lake.config(f"listen: 127.0.0.1:{port}\n{yaml}")
    running = start_firn("run", config, log=tmp_path / "firn.log")
    dry = start_firn("run", config, "--dry-run", log=tmp_path / "dry.log")
    unknown = lake.config(pipeline(away, ["orders"]).replace(away.bootstrap, "no-such-host.invalid:9092"), file="unknown.yaml")
    mistyped = start_firn("run", unknown, log=tmp_path / "mistyped.log")
    wait_until(lambda: state(port)[0] == "DEGRADED", what="the trouble in the status")
    _, reason = state(port)
    assert reason.startswith("waiting to begin: "), reason
    assert f"no answer from Kafka at {away.bootstrap} within" in reason and "Check bootstrap_servers" in reason, reason
    assert running.output.count("waiting to begin") == 1, running.output
    begin = time.monotonic()
    assert running.stop() == 0, running.output
    assert time.monotonic() - begin < 15
    for ended in (dry, mistyped):
        assert ended.wait(60) == 1, ended.output
        assert "bootstrap_servers" in ended.output and "waiting to begin" not in ended.output
    assert "no-such-host.invalid" in mistyped.output


def test_a_bounded_and_an_endless_run_begin_when_kafka_comes_up(own_broker, lake, tmp_path):
    own_broker.create_topic("orders", partitions=2)
    own_broker.produce("orders", orders(0, 1000))
    own_broker.stop()
    runs = {}
    for name, more in (("endless", []), ("bounded", ["--until-caught-up"])):
        port = free_port()
        yaml = pipeline(own_broker, ["orders"], interval="300ms", key=name, table=f"lake.shop.{name}")
        config = lake.config(f"listen: 127.0.0.1:{port}\n{yaml}", file=f"{name}.yaml")
        runs[name] = (start_firn("run", config, *more, log=tmp_path / f"{name}.log"), port)
    for _, port in runs.values():
        wait_until(lambda: state(port)[0] == "DEGRADED", what="the trouble in the status")  # noqa: B023
    own_broker.start()
    assert runs["bounded"][0].wait() == 0, runs["bounded"][0].output
    running, port = runs["endless"]
    wait_until(lambda: state(port) == ("RUNNING", ""), what="a state without trouble")
    wait_until(lambda: lake.read("shop.endless").num_rows == 1000, what="the rows")
    assert running.stop() == 0, running.output
    for name in runs:
        assert sorted(lake.read(f"shop.{name}").column("id").to_pylist()) == list(range(1000)), name
