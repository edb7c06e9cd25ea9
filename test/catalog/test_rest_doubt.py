"""Doubt about a commit to a REST catalog: answers that are lost, late, doubled and wrong, past the client's patience and past its life.

Whatever happens, each record comes once, nothing is deleted while it is not known whether a commit was applied, and what stays unknown ends
the run with exit code 3 and the list of the files that were kept. The plain faults of a commit are in test_rest.py.
"""

from __future__ import annotations

import random
import re
import time
from pathlib import Path
from uuid import uuid4

import pytest
from firn import firn, start_firn, wait_until
from pipelines import orders, pipeline
from readers import local_path
from rest_proxy import COMMIT, Held, RestProxy, answers, delays, loses_answer, loses_request, repeats, repeats_later, says
from rest_server import RestLake

HTML = "<html><title>Blocked</title></html>"
PATIENCE_S = 4
TABLES = r"/namespaces/[^/]+/tables/[^/?]+$"
SOON = 'properties: {commit.retry.total-timeout-ms: "2000", commit.retry.max-wait-ms: "300"}'


@pytest.fixture
def ns():
    return f"d{uuid4().hex[:12]}"


@pytest.fixture
def topic(broker, ns):
    broker.create_topic(ns, partitions=2)
    return ns


@pytest.fixture
def proxy(rest_server):
    with RestProxy(rest_server.uri) as running:
        yield running


@pytest.fixture
def lake(request, tmp_path, rest_server, proxy):
    keys = {"rest.client.max-retries": "0"}
    if "timed_out" in request.node.name:
        keys["rest.client.socket-timeout-ms"] = str(PATIENCE_S * 1000)
    return RestLake(tmp_path, rest_server, proxy.uri, keys=keys)


@pytest.fixture
def config(request, lake, broker, topic, ns):
    limit = SOON if "unknown" in request.node.name else ""
    return lake.config(pipeline(broker, [topic], table=f"lake.{ns}.orders", interval="300ms", table_extra=limit))


def ids(lake, ns) -> list[int]:
    """Reads every file that the table names."""
    return sorted(lake.read(f"{ns}.orders").column("id").to_pylist())


def count(lake, ns) -> int:
    """As the head's summary says."""
    return int(lake.pyiceberg().load_table(f"{ns}.orders").current_snapshot().summary["total-records"])


def files_named_in(text: str) -> list[str]:
    kept = re.search(r"its files were kept: ([^\n\"]*)", text)
    assert kept, text
    return re.findall(r"file:[^\s,\"]+\.(?:parquet|avro)", kept.group(1))


# --- answers that say something else than what happened

FAULTS = {
    "carried_out_502_html": says(502, HTML, "text/html"),
    "carried_out_503": says(503, '{"error":{"message":"busy","type":"ServiceUnavailableException","code":503}}'),
    "carried_out_504_html": says(504, HTML, "text/html"),
    "carried_out_408": says(408),
    "carried_out_404_html": says(404, HTML, "text/html"),
    "carried_out_403_html": says(403, HTML, "text/html"),
    "carried_out_401_of_a_gateway": says(401, '{"message":"Unauthorized"}'),
    "carried_out_301": says(301, HTML, "text/html"),
    "carried_out_204": says(204),
    "nothing_done_500": answers(500, HTML, "text/html"),
    "nothing_done_502": answers(502, HTML, "text/html"),
    "nothing_done_504": answers(504, HTML, "text/html"),
    "nothing_done_409": answers(409, '{"error":{"message":"no","type":"CommitFailedException","code":409}}'),
    "second_copy_later": repeats_later(2),
    "delayed_past_the_timeout": delays(PATIENCE_S + 2),
}


def test_each_row_comes_once_whatever_is_said_about_its_commit(broker, topic, lake, proxy, config, ns):
    """One process meets all of them, each with a batch of its own."""
    broker.produce(topic, orders(0, 50))
    firn("run", config, "--until-caught-up").ok()
    lake.keys["rest.client.socket-timeout-ms"] = str(PATIENCE_S * 1000)
    impatient = lake.config(pipeline(broker, [topic], table=f"lake.{ns}.orders", interval="300ms"))
    running = start_firn("run", impatient, log=lake.folder / "run.log")
    for number, (name, fault) in enumerate(FAULTS.items(), start=1):
        proxy.fail(fault)
        broker.produce(topic, orders(number * 50, 50))
        wait_until(lambda: count(lake, ns) == (number + 1) * 50, 60, what=f"rows whose commit was {name}")  # noqa: B023
        assert proxy.waiting() == 0, name
        assert running.alive(), running.output
    assert running.stop() == 0, running.output
    assert ids(lake, ns) == list(range((len(FAULTS) + 1) * 50))


