"""`firn init`: a pipeline file out of a sample, that check accepts and run runs."""

from __future__ import annotations

import json
import subprocess

import pytest
from firn import firn
from readers import read_pyiceberg


def records(count: int) -> list[str]:
    return [
        json.dumps(
            {
                "id": i,
                "placed_at": f"2026-01-{1 + i % 28:02d}T10:00:00Z",
                "amount": i + 0.25,
                "seen": 1_700_000_000_000 + i,
                "customer": {"name": f"c{i}", "tags": ["a", "b"]},
            }
        )
        for i in range(count)
    ]


@pytest.fixture
def topic(broker, request):
    broker.create_topic(request.node.name, partitions=1)
    broker.produce(request.node.name, records(500))
    return request.node.name


def test_init_writes_a_file_that_check_accepts_and_run_runs(broker, topic, tmp_path):
    made = firn("init", "--kafka", broker.bootstrap, "--topic", topic, "--table", "lake.shop.orders", "-o", "orders.yaml", cwd=tmp_path)
    assert "wrote orders.yaml" in made.ok().out
    text = (tmp_path / "orders.yaml").read_text()
    assert "from 500 records of the topic" in text
    assert "'type: timestamptz' would keep it as one\n          - {name: placed_at, type: string}" in text
    assert "'type: timestamptz, unit: millis' would keep it as one\n          - {name: seen, type: long}" in text
    assert "'type: decimal(18, 2)' would keep it as one\n          - {name: amount, type: double}" in text
    assert 'type: "struct<name: string, tags: list<string>>"' in text
    firn("check", "orders.yaml", cwd=tmp_path).ok()
    assert not (tmp_path / "lake" / "warehouse").exists(), "a sample makes no table"

    # The hints hold: taking all of them keeps every record.
    text = text.replace("{name: placed_at, type: string}", "{name: placed_at, type: timestamptz}")
    text = text.replace("{name: seen, type: long}", "{name: seen, type: timestamptz, unit: millis}")
    text = text.replace("{name: amount, type: double}", '{name: amount, type: "decimal(18, 2)"}')
    text = text.replace("# partition_by", "partition_by")
    (tmp_path / "orders.yaml").write_text(text)
    firn("run", "orders.yaml", "--until-caught-up", "--fail-on-dead-letters", cwd=tmp_path).ok()
    rows = read_pyiceberg(tmp_path / "lake" / "catalog.db", tmp_path / "lake" / "warehouse", "shop.orders")
    assert rows.num_rows == 500 and str(rows.schema.field("amount").type) == "decimal128(18, 2)"


def test_init_prints_to_a_pipe_and_keeps_files_that_are_there(broker, topic, tmp_path):
    out = firn("init", "--kafka", broker.bootstrap, "--topic", topic, cwd=tmp_path).ok().out
    assert f"name: lake.raw.{topic}" in out and not list(tmp_path.iterdir())
    (tmp_path / "mine.yaml").write_text("precious")
    done = firn("init", "--kafka", broker.bootstrap, "--topic", topic, "-o", "mine.yaml", cwd=tmp_path)
    assert done.code == 2 and "mine.yaml is there already" in done.err
    assert (tmp_path / "mine.yaml").read_text() == "precious"


def test_init_of_a_topic_that_is_empty_or_not_there_says_so(broker, tmp_path):
    broker.create_topic("init-empty", partitions=1)
    done = firn("init", "--kafka", broker.bootstrap, "--topic", "init-empty", "-o", "empty.yaml", cwd=tmp_path)
    assert done.code == 2 and "no records to infer columns from" in done.err
    done = firn("init", "--kafka", broker.bootstrap, "--topic", "init-not-there", "-o", "none.yaml", cwd=tmp_path)
    assert done.code == 2 and "init-not-there" in done.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "--kafka"),
        (["--kafka", "localhost:1"], "--topic"),
        (["--kafka", "localhost:1", "--topic", "t", "--files", "x"], "--files"),
        (["--kafka", "localhost:1", "--topic", "t", "--property", "broken"], "NAME=VALUE"),
        (["--kafka", "localhost:1", "--topic", "t", "--property", "no.such.property=1"], "no.such.property"),
        (["--kafka", "localhost:1", "--topic", "t", "--format", "jsn"], "json"),
        (["--kafka", "localhost:1", "--topic", "t", "--table", "orders"], "catalog.namespace.table"),
    ],
)
def test_init_told_wrongly_names_the_remedy(arguments, words, tmp_path):
    done = firn("init", *arguments, cwd=tmp_path)
    assert done.code == 2 and words in done.err, done.err
