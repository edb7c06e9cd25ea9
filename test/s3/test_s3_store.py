"""The S3 store against a real S3 server, and against one that is throttling, loses answers and ends keys."""

from __future__ import annotations

import json
import threading
import time

import pytest
from http_server import HttpServer, QuietHandler
from s3_driver import S3Driver
from s3_server import Answer, Proxy, no_keys, s3_error, throttle

MIB = 1 << 20
SMALL_PARTS = {"s3.multipart.part-size-bytes": str(5 * MIB)}


@pytest.fixture
def bucket(s3, request):
    """A bucket of one test alone."""
    name = request.node.name.split("[")[0].replace("_", "-").removeprefix("test-")[:50].strip("-")
    s3.make_bucket(name)
    return name


def driver(s3, endpoint: str | None = None, environment: dict | None = None, **properties: str) -> S3Driver:
    own = {"s3.endpoint": endpoint or s3.endpoint, "client.region": s3.region, **SMALL_PARTS, **properties}
    return S3Driver(own, s3.environment if environment is None else environment)


# --- what S3 promises


def test_objects_are_written_read_listed_and_deleted(s3, bucket):
    with driver(s3) as store:
        keys = ["t/day=2024-01-01/a b.json", "t/day=2024%2F01/ä+b&c.json", "t/plain", "u/other"]
        for number, key in enumerate(keys):
            assert store.put(f"s3://{bucket}/{key}", 1000 + number) == {"ok": True}
        assert s3.keys(bucket) == sorted(keys)
        listed = store("list", f"s3://{bucket}/t/")["objects"]
        assert {one["location"]: one["size"] for one in listed} == {f"s3://{bucket}/{key}": 1000 + i for i, key in enumerate(keys[:3])}
        for one in listed:
            read = store("read", one["location"])
            assert read["as_written"] and read["size"] == one["size"]
            head = store("head", one["location"])
            assert head["version"] == one["version"] and abs(head["modified_ms"] - one["modified_ms"]) < 2000
        assert store("delete", locations=[f"s3a://{bucket}/{key}" for key in [*keys, "never/there"]]) == {"ok": True, "left": []}
        assert s3.keys(bucket) == []


def test_more_objects_than_a_page_are_listed_and_deleted(s3, bucket):
    filesystem = s3.filesystem
    for number in range(1005):
        with filesystem.open_output_stream(f"{bucket}/many/{number:05d}") as out:
            out.write(b"x")
    with driver(s3) as store:
        listed = [one["location"] for one in store("list", f"s3://{bucket}/many/")["objects"]]
        assert sorted(listed) == [f"s3://{bucket}/many/{number:05d}" for number in range(1005)]
        assert store("delete", locations=listed)["left"] == []
    assert s3.keys(bucket) == []


def test_of_two_writers_of_a_name_one_is_refused(s3, bucket):
    with driver(s3) as store:
        for size in (100, 12 * MIB):
            location = f"s3://{bucket}/one-{size}"
            assert store.put(location, size) == {"ok": True}
            assert store.put(location, size + 1)["kind"] == "already exists"
            assert store("head", location)["size"] == size
            assert store.put(location, size + 1, replace=True) == {"ok": True}
            assert store("read", location)["size"] == size + 1
    assert s3.open_uploads(bucket) == []


@pytest.mark.parametrize("size", [1000, 12 * MIB])
def test_only_the_version_that_is_there_is_replaced(s3, bucket, size):
    location = f"s3://{bucket}/replaced-{size}"
    with driver(s3) as store:
        assert store.put(location, size, version="0123456789abcdef0123456789abcdef")["kind"] == "conflict"
        assert store.put(location, 10) == {"ok": True}
        first = store("head", location)["version"]
        assert store.put(location, size, version=first) == {"ok": True}
        refused = store.put(location, size + 1, version=first)
        assert refused["kind"] == "conflict" and location in refused["error"], refused
        assert store("head", location)["size"] == size
        store("discard")
    assert s3.open_uploads(bucket) == []


def test_lost_answer_to_a_replacement_is_found_to_be_ours(s3, bucket):
    location = f"s3://{bucket}/replaced"
    with Proxy(s3.endpoint) as proxy, driver(s3, proxy.endpoint) as store:
        assert store.put(location, 10) == {"ok": True}
        version = store("head", location)["version"]
        proxy.after = lose_first("PUT")
        assert store.put(location, 1000, version=version) == {"ok": True}
        assert proxy.count("PUT") == 3
        assert store.put(location, 2000, version=version)["kind"] == "conflict"


