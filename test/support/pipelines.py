"""Pipeline files of the tests, as text for Lake.config()."""

from __future__ import annotations


def pipeline(
    broker,
    topics: list[str] | None = None,
    table: str = "lake.shop.orders",
    columns: str | None = "[{name: id, type: long}, {name: text, type: string}]",
    key: str = "orders",
    interval: str = "1s",
    topics_pattern: str | None = None,
    source_extra: str = "",
    table_extra: str = "",
    extra: str = "",
    decode: str = "json",
) -> str:
    """One Kafka pipeline into one table. The *_extra texts are YAML lines of their level ("key: value", one a line)."""

    def lines(text: str, indent: int) -> str:
        return "".join(" " * indent + line + "\n" for line in text.splitlines() if line.strip())

    read = f'topics_pattern: "{topics_pattern}"' if topics_pattern else f"topics: [{', '.join(topics)}]"
    return (
        f"pipelines:\n  {key}:\n    id: {key}\n    source:\n      kafka:\n"
        f"        bootstrap_servers: {broker.bootstrap}\n        {read}\n"
        + lines(source_extra, 8)
        + f"    decode: {decode}\n    tables:\n      - name: {table}\n"
        + (f"        columns: {columns}\n" if columns else "")
        + lines(table_extra, 8)
        + f"    commit: {{interval: {interval}}}\n"
        + lines(extra, 4)
    )


def orders(first: int, count: int) -> list[str]:
    return [f'{{"id": {i}, "text": "order {i}"}}' for i in range(first, first + count)]
