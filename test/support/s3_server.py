"""A real S3 server (versitygw) on a free port of 127.0.0.1, with its buckets in a folder of its own, and a proxy that makes trouble.

    with S3Server(folder) as s3:
        s3.make_bucket("lake")
        firn("run", config_with(s3.catalog_keys), env=s3.environment)
"""

from __future__ import annotations

import hashlib
import http.client
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from http_server import HttpServer, QuietHandler
from kafka_broker import DEPS, die_with_parent, free_port

BINARY = DEPS / "versitygw" / "versitygw"


class S3Server:
    """Starts on entry, stops on exit."""

    region = "us-east-1"
    access_key = "firn-test-key"
    secret_key = "firn-test-secret"

    def __init__(self, folder: Path):
        self.folder = Path(folder)
        self.port = free_port()
        self.endpoint = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen | None = None

    def __enter__(self) -> S3Server:
        self.start()
        return self

    def __exit__(self, *_) -> None:
        self.stop()

    def start(self) -> None:
        data, meta, accounts = (self.folder / name for name in ("data", "meta", "accounts"))
        for part in (data, meta, accounts):
            part.mkdir(parents=True, exist_ok=True)
        log = (self.folder / "s3.log").open("ab")
        self._process = subprocess.Popen(
            [str(BINARY), "--port", f"127.0.0.1:{self.port}", "--iam-dir", str(accounts), "posix", "--sidecar", str(meta), str(data)],
            env={"ROOT_ACCESS_KEY_ID": self.access_key, "ROOT_SECRET_ACCESS_KEY": self.secret_key, "HOME": str(self.folder)},
            stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.folder, preexec_fn=die_with_parent,
        )  # fmt: skip
        self._wait_until_it_answers()

    def stop(self) -> None:
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def _wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            assert self._process.poll() is None, f"versitygw ended: {(self.folder / 's3.log').read_text()[-2000:]}"
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise AssertionError("versitygw does not answer")

    # --- what is in it

    @property
    def filesystem(self):
        """pyarrow's own S3 client: a second opinion on what Firn wrote."""
        from pyarrow.fs import S3FileSystem

        return S3FileSystem(
            access_key=self.access_key, secret_key=self.secret_key, endpoint_override=self.endpoint, region=self.region,
            allow_bucket_creation=True, allow_bucket_deletion=True,
        )  # fmt: skip

    def make_bucket(self, name: str) -> None:
        self.filesystem.create_dir(name)

    def make_user(self, access_key: str, secret_key: str) -> None:
        """One who may use nobody's buckets."""
        subprocess.run(
            [str(BINARY), "admin", "--endpoint-url", self.endpoint, "--access", self.access_key, "--secret", self.secret_key,
             "create-user", "--access", access_key, "--secret", secret_key, "--role", "user"],
            check=True, capture_output=True,
        )  # fmt: skip

    def keys(self, bucket: str) -> list[str]:
        """Every object of a bucket."""
        from pyarrow.fs import FileSelector, FileType

        found = self.filesystem.get_file_info(FileSelector(bucket, recursive=True))
        return sorted(one.path.removeprefix(f"{bucket}/") for one in found if one.type == FileType.File)

    def open_uploads(self, bucket: str) -> list[str]:
        """Multipart uploads that were neither completed nor aborted, as versitygw keeps them on its disk."""
        folder = self.folder / "data" / bucket / ".sgwtmp" / "multipart"
        return sorted(str(path.relative_to(folder)) for path in folder.glob("*/*")) if folder.exists() else []

    # --- how others reach it

    @property
    def environment(self) -> dict[str, str]:
        """The keys where AWS's tools look first; nothing of this machine's own files or metadata."""
        return {
            "AWS_ACCESS_KEY_ID": self.access_key,
            "AWS_SECRET_ACCESS_KEY": self.secret_key,
            **no_keys(self.folder),
        }

    def catalog_keys(self, endpoint: str | None = None, **more: str) -> str:
        """The `s3:` map of a catalog."""
        keys = {"endpoint": endpoint or self.endpoint, "region": self.region, "path-style-access": "true", **more}
        return "{" + ", ".join(f'{name}: {value if value == "true" else chr(34) + value + chr(34)}' for name, value in keys.items()) + "}"

    @property
    def pyiceberg_properties(self) -> dict[str, str]:
        return {
            "s3.endpoint": self.endpoint,
            "s3.region": self.region,
            "s3.access-key-id": self.access_key,
            "s3.secret-access-key": self.secret_key,
        }


