"""A run that begins while its catalog is away: it waits, says so, and takes a refusal for an answer."""

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
