"""A KafkaSource in a process of its own, with the test as its pipeline."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections import defaultdict
from pathlib import Path

from firn import wait_until
from kafka_broker import ROOT, die_with_parent


def driver_binary() -> Path:
    if "FIRN_SOURCE_DRIVER" in os.environ:
        return Path(os.environ["FIRN_SOURCE_DRIVER"])
    beside = (ROOT / "build/firn").resolve().parent / "firn_source_driver"
    if beside.exists():
        return beside
    found = sorted(ROOT.glob("build/*/bin/firn_source_driver"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise RuntimeError("firn_source_driver is not built: ./dev build")
    return found[-1]


class Failed(Exception):
    def __init__(self, answer: dict):
        super().__init__(answer["error"])
        self.answer = answer


class SourceDriver:
    """Starts positions by itself unless told not to (`auto_start`); releases revoked partitions likewise (`auto_release`).

    What arrived is in `batches` (per partition, in order), `events`; `check_ranges` holds the contract of the ranges against it.
    """

    def __init__(self, broker, folder: Path, *, auto_start=True, auto_release=True, name="driver", table=None, **config):
        config.setdefault("bootstrap_servers", broker.bootstrap)
        self.auto_start, self.auto_release = auto_start, auto_release
        # The "table": where a partition stands, "topic:0" -> position. Drivers of one group share it.
        self.positions: dict[str, int] = {} if table is None else table
        self.started: set[str] = set()
        self.batches: dict[str, list[dict]] = defaultdict(list)
        self.events: list[dict] = []
        self.journal: list[dict] = []  # batches and events in the order told
        self.refused: dict | None = None
        self._closing = False
        self._answers: list[dict] = []
        self._lock = threading.Condition()
        self._commanding = threading.RLock()
        self.log = folder / f"{name}.log"
        self._process = subprocess.Popen(
            [str(driver_binary()), json.dumps(config)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log.open("wb"),
            text=True, preexec_fn=die_with_parent,
        )  # fmt: skip
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> SourceDriver:
        return self

    def __exit__(self, *_) -> None:
        if self._process.poll() is None:
            self.close()

    # --- commands

    def do(self, verb: str, timeout_s: float = 40, **arguments):
        with self._commanding:
            with self._lock:
                self._answers.clear()
            self._send(do=verb, **arguments)
            with self._lock:
                if not self._lock.wait_for(lambda: self._answers or self._process.poll() is not None, timeout_s) or not self._answers:
                    raise AssertionError(f"no answer to {verb}; {self.refused or self.log.read_text()[-2000:]}")
                answer = self._answers.pop(0)
        if "error" in answer:
            raise Failed(answer)
        return answer["ok"]

    def open(self) -> SourceDriver:
        self.do("open")
        return self

    def subscribe(self, bounded=False) -> SourceDriver:
        self.do("subscribe", bounded=bounded)
        return self

    def start(self, positions: dict[str, int]) -> None:
        with self._lock:
            for name, position in positions.items():
                self.positions[name] = position
                self.started.add(name)
        self.do("start", positions=positions)

    def release(self, partitions: list) -> None:
        self.do("release", partitions=partitions)
        with self._lock:
            self.started -= {key(p) for p in partitions}

    def seek(self, positions: dict[str, int]) -> None:
        self.do("seek", positions=positions)

    def close(self, timeout_s: float = 30) -> None:
        self._closing = True
        self._process.stdin.close()  # the driver takes the end of its input for a close
        self._process.wait(timeout_s)
        self._reader.join(5)
        assert self._process.returncode in (0, 2), self.log.read_text()[-2000:]  # 2: the configuration was refused

    def kill(self) -> None:
        self._closing = True
        self._process.kill()
        self._process.wait()
        self._reader.join(5)

    # --- what arrived

    def offsets(self, name: str) -> list[int]:
        with self._lock:
            return [offset for batch in self.batches[name] for offset in batch["offsets"]]

    def values(self, name: str) -> list:
        with self._lock:
            return [record[1] for batch in self.batches[name] for record in batch["records"]]

    def reached(self, name: str) -> int:
        with self._lock:
            return self.batches[name][-1]["to"] if self.batches[name] else self.positions.get(name, -1)

    def count(self) -> int:
        with self._lock:
            return sum(len(batch["offsets"]) for batches in self.batches.values() for batch in batches)

    def told(self, kind: str) -> list[dict]:
        with self._lock:
            return [event for event in self.events if event["type"] == kind]

    def await_reached(self, positions: dict[str, int], timeout_s: float = 90) -> None:
        wait_until(lambda: all(self.reached(n) >= p for n, p in positions.items()), timeout_s, 0.02, f"reaching {positions}")

    def await_told(self, kind: str, count: int = 1, timeout_s: float = 90) -> list[dict]:
        wait_until(lambda: len(self.told(kind)) >= count, timeout_s, 0.02, f"{count} x {kind}, told so far {self.events}")
        return self.told(kind)

    def check_ranges(self) -> None:
        """Ranges of one partition join, offsets ascend inside of their range."""
        with self._lock:
            for name, batches in self.batches.items():
                at = batches[0]["from"]
                for batch in batches:
                    assert batch["from"] == at, f"{name}: a range begins at {batch['from']}, the last one ended at {at}"
                    for offset in batch["offsets"]:
                        assert at <= offset < batch["to"], f"{name}: offset {offset} in [{at}, {batch['to']})"
                        at = offset + 1
                    at = batch["to"]
                    assert (batch["last"] or {}).get("offset") == (batch["offsets"] or [None])[-1]

    # --- inside

    def _send(self, **command) -> None:
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()

    def _read(self) -> None:
        for line in self._process.stdout:
            self._take(json.loads(line))
        with self._lock:
            self._lock.notify_all()

    def _take(self, told: dict) -> None:
        kind = told.get("type")
        with self._lock:
            if kind != "answer":
                self.journal.append(told)
            if kind == "answer":
                self._answers.append(told)
            elif kind == "batch":
                name = key(told["partition"])
                self.batches[name].append(told)
                self.positions[name] = told["to"]
            elif kind is None:
                self.refused = told
            else:
                self.events.append({**told, "at": time.monotonic()})
            self._lock.notify_all()
        # An answer waits for this thread, so the reactions go elsewhere.
        if kind == "assigned" and self.auto_start:
            threading.Thread(target=self._react, args=(self._start_all, told["partitions"]), daemon=True).start()
        if kind == "revoked" and self.auto_release:
            threading.Thread(target=self._react, args=(self.release, told["partitions"]), daemon=True).start()

    def _react(self, reaction, partitions) -> None:
        try:
            reaction(partitions)
        except (ValueError, BrokenPipeError, AssertionError):
            if not self._closing:
                raise

    def _start_all(self, partitions) -> None:
        time.sleep(0.3)  # what the former owner told may still be on its way to us
        self.start({key(p): self.positions.get(key(p), 0) for p in partitions})


def key(partition) -> str:
    return f"{partition[0]}:{partition[1]}"
