"""The examples of docs/sql-catalog.md work as they stand."""

from __future__ import annotations

from urllib.parse import quote

from firn import firn
from kafka_broker import ROOT
from postgres import PASSWORD


def examples(language: str) -> list[str]:
    page = (ROOT / "docs" / "sql-catalog.md").read_text()
    return [part.split("```")[0] for part in page.split(f"```{language}\n")[1:]]


def create_and_list(path) -> str:
    firn("table", "create", "lake.shop.orders", "-c", path, "--column", "id long").ok()
    return firn("table", "list", "-c", path).ok().out


def test_sqlite_example(tmp_path):
    path = tmp_path / "firn.yaml"
    path.write_text(examples("yaml")[0])
    assert "lake.shop.orders" in create_and_list(path)
    assert (tmp_path / "lake" / "catalog.db").exists() and (tmp_path / "lake" / "warehouse" / "shop").is_dir()


def test_postgres_example_and_the_one_for_pyiceberg(postgres_lake, monkeypatch):
    """With this machine's server and folder in the place of the example's."""
    server, text = postgres_lake.server, examples("yaml")[1]
    changes = {
        "db.example:5432/lake": f"127.0.0.1:{server.port}/{postgres_lake.database}",
        "sslmode=verify-full": "sslmode=prefer",
        "/srv/lake/warehouse": str(postgres_lake.warehouse),
    }
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    path = postgres_lake.folder / "firn.yaml"
    path.write_text(text)
    monkeypatch.setenv("LAKE_PASSWORD", quote(PASSWORD, safe=""))
    assert "lake.shop.orders" in create_and_list(path)

    from pyiceberg.catalog.sql import SqlCatalog

    example = examples("python")[0].replace("postgresql+psycopg2://firn:...@db.example/lake", server.uri(postgres_lake.database, scheme="postgresql+psycopg2"))
    catalog = eval(example, {"SqlCatalog": SqlCatalog})  # noqa: S307
    assert catalog.list_tables("shop") == [("shop", "orders")]
