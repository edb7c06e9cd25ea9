"""Records that cannot become rows, with a real broker: each way to be bad has its dead letter, whole; many of them cost neither memory nor files; a log
that is itself damaged is named with its place."""

from __future__ import annotations

import datetime
import json

import pytest
from firn import firn, start_firn, wait_until
from memory import peak_to_the_end
from pipelines import orders, pipeline
from ports import free_port

TABLE, LETTERS = "shop.orders", "shop.orders_dead_letters"
COLUMNS = "[{name: id, type: int, required: true}, {name: text, type: string}, {name: tags, type: 'list<int>'}]"
UNBOUNDED = "dead_letters: {fail_above: {ratio: 1.0}}"

BAD = {
    "not parseable": (b"{broken", "malformed_json", "broken"),
    "cut in half": (b'{"id": 1, "te', "malformed_json", "not JSON"),
    "not UTF-8": (b'{"id": 1, "text": "\xff"}', "invalid_utf8", ""),
    "no object": (b"[1, 2]", "not_an_object", ""),
    "empty": (b"", "empty_value", ""),
    "wrong type": (b'{"id": "one"}', "type_mismatch", "'id'"),
    "wrong type in a list": (b'{"id": 1, "tags": [1, true]}', "type_mismatch", "'tags[1]'"),
    "out of range": (b'{"id": 2147483648}', "out_of_range", "'id'"),
    "a fraction": (b'{"id": 1.5}', "inexact", "'id'"),
    "missing required": (b'{"text": "x"}', "missing_required", "'id'"),
    "null required": (b'{"id": null}', "null_required", "'id'"),
    "too long": (b'{"id": 1, "text": "' + b"x" * 2048 + b'"}', "record_too_long", "max_record_bytes"),
    "no value": (None, "tombstone", ""),
}


def start_of(broker, topic, lake, run_ms: int) -> list[dict]:
    """One bad record of each kind between good ones; the letters, by offset."""
    values = [value for bad, _, _ in BAD.values() for value in (b'{"id": 7, "text": "good"}', bad)]
    count = len(values)
    broker.produce(
        topic, values, partition=1, keys=[f"k{i}" for i in range(count)], headers=[[("trace", f"t{i}".encode()), ("empty", None)] for i in range(count)],
        timestamps_ms=[run_ms + i for i in range(count)],
    )  # fmt: skip
    extra = f"tombstones: dead_letter\nmax_record_bytes: 1KiB\n{UNBOUNDED}"
    firn("run", lake.config(pipeline(broker, [topic], columns=COLUMNS, extra=extra)), "--until-caught-up").ok()
    assert lake.read(TABLE)["id"].to_pylist() == [7] * len(BAD)
    return sorted(lake.read(LETTERS).to_pylist(), key=lambda letter: letter["offset"])


def test_each_way_to_be_bad_has_a_whole_letter(broker, topic, lake):
    run_ms = 1_700_000_000_000
    before = datetime.datetime.now(datetime.UTC)
    letters = start_of(broker, topic, lake, run_ms)
    after = datetime.datetime.now(datetime.UTC)
    assert len(letters) == len(BAD)
    for i, (letter, (name, (value, reason, words))) in enumerate(zip(letters, BAD.items(), strict=True)):
        offset = 2 * i + 1
        assert (letter["pipeline"], letter["topic"], letter["partition"], letter["offset"]) == ("orders", topic, 1, offset), name
        assert letter["target_table"] == f"lake.{TABLE}" and letter["file"] is None and letter["line"] is None, name
        assert letter["source_time"].timestamp() * 1000 == run_ms + offset, name
        assert before <= letter["arrival_time"] <= after, name
        assert (letter["key"], letter["value"]) == (f"k{offset}".encode(), value), name
        assert letter["headers"] == [{"name": "trace", "value": f"t{offset}".encode()}, {"name": "empty", "value": None}], name
        assert (letter["stage"], letter["reason"]) == ("decode", reason), name
        assert words in letter["message"] and letter["message"], (name, letter["message"])


def test_a_letter_of_a_file_names_file_and_line(lake, tmp_path):
    (tmp_path / "in.jsonl").write_bytes(b'{"id": 1}\n{"id": 2}\n\n{"id": "three"}\n')
    config = (
        f"pipelines:\n  files:\n    source: {{files: {{path: '{tmp_path}/in.jsonl', mode: once, min_age: 0s}}}}\n    decode: json\n"
        f"    tables: [{{name: lake.shop.orders, columns: {COLUMNS}}}]\n    {UNBOUNDED}\n"
    )
    firn("run", lake.config(config)).ok()
    (letter,) = lake.read(LETTERS).to_pylist()
    assert letter["file"].endswith("/in.jsonl") and letter["line"] == 4
    assert letter["value"] == b'{"id": "three"}' and letter["key"] is None and letter["headers"] == []


def test_a_record_that_was_too_long_comes_in_when_the_limit_is_raised(broker, topic, lake):
    long = json.dumps({"id": 2, "text": "x" * 100_000})
    broker.produce(topic, [*orders(1, 1), long, *orders(3, 1)], partition=0)
    firn("run", lake.config(pipeline(broker, [topic], extra="max_record_bytes: 64KiB")), "--until-caught-up").ok()
    assert lake.read(TABLE)["id"].to_pylist() == [1, 3]
    raised = lake.config(pipeline(broker, [topic]))
    assert json.loads(firn("dead-letters", "replay", raised, "--yes", "--json").ok().out)["letters"] == 1
    assert {row["id"]: len(row["text"]) for row in lake.read(TABLE).to_pylist()}[2] == 100_000


