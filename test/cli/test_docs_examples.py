"""Every YAML example of README.md and docs/ is one that `firn check` takes; those of the file formats run."""

from __future__ import annotations

import re
import textwrap

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from firn import firn
from kafka_broker import ROOT
from readers import read_pyiceberg

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
CATALOGS = 'catalogs:\n  lake: {type: sql, uri: "sqlite:lake/catalog.db", warehouse: lake/warehouse}\n'
KAFKA = "source:\n  kafka:\n    bootstrap_servers: localhost:9092\n    topics: [orders]\n"
FILES = "source:\n  files: {path: landing, mode: once}\n"


def examples(page) -> list[str]:
    return [textwrap.dedent(text) for text in re.findall(r"```yaml\n(.*?)```", page.read_text(), re.DOTALL)]


def has(text: str, key: str) -> bool:
    return re.search(rf"^{key}:", text, re.MULTILINE) is not None


def all_examples() -> list:
    # `groups` are Prometheus's, not ours.
    return [
        pytest.param(text, id=f"{page.stem}-{number}")
        for page in PAGES
        for number, text in enumerate(examples(page), 1)
        if not has(text, "groups")
    ]


def completed(example: str) -> str:
    """A part of a pipeline file, with what it leaves out; its own lines stay as they are."""
    if has(example, "pipelines"):
        return example
    if has(example, "catalogs"):
        catalogs, parts = example, ""
    elif has(example, "properties"):
        catalogs, parts = CATALOGS, KAFKA + textwrap.indent(example, "    ")
    else:
        catalogs, parts = CATALOGS, example
    if not has(parts, "source"):
        parts += FILES if "format: parquet" in parts else KAFKA
    if not has(parts, "decode"):
        parts += "decode: json\n"
    if not has(parts, "tables"):
        parts += "table: lake.shop.orders\n"
    return catalogs + "pipelines:\n  orders:\n" + textwrap.indent(parts, "    ")


def test_pages_were_found():
    assert len(all_examples()) > 10


@pytest.mark.parametrize("example", all_examples())
def test_check_takes_it(example, tmp_path):
    secrets = {name: "secret" for name in re.findall(r"\$\{([A-Z_]+)\}", example)}
    (tmp_path / "secret").write_text("secret")
    example = re.sub(r"\$\{file:[^}]+\}", f"${{file:{tmp_path}/secret}}", example)
    config = tmp_path / "firn.yaml"
    config.write_text(completed(example))
    firn("check", "--offline", config, env=secrets).ok()


def run(tmp_path, example: str, pattern: str) -> list[dict]:
    config = tmp_path / "firn.yaml"
    config.write_text(completed(f"source:\n  files: {{path: 'landing/{pattern}', mode: once}}\n{example}"))
    firn("run", config).ok()
    return read_pyiceberg(tmp_path / "lake/catalog.db", tmp_path / "lake/warehouse", "shop.orders").to_pylist()


def test_the_csv_example_reads_such_a_file(tmp_path):
    (tmp_path / "landing").mkdir()
    (tmp_path / "landing/orders.csv").write_text('id;text\n1;"one; and a half"\n2;\\N\n')
    assert run(tmp_path, examples(ROOT / "docs/csv.md")[0], "*.csv") == [{"id": 1, "text": "one; and a half"}, {"id": 2, "text": None}]


def test_the_parquet_example_reads_such_a_file(tmp_path):
    (tmp_path / "landing").mkdir()
    rows = [{"id": 1, "text": "one"}, {"id": 2, "text": None}]
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "landing/orders.parquet")
    assert run(tmp_path, examples(ROOT / "docs/parquet-files.md")[0], "*.parquet") == rows
