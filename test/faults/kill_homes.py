"""Where the tables of one case live: a catalog of each kind on a store of each kind. Servers are shared, names are a case's own."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pyarrow import fs

CATALOGS = ("sqlite", "postgres", "rest")
STORES = ("local", "s3")
CELLS = [f"{catalog}-{store}" for catalog in CATALOGS for store in STORES]
BUCKET = "kills"
REST_SERVERS = {"local": "rest_server", "s3": "rest_server_on_s3"}


@dataclass
class Home:
    """`ns` is the case's namespace. `uri_of_firn` may be that of a proxy before the catalog."""

    folder: Path
    ns: str
    catalogs_yaml: str
    pyiceberg_properties: dict[str, str]
    environment: dict[str, str] = field(default_factory=dict)
    filesystem: fs.FileSystem = field(default_factory=fs.LocalFileSystem)

    def load(self, table: str):
        """Through PyIceberg, past any proxy."""
        from pyiceberg.catalog import load_catalog

        return load_catalog("lake", **self.pyiceberg_properties).load_table((self.ns, table))

    def path_of(self, location: str) -> str:
        """As `filesystem` takes it."""
        return location.removeprefix("s3://").removeprefix("file://").removeprefix("file:")

    def files_below(self, location: str) -> set[str]:
        found = self.filesystem.get_file_info(fs.FileSelector(self.path_of(location), recursive=True, allow_not_found=True))
        # Hadoop's file system, under the REST server, keeps checksums beside what it writes to a local folder.
        return {one.path for one in found if one.type == fs.FileType.File and not one.path.endswith(".crc")}


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
        warehouse = f"s3://{BUCKET}/{name}" if store == "s3" else f"file://{folder}/warehouse"
        keys, properties, more = self._store_keys(store)
        if catalog == "rest":
            uri = self.rest_uri(store)
            yaml = f"catalogs:\n  lake:\n    type: rest\n    uri: {rest_uri or uri}\n{keys}"
            return Home(folder, name, yaml, {"type": "rest", "uri": uri, **properties}, **more)
        ours, theirs = self._database(catalog, folder, name)
        yaml = f'catalogs:\n  lake:\n    type: sql\n    uri: "{ours}"\n    warehouse: {warehouse.removeprefix("file://")}\n{keys}'
        sql = {"type": "sql", "uri": theirs, "warehouse": warehouse, "init_catalog_tables": "false", **properties}
        return Home(folder, name, yaml, sql, **more)

    def rest_uri(self, store: str = "local") -> str:
        return self._servers[REST_SERVERS[store]].uri

    def _store_keys(self, store: str) -> tuple[str, dict[str, str], dict]:
        if store == "local":
            return "", {}, {}
        s3 = self._servers["s3"]
        return f"    s3: {s3.catalog_keys()}\n", s3.pyiceberg_properties, {"environment": s3.environment, "filesystem": s3.filesystem}

    def _database(self, catalog: str, folder: Path, name: str) -> tuple[str, str]:
        if catalog == "sqlite":
            return f"sqlite:{folder}/catalog.db", f"sqlite:///{folder}/catalog.db"
        server = self._servers["postgres"]
        server.create_database(name)
        return server.uri(name), server.uri(name, scheme="postgresql+psycopg2")
