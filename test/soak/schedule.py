"""What a soak does, and when: drawn from the seed alone. What the processes then do to each other is theirs: a second run of a seed is alike, not
the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

CATALOGS = ("sqlite", "postgres", "rest")
SESSION_S = 4.0  # the workers' session timeout at the broker
CALM_S = 8.0  # at the start, until the table is there, and at the end


@dataclass(frozen=True)
class Event:
    at: float  # seconds from the start
    actor: str
    what: str
    more: dict = field(default_factory=dict)

    def __str__(self) -> str:
        details = " ".join(f"{key}={value}" for key, value in self.more.items())
        return f"{self.at:7.1f}  {self.actor:10} {self.what} {details}".rstrip()


@dataclass(frozen=True)
class Plan:
    seed: int
    seconds: float
    catalog: str
    workers: tuple[bool, ...]  # one each: whether it is a static member of the group
    partitions: int
    tables: int
    interval_ms: int
    rate: int  # records a second
    spark: bool
    events: tuple[Event, ...]

    def of(self, actor: str) -> list[Event]:
        return [event for event in self.events if event.actor == actor]

    def __str__(self) -> str:
        members = ", ".join("static" if static else "dynamic" for static in self.workers)
        head = (
            f"seed {self.seed}, {self.seconds:.0f} s: catalog {self.catalog}, {len(self.workers)} workers ({members}), {self.partitions} partitions, "
            f"{self.tables} tables, a commit each {self.interval_ms} ms, {self.rate} records/s{', Spark' if self.spark else ''}"
        )
        return "\n".join([head, *map(str, self.events)]) + "\n"


def draw(seed: int, seconds: float, spark: bool = False, **instead) -> Plan:
    """instead: values (catalog, workers: how many, tables ...) to take in the place of those drawn."""
    rng = Random(f"{seed}/shape")
    drawn = {
        "catalog": rng.choice(CATALOGS),
        "workers": rng.choice((1, 2, 2, 3, 3)),
        "partitions": rng.choice((2, 4, 5)),
        "tables": rng.choice((1, 1, 2)),
        "interval_ms": rng.choice((300, 700, 1500)),
        "rate": rng.choice((1000, 2000, 3000)),
    }
    static = [rng.random() < 0.5 for _ in range(3)]
    shape = drawn | {key: value for key, value in instead.items() if value is not None}
    shape["workers"] = tuple((static * shape["workers"])[: shape["workers"]])
    actors = {f"worker-{number}": _worker for number in range(len(shape["workers"]))}
    actors |= {"kafka": _kafka, "catalog": _catalog, "rewriter": _rewriter, "expirer": _expirer, "producer": _producer, "oracle": _oracle}
    if spark:
        actors["spark"] = _spark
    # A short run has to get around to everything, too.
    haste = min(1.0, max(0.3, seconds / 240))
    events = [event for name, of in actors.items() for event in _events(name, of, Random(f"{seed}/{name}"), seconds - CALM_S, haste)]
    return Plan(seed, seconds, spark=spark, events=tuple(sorted(events, key=lambda event: event.at)), **shape)


def _events(name: str, of, rng: Random, until: float, haste: float) -> Iterator[Event]:
    """One after the other: none begins before the last one's `for` has passed."""
    mean, draw_one = of(rng)
    now = CALM_S
    while True:
        now += rng.uniform(0.3, 1.7) * mean * haste
        what, more = draw_one()
        lasts = more.get("seconds", 0)
        if now + lasts > until:
            return
        yield Event(round(now, 1), name, what, more)
        now += lasts


def _s(rng: Random, low: float, high: float) -> dict:
    return {"seconds": round(rng.uniform(low, high), 1)}


def _choice(rng: Random, *weighted):
    """Of (weight, what, more()) one, as (what, more)."""

    def one():
        _, what, more = rng.choices(weighted, [weight for weight, *_ in weighted])[0]
        return what, more()

    return one


def _worker(rng: Random):
    return 11, _choice(
        rng,
        (5, "kill", lambda: _s(rng, 0, 3)),
        (2, "kill", lambda: _s(rng, SESSION_S, SESSION_S * 2)),
        (3, "pause", lambda: _s(rng, 0.2, 2)),
        (3, "pause", lambda: _s(rng, SESSION_S * 1.2, SESSION_S * 3)),  # thrown out of the group meanwhile
        (2, "leave", lambda: _s(rng, 0, 4)),
        (1, "stop at once", lambda: _s(rng, 0, 2)),
    )


def _kafka(rng: Random):
    return 40, _choice(
        rng, (2, "restart", lambda: _s(rng, 0, 4)), (3, "kill", lambda: _s(rng, 0, 5)), (2, "pause", lambda: _s(rng, 0.5, SESSION_S * 2))
    )


def _catalog(rng: Random):
    return 22, _choice(rng, (2, "away", lambda: _s(rng, 0.5, 8)), (3, "doubt", lambda: _s(rng, 2, 10)))


def _rewriter(rng: Random):
    return 7, _choice(rng, (4, "rewrite", lambda: {"files": rng.choice((2, 5, 20, 60))}), (1, "rewrite", lambda: {"files": 500}))


def _expirer(rng: Random):
    return 15, _choice(rng, (1, "expire", lambda: {"older_than_s": rng.choice((0, 0, 1, 5, 20))}))


def _spark(rng: Random):
    return 20, _choice(rng, (2, "rewrite", dict), (1, "expire", lambda: {"older_than_s": rng.choice((0, 2, 10))}), (1, "rewrite manifests", dict))


def _producer(rng: Random):
    return 12, _choice(rng, (1, "rate", lambda: {"times": rng.choice((0, 0.2, 1, 3)), **_s(rng, 2, 8)}))


def _oracle(rng: Random):
    return 25, _choice(rng, (1, "look", dict))
