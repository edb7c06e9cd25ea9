"""A SQL catalog on a real PostgreSQL server, and what the program says when the server does not want it."""

from __future__ import annotations

import subprocess

import pyarrow as pa
import pytest
from firn import firn
from ports import free_port
from postgres import PASSWORD, USER, Postgres

COLUMN = ("--column", "id long")


def refused(*arguments, code=2, **more) -> str:
    done = firn(*arguments, **more)
    assert done.code == code, f"exit code {done.code}\n{done.out}\n{done.err}"
    assert PASSWORD not in done.out + done.err and "hunter2" not in done.out + done.err
    return done.err


def rows(*ids: int) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int64())})


def ids(table: pa.Table) -> list[int]:
    return sorted(table["id"].to_pylist())


def test_tables_of_firn_and_of_pyiceberg_are_each_others(postgres_lake):
    config = postgres_lake.config()
    firn("table", "create", "lake.shop.ours", "-c", config, *COLUMN).ok()
    catalog = postgres_lake.pyiceberg()
    catalog.load_table("shop.ours").append(rows(1, 2))
    catalog.create_table("shop.theirs", rows().schema).append(rows(3))
    assert firn("table", "list", "-c", config).ok().out.splitlines() == ["TABLE", "lake.shop.ours", "lake.shop.theirs"]
    for table, count in (("ours", 2), ("theirs", 1)):
        read = firn("table", "read", f"lake.shop.{table}", "-c", config, "--format", "jsonl").ok()
        assert len(read.out.splitlines()) == count
    firn("table", "drop", "lake.shop.theirs", "-c", config).ok()
    assert catalog.list_tables("shop") == [("shop", "ours")]


def test_layout_is_the_one_that_others_make(postgres_lake, postgres):
    """Column for column what PyIceberg makes in an empty database."""
    from pyiceberg.catalog.sql import SqlCatalog

    firn("catalog", "create-namespace", "lake.shop", "-c", postgres_lake.config()).ok()
    theirs = postgres_lake.database + "_theirs"
    postgres.create_database(theirs)
    SqlCatalog("lake", uri=postgres.uri(theirs, scheme="postgresql+psycopg2"), warehouse=f"file://{postgres_lake.warehouse}")
    query = """
        SELECT table_name, column_name, data_type, character_maximum_length, is_nullable FROM information_schema.columns
        WHERE table_name LIKE 'iceberg_%' ORDER BY 1, 2"""
    assert postgres.execute(query, postgres_lake.database) == postgres.execute(query, theirs)


def test_check_looks_and_makes_nothing(postgres_lake, postgres):
    (postgres_lake.folder / "landing").mkdir()
    (postgres_lake.folder / "landing/orders.jsonl").write_text('{"id": 1}\n')
    config = postgres_lake.config(
        "pipelines:\n  p:\n    source: {files: {path: landing, mode: once}}\n    decode: json\n    table: lake.shop.orders\n"
    )
    done = firn("check", config).ok()
    assert "catalog       lake (will be created)" in done.out and "lake.shop.orders (will be created)" in done.out
    assert postgres.execute("SELECT 1 FROM pg_tables WHERE tablename LIKE 'iceberg%'", postgres_lake.database) == []
    assert PASSWORD not in done.out + done.err


# --- ways to the server ---


@pytest.mark.parametrize("form", ["postgres://{user}:{secret}@{at}", "jdbc:postgresql://{at}?user={user}&password={secret}"])
def test_forms_of_others_reach_the_same_database(postgres_lake, form):
    from urllib.parse import quote

    firn("table", "create", "lake.shop.t", "-c", postgres_lake.config(), *COLUMN).ok()
    at = f"127.0.0.1:{postgres_lake.server.port}/{postgres_lake.database}"
    config = postgres_lake.config(uri=form.format(user=USER, secret=quote(PASSWORD, safe=""), at=at))
    assert "lake.shop.t" in firn("table", "list", "-c", config).ok().out


