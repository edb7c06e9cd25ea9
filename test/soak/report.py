"""What is said at the end."""

from __future__ import annotations


def show(name: str, seed: int, result) -> str:
    lines = [f"  {key:42} {value:>12,}" for key, value in result.figures.items()]
    if not result.failures:
        return "\n".join([f"{name}, seed {seed}: clean", *lines])
    return "\n".join([
        f"{name}, seed {seed}: FAILED", *lines, "", *result.failures, "",
        f"seed {seed}; everything is kept in {result.folder}:",
        "  plan.txt      what was to be done when", "  happened.txt  what was done, and what came of it",
        "  logs          of each life of each process", "  lake, kafka   as they were left",
    ])  # fmt: skip