def test_big_object_is_uploaded_in_parts_and_read_in_ranges(s3, bucket):
    location = f"s3://{bucket}/big"
    with Proxy(s3.endpoint) as proxy, driver(s3, proxy.endpoint) as store:
        assert store.put(location, 23 * MIB) == {"ok": True}
        assert proxy.count("PUT", "partNumber=") == 5
        whole = store("read", location)
        assert whole["as_written"] and whole["size"] == whole["read"] == 23 * MIB
        middle = store("read", location, offset=7 * MIB + 5, length=1000)
        assert middle["as_written"] and middle["read"] == 1000


def test_nothing_is_left_of_a_discarded_object(s3, bucket):
    with driver(s3) as store:
        store("create", f"s3://{bucket}/never")
        store("write", bytes=17 * MIB)
        assert s3.open_uploads(bucket)
        store("discard")
        assert store("head", f"s3://{bucket}/never")["kind"] == "not found"
    assert s3.open_uploads(bucket) == [] and s3.keys(bucket) == []


def test_empty_object(s3, bucket):
    with driver(s3) as store:
        assert store.put(f"s3://{bucket}/empty", 0) == {"ok": True}
        assert store("read", f"s3://{bucket}/empty")["size"] == 0


# --- a server in trouble


def test_store_that_throttles_a_third_of_all_requests_is_outlasted(s3, bucket):
    with Proxy(s3.endpoint, before=throttle(0.3)) as proxy, driver(s3, proxy.endpoint) as store:
        for number in range(10):
            assert store.put(f"s3://{bucket}/small-{number}", 1000) == {"ok": True}
        assert store.put(f"s3://{bucket}/big", 23 * MIB) == {"ok": True}
        assert store("read", f"s3://{bucket}/big")["as_written"]
        listed = [one["location"] for one in store("list", f"s3://{bucket}/")["objects"]]
        assert len(listed) == 11
        assert store("delete", locations=listed)["left"] == []
        refused = sum(one.status == 503 for one in proxy.seen)
        assert 0.15 < refused / len(proxy.seen) < 0.45
    assert s3.keys(bucket) == [] and s3.open_uploads(bucket) == []


def lose_first(method: str, part: str = ""):
    """The answer to the first such request does not arrive; what it asked for is done."""
    lost = []

    def judge(seen):
        if lost or seen.method != method or part not in seen.path:
            return None
        lost.append(seen)
        return Answer(200, lost=True)

    return judge


@pytest.mark.parametrize("size, method, part", [(1000, "PUT", ""), (12 * MIB, "POST", "uploadId="), (12 * MIB, "PUT", "partNumber=2")])
def test_lost_answer_is_not_taken_for_somebody_elses_object(s3, bucket, size, method, part):
    location = f"s3://{bucket}/lost-{size}-{method}"
    with Proxy(s3.endpoint, after=lose_first(method, part)) as proxy, driver(s3, proxy.endpoint) as store:
        assert store.put(location, size) == {"ok": True}
        assert proxy.count(method, part) >= 2
        assert store("read", location)["as_written"]
        assert store.put(location, size)["kind"] == "already exists"


def test_server_that_restarts_in_mid_upload(tmp_path):
    from s3_server import S3Server

    with S3Server(tmp_path) as own:
        own.make_bucket("restarted")
        with driver(own) as store:
            store("create", "s3://restarted/big")
            assert store("write", bytes=12 * MIB) == {"ok": True}
            own.stop()
            answers = []
            writing = threading.Thread(target=lambda: answers.append(store("write", bytes=12 * MIB)))
            writing.start()
            time.sleep(1)
            own.start()
            writing.join()
            assert answers == [{"ok": True}]
            assert store("finish") == {"ok": True}
            assert store("read", "s3://restarted/big")["as_written"]


# --- refusals: place, S3's words, what can be done


def test_bucket_that_is_not_there(s3):
    with driver(s3) as store:
        for answer in (store.put("s3://no-such-bucket/a", 10), store("read", "s3://no-such-bucket/a"), store("list", "s3://no-such-bucket/")):
            assert answer["kind"] == "not found" and answer["code"] == "NoSuchBucket", answer
            assert "s3://no-such-bucket/" in answer["error"] and "Create the bucket" in answer["error"]


