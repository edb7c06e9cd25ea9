"""Tables on S3: a SQLite catalog whose warehouse is a bucket of a real S3 server."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow as pa
import pytest
from firn import firn
from kafka_broker import ROOT
from s3_server import Proxy, S3Server, no_keys, throttle


class S3Lake:
    """The catalog `lake` in a test's own folder, its warehouse in a bucket of the test's own."""

    def __init__(self, folder: Path, s3: S3Server, bucket: str):
        self.folder, self.s3, self.bucket = folder, s3, bucket
        s3.make_bucket(bucket)

    def config(self, endpoint: str | None = None, **more: str) -> Path:
        path = self.folder / "firn.yaml"
        path.write_text(
            f"catalogs:\n  lake:\n    type: sql\n    uri: sqlite:{self.folder}/catalog.db\n    warehouse: s3://{self.bucket}/warehouse\n"
            f"    s3: {self.s3.catalog_keys(endpoint, **more)}\n"
        )
        return path

    def firn(self, *arguments, endpoint: str | None = None, env: dict | None = None, **more: str):
        return firn(*arguments, "-c", self.config(endpoint, **more), env=self.s3.environment if env is None else env)

    def pyiceberg(self):
        from pyiceberg.catalog.sql import SqlCatalog

        return SqlCatalog(
            "lake", uri=f"sqlite:///{self.folder}/catalog.db", warehouse=f"s3://{self.bucket}/warehouse", init_catalog_tables="false",
            **self.s3.pyiceberg_properties,
        )  # fmt: skip


@pytest.fixture
def s3_lake(tmp_path, s3, request) -> S3Lake:
    return S3Lake(tmp_path, s3, request.node.name.replace("_", "-").removeprefix("test-")[:50].strip("-"))


COLUMNS = ("--column", "id long required", "--column", "origin string", "--column", "day date", "--partition-by", "day")


def rows(first: int, count: int) -> pa.Table:
    from datetime import date

    schema = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("origin", pa.string()), pa.field("day", pa.date32())])
    return pa.table(
        {"id": list(range(first, first + count)), "origin": ["SEA"] * count, "day": [date(2024, 1, 1 + i % 2) for i in range(count)]}, schema=schema
    )


def test_table_is_made_shown_read_and_dropped(s3_lake):
    s3_lake.firn("table", "create", "lake.travel.flights", *COLUMNS).ok()
    table = s3_lake.pyiceberg().load_table("travel.flights")
    assert table.location() == f"s3://{s3_lake.bucket}/warehouse/travel/flights"
    table.append(rows(0, 100))
    table.append(rows(100, 50))
    shown = s3_lake.firn("table", "show", "lake.travel.flights").ok().out
    assert "150 rows, 4 data files" in shown
    read = s3_lake.firn("table", "read", "lake.travel.flights", "--format", "jsonl").ok().out
    assert sorted(json.loads(line)["id"] for line in read.splitlines()) == list(range(150))
    assert len(s3_lake.s3.keys(s3_lake.bucket)) > 10
    s3_lake.firn("table", "drop", "lake.travel.flights", "--purge").ok()
    assert s3_lake.s3.keys(s3_lake.bucket) == []


def test_table_on_a_store_that_throttles_a_third_of_all_requests(s3_lake):
    with Proxy(s3_lake.s3.endpoint, before=throttle(0.3)) as proxy:
        s3_lake.firn("table", "create", "lake.travel.flights", *COLUMNS, endpoint=proxy.endpoint).ok()
        s3_lake.pyiceberg().load_table("travel.flights").append(rows(0, 100))
        read = s3_lake.firn("table", "read", "lake.travel.flights", "--format", "jsonl", endpoint=proxy.endpoint).ok().out
        assert len(read.splitlines()) == 100
        s3_lake.firn("table", "drop", "lake.travel.flights", "--purge", endpoint=proxy.endpoint).ok()
        assert any(one.status == 503 for one in proxy.seen)
    assert s3_lake.s3.keys(s3_lake.bucket) == []


def test_file_is_read_with_few_requests(s3_lake):
    """Thirty columns, three of them read: one request for the footer, one for the columns that lie near each other."""
    names = [f"c{i:02d}" for i in range(30)]
    s3_lake.firn("table", "create", "lake.travel.wide", *(part for name in names for part in ("--column", f"{name} long"))).ok()
    generator = pa.table({name: [(i * 7919 + int(name[1:]) * 104729) % 1_000_003 for i in range(30_000)] for name in names})
    s3_lake.pyiceberg().load_table("travel.wide").append(generator)
    with Proxy(s3_lake.s3.endpoint) as proxy:
        wanted = s3_lake.firn("table", "read", "lake.travel.wide", "--columns", "c00,c01,c03", "--format", "jsonl", endpoint=proxy.endpoint).ok().out
        assert json.loads(wanted.splitlines()[1]) == {"c00": 7919, "c01": (7919 + 104729) % 1_000_003, "c03": (7919 + 3 * 104729) % 1_000_003}
        reads = [one for one in proxy.seen if one.path.endswith(".parquet")]
        assert [one.method for one in reads] == ["GET", "GET"], reads
        assert reads[0].headers["range"] == f"bytes=-{128 << 10}" and "if-match" in reads[1].headers
        metadata = [one for one in proxy.seen if one.path.endswith((".json", ".avro"))]
        assert len(metadata) == len({one.path for one in metadata}) == 3, metadata


def test_new_objects_are_as_the_configuration_says(s3_lake):
    with Proxy(s3_lake.s3.endpoint) as proxy:
        s3_lake.firn("table", "create", "lake.travel.flights", *COLUMNS, endpoint=proxy.endpoint, **{"storage-class": "STANDARD"}).ok()
        put = next(one for one in proxy.seen if one.method == "PUT")
        assert put.headers["x-amz-storage-class"] == "STANDARD" and put.headers["if-none-match"] == "*"


def test_refusals_name_place_reason_and_remedy(s3_lake):
    table = ("table", "create", "lake.travel.flights", *COLUMNS)
    wrong = s3_lake.firn(*table, env={**s3_lake.s3.environment, "AWS_SECRET_ACCESS_KEY": "hush-hush"})
    assert wrong.code != 0 and "SignatureDoesNotMatch" in wrong.err and f"s3://{s3_lake.bucket}/warehouse" in wrong.err
    assert "hush-hush" not in wrong.err
    nothing = s3_lake.firn(*table, env=no_keys(s3_lake.folder))
    assert nothing.code != 0 and "no AWS keys found" in nothing.err and "AWS_ACCESS_KEY_ID" in nothing.err
    s3_lake.bucket = "not-there-at-all"
    missing = s3_lake.firn(*table)
    assert missing.code != 0 and "NoSuchBucket" in missing.err and "Create the bucket" in missing.err
    s3_lake.s3.make_bucket("not-there-at-all")
    s3_lake.firn(*table).ok()


def test_wrong_keys_of_the_s3_map_are_told_at_once(s3_lake):
    done = firn("table", "list", "-c", s3_lake.config(sse="aes", regionn="x"))
    assert done.code == 2 and "aes" in done.err and 'did you mean "region"' in done.err, done.err
    done = firn("table", "list", "-c", s3_lake.config(endpoint="localhost:9000", **{"access-key-id": "only-one"}))
    assert done.code == 2 and "http://host:port" in done.err and "together" in done.err, done.err


def test_files_of_a_bucket_are_read_into_tables_on_one_while_a_third_of_all_requests_is_throttled(s3_lake):
    """The whole way: listing and reading source files, data files, manifests, metadata; each row once."""
    for number in range(4):
        with s3_lake.s3.filesystem.open_output_stream(f"{s3_lake.bucket}/landing/day=2024-01-0{number}/a b+{number}.jsonl") as file:
            file.write("".join(f'{{"id": {number * 1000 + i}, "text": "row {i}"}}\n' for i in range(1000)).encode())
    with Proxy(s3_lake.s3.endpoint, before=throttle(0.3)) as proxy:
        config = s3_lake.config(proxy.endpoint)
        config.write_text(
            config.read_text() + f"""\
