"""What the program says, and how it ends, when its input is wrong: each message names the place and the remedy."""

from __future__ import annotations

import pytest
from firn import firn, start_firn, wait_until

PIPELINE = """
pipelines:
  flights:
    source: {kafka: {bootstrap_servers: "127.0.0.1:1", topics: [flights]}}
    decode: json
    table: lake.travel.flights
"""
# What is there to be looked at without waiting for a broker.
FROM_FILES = PIPELINE.replace('kafka: {bootstrap_servers: "127.0.0.1:1", topics: [flights]}', "files: {path: landing, mode: once}")


@pytest.fixture
def landing(lake):
    """A lake beside a folder with one record."""
    folder = lake.folder / "landing"
    folder.mkdir()
    (folder / "flights.jsonl").write_text('{"id": 1}\n')
    return lake


def refused(*arguments, code=2, **more):
    done = firn(*arguments, **more)
    assert done.code == code, f"exit code {done.code}\n{done.out}\n{done.err}"
    assert done.err, "an error says something"
    assert "Traceback" not in done.err and "terminate" not in done.err
    return done.err


def write(folder, text, name="firn.yaml"):
    path = folder / name
    path.write_text(text)
    return path


# --- the command line ---


def test_no_command_shows_what_there_is():
    done = firn()
    assert done.code == 2
    assert "run" in done.out and "table" in done.out


def test_help_is_no_error():
    for arguments in (["--help"], ["help"], ["help", "table", "read"], ["table", "read", "--help"], ["run", "-h"]):
        done = firn(*arguments).ok()
        assert done.out, arguments


def test_unknown_command_names_the_nearest():
    assert "did you mean 'check'" in refused("chek")
    assert "did you mean 'read'" in refused("table", "raed")


def test_unknown_option_names_the_nearest():
    assert "did you mean '--where'" in refused("table", "read", "a.b.c", "--wehre", "x")


def test_group_without_a_command_is_told():
    assert "a command is missing" in refused("table")


def test_missing_argument_is_named():
    assert "TABLE" in refused("table", "show")


def test_log_options_are_checked():
    assert "is not debug, info, warning or error" in refused("version", "--log-level", "loud")


# --- the pipeline file ---


def test_no_file_tells_the_three_ways(tmp_path):
    error = refused("table", "list", env={"FIRN_CONFIG": ""}, cwd=tmp_path)
    assert "-c FILE" in error and "FIRN_CONFIG" in error and "/etc/firn/firn.yaml" in error


def test_file_that_is_not_there(tmp_path):
    assert "nowhere.yaml" in refused("check", tmp_path / "nowhere.yaml")


def test_broken_yaml_has_line_and_column(tmp_path):
    path = write(tmp_path, "catalogs:\n  lake: {type: sql\npipelines: [\n")
    assert "firn.yaml:" in refused("check", path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1\na: 2\n", "a"),
        ("catalogs: {}\n---\ncatalogs: {}\n", "document"),
        ("catalogs:\n\tlake: {}\n", "tab"),
        ("resources: {threads: 010}\n", "010"),
        ("catalogs: &x {}\npipelines:\n  <<: *x\n", "<<"),
    ],
)
def test_yaml_that_surprises_is_refused(tmp_path, text, words):
    assert words in refused("check", write(tmp_path, text))


def test_unknown_key_names_the_nearest_and_its_place(lake):
    error = refused("check", "--offline", lake.config(PIPELINE + "    commit: {intervall: 5s}\n"))
    assert 'pipelines.flights.commit.intervall' in error and 'did you mean "interval"?' in error
    assert "firn.yaml:12:14:" in error


def test_everything_wrong_is_told_at_once(lake):
    error = refused(
        "check", "--offline",
        lake.config("pipelines:\n  p:\n    source: {kafka: {topics: []}}\n    decode: xml\n    table: sea.a.b\n    commit: {interval: 5}\n"),
    )  # fmt: skip
    for word in ("bootstrap_servers", "xml", "sea", "interval"):
        assert word in error, word
    assert error.count("firn.yaml:") >= 4


def test_missing_environment_variable_is_named(lake):
    error = refused("check", "--offline", lake.config(PIPELINE.replace("127.0.0.1:1", "${FIRN_TEST_NOT_SET}")))
    assert "FIRN_TEST_NOT_SET" in error and "firn.yaml:" in error


