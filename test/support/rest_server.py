"""Iceberg's own REST server (the reference implementation of the compatibility kit) on a free port, over a SQLite file.

    with RestServer(folder) as server:
        server.uri, server.pyiceberg().list_namespaces()
"""

from __future__ import annotations

import os
import subprocess
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

from kafka_broker import DEPS, JAVA, die_with_parent, free_port

CLASS = "org.apache.iceberg.rest.RESTCatalogServer"


def environment(properties: dict[str, str]) -> dict[str, str]:
    """Catalog properties as the server takes them: `a.b-c` is CATALOG_A_B__C."""
    return {"CATALOG_" + key.upper().replace("-", "__").replace(".", "_"): value for key, value in properties.items()}


def on_s3(s3) -> dict[str, str]:
    """Properties of a server whose warehouse is in a bucket of this S3Server."""
    return {
        "io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        "s3.endpoint": s3.endpoint,
        "s3.path-style-access": "true",
        "s3.access-key-id": s3.access_key,
        "s3.secret-access-key": s3.secret_key,
        "client.region": s3.region,
    }


class RestServer:
    """Starts on entry, stops on exit. `stop`, `kill` and `start` may be called in between: data and port stay the same."""

    def __init__(self, folder: Path, warehouse: str | None = None, properties: dict[str, str] | None = None, env: dict[str, str] | None = None):
        """warehouse: a location, by default a folder beside the database. properties: of the server's own catalog (`io-impl`,
        `s3.endpoint` ...). env: further variables of the process (AWS keys)."""
        self.folder = Path(folder)
        self.port = free_port()
        self.uri = f"http://127.0.0.1:{self.port}"
        self.warehouse = warehouse or f"file://{self.folder}/warehouse"
        self._properties = properties or {}
        self._env = env or {}
        self._process: subprocess.Popen | None = None

    def __enter__(self) -> RestServer:
        self.start()
        return self

    def __exit__(self, *_) -> None:
        self.stop()

    def start(self, timeout_s: float = 60) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        properties = {
            "uri": f"jdbc:sqlite:{self.folder}/catalog.db",
            "warehouse": self.warehouse,
            "rest.port": str(self.port),
            **self._properties,
        }
        log = (self.folder / "rest_server.log").open("ab")
        self._process = subprocess.Popen(
            [*JAVA, "-cp", f"{DEPS}/rck/lib/*", CLASS],
            env={**os.environ, **environment(properties), **self._env}, cwd=self.folder,
            stdout=log, stderr=log, stdin=subprocess.DEVNULL, preexec_fn=die_with_parent,
        )  # fmt: skip
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline and self._process.poll() is None:
            try:
                urllib.request.urlopen(self.uri + "/v1/config", timeout=5).read()
                return
            except OSError:
                time.sleep(0.1)
        tail = (self.folder / "rest_server.log").read_text(errors="replace")[-2000:]
        raise RuntimeError(f"the REST catalog server did not come up within {timeout_s:.0f} s:\n{tail}")

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

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._process = None


@dataclass
class RestLake:
    """A REST catalog as a test's pipeline file names it, and its tables as others read them. `uri` may be that of a proxy."""

    folder: Path
    server: RestServer
    uri: str = ""
    name: str = "lake"
    keys: dict[str, str] = field(default_factory=dict)  # further keys of the catalog in the pipeline file
    properties: dict[str, str] = field(default_factory=dict)  # for PyIceberg, to reach the files

    @property
    def catalogs_yaml(self) -> str:
        lines = [f"catalogs:\n  {self.name}:\n    type: rest\n    uri: {self.uri or self.server.uri}\n"]
        lines += [f"    {key}: {value}\n" for key, value in self.keys.items()]
        return "".join(lines)

    def config(self, pipelines_yaml: str = "", file: str = "firn.yaml") -> Path:
        path = self.folder / file
        path.write_text(self.catalogs_yaml + pipelines_yaml)
        return path

    def pyiceberg(self):
        from pyiceberg.catalog.rest import RestCatalog

        return RestCatalog(self.name, uri=self.server.uri, **self.properties)

    def metadata_location(self, table: str) -> str:
        return self.pyiceberg().load_table(table).metadata_location

    def read(self, table: str, **scan):
        return self.pyiceberg().load_table(table).scan(**scan).to_arrow()

    def read_duckdb(self, table: str):
        from readers import duckdb_session, local_path

        file = local_path(self.metadata_location(table))
        return duckdb_session().execute(f"select * from iceberg_scan('{file}')").to_arrow_table()