pipelines:
  landing:
    source:
      files: {{path: "s3://{s3_lake.bucket}/landing/**/*.jsonl", mode: once, min_age: 0ms, s3: {s3_lake.s3.catalog_keys(proxy.endpoint)}}}
    decode: json
    tables:
      - name: lake.travel.rows
        columns: [{{name: id, type: long}}, {{name: text, type: string}}]
"""
        )
        for _ in range(2):  # the second run finds nothing new
            firn("run", config, env=s3_lake.s3.environment, timeout_s=200).ok()
        assert any(one.status == 503 and "/landing/" in one.path for one in proxy.seen)
    ids = s3_lake.pyiceberg().load_table("travel.rows").scan().to_arrow()["id"].to_pylist()
    assert sorted(ids) == list(range(4000))
    assert s3_lake.s3.open_uploads(s3_lake.bucket) == []


def test_example_of_the_documentation_works(s3, tmp_path):
    example = re.search(r"```yaml\n(.*?)```", (ROOT / "docs/s3.md").read_text(), re.DOTALL).group(1)
    s3.make_bucket("lake")
    (tmp_path / "lake").mkdir()
    config = tmp_path / "firn.yaml"
    config.write_text(example.replace("http://localhost:9000", s3.endpoint))
    firn("table", "create", "lake.travel.flights", *COLUMNS, "-c", config, env=s3.environment).ok()
    assert [key for key in s3.keys("lake") if key.startswith("warehouse/travel/flights/metadata/")]