@pytest.mark.parametrize("skip", [0, 1], ids=["marker", "batch"])
@pytest.mark.parametrize("fault", ["pretended", "answer_lost", "request_lost", "sent_twice"])
def test_first_run_with_its_marker_or_batch(fault, skip, broker, topic, lake, proxy, config, ns):
    proxy.fail({"pretended": proxy.pretends, "answer_lost": loses_answer, "request_lost": loses_request, "sent_twice": repeats}[fault], skip=skip)
    broker.produce(topic, orders(0, 100))
    firn("run", config, "--until-caught-up").ok()
    assert ids(lake, ns) == list(range(100))
    assert proxy.waiting() == 0


@pytest.mark.parametrize("fault", ["pretended", "answer_lost", "request_lost", "sent_twice", "refused_by_a_firewall"])
def test_new_column_is_committed_once_when_its_commit_is(fault, broker, topic, lake, proxy, ns):
    """A commit without snapshot: it has no id to be found in the history, the table itself shows whether it is in."""
    config = lake.config(pipeline(broker, [topic], table=f"lake.{ns}.orders", columns=None, table_extra="schema_evolution: add"))
    broker.produce(topic, ['{"id": 1}'])
    firn("run", config, "--until-caught-up").ok()
    kinds = {
        "pretended": proxy.pretends,
        "answer_lost": loses_answer,
        "request_lost": loses_request,
        "sent_twice": repeats,
        "refused_by_a_firewall": says(403, HTML, "text/html"),
    }
    proxy.fail(kinds[fault])
    broker.produce(topic, ['{"id": 2, "more": "x"}'])
    done = firn("run", config, "--until-caught-up")
    assert done.code == (1 if fault == "refused_by_a_firewall" else 0), done.err
    assert proxy.waiting() == 0
    firn("run", config, "--until-caught-up").ok()
    table = lake.pyiceberg().load_table(f"{ns}.orders")
    assert [field.name for field in table.schema().fields] == ["id", "more"]
    assert sorted(row["id"] for row in table.scan().to_arrow().to_pylist()) == [1, 2]


@pytest.mark.parametrize("what", ["namespace", "table"])
@pytest.mark.parametrize("fault", ["answer_lost", "request_lost", "sent_twice", "carried_out_500"])
def test_making_the_table_in_doubt(fault, what, broker, topic, lake, proxy, config, ns):
    faults = {"answer_lost": loses_answer, "request_lost": loses_request, "sent_twice": repeats, "carried_out_500": says(500, HTML, "text/html")}
    proxy.fail(faults[fault], path=r"/namespaces$" if what == "namespace" else r"/namespaces/[^/]+/tables$")
    broker.produce(topic, orders(0, 100))
    assert firn("run", config, "--until-caught-up").code in (0, 1)
    assert proxy.waiting() == 0
    firn("run", config, "--until-caught-up").ok()
    assert ids(lake, ns) == list(range(100))


def test_an_old_answer_about_the_table_loses_and_doubles_nothing(broker, topic, lake, proxy, config, ns):
    """A cache between us and the catalog gives the table as it was before our last commit."""
    broker.produce(topic, orders(0, 100))
    firn("run", config, "--until-caught-up").ok()
    remembered: list = []

    def remember(asked, forward):
        remembered.append(forward())
        return remembered[-1]

    def give_old(asked, forward):
        return remembered[-1]

    proxy.fail(remember, method="GET", path=TABLES)
    running = start_firn("run", config, log=lake.folder / "run.log")
    broker.produce(topic, orders(100, 100))
    wait_until(lambda: count(lake, ns) == 200, 60, what="rows of the second round")
    proxy.fail(give_old, method="GET", path=TABLES)
    broker.produce(topic, orders(200, 100))
    wait_until(lambda: count(lake, ns) == 300, 60, what="rows of the third round")
    assert running.stop() == 0, running.output
    assert proxy.waiting() == 0
    assert ids(lake, ns) == list(range(300))


# --- requests that arrive after their sender


@pytest.mark.parametrize("how", ["timed_out", "killed"])
def test_commit_that_arrives_after_its_sender_was_replaced_is_refused(how, broker, topic, lake, proxy, config, ns):
    held = Held()
    proxy.fail(held, skip=1)
    broker.produce(topic, orders(0, 100))
    running = start_firn("run", config, "--until-caught-up", log=lake.folder / "first.log")
    assert held.caught.wait(60), running.output
    if how == "killed":
        running.kill()
        firn("run", config, "--until-caught-up").ok()
    else:
        assert running.wait() == 0, running.output
    assert ids(lake, ns) == list(range(100))
    assert held.deliver() == 409
    broker.produce(topic, orders(100, 100))
    firn("run", config, "--until-caught-up").ok()
    assert ids(lake, ns) == list(range(200))


