"""Sends records with ids, steadily and in bursts, and remembers what the broker acknowledged and when."""

from __future__ import annotations

import threading
import time
from array import array

from kafka_broker import Broker

from soak.log import KEY_BYTES, Log

TICK_S = 0.05
TEXT = "some text as such records have, "


class Producer(threading.Thread):
    """Idempotent and with more patience than any outage: what it sends lies in the log once and in order."""

    def __init__(self, broker: Broker, topic: str, partitions: int, tables: int, rate: int, most: int | None = None):
        """rate: records a second. most: it ends by itself after so many."""
        super().__init__(name="producer", daemon=True)
        self._producer = broker.producer(**{"enable.idempotence": True, "message.timeout.ms": 0, "log_level": 0, "reconnect.backoff.max.ms": 500})
        self._topic, self._partitions, self._tables, self._most = topic, partitions, tables, most
        self._over = threading.Event()
        self._given_up = False
        self.rate = rate
        self.times = 1.0  # of the rate, just now
        self.sent = 0
        self.failed: list[str] = []
        self._offsets = [array("q") for _ in range(partitions)]
        self._acked = [array("d") for _ in range(partitions)]

    def run(self) -> None:
        due, last = 0.0, time.monotonic()
        while not self._over.is_set() and (self._most is None or self.sent < self._most):
            now = time.monotonic()
            due, last = min(due + (now - last) * self.rate * self.times, 10 * self.rate), now
            while due >= 1 and (self._most is None or self.sent < self._most):
                self._send()
                due -= 1
            self._producer.poll(0)
            time.sleep(TICK_S)
        while self._producer.flush(1) > 0 and not self._given_up:
            pass

    def end(self) -> None:
        """No more; returns when the broker has everything."""
        self._over.set()
        self.join()

    def give_up(self) -> None:
        """Without waiting for a broker that may be gone."""
        self._given_up = True
        self._over.set()

    def _send(self) -> None:
        number = self.sent
        value = f'{{"id": {number}, "kind": "t{number % self._tables}", "text": "{TEXT}{number}"}}'
        # Not one after the other: tables and partitions are to be independent of each other.
        partition = (number * 7919 >> 4) % self._partitions
        while True:
            try:
                self._producer.produce(self._topic, value, number.to_bytes(KEY_BYTES, "big"), partition, on_delivery=self._delivered)
                break
            except BufferError:
                self._producer.poll(0.1)
        self.sent += 1

    def _delivered(self, error, message) -> None:
        if error is not None:
            self.failed.append(str(error))
            return
        self._offsets[message.partition()].append(message.offset())
        self._acked[message.partition()].append(time.time() * 1000)

    def acked_ms(self, partition: int, index: int) -> float | None:
        """When the broker had acknowledged the record, None when it has not yet. Records are acknowledged in order."""
        acked = self._acked[partition]
        return acked[index] if index < len(acked) else None

    def agrees_with(self, log: Log) -> str:
        """Empty if the log holds exactly what was acknowledged, each id once; else what is wrong, which is not Firn's doing."""
        if self.failed:
            return f"{len(self.failed)} records were not delivered: {self.failed[0]}"
        if self._offsets != log.offsets:
            return f"the broker acknowledged {[len(o) for o in self._offsets]} records and holds {[len(o) for o in log.offsets]}"
        ids = sorted(id_ for of_partition in log.ids for id_ in of_partition)
        return "" if ids == list(range(self.sent)) else f"{self.sent} ids were sent, the log does not hold each once"
