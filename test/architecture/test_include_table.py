"""Holds the tree to the include table of ARCHITECTURE.md, and the judge of it to its word."""

from pathlib import Path

import pytest
from include_table import judge_file, judge_tree, read_table

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def table():
    return read_table((ROOT / "ARCHITECTURE.md").read_text())


def test_every_include_of_the_tree_is_in_the_table():
    wrong = judge_tree(ROOT)
    assert not wrong, "\n".join(wrong)


def test_every_name_in_a_row_is_a_row(table):
    rows = set(table.allowed)
    for unit, named in table.allowed.items():
        for name in named:
            covered = name in rows or name == "everything" or name.rpartition("/")[0] + "/*" in rows
            assert covered, f"{unit} names {name}, which is no row"
    for _, _, folders in table.fences:
        for folder in folders:
            assert folder in rows or folder.rpartition("/")[0] + "/*" in rows, folder


def test_no_row_reaches_itself_through_others(table):
    for unit in table.allowed:
        for named in table.row_of(unit):
            assert unit not in table.reach(named), f"{unit} and {named} include each other"


@pytest.mark.parametrize(
    ("path", "include"),
    [
        ("base/error.cc", '"firn/obs/log.h"'),
        ("decode/json/json_decoder.cc", '"firn/source/source.h"'),
        ("write/writer.cc", '"firn/decode/decoder.h"'),
        ("pipeline/pipeline.cc", '"firn/source/kafka/kafka_source.h"'),
        ("cli/table_command.cc", '"firn/catalog/sql/sql_catalog.h"'),
        ("commit/protocol/decide.cc", '"firn/iceberg/catalog.h"'),
        ("commit/protocol/decide.cc", '"firn/record/batch.h"'),
        ("record/position.h", '"firn/iceberg/model/type.h"'),
        ("iceberg/model/schema.cc", '"firn/store/store.h"'),
        ("source/kafka/kafka_source.cc", '"firn/source/files/files_source.h"'),
        ("store/store.h", '"firn/store/local/local_store.h"'),
        ("novel/thing.cc", '"firn/base/result.h"'),
        ("base/thing.cc", '"firn/novel/thing.h"'),
        ("base/thing.cc", '"result.h"'),
        ("base/result.h", '"support/fixture.h"'),
        ("iceberg/model/type.h", "<arrow/api.h>"),
        ("iceberg/meta/manifest.cc", "<parquet/api/writer.h>"),
        ("commit/committer.cc", "<arrow/array.h>"),
        ("pipeline/pipeline.cc", "<librdkafka/rdkafka.h>"),
        ("source/kafka/kafka_source.cc", "<curl/curl.h>"),
        ("catalog/sql/sql_catalog.cc", "<sqlite3.h>"),
        ("decode/decoder.h", "<simdjson.h>"),
        ("cli/check_command.cc", "<yaml-cpp/yaml.h>"),
        ("runtime/executor.h", "<boost/asio/io_context.hpp>"),
        ("runtime/executor.h", "<tbb/task.h>"),
        ("runtime/executor.h", "<gtest/gtest.h>"),
    ],
)
def test_an_edge_outside_the_table_is_caught(table, path, include):
    wrong = judge_file(table, path, f"#pragma once\n\n#include <string>\n#include {include}\n")
    assert len(wrong) == 1, wrong
    assert path in wrong[0]


@pytest.mark.parametrize(
    ("path", "include"),
    [
        ("base/error.cc", '"firn/base/error.h"'),
        ("runtime/retry.cc", '"firn/base/result.h"'),
        ("decode/json/json_decoder.cc", '"firn/decode/decoder.h"'),
        ("decode/json/json_decoder.cc", "<simdjson.h>"),
        ("source/kafka/kafka_source.cc", "<librdkafka/rdkafka.h>"),
        ("pipeline/pipeline.cc", '"firn/iceberg/catalog.h"'),
        ("commit/protocol/facts.h", '"firn/record/position.h"'),
        ("commit/committer.cc", '"firn/record/position.h"'),
        ("pipeline/pipeline.cc", '"firn/record/dead_letter.h"'),
        ("app/main.cc", '"firn/source/kafka/kafka_source.h"'),
        ("app/version.cc", "<arrow/util/config.h>"),
        ("catalog/sql/sql_catalog_test.cc", '"firn/store/memory/memory_store.h"'),
        ("runtime/retry_test.cc", "<gtest/gtest.h>"),
        ("store/local/local_store.cc", "<sys/stat.h>"),
        ("store/local/local_store.cc", "<unistd.h>"),
    ],
)
def test_an_edge_of_the_table_passes(table, path, include):
    assert judge_file(table, path, f"#include {include}\n") == []


def test_a_bad_edge_in_a_tree_is_reported_with_its_line(tmp_path):
    (tmp_path / "ARCHITECTURE.md").write_text((ROOT / "ARCHITECTURE.md").read_text())
    folder = tmp_path / "src" / "firn" / "base"
    folder.mkdir(parents=True)
    (folder / "good.h").write_text("#include <string>\n")
    (folder / "bad.h").write_text('#include <string>\n  #  include "firn/cli/command.h"\n')
    assert judge_tree(tmp_path) == ["src/firn/base/bad.h:2: firn/cli/command.h: base may not include cli"]
