"""The REST catalog against Iceberg's own server: commands, PyIceberg beside it, the main job, and the bad days in between."""

from __future__ import annotations

import json
import subprocess
import time

import pyarrow as pa
import pytest
from firn import firn, start_firn, wait_until
from kafka_broker import ROOT
from pipelines import orders, pipeline
from rest_proxy import RestProxy, answers, delays, delivers_late, falsifies, loses_answer, loses_request, repeats
from rest_server import RestLake


@pytest.fixture
def ns(request):
    return "n" + "".join(c if c.isalnum() else "_" for c in request.node.name.removeprefix("test_"))[:60]


@pytest.fixture
def topic(broker, ns):
    broker.create_topic(ns, partitions=2)
    return ns


def ids(lake, table: str) -> list[int]:
    return sorted(lake.read(table).column("id").to_pylist())


# --- commands, and PyIceberg beside them


def test_tables_are_made_listed_shown_and_dropped(rest_lake, ns):
    config = rest_lake.config()
    made = firn("table", "create", f"lake.{ns}.t", "--column", "id:long", "--column", "at:timestamp", "--partition-by", "day(at)",
                "--property", "a=b", "-c", config).ok()  # fmt: skip
    assert "created" in made.out
    table = rest_lake.pyiceberg().load_table(f"{ns}.t")
    assert [f.name for f in table.schema().fields] == ["id", "at"]
    assert table.properties["a"] == "b"
    assert str(table.spec().fields[0].transform) == "day"
    assert f"lake.{ns}.t" in firn("table", "list", f"lake.{ns}", "-c", config).ok().out
    assert "day(at)" in firn("table", "show", f"lake.{ns}.t", "-c", config).ok().out
    again = firn("table", "create", f"lake.{ns}.t", "--column", "id:long", "-c", config)
    assert again.code == 2 and "already exists" in again.err.lower(), again.err
    firn("table", "drop", f"lake.{ns}.t", "-c", config).ok()
    assert rest_lake.pyiceberg().list_tables(ns) == []
    missing = firn("table", "show", f"lake.{ns}.t", "-c", config)
    assert missing.code == 2 and "does not exist" in missing.err, missing.err


def test_format_version_3_and_sort_order_arrive(rest_lake, ns):
    firn("table", "create", f"lake.{ns}.t", "--column", "id:long", "--sort-by", "id", "--format-version", "3", "-c", rest_lake.config()).ok()
    table = rest_lake.pyiceberg().load_table(f"{ns}.t")
    assert table.metadata.format_version == 3
    assert table.sort_order().fields[0].source_id == 1


def test_namespaces_of_several_levels_and_names_to_be_encoded(rest_lake, ns):
    catalog = rest_lake.pyiceberg()
    for levels in ((ns,), (ns, "über x"), (ns, "über x", "c")):
        catalog.create_namespace(levels)
    catalog.create_table((ns, "über x", "c", "a b+2"), pa.schema([("id", pa.int64())]))
    done = firn("table", "list", f"lake.{ns}.über x.c", "--json", "-c", rest_lake.config()).ok()
    assert "a b+2" in json.dumps(json.loads(done.out), ensure_ascii=False)
    firn("table", "schema", f"lake.{ns}.über x.c.a b+2", "-c", rest_lake.config()).ok()


def test_pyicebergs_rows_are_read(rest_lake, ns):
    catalog = rest_lake.pyiceberg()
    catalog.create_namespace(ns)
    table = catalog.create_table(f"{ns}.t", pa.schema([("id", pa.int64()), ("text", pa.string())]))
    table.append(pa.table({"id": [1, 2], "text": ["a", "b"]}))
    done = firn("table", "read", f"lake.{ns}.t", "-c", rest_lake.config(), "--format", "jsonl").ok()
    assert [json.loads(line) for line in done.out.splitlines()] == [{"id": 1, "text": "a"}, {"id": 2, "text": "b"}]


# --- the main job


