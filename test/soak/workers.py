"""Firn's processes: killed, stopped, asked to leave, and started again, also when they end by themselves."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from pathlib import Path

from firn import BINARY

from soak.actors import TICK_S, Actor
from soak.book import Book
from soak.schedule import Event

RESTART_S = 0.5
PATIENCE_S = 90  # for a clean stop, on a busy machine
YOUNG_S = 1.0  # so old a process may not listen to signals yet
LEFT = (0, 130, 143)  # what a process may end with that was asked to
# Why a process may end by itself, as the documents have it: the outcome of a commit stayed unknown for longer than it waits.
EXCUSES = {3: re.compile(r"not known whether the last commit was applied")}
ASKED = "asked to stop"
WORDS = re.compile(r"^(?!.*librdkafka)(.* ERROR |firn:|  [^ ].*: |.*failed)")


class Worker(Actor):
    """One place for a process, which has one life after another; the log of each is a file."""

    def __init__(self, name: str, events: list[Event], book: Book, config: Path, logs: Path, more: tuple[str, ...] = ()):
        super().__init__(name, events, book)
        self._config, self._logs, self._more = config, logs, more
        self._process: subprocess.Popen | None = None
        self._start_at = self._begun_at = 0.0
        self.lives = 0
        self.leave = False  # set from outside: end well, and stay away

    @property
    def log(self) -> Path:
        return self._logs / f"{self.name}-{self.lives:03}.log"

    def run(self) -> None:
        super().run()
        if self._process and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def tick(self) -> None:
        if self._process is None:
            if time.monotonic() >= self._start_at and not self.leave:
                self._begin()
        elif (code := self._process.poll()) is not None:
            self._ended_by_itself(code)
        elif self.leave:
            self._ask_to_end(signal.SIGTERM)

    @property
    def is_gone(self) -> bool:
        return self.leave and self._process is None

    # --- events

    def act(self, event: Event) -> str:
        self.tick()
        if self._process is None:
            self._begin()
            time.sleep(0.2)
        seconds = event.more["seconds"]
        if event.what == "pause":
            return self._pause(seconds)
        if event.what == "kill":
            self._process.kill()
            self._process.wait()
            outcome = "killed"
        else:
            outcome = self._ask_to_end(signal.SIGTERM, twice=event.what == "stop at once")
        self._process, self._start_at = None, time.monotonic() + seconds
        self._wait(seconds)
        return outcome

    def _pause(self, seconds: float) -> str:
        self._process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        self._process.send_signal(signal.SIGCONT)
        return "goes on"

    def _ask_to_end(self, how: int, twice: bool = False) -> str:
        asked_at = time.monotonic()
        self._process.send_signal(how)
        if twice:
            time.sleep(0.05)
            self._process.send_signal(how)
        try:
            code = self._process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._book.fail(self.name, f"did not end within {PATIENCE_S} s of being asked to: {self.log}")
            self._process.kill()
            code = self._process.wait()
        self._process = None
        young = asked_at - self._begun_at < YOUNG_S
        if code not in LEFT and not (young and code == -how):
            self._ended(code, ASKED)
        return f"left with {code}"

    # --- lives

    def _begin(self) -> None:
        self.lives += 1
        self._begun_at = time.monotonic()
        with self.log.open("wb") as log:
            # setpriv in the place of a preexec_fn, which is not safe where there are threads.
            self._process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", str(BINARY), "run", str(self._config), *self._more],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, env={**os.environ, "NO_COLOR": "1"},
            )  # fmt: skip
        self._book.note(self.name, f"life {self.lives} begins", "workers: lives")

    def _ended_by_itself(self, code: int) -> None:
        self._process, self._start_at = None, time.monotonic() + RESTART_S
        self._ended(code, "ended by itself")

    def _ended(self, code: int, how: str) -> None:
        words = self.log.read_text(errors="replace")
        last = " | ".join(line.strip() for line in words.splitlines()[-12:] if WORDS.search(line))[:600]
        excuse = EXCUSES.get(code)
        if excuse and excuse.search(last):
            self._book.note(self.name, f"{how} with {code}, excused: {last}", f"workers: {how} with {code}, excused")
        else:
            self._book.fail(self.name, f"{how} with exit code {code}: {last} ({self.log})")

    def _wait(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until and not self.over.is_set():
            time.sleep(TICK_S)
