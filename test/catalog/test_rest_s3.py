"""A REST catalog whose warehouse is on S3: with keys of our own, with keys that the catalog vends, and with signatures in their place."""

from __future__ import annotations

import json
import time

import pytest
from firn import firn
from pipelines import orders, pipeline
from rest_proxy import Answer, RestProxy, falsifies
from rest_server import RestLake, RestServer, on_s3
from s3_server import no_keys
from signing_catalog import sign

BUCKET = "rest-lake"
TABLES = r"/namespaces/[^/]+/tables(/[^/]+)?$"


@pytest.fixture(scope="module")
def server(s3, tmp_path_factory):
    s3.make_bucket(BUCKET)
    with RestServer(tmp_path_factory.mktemp("rest"), f"s3://{BUCKET}/warehouse", on_s3(s3)) as running:
        yield running


@pytest.fixture
def ns(request):
    return request.node.name.removeprefix("test_")[:40]


@pytest.fixture
def topic(broker, ns):
    broker.create_topic(ns, partitions=2)
    broker.produce(ns, orders(0, 1000))
    return ns


def lake_over(proxy, server, s3, folder) -> RestLake:
    """Knows nothing of S3 but what the catalog says."""
    return RestLake(folder, server, proxy.uri, properties=s3.pyiceberg_properties)


def run(broker, topic, lake, ns, env):
    firn("run", lake.config(pipeline(broker, [topic], table=f"lake.{ns}.orders")), "--until-caught-up", env=env).ok()
    table = lake.read(f"{ns}.orders")
    assert sorted(table.column("id").to_pylist()) == list(range(1000))
    assert lake.metadata_location(f"{ns}.orders").startswith(f"s3://{BUCKET}/")


def adds(more: dict):
    """Puts something into what loadTable and createTable answer."""

    def change(body: bytes) -> bytes:
        answer = json.loads(body)
        if "metadata" not in answer:
            return body
        answer["config"] = {**(answer.get("config") or {}), **more.get("config", {})}
        if "storage-credentials" in more:
            answer["storage-credentials"] = more["storage-credentials"]
        return json.dumps(answer).encode()

    return falsifies(change)


def where(s3) -> dict[str, str]:
    return {"s3.endpoint": s3.endpoint, "client.region": s3.region, "s3.path-style-access": "true"}


def test_keys_of_our_own(broker, topic, server, s3, tmp_path, ns):
    lake = RestLake(tmp_path, server, keys={"s3": s3.catalog_keys()}, properties=s3.pyiceberg_properties)
    run(broker, topic, lake, ns, s3.environment)


def test_keys_that_the_catalog_vends_and_renews(broker, topic, server, s3, tmp_path, ns):
    keys = {
        "s3.access-key-id": s3.access_key,
        "s3.secret-access-key": s3.secret_key,
        # Within five minutes of their end: each use asks for new ones.
        "s3.session-token-expires-at-ms": str(int((time.time() + 240) * 1000)),
    }
    vended = {
        "config": {**where(s3), "s3.access-key-id": "not-this-one", "s3.secret-access-key": "no"},
        "storage-credentials": [{"prefix": "s3://", "config": {}}, {"prefix": f"s3://{BUCKET}/", "config": keys}],
    }
    with RestProxy(server.uri) as proxy:
        for method in ("GET", "POST"):
            proxy.fail(adds(vended), method=method, path=TABLES, times=-1)
        run(broker, topic, lake_over(proxy, server, s3, tmp_path), ns, no_keys(tmp_path))
        asked = [one for one in proxy.asked if one.method == "GET" and one.path.endswith("/orders?snapshots=refs")]
        assert asked, "the keys were never renewed"
        assert all("vended-credentials" in one.headers["X-Iceberg-Access-Delegation"] for one in asked)


def test_signatures_in_the_place_of_keys(broker, topic, server, s3, tmp_path, ns):
    asked = []

    def signs(request, forward) -> Answer:
        asked.append(request)
        ask = json.loads(request.body)
        signed = {"uri": ask["uri"], "headers": sign(s3, ask["method"], ask["uri"], ask["headers"])}
        return Answer(200, json.dumps(signed).encode(), {"Content-Type": "application/json"})

    with RestProxy(server.uri) as proxy:
        proxy.demand_tokens()
        proxy.fail(signs, path=r"/sign$", times=-1)
        for method in ("GET", "POST"):
            proxy.fail(adds({"config": {**where(s3), "s3.remote-signing-enabled": "true"}}), method=method, path=TABLES, times=-1)
        lake = lake_over(proxy, server, s3, tmp_path)
        lake.keys["credential"] = '"me:secret"'
        run(broker, topic, lake, ns, no_keys(tmp_path))
    assert {json.loads(one.body)["method"] for one in asked} >= {"PUT"}
    assert all(one.headers["Authorization"].startswith("Bearer token-") for one in asked)