def test_nothing_but_bad_records_exhausts_neither_memory_nor_the_number_of_files(broker, topic, lake, tmp_path):
    count, limit = 400_000, 256 << 20
    broker.produce(topic, (f'{{"id": "{i}", "text": "{"x" * 150}"}}' for i in range(count)))
    config = lake.config(pipeline(broker, [topic], extra=UNBOUNDED) + "resources: {memory: 256MiB, threads: 2}\n")
    running = start_firn("run", config, "--until-caught-up", log=tmp_path / "firn.log")
    peak = peak_to_the_end(running, timeout_s=120)
    assert peak <= limit, f"{peak >> 20} MiB of {limit >> 20}"
    letters = lake.read(LETTERS, selected_fields=("partition", "offset", "reason"))
    assert letters.num_rows == count and set(letters["reason"].to_pylist()) == {"type_mismatch"}
    assert len(set(zip(letters["partition"].to_pylist(), letters["offset"].to_pylist(), strict=True))) == count
    files = lake.pyiceberg().load_table(LETTERS).inspect.files().num_rows
    print(f"{count} letters in {files} files, peak {peak >> 20} MiB")
    assert files * 10_000 <= count, f"{files} files for {count} letters"


def test_above_the_limit_the_pipeline_stops_before_it_moves_past(broker, topic, lake):
    broker.produce(topic, orders(0, 500), partition=0)
    firn("run", lake.config(pipeline(broker, [topic])), "--until-caught-up").ok()
    broker.produce(topic, [f'{{"id": "{i}", "text": "x"}}' for i in range(500, 2500)], partition=0)
    for _ in range(2):
        done = firn("run", lake.config(pipeline(broker, [topic])), "--until-caught-up")
        assert done.code == 1, done.err
        for words in ("2000 of 2000 records are bad", "dead_letters.fail_above", f"{topic}[0] offset 500", "'id'"):
            assert words in done.out, done.out
    assert lake.read(TABLE).num_rows == 500
    assert not lake.pyiceberg().table_exists(LETTERS)
    firn("run", lake.config(pipeline(broker, [topic], extra=UNBOUNDED)), "--until-caught-up").ok()
    assert lake.read(TABLE).num_rows == 500
    assert sorted(lake.read(LETTERS)["offset"].to_pylist()) == list(range(500, 2500))


def test_a_pipeline_that_stands_still_says_why_and_the_other_goes_on(broker, topic, lake, tmp_path):
    broken = f"{topic}-broken"
    broker.create_topic(broken)
    address = f"127.0.0.1:{free_port()}"
    good = pipeline(broker, [topic])
    bad = pipeline(broker, [broken], table="lake.shop.others", key="others").removeprefix("pipelines:\n")
    config = lake.config(good + bad + f"listen: {address}\n")
    running = start_firn("run", config, log=tmp_path / "firn.log")

    def shown() -> dict:
        return {p["id"]: p for p in json.loads(firn("status", "-c", config, "--json").ok().out)["pipelines"]}

    broker.produce(topic, orders(0, 100))
    broker.produce(broken, ["{no json"] * 1500)
    wait_until(lambda: shown()["others"]["state"] == "FAILED", what="the failed pipeline")
    broker.produce(topic, orders(100, 100))
    wait_until(lambda: shown()["orders"]["rows-committed"] == 200, what="the rows of the other one")
    states = shown()
    assert states["orders"]["state"] == "RUNNING" and not states["orders"].get("reason")
    assert "1500 of 1500 records are bad" in states["others"]["reason"] and broken in states["others"]["reason"]
    text = firn("status", "--at", address).ok().out
    assert "FAILED" in text and "dead_letters.fail_above" in text
    assert running.stop() == 1, running.output[-3000:]
    assert sorted(lake.read(TABLE)["id"].to_pylist()) == list(range(200))


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


@pytest.mark.parametrize("damage", ["flipped-bit", "not-gzip"])
def test_a_damaged_batch_of_the_log_is_named_and_can_be_passed_by_an_operators_word(own_broker, lake, damage):
    """The disk of a broker has flipped a bit, or a producer sent what does not decompress: what is before it lands, the run ends with the place."""
    own_broker.create_topic("t")
    for first in (0, 100, 200):
        own_broker.produce("t", orders(first, 100), **{"compression.type": "gzip"})
    own_broker.stop()
    (segment,) = own_broker.folder.rglob("t-0/00000000000000000000.log")
    data = bytearray(segment.read_bytes())
    batches = [0]
    while batches[-1] + 12 < len(data):
        batches.append(batches[-1] + 12 + int.from_bytes(data[batches[-1] + 8 : batches[-1] + 12], "big"))
    assert len(batches) == 4, "three batches"
    begin, end = batches[1:3]
    data[end - 20] ^= 0x10
    if damage == "not-gzip":  # https://kafka.apache.org/documentation/#recordbatch: the checksum, from the attributes on
        data[begin + 17 : begin + 21] = crc32c(data[begin + 21 : end]).to_bytes(4, "big")
    segment.write_bytes(data)
    own_broker.start()
    config = lake.config(pipeline(own_broker, ["t"]))
    done = firn("run", config, "--until-caught-up")
    assert done.code == 1, done.err
    assert "t[0] at position 100" in done.out and "firn offsets set" in done.out, done.out
    assert ("CRC32C" in done.out) == (damage == "flipped-bit"), done.out
    assert sorted(lake.read(TABLE)["id"].to_pylist()) == list(range(100))
    firn("offsets", "set", config, "--offset", "t:0=200", "--yes").ok()
    firn("run", config, "--until-caught-up").ok()
    assert sorted(lake.read(TABLE)["id"].to_pylist()) == [*range(100), *range(200, 300)]
