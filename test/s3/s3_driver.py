"""Drives firn_s3_driver: an S3 store, a command at a time."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from kafka_broker import ROOT, die_with_parent


def _binary() -> Path:
    if "FIRN_BIN" in os.environ:
        return Path(os.environ["FIRN_BIN"]).resolve().parent / "firn_s3_driver"
    found = sorted(ROOT.glob("build/*/bin/firn_s3_driver"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise RuntimeError("firn_s3_driver is not built: ./dev build")
    return found[-1]


class S3Driver:
    def __init__(self, properties: dict[str, str], environment: dict[str, str]):
        kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        self._process = subprocess.Popen(
            [str(_binary()), json.dumps(properties)], env={**kept, **environment},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=die_with_parent,
        )  # fmt: skip
        self.opened = json.loads(self._process.stdout.readline())

    def __enter__(self) -> S3Driver:
        return self

    def __exit__(self, *_) -> None:
        self._process.stdin.close()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()
            raise

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def __call__(self, do: str, location: str = "", **arguments) -> dict:
        self._process.stdin.write(json.dumps({"do": do, "location": location, **arguments}) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def put(self, location: str, size: int, replace: bool = False, version: str = "", piece: int = 3 << 20) -> dict:
        """Writes an object of that size; the answer of whatever failed, or of the finish. With `version` it replaces that one."""
        answer = self("create", location, replace=replace, version=version)
        left = size
        while "ok" in answer and left > 0:
            answer = self("write", bytes=min(piece, left))
            left -= piece
        return self("finish") if "ok" in answer else answer
