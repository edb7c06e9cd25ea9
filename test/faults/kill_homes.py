"""Where the tables of one case live: a catalog of each kind on a store of each kind. Servers are shared, names are a case's own."""

from __future__ import annotations

from pathlib import Path

from home import Home, local_store, postgres_home, rest_home, s3_store, sqlite_home

CATALOGS = ("sqlite", "postgres", "rest")
STORES = ("local", "s3")
CELLS = [f"{catalog}-{store}" for catalog in CATALOGS for store in STORES]
BUCKET = "kills"
REST_SERVERS = {"local": "rest_server", "s3": "rest_server_on_s3"}


class Homes:
    """Makes the home of each case. Servers are started by the fixtures that are asked for."""

    def __init__(self, request, folder: Path):
        self._request = request
        self._folder = folder
        self._servers: dict[str, object] = {}

    def prepare(self, cells: set[str]) -> None:
        """Starts what these cells need: fixtures are made by the main thread alone."""
        for cell in sorted(cells):
            catalog, store = cell.split("-")
            if store == "s3":
                self._start("s3")
            if catalog == "postgres":
                self._start("postgres")
            if catalog == "rest":
                self._start(REST_SERVERS[store])

    def _start(self, fixture: str) -> None:
        if fixture in self._servers:
            return
        self._servers[fixture] = self._request.getfixturevalue(fixture)
        if fixture == "s3":
            self._servers["s3"].make_bucket(BUCKET)

    def make(self, cell: str, name: str, rest_uri: str | None = None) -> Home:
        catalog, store = cell.split("-")
        folder = self._folder / name
        folder.mkdir(parents=True)
        files = s3_store(self._servers["s3"], BUCKET, name) if store == "s3" else local_store(folder)
        if catalog == "rest":
            return rest_home(folder, name, files, self.rest_uri(store), rest_uri)
        if catalog == "postgres":
            return postgres_home(folder, name, files, self._servers["postgres"])
        return sqlite_home(folder, name, files)

    def rest_uri(self, store: str = "local") -> str:
        return self._servers[REST_SERVERS[store]].uri