def test_wrong_secret_and_unknown_key(s3, bucket):
    for name, value, code in [("AWS_SECRET_ACCESS_KEY", "not-it", "SignatureDoesNotMatch"), ("AWS_ACCESS_KEY_ID", "nobody", "InvalidAccessKeyId")]:
        with driver(s3, environment={**s3.environment, name: value}) as store:
            answer = store.put(f"s3://{bucket}/a", 10)
            assert answer["kind"] == "permission denied" and answer["code"] == code, answer
            assert "not-it" not in answer["error"] and s3.secret_key not in answer["error"]


def test_forbidden_bucket(s3, bucket):
    s3.make_user("stranger", "stranger-secret")
    with driver(s3, environment={**no_keys(s3.folder), "AWS_ACCESS_KEY_ID": "stranger", "AWS_SECRET_ACCESS_KEY": "stranger-secret"}) as store:
        for answer in (store.put(f"s3://{bucket}/a", 10), store("read", f"s3://{bucket}/a"), store("head", f"s3://{bucket}/a")):
            assert answer["kind"] == "permission denied" and answer["code"] == "AccessDenied", answer
            assert f"s3://{bucket}/a" in answer["error"] and "s3:" in answer["error"]


def test_wrong_region_names_the_right_one(s3, bucket):
    moved = s3_error(301, "PermanentRedirect", x_amz_bucket_region="eu-central-1")
    with Proxy(s3.endpoint, before=lambda seen: moved) as proxy, driver(s3, proxy.endpoint) as store:
        answer = store.put(f"s3://{bucket}/a", 10)
        assert "region: eu-central-1" in answer["error"], answer
        assert len(proxy.seen) == 1


def test_no_keys_anywhere(s3, bucket):
    with driver(s3, environment=no_keys(s3.folder)) as store:
        answer = store.put(f"s3://{bucket}/a", 10)
        assert answer["kind"] == "permission denied" and "AWS_ACCESS_KEY_ID" in answer["error"]


# --- keys


def test_keys_that_end_in_mid_upload_are_replaced(s3, bucket, tmp_path):
    """The first keys of credential_process are refused from the second part on; it is asked for others."""
    calls = tmp_path / "calls"
    keys = {"Version": 1, "AccessKeyId": s3.access_key, "SecretAccessKey": s3.secret_key, "Expiration": "2099-01-01T00:00:00Z"}
    (tmp_path / "keys.json").write_text(json.dumps(keys))
    config = tmp_path / "config"
    config.write_text(f"[profile lake]\ncredential_process = echo x >> {calls}; cat {tmp_path}/keys.json\n")

    def ended(seen):
        once = "partNumber=2" in seen.path and len(calls.read_text().split()) == 1
        return s3_error(400, "ExpiredToken") if once else None

    environment = {**no_keys(tmp_path), "AWS_CONFIG_FILE": str(config), "AWS_PROFILE": "lake"}
    with Proxy(s3.endpoint, before=ended) as proxy, driver(s3, proxy.endpoint, environment) as store:
        assert store.put(f"s3://{bucket}/big", 17 * MIB) == {"ok": True}
        assert store("read", f"s3://{bucket}/big")["as_written"]
    assert len(calls.read_text().split()) == 2


def test_keys_that_end_and_cannot_be_replaced_fail_the_object_and_leave_no_parts(s3, bucket):
    def ended(seen):
        return s3_error(400, "ExpiredToken", "The provided token has expired.") if "partNumber=3" in seen.path else None

    with Proxy(s3.endpoint, before=ended) as proxy:
        own_keys = {"s3.access-key-id": s3.access_key, "s3.secret-access-key": s3.secret_key}
        with driver(s3, proxy.endpoint, no_keys(s3.folder), **own_keys) as store:
            answer = store.put(f"s3://{bucket}/big", 23 * MIB)
            assert answer["kind"] == "permission denied" and "have ended" in answer["error"], answer
            store("discard")
    assert s3.keys(bucket) == [] and s3.open_uploads(bucket) == []