def test_main_job(broker, topic, rest_lake, ns):
    broker.produce(topic, orders(0, 5000))
    config = rest_lake.config(pipeline(broker, [topic], table=f"lake.{ns}.orders"))
    done = firn("run", config, "--until-caught-up").ok()
    assert 'type="rest"' in done.out
    broker.produce(topic, orders(5000, 500))
    firn("run", config, "--until-caught-up").ok()
    assert ids(rest_lake, f"{ns}.orders") == list(range(5500))
    assert rest_lake.read_duckdb(f"{ns}.orders").num_rows == 5500


def test_pyiceberg_appends_meanwhile(broker, topic, rest_lake, ns):
    config = rest_lake.config(pipeline(broker, [topic], table=f"lake.{ns}.orders", interval="1s"))
    broker.produce(topic, orders(0, 100))
    firn("run", config, "--until-caught-up").ok()
    running = start_firn("run", config, log=rest_lake.folder / "run.log")
    table = rest_lake.pyiceberg().load_table(f"{ns}.orders")
    expected = list(range(100))
    for round_ in range(4):
        broker.produce(topic, orders(100 + round_ * 100, 100))
        expected += range(100 + round_ * 100, 200 + round_ * 100)
        theirs = pa.table({"id": [10_000 + round_], "text": ["theirs"]}, schema=table.schema().as_arrow())
        append(table, theirs)
        expected.append(10_000 + round_)
    wait_until(lambda: ids(rest_lake, f"{ns}.orders") == sorted(expected), 60, what="all rows of both writers")
    assert running.stop() == 0, running.output


def append(table, rows) -> None:
    """PyIceberg does not try again by itself."""
    for _ in range(20):
        try:
            table.refresh()
            table.append(rows)
            return
        except Exception as error:  # noqa: BLE001
            last = error
            time.sleep(0.2)
    raise last


def test_new_columns_are_committed_with_pins(broker, topic, rest_server, tmp_path, ns):
    with RestProxy(rest_server.uri) as proxy:
        lake = RestLake(tmp_path, rest_server, proxy.uri)
        config = lake.config(pipeline(broker, [topic], table=f"lake.{ns}.orders", columns=None, table_extra="schema_evolution: add"))
        broker.produce(topic, ['{"id": 1}'])
        firn("run", config, "--until-caught-up").ok()
        broker.produce(topic, ['{"id": 2, "more": "x"}'])
        firn("run", config, "--until-caught-up").ok()
        rows = sorted(lake.read(f"{ns}.orders").to_pylist(), key=lambda row: row["id"])
        assert rows == [{"id": 1, "more": None}, {"id": 2, "more": "x"}]
        bodies = [json.loads(asked.body) for asked in proxy.commits()]
        keys = [asked.headers["Idempotency-Key"] for asked in proxy.commits()]
    assert len(set(keys)) == len(keys) and all(len(key) == 36 and key[14] == "7" for key in keys)
    appended = [b for b in bodies if any(u["action"] == "add-snapshot" for u in b["updates"])]
    for body in appended:
        pins = {r["type"] for r in body["requirements"]}
        assert pins >= {"assert-table-uuid", "assert-ref-snapshot-id", "assert-current-schema-id", "assert-default-spec-id"}
    evolved = [b for b in bodies if any(u["action"] == "add-schema" for u in b["updates"])]
    assert len(evolved) == 1
    assert "assert-last-assigned-field-id" in {r["type"] for r in evolved[0]["requirements"]}


# --- bad days


def run_through(broker, topic, lake, ns, *, rows: int = 300):
    """A bounded run, and that each row is there once."""
    broker.produce(topic, orders(0, rows))
    done = firn("run", lake.config(pipeline(broker, [topic], table=f"lake.{ns}.orders")), "--until-caught-up").ok()
    assert ids(lake, f"{ns}.orders") == list(range(rows))
    return done


HTML = "<html><body>We will be back soon</body></html>"