def test_password_comes_from_where_libpq_looks(postgres_lake, tmp_path):
    server, database = postgres_lake.server, postgres_lake.database
    config = postgres_lake.config(uri=server.uri(database, password=None))
    firn("catalog", "create-namespace", "lake.a", "-c", config, env={"PGPASSWORD": PASSWORD}).ok()
    passfile = tmp_path / "pgpass"
    passfile.write_text(f"127.0.0.1:{server.port}:*:{USER}:{PASSWORD.replace(':', chr(92) + ':')}\n")
    passfile.chmod(0o600)
    firn("catalog", "create-namespace", "lake.b", "-c", config, env={"PGPASSFILE": str(passfile)}).ok()
    config = postgres_lake.config(uri="postgresql://" + USER + "@127.0.0.1:${PORT}/" + database)
    firn("catalog", "namespaces", "-c", config, env={"PORT": str(server.port), "PGPASSWORD": PASSWORD}).ok()


def test_schema_of_the_uri_holds_the_tables(postgres_lake, postgres):
    postgres.execute(f"CREATE SCHEMA lakes AUTHORIZATION {USER}", postgres_lake.database)
    config = postgres_lake.config(uri=postgres_lake.uri + "?options=-csearch_path%3Dlakes")
    firn("table", "create", "lake.shop.t", "-c", config, *COLUMN).ok()
    assert postgres.execute("SELECT table_name FROM lakes.iceberg_tables", postgres_lake.database) == [("t",)]


def test_tls_is_asked_for_and_checked_as_the_uri_says(tmp_path):
    key, certificate = tmp_path / "server.key", tmp_path / "server.crt"
    subprocess.run(
        ["openssl", "req", "-new", "-x509", "-days", "2", "-nodes", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
         "-out", certificate, "-keyout", key], check=True, capture_output=True,
    )  # fmt: skip
    with Postgres() as server:
        server.add_file("server.key", key.read_bytes())
        server.add_file("server.crt", certificate.read_bytes())
        server.execute("ALTER SYSTEM SET ssl = on")
        server.stop()
        server.start()
        uri = server.create_database("lake")
        path = tmp_path / "firn.yaml"

        def catalog(parameters: str):
            path.write_text(f'catalogs: {{lake: {{type: sql, uri: "{uri}?{parameters}", warehouse: w}}}}\n')
            return path

        firn("catalog", "create-namespace", "lake.a", "-c", catalog(f"sslmode=verify-full&sslrootcert={certificate}")).ok()
        error = refused("catalog", "namespaces", "-c", catalog("sslmode=verify-full&sslrootcert=/nowhere.crt"), code=1)
        assert "/nowhere.crt" in error
        other = tmp_path / "other.crt"
        subprocess.run(
            ["openssl", "req", "-new", "-x509", "-days", "2", "-nodes", "-subj", "/CN=other", "-out", other, "-keyout", tmp_path / "other.key"],
            check=True, capture_output=True,
        )  # fmt: skip
        assert "certificate" in refused("catalog", "namespaces", "-c", catalog(f"sslmode=verify-ca&sslrootcert={other}"), code=1)


def test_tls_that_the_server_does_not_have(postgres_lake):
    error = refused("catalog", "namespaces", "-c", postgres_lake.config(uri=postgres_lake.uri + "?sslmode=require"), code=1)
    assert "SSL" in error and "TLS parameters of the uri" in error


# --- what the server does not want ---


def test_wrong_password(postgres_lake):
    uri = postgres_lake.server.uri(postgres_lake.database, password="hunter2")
    error = refused("table", "list", "-c", postgres_lake.config(uri=uri))
    assert "password authentication failed" in error and "$PGPASSWORD" in error


def test_no_password_at_all(postgres_lake):
    uri = postgres_lake.server.uri(postgres_lake.database, password=None)
    env = {"PGPASSFILE": "/nowhere", "PGPASSWORD": ""}
    assert "$PGPASSWORD" in refused("table", "list", "-c", postgres_lake.config(uri=uri), env=env)


