"""Firn with a fault armed, from any thread of the tests."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

from kafka_broker import ROOT

BINARY = Path(os.environ.get("FIRN_FAULTS_BIN", ROOT / "build/faults/bin/firn"))


class Firn:
    """One `firn run` in the background; ends with the test run, and at the end of a `with`."""

    def __init__(self, config: Path, log: Path, fault: str = "", env: dict[str, str] | None = None, more: tuple[str, ...] = ()):
        self.log = log
        # setpriv in the place of a preexec_fn, which is not safe where there are threads.
        command = ["setpriv", "--pdeathsig", "KILL", str(BINARY), "run", str(config), *more]
        with log.open("wb") as file:
            self._process = subprocess.Popen(
                command, stdout=file, stderr=file, stdin=subprocess.DEVNULL, env={**os.environ, **(env or {}), "FIRN_FAULT": fault}
            )

    def __enter__(self) -> Firn:
        return self

    def __exit__(self, *_) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    @property
    def output(self) -> str:
        return self.log.read_text(errors="replace")

    def is_stopped(self) -> bool:
        return Path(f"/proc/{self._process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "T"

    def ask_to_stop(self) -> None:
        self._process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def go_on(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def code_within(self, seconds: float) -> int | None:
        """Its exit code, or nothing while it runs; -9 after SIGKILL."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def wait(self, timeout_s: float = 40) -> int:
        code = self.code_within(timeout_s)
        assert code is not None, f"firn did not end within {timeout_s:.0f} s; its last words:\n{self.output[-3000:]}"
        return code

    def wait_until(self, condition, what: str, timeout_s: float = 40, every_s: float = 0.1):
        """While it runs; an exception in the condition counts as not yet."""
        deadline, last = time.monotonic() + timeout_s, None
        while time.monotonic() < deadline:
            try:
                if answer := condition():
                    return answer
            except Exception as error:  # noqa: BLE001
                last = error
            time.sleep(every_s)
        raise AssertionError(f"{what} did not come true within {timeout_s:.0f} s (last error: {last!r}); firn says:\n{self.output[-3000:]}")