def test_default_of_an_environment_variable_is_taken(lake):
    done = firn("check", "--offline", lake.config(PIPELINE.replace("127.0.0.1:1", "${FIRN_TEST_NOT_SET:-example:9092}"))).ok()
    assert "example:9092" in done.out


def test_secrets_are_not_printed(lake):
    text = PIPELINE.replace("topics: [flights]", 'topics: [flights], properties: {sasl.password: "hunter2", no.such.property: "hunter2"}')
    done = firn("check", "--offline", lake.config(text))
    assert "hunter2" not in done.out + done.err


def test_reserved_column_names_are_refused(lake):
    tables = "    tables: [{name: lake.travel.flights, columns: [{name: _file, type: string}, {name: _Pos, type: int}]}]\n"
    error = refused("check", "--offline", lake.config(PIPELINE.replace("    table: lake.travel.flights\n", tables)))
    assert "reserves the name _file" in error and "from:" in error


def test_same_key_in_two_files_is_an_error(lake):
    first = lake.config(PIPELINE)
    second = lake.config(PIPELINE, file="second.yaml")
    assert "second.yaml:" in refused("check", "--offline", first, second)


def test_files_merge(lake):
    catalogs = lake.config()
    pipelines = write(lake.folder, PIPELINE, "pipelines.yaml")
    assert "lake.travel.flights" in firn("check", "--offline", catalogs, pipelines).ok().out


def test_table_of_a_catalog_that_is_not_there(lake):
    error = refused("check", "--offline", lake.config(PIPELINE.replace("lake.travel", "lage.travel")))
    assert 'did you mean "lake"?' in error


def test_run_without_pipelines_is_told(lake):
    assert "no pipeline to run" in refused("run", lake.config())


def test_fail_on_dead_letters_needs_a_bounded_run(lake):
    assert "--until-caught-up" in refused("run", "--fail-on-dead-letters", lake.config(PIPELINE))


def test_check_shows_what_would_run(lake):
    columns = (
        "    tables:\n      - name: lake.travel.flights\n"
        "        columns: [{name: at, type: timestamp}, {name: delay, type: int}]\n"
        '        partition_by: ["day(at)"]\n'
    )  # fmt: skip
    done = firn("check", "--offline", lake.config(PIPELINE.replace("    table: lake.travel.flights\n", columns))).ok()
    assert "CREATE TABLE lake.travel.flights" in done.out and "PARTITIONED BY (day(at))" in done.out
    assert "1,440 a day" in done.out
    assert not lake.database.exists(), "a check offline touches nothing"


def test_broker_that_is_not_there_is_a_problem(lake):
    error = refused("check", lake.config(PIPELINE), timeout_s=180)
    assert "127.0.0.1:1" in error


# --- tables ---


@pytest.fixture
def table(lake):
    """A table of two columns without rows; the file with its catalog."""
    config = lake.config()
    firn("table", "create", "lake.travel.flights", "-c", config, "--column", "id long required", "--column", "origin string").ok()
    return config


def test_table_that_is_not_there(table):
    assert "nothing" in refused("table", "show", "lake.travel.nothing", "-c", table)


def test_catalog_that_is_not_there_names_the_nearest(table):
    assert 'did you mean "lake"?' in refused("table", "show", "lage.travel.flights", "-c", table)


def test_name_without_a_catalog_is_explained(table):
    assert "catalog.namespace.table" in refused("table", "show", "flights", "-c", table)


def test_where_clause_that_does_not_parse_has_its_position(table):
    error = refused("table", "read", "lake.travel.flights", "-c", table, "--where", "origin = = 'SEA'")
    assert "10" in error or "position" in error


def test_where_clause_of_an_unknown_column_names_the_nearest(table):
    assert "origin" in refused("table", "read", "lake.travel.flights", "-c", table, "--where", "orgin = 'SEA'")


def test_columns_that_are_not_there_name_the_nearest(table):
    assert "origin" in refused("table", "read", "lake.travel.flights", "-c", table, "--columns", "id,orgin")


def test_snapshot_that_is_not_there(table):
    refused("table", "read", "lake.travel.flights", "-c", table, "--snapshot", "42")
    assert "is no time" in refused("table", "read", "lake.travel.flights", "-c", table, "--as-of", "yesterday")


