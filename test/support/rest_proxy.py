"""A proxy in front of a REST catalog that does what networks, proxies and servers do on their bad days.

    with RestProxy(server.uri) as proxy:
        proxy.fail(loses_answer, method="POST", path=r"/tables/[^/]+$", times=2)

A fault is a function (asked, forward) -> Answer or None. `forward()` sends the request on and gives the server's answer; None closes
the connection without one.
"""

from __future__ import annotations

import http.client
import re
import ssl
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

COMMIT = r"/namespaces/[^/]+/tables/[^/?]+$"


@dataclass
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    status: int = 0  # of what was answered; 0: nothing


@dataclass
class Answer:
    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


Forward = Callable[[], Answer]
Fault = Callable[[Asked, Forward], "Answer | None"]


def answers(status: int, body: str = "", content_type: str = "application/json", **headers: str) -> Fault:
    """Says this without asking the server. headers: `Retry_After="1"` is Retry-After."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda asked, forward: Answer(status, body.encode(), {"Content-Type": content_type, **named})


def loses_request(asked: Asked, forward: Forward) -> None:
    return None


def loses_answer(asked: Asked, forward: Forward) -> None:
    forward()


def repeats(asked: Asked, forward: Forward) -> Answer:
    """As a proxy that tries again by itself: the second answer is what the client sees."""
    forward()
    return forward()


def delays(seconds: float) -> Fault:
    def fault(asked: Asked, forward: Forward) -> Answer:
        time.sleep(seconds)
        return forward()

    return fault


def delivers_late(seconds: float) -> Fault:
    """The client hears nothing; the request arrives later all the same."""

    def fault(asked: Asked, forward: Forward) -> None:
        threading.Timer(seconds, forward).start()

    return fault


def falsifies(change: Callable[[bytes], bytes]) -> Fault:
    def fault(asked: Asked, forward: Forward) -> Answer:
        answer = forward()
        return Answer(answer.status, change(answer.body), answer.headers)

    return fault


def says(status: int, body: str = "", content_type: str = "application/json") -> Fault:
    """The server carries it out, and this is what the client hears of it."""
    instead = answers(status, body, content_type)
    return lambda asked, forward: (forward(), instead(asked, forward))[1]


def repeats_later(seconds: float) -> Fault:
    """The client hears the server's answer; a second copy of the request arrives later."""

    def fault(asked: Asked, forward: Forward) -> Answer:
        threading.Timer(seconds, forward).start()
        return forward()

    return fault


class Held:
    """A fault that keeps a request back until the test delivers it, however long that is; the client waits in vain."""

    def __init__(self):
        self.caught = threading.Event()
        self._go = threading.Event()
        self._answered = threading.Event()
        self._answer: Answer | None = None

    def __call__(self, asked: Asked, forward: Forward) -> Answer:
        self.caught.set()
        self._go.wait(120)
        self._answer = forward()
        self._answered.set()
        return self._answer

    def deliver(self) -> int:
        """Returns the status that the server gave to it."""
        self._go.set()
        assert self._answered.wait(60), "the server did not answer the request that was held"
        return self._answer.status


@dataclass
class _Rule:
    fault: Fault
    method: str
    path: re.Pattern
    times: int
    skip: int


