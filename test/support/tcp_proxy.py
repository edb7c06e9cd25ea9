"""A proxy in front of a TCP server that cuts connections where a test wants them cut.

    with TcpProxy(server.port) as proxy:
        proxy.cut(b"UPDATE iceberg_tables", "answer")
"""

from __future__ import annotations

import socket
import threading
import time
from dataclasses import dataclass


@dataclass
class _Cut:
    pattern: bytes
    what: str
    times: int
    delay_s: float


class TcpProxy:
    def __init__(self, target_port: int):
        self._target_port = target_port
        self._cuts: list[_Cut] = []
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.cuts_made = 0

    def __enter__(self) -> TcpProxy:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_) -> None:
        self._listener.close()
        self.cut_all()

    def cut(self, pattern: bytes, what: str, times: int = 1, delay_s: float = 0) -> None:
        """When a client sends `pattern`, its connection ends. what: `request`, the server never sees it; `answer`, the server does it, the
        client does not hear of it; `late`, the server gets it `delay_s` after the client's connection ended."""
        with self._lock:
            self._cuts.append(_Cut(pattern, what, times, delay_s))

    def heal(self) -> None:
        """No cuts from now on."""
        with self._lock:
            self._cuts.clear()

    def cut_all(self) -> None:
        """Every connection there is."""
        with self._lock:
            sockets, self._open = self._open, set()
        for one in sockets:
            _close(one)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self._target_port))
            except OSError:
                _close(client)  # as a server that is not there, for all that libpq can tell
                continue
            with self._lock:
                self._open |= {client, server}
            link = _Link(self, client, server)
            threading.Thread(target=link.to_server, daemon=True).start()
            threading.Thread(target=link.to_client, daemon=True).start()

    def _due(self, data: bytes) -> _Cut | None:
        with self._lock:
            for cut in self._cuts:
                if cut.times > 0 and cut.pattern in data:
                    cut.times -= 1
                    self.cuts_made += 1
                    return cut
        return None


class _Link:
    def __init__(self, proxy: TcpProxy, client: socket.socket, server: socket.socket):
        self._proxy, self._client, self._server = proxy, client, server
        self._answer_lost = threading.Event()

    def to_server(self) -> None:
        try:
            while data := self._client.recv(65536):
                cut = self._proxy._due(data)
                if cut is None:
                    self._server.sendall(data)
                elif cut.what == "request":
                    break
                elif cut.what == "answer":
                    self._answer_lost.set()
                    self._server.sendall(data)
                    return
                else:
                    self._answer_lost.set()
                    _close(self._client)
                    time.sleep(cut.delay_s)
                    self._server.sendall(data)
                    return
        except OSError:
            pass
        self._close()

    def to_client(self) -> None:
        try:
            while data := self._server.recv(65536):
                if self._answer_lost.is_set():
                    break
                self._client.sendall(data)
        except OSError:
            pass
        self._close()

    def _close(self) -> None:
        _close(self._client)
        _close(self._server)


def _close(one: socket.socket) -> None:
    try:
        one.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    one.close()
