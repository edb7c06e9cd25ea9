"""The truth: what lies in the topic, read by a consumer that is not Firn's. The key of a record is its id, eight bytes."""

from __future__ import annotations

import time
from array import array
from bisect import bisect_left

from confluent_kafka import Consumer, TopicPartition

KEY_BYTES = 8


class Log:
    """Grows with each `read_to_end`. By partition, in order: offsets, ids, and the times at which the broker appended."""

    def __init__(self, bootstrap: str, topic: str, partitions: int):
        self._bootstrap = bootstrap
        self.topic = topic
        self.offsets = [array("q") for _ in range(partitions)]
        self.ids = [array("q") for _ in range(partitions)]
        self.times_ms = [array("q") for _ in range(partitions)]

    def __len__(self) -> int:
        return sum(map(len, self.ids))

    def next_of(self, partition: int) -> int:
        return self.offsets[partition][-1] + 1 if self.offsets[partition] else 0

    def read_to_end(self, timeout_s: float = 60) -> None:
        consumer = Consumer({"bootstrap.servers": self._bootstrap, "group.id": "oracle", "enable.auto.commit": False, "log_level": 0})
        try:
            ends = [consumer.get_watermark_offsets(TopicPartition(self.topic, p), timeout=10)[1] for p in range(len(self.ids))]
            consumer.assign([TopicPartition(self.topic, p, self.next_of(p)) for p in range(len(self.ids))])
            deadline = time.monotonic() + timeout_s
            while any(self.next_of(p) < end for p, end in enumerate(ends)):
                if time.monotonic() > deadline:
                    raise TimeoutError(f"the topic was not read to its end within {timeout_s:.0f} s")
                for message in consumer.consume(5000, timeout=0.5):
                    if message.error() is None:
                        self._take(message)
        finally:
            consumer.close()

    def _take(self, message) -> None:
        partition = message.partition()
        if message.offset() < self.next_of(partition):
            return
        self.offsets[partition].append(message.offset())
        self.ids[partition].append(int.from_bytes(message.key(), "big"))
        self.times_ms[partition].append(message.timestamp()[1])

    def index_of(self, partition: int, offset: int) -> int:
        """How many records lie before this offset."""
        return bisect_left(self.offsets[partition], offset)
