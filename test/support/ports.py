"""What every server of the tests needs: a port of its own, and an end with the test run."""

from __future__ import annotations

import ctypes
import signal
import socket


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def die_with_parent() -> None:
    """Run in the child: whatever ends the test run, no server outlives it."""
    ctypes.CDLL("libc.so.6").prctl(1, signal.SIGKILL)