class FakeAws(HttpServer):
    """STS, the metadata service of instances and the endpoint of containers on one port; all give the server's own keys."""

    def __init__(self, s3):
        self.asked: list[str] = []
        fake = self
        document = json.dumps(
            {"Code": "Success", "AccessKeyId": s3.access_key, "SecretAccessKey": s3.secret_key, "Token": "", "Expiration": "2099-01-01T00:00:00Z"}
        )

        def sts(action: str) -> str:
            return (
                f'<{action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><{action}Result><Credentials>'
                f"<AccessKeyId>{s3.access_key}</AccessKeyId><SecretAccessKey>{s3.secret_key}</SecretAccessKey>"
                f"<SessionToken></SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></{action}Result></{action}Response>"
            )

        class Handler(QuietHandler):
            def reply(self, status: int, text: str) -> None:
                self.send_response_only(status)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text.encode())

            def do_PUT(self):
                fake.asked.append("PUT " + self.path)
                self.reply(200, "imds-token")

            def do_GET(self):
                fake.asked.append("GET " + self.path)
                if self.path.startswith("/latest/") and self.headers["x-aws-ec2-metadata-token"] != "imds-token":
                    return self.reply(401, "no token")
                if self.path == "/container" and self.headers["authorization"] != "container-token":
                    return self.reply(401, "no token")
                return self.reply(200, "node" if self.path.endswith("/security-credentials/") else document)

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"])).decode()
                fake.asked.append("POST " + body)
                self.reply(200, sts("AssumeRoleWithWebIdentity" if "WebIdentity" in body else "AssumeRole"))

        super().__init__(Handler)


def test_keys_of_every_source_work(s3, bucket, tmp_path):
    (tmp_path / "token").write_text("jwt\n")
    (tmp_path / "config").write_text(
        "[profile job]\nrole_arn = arn:aws:iam::1:role/job\nsource_profile = base\n"
        f"[profile base]\naws_access_key_id = {s3.access_key}\naws_secret_access_key = {s3.secret_key}\n"
    )
    nothing = no_keys(tmp_path)
    with FakeAws(s3) as aws:
        sources = {
            "instance": ({**nothing, "AWS_EC2_METADATA_DISABLED": "", "AWS_EC2_METADATA_SERVICE_ENDPOINT": aws.uri}, "/security-credentials/node"),
            "container": (
                {**nothing, "AWS_CONTAINER_CREDENTIALS_FULL_URI": aws.uri + "/container", "AWS_CONTAINER_AUTHORIZATION_TOKEN": "container-token"},
                "GET /container",
            ),
            "web identity": (
                {**nothing, "AWS_WEB_IDENTITY_TOKEN_FILE": str(tmp_path / "token"), "AWS_ROLE_ARN": "arn:r", "AWS_ENDPOINT_URL_STS": aws.uri},
                "WebIdentityToken=jwt",
            ),
            "role": (
                {**nothing, "AWS_CONFIG_FILE": str(tmp_path / "config"), "AWS_PROFILE": "job", "AWS_ENDPOINT_URL_STS": aws.uri},
                "Action=AssumeRole",
            ),
        }
        for name, (environment, expected) in sources.items():
            with driver(s3, environment=environment) as store:
                assert store.put(f"s3://{bucket}/{name}", 10) == {"ok": True}, name
            assert expected in aws.asked[-1], name


def test_catalog_signs_in_our_place(s3, bucket):
    """Iceberg's remote signing: the store has no keys, the catalog's sign endpoint has."""
    from signing_catalog import SigningCatalog

    with SigningCatalog(s3) as catalog:
        properties = {"s3.remote-signing-enabled": "true", "s3.signer.uri": catalog.uri, "s3.signer.endpoint": "v1/sign"}
        with driver(s3, environment=no_keys(s3.folder), **properties) as store:
            assert store.put(f"s3://{bucket}/day=1/small", 10) == {"ok": True}
            assert store.put(f"s3://{bucket}/big", 12 * MIB) == {"ok": True}
            assert store("read", f"s3://{bucket}/big")["as_written"]
            locations = [one["location"] for one in store("list", f"s3://{bucket}/")["objects"]]
            assert len(locations) == 2
            assert store("delete", locations=locations)["left"] == []
        assert {"PUT", "GET", "POST"} <= {one["method"] for one in catalog.asked}
        assert any("<Delete" in one.get("body", "") for one in catalog.asked)
        catalog.refuse = True
        with driver(s3, environment=no_keys(s3.folder), **properties) as store:
            answer = store.put(f"s3://{bucket}/a", 10)
            assert answer["kind"] == "permission denied" and "not for you" in answer["error"], answer