@pytest.mark.parametrize("more", [0, 50], ids=["same_records", "more_records"])
def test_commit_of_a_killed_process_that_arrives_before_its_successors(more, broker, topic, lake, proxy, config, ns):
    held = Held()
    proxy.fail(held, skip=1)
    broker.produce(topic, orders(0, 100))
    first = start_firn("run", config, "--until-caught-up", log=lake.folder / "first.log")
    assert held.caught.wait(60), first.output
    first.kill()
    broker.produce(topic, orders(100, more))
    statuses = []

    def after_the_late_one(asked, forward):
        statuses.append(held.deliver())
        return forward()

    proxy.fail(after_the_late_one)
    firn("run", config, "--until-caught-up").ok()
    assert statuses == [200]
    assert ids(lake, ns) == list(range(100 + more))


# --- what stays unknown


@pytest.mark.parametrize("carried_out", [True, False], ids=["carried_out", "nothing_done"])
def test_unknown_after_the_time_limit_ends_with_3_and_the_files(carried_out, broker, topic, lake, proxy, config, ns):
    def goes_dark(asked, forward):
        if carried_out:
            forward()
        proxy.fail(answers(503, HTML, "text/html"), method="GET", path=TABLES, times=-1)
        proxy.fail(loses_request, times=-1)

    proxy.fail(goes_dark, skip=1)
    broker.produce(topic, orders(0, 100))
    done = firn("run", config, "--until-caught-up")
    assert done.code == 3, done.err
    assert "not known whether the last commit was applied" in done.err + done.out
    kept = files_named_in(done.err + done.out)
    assert any(file.endswith(".parquet") for file in kept) and any("/snap-" in file for file in kept), kept
    for file in kept:
        assert Path(local_path(file)).exists(), f"{file} was deleted while the commit was in doubt"
    proxy.heal()
    firn("run", config, "--until-caught-up").ok()
    assert ids(lake, ns) == list(range(100))
    for file in kept:
        assert Path(local_path(file)).exists(), f"{file}: what was unknown once is nobody's to delete but the aged clean-up's"


def test_unknown_marker_ends_with_3(broker, topic, lake, proxy, config, ns):
    proxy.fail(answers(500, HTML, "text/html"), times=-1)
    broker.produce(topic, orders(0, 100))
    done = firn("run", config, "--until-caught-up")
    assert done.code == 3, done.err
    assert files_named_in(done.err + done.out)
    proxy.heal()
    firn("run", config, "--until-caught-up").ok()
    assert ids(lake, ns) == list(range(100))


def test_unknown_dead_letters_end_with_3_and_the_batch_waits(broker, topic, lake, proxy, config, ns):
    broker.produce(topic, [*orders(0, 50), "{broken"])
    firn("run", config, "--until-caught-up").ok()
    letters = lake.pyiceberg().load_table(f"{ns}.orders_dead_letters")
    with letters.transaction() as change:
        change.set_properties({"commit.retry.total-timeout-ms": "1000"})
    proxy.fail(answers(500, HTML, "text/html"), path=r"/tables/orders_dead_letters$", times=-1)
    broker.produce(topic, [*orders(50, 50), "{broken too"])
    done = firn("run", config, "--until-caught-up")
    assert done.code == 3, done.err
    assert all(Path(local_path(file)).exists() for file in files_named_in(done.err + done.out))
    assert ids(lake, ns) == list(range(50)), "no batch goes before its dead letters"
    proxy.heal()
    firn("run", config, "--until-caught-up").ok()
    assert ids(lake, ns) == list(range(100))
    assert lake.read(f"{ns}.orders_dead_letters").num_rows == 2


# --- all of it


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_answer_may_be_wrong_for_a_while(seed, broker, topic, lake, proxy, ns):
    """A third of the commits and a tenth of the reads meet a fault; kills in between."""
    session = 'properties: {session.timeout.ms: "1000", heartbeat.interval.ms: "300"}'
    config = lake.config(pipeline(broker, [topic], table=f"lake.{ns}.orders", interval="300ms", table_extra=SOON, source_extra=session))
    rng = random.Random(seed)
    commits = [*FAULTS.values(), proxy.pretends, loses_answer, loses_request, repeats]
    reads = [answers(503, HTML, "text/html"), loses_request, answers(200, HTML, "text/html"), answers(502)]

    def sometimes(share, faults):
        return lambda asked, forward: rng.choice(faults)(asked, forward) if rng.random() < share else forward()

    proxy.fail(sometimes(0.33, commits), path=COMMIT, times=-1)
    proxy.fail(sometimes(0.1, reads), method="GET", path=TABLES, times=-1)
    sent = 0
    for life in range(3):
        running = start_firn("run", config, log=lake.folder / f"{life}.log")
        for _ in range(6):
            broker.produce(topic, orders(sent, 50))
            sent += 50
            time.sleep(0.5)
        running.kill()  # it may have ended by itself: unknown for too long, or refused
    proxy.heal()
    wait_until(lambda: firn("run", config, "--until-caught-up").code == 0, 60, what="a clean run")
    assert ids(lake, ns) == list(range(sent)), f"seed {seed}"
