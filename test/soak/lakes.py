"""A catalog of each kind on its own servers, and how each goes away and lies for a while."""

from __future__ import annotations

import sqlite3
import time
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from random import Random

from home import Home, local_store, postgres_home, rest_home, sqlite_home
from postgres import PASSWORD, USER, Postgres
from rest_proxy import COMMIT, RestProxy, answers, delays, delivers_late, loses_answer, loses_request, repeats, repeats_later, says
from rest_server import RestServer
from tcp_proxy import TcpProxy

NAMESPACE = "soak"
TABLES = r"/namespaces/[^/]+/tables/[^/?]+$"
HTML = "<html><title>Blocked</title></html>"
SWAP = b"UPDATE iceberg_tables"


class Lake(AbstractContextManager):
    """`home`: where its tables are; `spark`: how a Spark session reaches the catalog. Outages return when they are over."""

    home: Home
    spark: dict[str, str]

    def __init__(self, folder: Path):
        self.folder = folder
        self.folder.mkdir(parents=True, exist_ok=True)
        self._open = ExitStack()

    def __exit__(self, *_) -> None:
        self._open.close()

    def away(self, seconds: float, rng: Random) -> str:
        raise NotImplementedError

    def doubt(self, seconds: float, rng: Random) -> str:
        """Answers are lost, late, doubled and wrong; what happened says how often."""
        raise NotImplementedError


class SqliteLake(Lake):
    def __enter__(self):
        self.home = sqlite_home(self.folder, NAMESPACE, local_store(self.folder))
        # Python's own wait for a lock is five seconds, too short beside an outage.
        self.home.pyiceberg_properties["uri"] += "?timeout=20"
        self.spark = {
            "type": "jdbc",
            "uri": f"jdbc:sqlite:{self.folder}/catalog.db?busy_timeout=20000",
            "jdbc.schema-version": "V1",
            "warehouse": f"file://{self.folder}/warehouse",
        }
        return self

    def away(self, seconds: float, rng: Random) -> str:
        session = sqlite3.connect(self.folder / "catalog.db", isolation_level=None, timeout=20)
        session.execute("BEGIN EXCLUSIVE")
        time.sleep(seconds)
        session.execute("ROLLBACK")
        session.close()
        return "locked"

    def doubt(self, seconds: float, rng: Random) -> str:
        """There is no network to lie: locks come and go."""
        until, times = time.monotonic() + seconds, 0
        while time.monotonic() < until:
            self.away(rng.uniform(0.05, 0.6), rng)
            time.sleep(rng.uniform(0.05, 0.3))
            times += 1
        return f"locked {times} times"


class PostgresLake(Lake):
    def __enter__(self):
        self._server = self._open.enter_context(Postgres())
        self._proxy = self._open.enter_context(TcpProxy(self._server.port))
        self.home = postgres_home(self.folder, NAMESPACE, local_store(self.folder), self._server, self._proxy.port)
        self.home.pyiceberg_properties["pool_pre_ping"] = "true"
        self.spark = {
            "type": "jdbc",
            "uri": f"jdbc:postgresql://127.0.0.1:{self._server.port}/{NAMESPACE}",
            "jdbc.user": USER,
            "jdbc.password": PASSWORD,
            "jdbc.schema-version": "V1",
            "warehouse": f"file://{self.folder}/warehouse",
        }
        return self

    def away(self, seconds: float, rng: Random) -> str:
        crash = rng.random() < 0.5
        self._server.crash() if crash else self._server.stop()
        time.sleep(seconds)
        self._server.start()
        return "crashed" if crash else "stopped"

    def doubt(self, seconds: float, rng: Random) -> str:
        until, before = time.monotonic() + seconds, self._proxy.cuts_made
        while time.monotonic() < until:
            what = rng.choice(("request", "answer", "answer", "late", "all"))
            if what == "all":
                self._proxy.cut_all()
            else:
                pattern = rng.choice((SWAP, SWAP, b"COMMIT", b"SELECT"))
                self._proxy.cut(pattern, what, delay_s=rng.uniform(0.1, 3))
            time.sleep(rng.uniform(0.2, 1))
        self._proxy.heal()
        return f"{self._proxy.cuts_made - before} connections cut in mid-statement"


class RestLake(Lake):
    def __enter__(self):
        self._server = self._open.enter_context(RestServer(self.folder / "rest", f"file://{self.folder}/warehouse"))
        self._proxy = self._open.enter_context(RestProxy(self._server.uri))
        self.home = rest_home(self.folder, NAMESPACE, local_store(self.folder), self._server.uri, self._proxy.uri)
        # Nobody's patience is to outlast the soak's.
        self.home.catalogs_yaml += '    rest.client.max-retries: "1"\n    rest.client.socket-timeout-ms: "4000"\n'
        self.spark = {"type": "rest", "uri": self._server.uri}
        return self

    def away(self, seconds: float, rng: Random) -> str:
        kill = rng.random() < 0.5
        self._server.kill() if kill else self._server.stop()
        time.sleep(seconds)
        self._server.start()
        return "killed" if kill else "stopped"

    def doubt(self, seconds: float, rng: Random) -> str:
        commits = [
            *(says(status, HTML, "text/html") for status in (502, 504, 404)), says(503), says(204), answers(500, HTML, "text/html"),
            answers(409, '{"error":{"message":"no","type":"CommitFailedException","code":409}}'),
            repeats_later(2), delays(6), delivers_late(3), loses_answer, loses_request, repeats, self._proxy.pretends,
        ]  # fmt: skip
        reads = [answers(503, HTML, "text/html"), loses_request, answers(502), delays(1)]
        met = 0

        def sometimes(share, faults):
            def fault(asked, forward):
                nonlocal met
                if rng.random() >= share:
                    return forward()
                met += 1
                return rng.choice(faults)(asked, forward)

            return fault

        self._proxy.fail(sometimes(0.5, commits), path=COMMIT, times=-1)
        self._proxy.fail(sometimes(0.2, reads), method="GET", path=TABLES, times=-1)
        time.sleep(seconds)
        self._proxy.heal()
        return f"{met} requests met a fault"


LAKES = {"sqlite": SqliteLake, "postgres": PostgresLake, "rest": RestLake}
