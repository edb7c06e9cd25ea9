"""What was done when, and what came of it: one line each in a file, and counts for the report."""

from __future__ import annotations

import threading
import time
from collections import Counter
from pathlib import Path


class Book:
    def __init__(self, path: Path, loud: bool = False):
        self._file = path.open("w")
        self._lock = threading.Lock()
        self._started = time.monotonic()
        self._loud = loud
        self.until_s = float("inf")  # what is planned and was not begun by then is left out
        self.counts: Counter[str] = Counter()
        self.failures: list[str] = []

    def begin(self) -> None:
        """The plan's time is from here on."""
        self._started = time.monotonic()

    def now(self) -> float:
        return time.monotonic() - self._started

    def note(self, who: str, text: str, count: str = "") -> None:
        line = f"{self.now():7.1f}  {time.strftime('%H:%M:%S')}  {who:10} {text}"
        with self._lock:
            if count:
                self.counts[count] += 1
            self._file.write(line + "\n")
            self._file.flush()
            if self._loud:
                print(line, flush=True)

    def fail(self, who: str, text: str) -> None:
        with self._lock:
            self.failures.append(f"{who}: {text}")
        self.note(who, f"FAILURE: {text}")

    def close(self) -> None:
        self._file.close()
