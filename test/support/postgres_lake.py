"""A PostgreSQL catalog and a local warehouse of a test's own, and the pipeline file that names them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from postgres import Postgres


@dataclass
class PostgresLake:
    folder: Path
    server: Postgres
    database: str
    name: str = "lake"
    port: int | None = None  # of a proxy in front of the server

    @property
    def warehouse(self) -> Path:
        return self.folder / "warehouse"

    @property
    def uri(self) -> str:
        return self.server.uri(self.database, port=self.port)

    @property
    def catalogs_yaml(self) -> str:
        return f'catalogs:\n  {self.name}:\n    type: sql\n    uri: "{self.uri}"\n    warehouse: {self.warehouse}\n'

    def config(self, pipelines_yaml: str = "", file: str = "firn.yaml", uri: str | None = None) -> Path:
        """uri: another one than that of the lake's own user."""
        path = self.folder / file
        path.write_text(self.catalogs_yaml.replace(self.uri, uri or self.uri) + pipelines_yaml)
        return path

    def pyiceberg(self):
        """Of PyIceberg's own connection to the server, past any proxy."""
        from pyiceberg.catalog.sql import SqlCatalog

        uri = self.server.uri(self.database, scheme="postgresql+psycopg2")
        return SqlCatalog(self.name, uri=uri, warehouse=f"file://{self.warehouse}", init_catalog_tables="false", pool_pre_ping="true")

    def metadata_location(self, table: str) -> str:
        return self.pyiceberg().load_table(table).metadata_location

    def read(self, table: str, **scan):
        return self.pyiceberg().load_table(table).scan(**scan).to_arrow()
