"""`firn run`, `check` and `status` against a real broker: what they print, serve and end with."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import signal
import socket
import struct
import subprocess
import termios
import time
import urllib.error
import urllib.request

import pytest
from firn import BINARY, firn, start_firn, wait_until
from pipelines import orders, pipeline
from ports import free_port


@pytest.fixture
def topic(broker, request):
    name = request.node.name
    broker.create_topic(name, partitions=2)
    broker.produce(name, orders(0, 1000))
    return name


def get(address: str, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://{address}{path}", timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_check_shows_what_the_broker_and_the_catalog_have(broker, topic, lake):
    config = lake.config(pipeline(broker, [topic]))
    out = firn("check", config).ok().out
    assert "2 partitions, up to 1,000 records to read" in out and "will be created" in out
    firn("run", config, "--until-caught-up").ok()
    assert "(exists)" in firn("check", config).ok().out


def test_check_tells_missing_topics_and_contradicting_columns(broker, topic, lake):
    firn("run", lake.config(pipeline(broker, [topic])), "--until-caught-up").ok()
    wrong = lake.config(pipeline(broker, ["not-there"], columns="[{name: id, type: string}]"))
    done = firn("check", wrong)
    assert done.code == 2
    assert "not-there" in done.err and "id" in done.err and "string" in done.err


def test_dry_run_writes_nothing(broker, topic, lake):
    out = firn("run", "--dry-run", lake.config(pipeline(broker, [topic], columns=None))).ok().out
    assert "id bigint" in out and "\"text\":\"order " in out
    assert not list(lake.folder.rglob("*.parquet")) and not list(lake.folder.rglob("*.metadata.json"))


def test_summary_has_lines_that_work_when_pasted(broker, topic, lake):
    out = firn("run", lake.config(pipeline(broker, [topic])), "--until-caught-up").ok().out
    assert "1,000 rows to lake.shop.orders in 1 commit, " in out
    snippet = re.search(r"PyIceberg +(load_catalog.*)", out).group(1)
    from pyiceberg.catalog import load_catalog

    assert eval(snippet, {"load_catalog": load_catalog}).num_rows == 1000  # noqa: S307
    query = re.search(r"DuckDB +(SELECT.*;)", out).group(1)
    from readers import duckdb_session

    assert duckdb_session().execute(query).fetchone() == (1000,)


def test_status_metrics_and_health_of_a_running_process(broker, topic, lake, tmp_path):
    address = f"127.0.0.1:{free_port()}"
    config = lake.config(pipeline(broker, [topic]) + f"listen: {address}\n")
    running = start_firn("run", config, log=tmp_path / "log")
    wait_until(lambda: get(address, "/health/ready")[0] == 200, what="readiness")
    assert get(address, "/health/live")[0] == 200

    def landed():
        status = json.loads(firn("status", "-c", config, "--json").ok().out)["pipelines"][0]
        return status if status["rows-committed"] == 1000 and status["lag-records"] == 0 else None

    status = wait_until(landed, what="1,000 rows in the status")
    assert status["id"] == "orders" and status["state"] == "RUNNING" and status["table"] == "lake.shop.orders"
    text = firn("status", "--at", address).ok().out
    assert text.splitlines()[0].startswith("PIPELINE\tSTATE\tTABLE") and "1,000" in text
    metrics = get(address, "/metrics")[1]
    assert 'firn_rows_committed_total{pipeline="orders",table="shop.orders"} 1000' in metrics or re.search(
        r'firn_rows_committed_total\{pipeline="orders",table="[^"]*orders"\} 1000', metrics
    )
    assert "firn_memory_limit_bytes" in metrics
    assert get(address, "/nothing")[0] == 404
    assert running.stop() == 0
    assert "listening" in running.output


def test_port_that_is_taken_is_told_before_anything_runs(broker, topic, lake):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = firn("run", lake.config(pipeline(broker, [topic]) + f"listen: 127.0.0.1:{port}\n"), "--until-caught-up")
    assert done.code == 2 and str(port) in done.err
    assert not list(lake.folder.rglob("*.parquet"))


def test_one_pipeline_that_fails_does_not_take_the_other_along(broker, topic, lake):
    good = pipeline(broker, [topic])
    bad = pipeline(broker, ["not-there"], table="lake.shop.others", key="others").removeprefix("pipelines:\n")
    done = firn("run", lake.config(good + bad), "--until-caught-up", timeout_s=180)
    assert done.code in (1, 2), done.err
    assert "not-there" in done.out + done.err
    assert lake.read("shop.orders").num_rows == 1000


def test_sigterm_commits_what_is_in_flight_and_leaves_with_zero(broker, topic, lake, tmp_path):
    config = lake.config(pipeline(broker, [topic], interval="10m"))
    running = start_firn("run", config, log=tmp_path / "log")
    wait_until(lambda: lake.pyiceberg().load_table("shop.orders").current_snapshot(), what="the first snapshot")
    time.sleep(3)  # the records are read and wait for an interval that does not end
    assert running.stop() == 0, running.output
    assert lake.read("shop.orders").num_rows == 1000


def test_second_signal_leaves_at_once(own_broker, lake, tmp_path):
    own_broker.create_topic("t")
    own_broker.produce("t", orders(0, 10))
    config = lake.config(pipeline(own_broker, ["t"], interval="10m"))
    running = start_firn("run", config, log=tmp_path / "log")
    wait_until(lambda: lake.pyiceberg().load_table("shop.orders").current_snapshot(), what="the first snapshot")
    running.process.send_signal(signal.SIGTERM)
    running.process.send_signal(signal.SIGTERM)
    # The flush of ten rows may be faster than the second signal: then it ended well.
    assert running.wait(30) in (0, 143)


def test_logs_are_json_lines_when_asked(broker, topic, lake):
    err = firn("--log-format", "json", "run", lake.config(pipeline(broker, [topic])), "--until-caught-up").ok().err
    lines = [json.loads(line) for line in err.splitlines()]
    assert lines and all({"time", "level", "message"} <= line.keys() for line in lines)


def test_terminal_shows_a_live_line_below_the_log(broker, topic, lake):
    config = lake.config(pipeline(broker, [topic]))
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    process = subprocess.Popen([str(BINARY), "run", str(config)], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
    os.close(theirs)
    seen = b""
    deadline = time.monotonic() + 30
    while b"commit" not in seen.split(b"rows/s")[-1] or b"RUNNING" not in seen:
        assert time.monotonic() < deadline, seen
        seen += os.read(ours, 65536)
    process.send_signal(signal.SIGINT)
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:
            break
        if not chunk:
            break
        seen += chunk
    assert process.wait(30) == 0
    os.close(ours)
    text = seen.decode()
    assert "rows/s" in text and "\x1b[1A\x1b[J" in text
    assert "Read it:" in text.rpartition("\x1b[J")[2]
