"""What every server of the tests needs: a port of its own, and an end with the test run."""

from __future__ import annotations

import ctypes
import random
import signal
import socket
from pathlib import Path

LOWEST = 15_000
# Not the tests' seeded one: two test processes must not draw the same ports.
CHANCE = random.SystemRandom()


def free_port() -> int:
    """Below the ports that the system gives to outgoing connections: one of those may be taken before the server listens."""
    beyond = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    for _ in range(100):
        port = CHANCE.randrange(LOWEST, beyond) if beyond > LOWEST + 1000 else 0
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return probe.getsockname()[1]
    raise RuntimeError("no free port found")


def die_with_parent() -> None:
    """Run in the child: whatever ends the test run, no server outlives it."""
    ctypes.CDLL("libc.so.6").prctl(1, signal.SIGKILL)