FAULTS = {
    "commit_request_lost": [loses_request],
    "commit_answer_lost": [loses_answer],
    "commit_sent_twice": [repeats],
    "commit_delivered_late": [delivers_late(2)],
    "commit_answered_with_html": [answers(200, HTML, "text/html")],
    "commit_answer_falsified": [falsifies(lambda body: b'{"metadata-location": "x"}')],
    "commit_answer_cut": [falsifies(lambda body: body[: len(body) // 2])],
    "commit_429": [answers(429, "slow down", "text/plain", Retry_After="1"), answers(429, "slow down", "text/plain")],
    "commit_500_applied": [lambda asked, forward: (forward(), answers(500, HTML, "text/html")(asked, forward))[1]],
    "commit_503": [answers(503, HTML, "text/html", Retry_After="1")],
    "commit_404_html": [answers(404, HTML, "text/html")],
    "commit_slow": [delays(2)],
}


@pytest.mark.parametrize("fault", FAULTS)
def test_no_row_is_lost_or_doubled_when(fault, broker, topic, rest_server, tmp_path, ns):
    with RestProxy(rest_server.uri) as proxy:
        for step in FAULTS[fault]:
            proxy.fail(step, skip=1)  # the marker of the first run comes through, the batch does not
        run_through(broker, topic, RestLake(tmp_path, rest_server, proxy.uri), ns)
        assert proxy.waiting() == 0


@pytest.mark.parametrize("body", ["html", "429", "lost", "502"])
def test_reads_are_repeated_when_answered_with(body, broker, topic, rest_server, tmp_path, ns):
    fault = {
        "html": answers(503, HTML, "text/html"),
        "429": answers(429, "slow down", "text/plain", Retry_After="1"),
        "lost": loses_request,
        "502": answers(502, HTML, "text/html"),
    }[body]
    with RestProxy(rest_server.uri) as proxy:
        proxy.fail(fault, method="GET", path="/v1/config")
        proxy.fail(fault, method="GET", path="/namespaces", times=2, skip=1)
        run_through(broker, topic, RestLake(tmp_path, rest_server, proxy.uri), ns)
        assert proxy.waiting() == 0


def test_tokens_are_renewed_when_refused_in_mid_run(broker, topic, rest_server, tmp_path, ns):
    with RestProxy(rest_server.uri) as proxy:
        proxy.demand_tokens()
        lake = RestLake(tmp_path, rest_server, proxy.uri, keys={"credential": '"me:secret"'})
        running = start_firn("run", lake.config(pipeline(broker, [topic], table=f"lake.{ns}.orders")), log=tmp_path / "run.log")
        for round_ in range(3):
            broker.produce(topic, orders(round_ * 100, 100))
            wait_until(lambda: len(ids(lake, f"{ns}.orders")) == (round_ + 1) * 100, 60, what="the rows of a round")  # noqa: B023
            proxy.revoke_tokens()
        assert running.stop() == 0, running.output
        assert ids(lake, f"{ns}.orders") == list(range(300))
        assert proxy.tokens_issued >= 3
        assert "secret" not in running.output.replace("client_secret", "")


def test_token_that_nobody_can_renew_ends_the_run_and_the_next_one_goes_on(broker, topic, rest_server, tmp_path, ns):
    with RestProxy(rest_server.uri) as proxy:
        lake = RestLake(tmp_path, rest_server, proxy.uri, keys={"token": "tok-83"})
        config = lake.config(pipeline(broker, [topic], table=f"lake.{ns}.orders"))
        broker.produce(topic, orders(0, 100))
        firn("run", config, "--until-caught-up").ok()
        broker.produce(topic, orders(100, 100))
        refusal = '{"error":{"message":"Token has ended","type":"NotAuthorizedException","code":401}}'
        proxy.fail(answers(401, refusal))
        done = firn("run", config, "--until-caught-up")
        assert done.code == 1 and proxy.waiting() == 0, done.err
        assert "Token has ended" in done.err + done.out and "Check credential, token" in done.err + done.out
        assert "tok-83" not in done.err + done.out
        firn("run", config, "--until-caught-up").ok()
        assert ids(lake, f"{ns}.orders") == list(range(200))


def test_server_killed_and_restarted_during_a_run(broker, topic, own_rest_server, tmp_path, ns):
    lake = RestLake(tmp_path, own_rest_server)
    running = start_firn("run", lake.config(pipeline(broker, [topic], table=f"lake.{ns}.orders")), log=tmp_path / "run.log")
    broker.produce(topic, orders(0, 100))
    wait_until(lambda: len(ids(lake, f"{ns}.orders")) == 100, 60, what="the first rows")
    for round_ in range(1, 3):
        broker.produce(topic, orders(round_ * 100, 50))
        own_rest_server.kill()
        broker.produce(topic, orders(round_ * 100 + 50, 50))
        time.sleep(3)
        own_rest_server.start()
        wait_until(lambda: len(ids(lake, f"{ns}.orders")) == (round_ + 1) * 100, 90, what="the rows after a restart")  # noqa: B023
    assert running.stop() == 0, running.output
    assert ids(lake, f"{ns}.orders") == list(range(300))


def test_what_is_no_catalog_is_said_with_place_and_remedy(rest_server, tmp_path):
    with RestProxy(rest_server.uri) as proxy:
        proxy.fail(answers(404, HTML, "text/html"), method="GET", path="/v1/config", times=-1)
        lake = RestLake(tmp_path, rest_server, proxy.uri, keys={"rest.client.max-retries": "1"})
        done = firn("table", "list", "-c", lake.config())
        assert done.code == 1, done.err
        for words in (f"{proxy.uri}/v1/config answered 404 with text/html", "We will be back soon", "check uri"):
            assert words in done.err


def test_wrong_credential_is_said_without_the_secret(rest_server, tmp_path):
    with RestProxy(rest_server.uri) as proxy:
        proxy.demand_tokens()
        lake = RestLake(tmp_path, rest_server, proxy.uri, keys={"credential": '"me:wrong-one"'})
        done = firn("table", "list", "-c", lake.config())
        assert done.code != 0
        assert "invalid_client: unknown client" in done.err
        assert "wrong-one" not in done.err


def test_certificate_is_checked_against_the_given_authorities(rest_server, tmp_path):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-days", "2",
         "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"],
        cwd=tmp_path, check=True, capture_output=True,
    )  # fmt: skip
    with RestProxy(rest_server.uri, tls=(tmp_path / "cert.pem", tmp_path / "key.pem")) as proxy:
        keys = {"rest.client.max-retries": "0"}
        refused = firn("table", "list", "-c", RestLake(tmp_path, rest_server, proxy.uri, keys=keys).config())
        assert refused.code == 1 and "certificate" in refused.err, refused.err
        keys["ssl.cabundle"] = "cert.pem"
        firn("table", "list", "-c", RestLake(tmp_path, rest_server, proxy.uri, keys=keys).config()).ok()


# --- the page of the docs


def test_example_of_the_docs(broker, topic, rest_server, tmp_path, ns):
    page = (ROOT / "docs/rest-catalog.md").read_text()
    example = page.split("```yaml\n")[1].split("```")[0]
    assert "http://127.0.0.1:8181" in example
    text = example.replace("http://127.0.0.1:8181", rest_server.uri)
    config = tmp_path / "firn.yaml"
    config.write_text(text + pipeline(broker, [topic], table="lake.shop.orders"))
    broker.produce(topic, orders(0, 10))
    commands = [line.split()[1:] for line in page.splitlines() if line.startswith("    firn ")]
    assert [command[0] for command in commands] == ["table", "table", "run"]
    for command in commands:
        more = ["--until-caught-up"] if command[0] == "run" else []
        firn(*command, *more, cwd=tmp_path).ok()
    assert ids(RestLake(tmp_path, rest_server), "shop.orders") == list(range(10))