class RestProxy:
    def __init__(self, target: str, tls: tuple[Path, Path] | None = None):
        """tls: certificate and key (PEM), to be spoken to over HTTPS."""
        self._target = urlsplit(target).netloc
        self._rules: list[_Rule] = []
        self._lock = threading.Lock()
        self._tokens: set[str] | None = None
        self._issued = 0
        self.asked: list[Asked] = []
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self):
                proxy._handle(self)

            do_GET = do_POST = do_DELETE = do_HEAD = handle_any

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.uri = f"{'https' if tls else 'http'}://127.0.0.1:{self._server.server_port}"
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> RestProxy:
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._server.shutdown()
        self._server.server_close()

    # --- what it does

    def fail(self, fault: Fault, method: str = "POST", path: str = COMMIT, times: int = 1, skip: int = 0) -> None:
        """The next `times` requests that match, after `skip` of them, meet this fault."""
        with self._lock:
            self._rules.append(_Rule(fault, method, re.compile(path), times, skip))

    def heal(self) -> None:
        """No faults from now on."""
        with self._lock:
            self._rules.clear()

    def pretends(self, asked: Asked, forward: Forward) -> Answer:
        """A fault: the commit goes nowhere, and the answer is the table as it is."""
        return self._forward(Asked("GET", asked.path, {}, b""))

    def waiting(self) -> int:
        """Faults that no request has met yet."""
        with self._lock:
            return sum(max(rule.times, 0) for rule in self._rules)

    def demand_tokens(self) -> None:
        """Sells tokens at /v1/oauth/tokens and refuses requests without a good one."""
        self._tokens = set()

    def revoke_tokens(self) -> None:
        with self._lock:
            self._tokens.clear()

    @property
    def tokens_issued(self) -> int:
        return self._issued

    def commits(self) -> list[Asked]:
        with self._lock:
            return [asked for asked in self.asked if asked.method == "POST" and re.search(COMMIT, urlsplit(asked.path).path)]

    # --- how

    def _handle(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        asked = Asked(handler.command, handler.path, dict(handler.headers.items()), body)
        with self._lock:
            self.asked.append(asked)
        answer = self._answer(asked)
        if answer is None:
            handler.close_connection = True
            return
        asked.status = answer.status
        try:
            self._send(handler, answer)
        except OSError:  # the client has not waited
            handler.close_connection = True

    @staticmethod
    def _send(handler: BaseHTTPRequestHandler, answer: Answer) -> None:
        handler.send_response(answer.status)
        for name, value in answer.headers.items():
            if name.lower() in ("content-type", "etag", "retry-after", "location"):
                handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(answer.body)))
        handler.end_headers()
        handler.wfile.write(answer.body)

    def _answer(self, asked: Asked) -> Answer | None:
        if self._tokens is not None:
            if asked.path == "/v1/oauth/tokens":
                return self._sell(asked)
            with self._lock:
                good = asked.headers.get("Authorization", "").removeprefix("Bearer ") in self._tokens
            if not good:
                return Answer(401, b'{"error":{"message":"token","type":"NotAuthorizedException","code":401}}')
        fault = self._fault_for(asked)
        forward = lambda: self._forward(asked)  # noqa: E731
        return fault(asked, forward) if fault else forward()

    def _sell(self, asked: Asked) -> Answer:
        form = parse_qs(asked.body.decode())
        if form.get("client_secret") != ["secret"]:
            return Answer(401, b'{"error":"invalid_client","error_description":"unknown client"}')
        with self._lock:
            self._issued += 1
            token = f"token-{self._issued}"
            self._tokens.add(token)
        return Answer(200, f'{{"access_token":"{token}","token_type":"bearer","expires_in":3600}}'.encode())

    def _fault_for(self, asked: Asked) -> Fault | None:
        with self._lock:
            for rule in self._rules:
                if rule.times == 0 or rule.method != asked.method or not rule.path.search(urlsplit(asked.path).path):
                    continue
                if rule.skip > 0:
                    rule.skip -= 1
                    continue
                rule.times -= 1
                return rule.fault
        return None

    def _forward(self, asked: Asked) -> Answer:
        headers = {k: v for k, v in asked.headers.items() if k.lower() not in ("host", "connection", "accept-encoding", "authorization")}
        connection = http.client.HTTPConnection(self._target, timeout=60)
        try:
            connection.request(asked.method, asked.path, asked.body or None, headers)
            response = connection.getresponse()
            return Answer(response.status, response.read(), dict(response.getheaders()))
        except OSError as error:
            return Answer(502, f"<html>bad gateway: {error}</html>".encode(), {"Content-Type": "text/html"})
        finally:
            connection.close()