def test_database_that_is_not_there(postgres_lake):
    config = postgres_lake.config(uri=postgres_lake.server.uri("nowhere"))
    error = refused("catalog", "create-namespace", "lake.a", "-c", config)
    assert '"nowhere"' in error and "CREATE DATABASE" in error
    assert "will be created" not in firn("check", config).out


def test_server_that_is_not_there(postgres_lake):
    port = free_port()
    config = postgres_lake.config(uri=postgres_lake.server.uri("lake", port=port))
    error = refused("table", "list", "-c", config, code=1)
    assert f"127.0.0.1:{port}" in error and "Check that it runs" in error


def test_user_who_may_only_read(postgres_lake, postgres):
    config = postgres_lake.config()
    firn("table", "create", "lake.shop.t", "-c", config, *COLUMN).ok()
    reader = "reader_" + postgres_lake.database
    postgres.execute(f"CREATE ROLE {reader} LOGIN PASSWORD 'hunter2'")
    postgres.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {reader}", postgres_lake.database)
    config = postgres_lake.config(uri=postgres.uri(postgres_lake.database, user=reader, password="hunter2"))
    assert "lake.shop.t" in firn("table", "list", "-c", config).ok().out
    for change in (["table", "create", "lake.shop.u", *COLUMN], ["table", "drop", "lake.shop.t"], ["catalog", "create-namespace", "lake.x"],
                   ["table", "rename", "lake.shop.t", "lake.shop.u"]):  # fmt: skip
        error = refused(*change, "-c", config)
        assert "permission denied" in error and "GRANT" in error, change
    assert len(list(postgres_lake.warehouse.rglob("*.metadata.json"))) == 1, "a refused creation leaves no file"


def test_user_who_may_not_make_the_tables(postgres_lake, postgres):
    guest = "guest_" + postgres_lake.database
    postgres.execute(f"CREATE ROLE {guest} LOGIN PASSWORD 'hunter2'")
    config = postgres_lake.config(uri=postgres.uri(postgres_lake.database, user=guest, password="hunter2"))
    error = refused("table", "create", "lake.shop.t", "-c", config, *COLUMN)
    assert "schema public" in error and "GRANT" in error


def test_granted_rights_of_the_page_are_enough(postgres_lake, postgres):
    """The statements of docs/sql-catalog.md, word for word, for a user who owns nothing."""
    from kafka_broker import ROOT

    page = (ROOT / "docs" / "sql-catalog.md").read_text()
    statements = page.split("```sql\n")[1].split("```")[0]
    firn("catalog", "create-namespace", "lake.shop", "-c", postgres_lake.config()).ok()
    worker = "worker_" + postgres_lake.database
    postgres.execute(statements.replace("firn_worker", worker).replace("'choose one'", "'hunter2'"), postgres_lake.database)
    config = postgres_lake.config(uri=postgres.uri(postgres_lake.database, user=worker, password="hunter2"))
    firn("table", "create", "lake.shop.t", "-c", config, *COLUMN).ok()
    firn("table", "rename", "lake.shop.t", "lake.shop.u", "-c", config).ok()
    firn("catalog", "set-properties", "lake.shop", "owner=me", "-c", config).ok()
    firn("table", "drop", "lake.shop.u", "-c", config).ok()
    firn("catalog", "drop-namespace", "lake.shop", "-c", config).ok()


def test_standby_takes_no_changes_and_says_so(postgres_lake, postgres):
    config = postgres_lake.config()
    firn("table", "create", "lake.shop.t", "-c", config, *COLUMN).ok()
    config = postgres_lake.config(uri=postgres_lake.uri + "?options=-cdefault_transaction_read_only%3Don")
    assert "lake.shop.t" in firn("table", "list", "-c", config).ok().out
    error = refused("table", "create", "lake.shop.u", "-c", config, *COLUMN, code=1)
    assert "read-only" in error and "target_session_attrs" in error