def test_format_that_is_not_there(table):
    assert "table, csv or jsonl" in refused("table", "read", "lake.travel.flights", "-c", table, "--format", "xml")


def test_create_refuses_what_iceberg_refuses(lake):
    config = lake.config()

    def create(*arguments):
        return refused("table", "create", "lake.travel.t", "-c", config, *arguments)

    assert "integer" in create("--column", "id integer")
    assert "_file" in create("--column", "_file string")
    assert "name type" in create("--column", "id")
    assert "day(nope)" in create("--column", "id long", "--partition-by", "day(nope)")
    assert "KEY=VALUE" in create("--column", "id long", "--property", "oops")
    assert not lake.database.exists(), "a refused creation makes nothing"


def test_create_twice_is_refused(table):
    refused("table", "create", "lake.travel.flights", "-c", table, "--column", "id long")


def test_namespace_that_is_not_there(table):
    refused("table", "list", "lake.nowhere", "-c", table)


# --- surroundings ---


def test_status_of_nobody_is_a_failure_not_a_wrong_input():
    error = refused("status", "--at", "127.0.0.1:1", code=1)
    assert "listen:" in error


def test_status_of_a_file_without_listen(lake):
    assert "--at HOST:PORT" in refused("status", "-c", lake.config())


def test_catalog_database_that_is_none(lake):
    lake.database.write_bytes(b"this is no database, but long enough to be read as one" * 40)
    error = refused("table", "list", "-c", lake.config(), code=1)
    assert "catalog.db" in error


def test_check_makes_nothing_and_says_what_would_be_made(landing):
    done = firn("check", landing.config(FROM_FILES)).ok()
    assert "catalog       lake (will be created)" in done.out
    assert "lake.travel.flights (will be created)" in done.out
    assert not landing.database.exists() and not landing.warehouse.exists()


def test_check_finds_a_warehouse_that_is_no_folder(landing):
    landing.warehouse.write_text("a file where the folder should be")
    error = refused("check", landing.config(FROM_FILES))
    assert "warehouse of catalog lake" in error and "is not a folder" in error


def test_check_finds_a_warehouse_that_takes_no_files(landing):
    config = landing.config(FROM_FILES)
    config.write_text(config.read_text().replace(str(landing.warehouse), "/proc/firn/warehouse"))
    error = refused("check", config)
    assert "warehouse of catalog lake" in error and "/proc" in error
    assert "warehouse of catalog" not in firn("check", "--offline", config).ok().err


def test_check_leaves_nothing_in_the_warehouse(landing):
    landing.warehouse.mkdir()
    firn("check", landing.config(FROM_FILES)).ok()
    assert list(landing.warehouse.iterdir()) == []


def test_a_dry_run_makes_no_catalog(landing):
    firn("run", "--dry-run", landing.config(FROM_FILES)).ok()
    assert not landing.database.exists()


def test_a_secret_in_a_catalog_uri_is_not_printed(landing, tmp_path):
    for uri in ("postgresql://me:hunter2@127.0.0.1:1/lake", "postgresql://me:hunter2@[::1/lake", "mysql://me:hunter2@h/lake",
                "postgresql://me@127.0.0.1:1/lake?password=hunter2&sslmod=require"):  # fmt: skip
        config = landing.config(FROM_FILES)
        config.write_text(config.read_text().replace(f"sqlite:{landing.database}", f'"{uri}"'))
        for command in (["check", config], ["table", "list", "-c", config]):
            done = firn(*command)
            assert done.code in (1, 2) and "hunter2" not in done.out + done.err, done.err
        running = start_firn("run", "--until-caught-up", config, log=tmp_path / "run.log")
        wait_until(lambda: "waiting for a catalog" in running.output or not running.alive(), what="an error or the wait for the server")
        assert running.stop() in (0, 1, 2) and "hunter2" not in running.output, running.output


def test_warehouse_that_cannot_be_written(lake):
    lake.warehouse.write_text("a file where the folder should be")
    done = firn("table", "create", "lake.travel.flights", "-c", lake.config(), "--column", "id long")
    assert done.code in (1, 2) and "warehouse" in done.err
