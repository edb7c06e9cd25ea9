"""The resident size of a process, from outside."""

from __future__ import annotations

import re
import time
from pathlib import Path

from firn import Running


def peak_bytes(pid: int) -> int:
    """What it has taken at most until now; 0 once it has ended."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found.group(1)) << 10 if found else 0


def peak_to_the_end(running: Running, timeout_s: float) -> int:
    """Watches it until it has ended well; what it has taken at most."""
    peak, deadline = 0, time.monotonic() + timeout_s
    while running.alive() and time.monotonic() < deadline:
        peak = max(peak, peak_bytes(running.process.pid))
        time.sleep(0.01)
    assert running.wait(1) == 0, running.output[-4000:]
    return peak