def no_keys(folder: Path) -> dict[str, str]:
    """An environment in which no keys are found: not in this machine's files, not at a metadata service."""
    return {
        "HOME": str(folder),
        "AWS_CONFIG_FILE": str(folder / "no-config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(folder / "no-credentials"),
        "AWS_EC2_METADATA_DISABLED": "true",
    }


@dataclass
class Seen:
    """One request that went through the proxy."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes = field(repr=False, default=b"")
    status: int = 0


@dataclass
class Answer:
    """What the proxy says in place of the server."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    lost: bool = False  # the connection is closed without an answer


Judge = Callable[[Seen], Answer | None]


class Proxy(HttpServer):
    """Stands before a server on a port of its own. `before` may answer in its place, `after` in place of its answer (which then took effect)."""

    def __init__(self, target: str, before: Judge | None = None, after: Judge | None = None):
        self.before, self.after = before, after
        self.seen: list[Seen] = []
        host, port = target.removeprefix("http://").split(":")
        proxy, lock = self, threading.Lock()

        class Handler(QuietHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self):
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                seen = Seen(self.command, self.path, {k.lower(): v for k, v in self.headers.items()}, body)
                with lock:
                    proxy.seen.append(seen)
                    instead = proxy.before(seen) if proxy.before else None
                if instead is None:
                    instead = self.pass_on(seen)
                    with lock:
                        instead = (proxy.after(seen) if proxy.after else None) or instead
                seen.status = instead.status
                self.answer(instead)

            def pass_on(self, seen: Seen) -> Answer:
                connection = http.client.HTTPConnection(host, int(port), timeout=60)
                connection.putrequest(seen.method, seen.path, skip_host=True, skip_accept_encoding=True)
                for name, value in self.headers.items():  # signed for our own port: the server takes the Host as it comes
                    connection.putheader(name, value)
                connection.endheaders(seen.body or None)
                got = connection.getresponse()
                headers = {k: v for k, v in got.getheaders() if k.lower() not in ("transfer-encoding", "connection")}
                answer = Answer(got.status, got.read(), headers)
                connection.close()
                return answer

            def answer(self, answer: Answer) -> None:
                if answer.lost:
                    self.close_connection = True
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                self.send_response_only(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                if "content-length" not in {name.lower() for name in answer.headers}:
                    self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(answer.body)

            do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = handle_any

        super().__init__(Handler)
        self.endpoint = self.uri

    def count(self, method: str, part: str = "") -> int:
        return sum(one.method == method and part in one.path for one in self.seen)


def s3_error(status: int, code: str, message: str = "said so", **headers: str) -> Answer:
    body = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>{message}</Message><RequestId>R-7</RequestId></Error>"
    return Answer(status, body.encode(), {"Content-Type": "application/xml", **{k.replace("_", "-"): v for k, v in headers.items()}})


def throttle(share: float) -> Judge:
    """503 SlowDown for this share of all requests, the same ones in every run."""
    count = 0

    def judge(seen: Seen) -> Answer | None:
        nonlocal count
        count += 1
        drawn = int.from_bytes(hashlib.sha256(b"%d" % count).digest()[:4]) / 2**32
        return s3_error(503, "SlowDown", "Please reduce your request rate.") if drawn < share else None

    return judge
