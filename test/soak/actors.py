"""Those who make trouble: each is a thread with its own events of the plan, one after the other."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from random import Random

from kafka_broker import Broker

from soak.book import Book
from soak.engines import cause_of
from soak.lakes import Lake
from soak.producer import Producer
from soak.schedule import Event

TICK_S = 0.1


class Actor(threading.Thread):
    """Lives until `over`: what it starts ends with the thread that started it. An exception in an event is a failure of the soak."""

    def __init__(self, name: str, events: list[Event], book: Book):
        super().__init__(name=name, daemon=True)
        self._events, self._book = events, book
        self.done = threading.Event()
        self.over = threading.Event()

    def run(self) -> None:
        try:
            for event in self._events:
                self._wait_until(event.at)
                if self.over.is_set() or self._book.now() > self._book.until_s:
                    break
                self._act(event)
            self.done.set()
            while not self.over.is_set():
                self.tick()
                time.sleep(TICK_S)
        except Exception as error:  # noqa: BLE001
            self._book.fail(self.name, repr(error))
        finally:
            self.done.set()

    def tick(self) -> None:
        """Between events."""

    def act(self, event: Event) -> str:
        """Returns what came of it."""
        raise NotImplementedError

    def _act(self, event: Event) -> None:
        begun = self._book.now()
        details = " ".join(f"{key}={value}" for key, value in event.more.items())
        self._book.note(self.name, f"{event.what} {details}: begins")
        try:
            outcome = self.act(event)
        except Exception as error:  # noqa: BLE001
            outcome = f"went wrong: {error!r}"
            self._book.fail(self.name, f"{event.what} {details} {outcome}")
        count = f"{self.name.split('-')[0]}: {event.what}"
        self._book.note(self.name, f"{event.what}: {outcome} ({self._book.now() - begun:.1f} s)", count)

    def _wait_until(self, at: float) -> None:
        while self._book.now() < at and not self.over.is_set():
            self.tick()
            time.sleep(TICK_S)


class Kafka(Actor):
    def __init__(self, events: list[Event], book: Book, broker: Broker):
        super().__init__("kafka", events, book)
        self._broker = broker

    def act(self, event: Event) -> str:
        seconds = event.more["seconds"]
        if event.what == "pause":
            self._broker.pause()
            time.sleep(seconds)
            self._broker.resume()
            return "goes on"
        self._broker.kill() if event.what == "kill" else self._broker.stop()
        time.sleep(seconds)
        self._broker.start()
        return "is back"


class Catalog(Actor):
    def __init__(self, events: list[Event], book: Book, lake: Lake, seed: int):
        super().__init__("catalog", events, book)
        self._lake = lake
        self._rng = Random(f"{seed}/catalog's lies")

    def act(self, event: Event) -> str:
        return (self._lake.away if event.what == "away" else self._lake.doubt)(event.more["seconds"], self._rng)


class Rate(Actor):
    def __init__(self, events: list[Event], book: Book, producer: Producer):
        super().__init__("producer", events, book)
        self._producer = producer

    def act(self, event: Event) -> str:
        self._producer.times = event.more["times"]
        time.sleep(event.more["seconds"])
        self._producer.times = 1.0
        return f"{self._producer.sent} sent so far"


class Caller(Actor):
    """Calls a function for each event. What it raises and `forgives` names is an outcome: outages and lost races are others' to survive."""

    def __init__(self, name: str, events: list[Event], book: Book, call: Callable[[Event], str], forgives: Callable[[Exception], bool]):
        super().__init__(name, events, book)
        self._call, self._forgives = call, forgives

    def act(self, event: Event) -> str:
        try:
            return self._call(event)
        except Exception as error:  # noqa: BLE001
            if not self._forgives(error):
                raise
            return f"in vain: {cause_of(error)}"
