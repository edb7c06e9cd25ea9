"""The pipeline that the soak and the try-out run."""

from __future__ import annotations

from pathlib import Path

from home import Home

PIPELINE = "soak"
TEXT = """pipelines:
  p:
    id: {pipeline}
    source:
      kafka:
        bootstrap_servers: {bootstrap}
        topics: [{topic}]
{instance}        properties: {{session.timeout.ms: "{session_ms}", heartbeat.interval.ms: "500", fetch.wait.max.ms: "100"}}
    decode: json
    tables:
{tables}
    commit: {{interval: {interval_ms}ms}}
resources: {{threads: 2, memory: 256MiB}}
"""
TABLE = "      - {{{match}name: lake.{ns}.{name}, columns: {columns}, kafka_columns: true, properties: {properties}}}\n"
COLUMNS = "[{name: id, type: long}, {name: kind, type: string}, {name: text, type: string}]"
# So that PyIceberg's rewrites may be based again on a head that Firn has moved.
PROPERTIES = '{write.delete.isolation-level: snapshot, write.update.isolation-level: snapshot, commit.retry.num-retries: "8"}'


def names(tables: int) -> list[str]:
    return ["events"] if tables == 1 else [f"events_{number}" for number in range(tables)]


def write(home: Home, bootstrap: str, topic: str, file: str, tables: int = 1, interval_ms: int = 1000, session_ms: int = 6000, instance: str = "") -> Path:
    """instance: the name of a static member of the group."""
    rules = ""
    for number, name in enumerate(names(tables)):
        match = f"match: {{field: {{kind: t{number}}}}}, " if tables > 1 else ""
        rules += TABLE.format(match=match, ns=home.ns, name=name, columns=COLUMNS, properties=PROPERTIES)
    more = {"bootstrap": bootstrap, "topic": topic, "instance": f"        group_instance_id: {instance}\n" if instance else "", "session_ms": session_ms, "interval_ms": interval_ms}
    path = home.folder / file
    path.write_text(home.catalogs_yaml + TEXT.format(pipeline=PIPELINE, tables=rules.rstrip("\n"), **more))
    return path
