"""Where the tables of one test live: a catalog of each kind over a store of each kind. Servers may be shared, names are a home's own."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pyarrow import fs


@dataclass
class Home:
    """`ns` is the home's namespace. In `catalogs_yaml`, for Firn, there may be a proxy before the catalog."""

    folder: Path
    ns: str
    catalogs_yaml: str
    pyiceberg_properties: dict[str, str]
    environment: dict[str, str] = field(default_factory=dict)
    filesystem: fs.FileSystem = field(default_factory=fs.LocalFileSystem)

    def pyiceberg(self):
        """Past any proxy; a catalog of its own, for one thread."""
        from pyiceberg.catalog import load_catalog

        return load_catalog("lake", **self.pyiceberg_properties)

    def load(self, table: str):
        """Through PyIceberg, past any proxy."""
        return self.pyiceberg().load_table((self.ns, table))

    def path_of(self, location: str) -> str:
        """As `filesystem` takes it."""
        return location.removeprefix("s3://").removeprefix("file://").removeprefix("file:")

    def files_below(self, location: str) -> set[str]:
        found = self.filesystem.get_file_info(fs.FileSelector(self.path_of(location), recursive=True, allow_not_found=True))
        # Hadoop's file system, under the REST server, keeps checksums beside what it writes to a local folder.
        return {one.path for one in found if one.type == fs.FileType.File and not one.path.endswith(".crc")}


@dataclass
class Store:
    """What a home needs to reach its files. `firn_keys`: further keys of the catalog, as YAML."""

    warehouse: str
    firn_keys: str = ""
    pyiceberg_properties: dict[str, str] = field(default_factory=dict)
    more: dict = field(default_factory=dict)  # environment, filesystem


def local_store(folder: Path) -> Store:
    return Store(f"file://{folder}/warehouse")


def s3_store(s3, bucket: str, ns: str) -> Store:
    more = {"environment": s3.environment, "filesystem": s3.filesystem}
    keys = s3.catalog_keys(**{"part-size": "5MiB"})
    return Store(f"s3://{bucket}/{ns}", f"    s3: {keys}\n", s3.pyiceberg_properties, more)


def sqlite_home(folder: Path, ns: str, store: Store) -> Home:
    return _sql_home(folder, ns, store, f"sqlite:{folder}/catalog.db", f"sqlite:///{folder}/catalog.db")


def postgres_home(folder: Path, ns: str, store: Store, server, port: int | None = None) -> Home:
    """In a new database of the home's name. port: of a proxy before the server."""
    server.create_database(ns)
    return _sql_home(folder, ns, store, server.uri(ns, port=port), server.uri(ns, scheme="postgresql+psycopg2"))


def _sql_home(folder: Path, ns: str, store: Store, ours: str, theirs: str) -> Home:
    warehouse = store.warehouse.removeprefix("file://")
    yaml = f'catalogs:\n  lake:\n    type: sql\n    uri: "{ours}"\n    warehouse: {warehouse}\n{store.firn_keys}'
    properties = {"type": "sql", "uri": theirs, "warehouse": store.warehouse, "init_catalog_tables": "false", **store.pyiceberg_properties}
    return Home(folder, ns, yaml, properties, **store.more)


def rest_home(folder: Path, ns: str, store: Store, uri: str, uri_of_firn: str | None = None) -> Home:
    yaml = f"catalogs:\n  lake:\n    type: rest\n    uri: {uri_of_firn or uri}\n{store.firn_keys}"
    return Home(folder, ns, yaml, {"type": "rest", "uri": uri, **store.pyiceberg_properties}, **store.more)
