"""A real Kafka broker on free ports of 127.0.0.1, with its data in a folder of its own. Used by the tests, the demo and the benchmarks.

    with Broker(folder) as broker:
        broker.create_topic("flights", partitions=4)
        broker.produce("flights", [b'{"a": 1}', b'{"a": 2}'])
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
import uuid
from base64 import urlsafe_b64encode
from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic
from ports import die_with_parent, free_port

ROOT = Path(__file__).resolve().parents[2]
DEPS = Path(os.environ.get("FIRN_DEPS_DIR", ROOT / ".deps"))

JAVA = ["java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]

PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller_port}
listeners={listeners},CONTROLLER://127.0.0.1:{controller_port}
advertised.listeners={listeners}
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,SSL:SSL,SASL_SSL:SASL_SSL
inter.broker.listener.name=PLAINTEXT
log.dirs={folder}/data
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
log.retention.check.interval.ms=1000
log.cleaner.backoff.ms=500
message.max.bytes=33554432
"""


class Broker:
    """Starts on entry, stops on exit. `stop` and `start` may be called in between: data and ports stay the same."""

    def __init__(self, folder: Path, properties: dict[str, str] | None = None, listeners: dict[str, int] | None = None, port: int | None = None):
        """properties are added to the broker's own; listeners (protocol name -> port) to its plain-text one, whose port is `port` or a free one."""
        self.folder = Path(folder)
        self.port = port or free_port()
        self.controller_port = free_port()
        self.bootstrap = f"127.0.0.1:{self.port}"
        self._extra = properties or {}
        self._listeners = {"PLAINTEXT": self.port, **(listeners or {})}
        self._process: subprocess.Popen | None = None
        self._admin: AdminClient | None = None

    def __enter__(self) -> Broker:
        self.start()
        return self

    def __exit__(self, *_) -> None:
        self.stop()

    # --- the process

    def start(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        config = self.folder / "server.properties"
        if not config.exists():
            self._format(config)
        log = (self.folder / "broker.log").open("ab")
        self._process = subprocess.Popen(
            [*self._java(), "kafka.Kafka", str(config)],
            stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.folder, preexec_fn=die_with_parent,
        )  # fmt: skip
        self._wait_until_it_answers()

    def stop(self) -> None:
        """A clean stop; killed when that takes more than ten seconds."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._process = None

    def pause(self) -> None:
        """The process stands still: connections stay open and nothing answers."""
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def _java(self) -> list[str]:
        return [*JAVA, "-cp", f"{DEPS}/kafka/lib/*"]

    def _format(self, config: Path) -> None:
        listeners = ",".join(f"{name}://127.0.0.1:{port}" for name, port in self._listeners.items())
        text = PROPERTIES.format(controller_port=self.controller_port, listeners=listeners, folder=self.folder)
        config.write_text(text + "".join(f"{key}={value}\n" for key, value in self._extra.items()))
        cluster = urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        command = [*self._java(), "kafka.tools.StorageTool", "format", f"--cluster-id={cluster}", "-c", str(config)]  # an id may start with "-"
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"formatting the broker's storage failed:\n{done.stdout}{done.stderr}")

    def _wait_until_it_answers(self, timeout_s: float = 60) -> None:
        # The port opens a moment before the broker answers.
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                break
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) != 0:
                    time.sleep(0.1)
                    continue
            try:
                AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0}).list_topics(timeout=5)
                return
            except Exception:  # noqa: BLE001  not up yet, whatever the client calls it
                time.sleep(0.1)
        tail = (self.folder / "broker.log").read_text(errors="replace")[-2000:]
        ended = self._process.poll()
        what = f"did not come up within {timeout_s:.0f} s" if ended is None else f"ended with exit code {ended}"
        raise RuntimeError(f"the Kafka broker {what}:\n{tail}")

    # --- topics

    @property
    def admin(self) -> AdminClient:
        if self._admin is None:
            self._admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})
        return self._admin

    def create_topic(self, topic: str, partitions: int = 1, **config: str) -> None:
        new = NewTopic(topic, partitions, 1, config={key.replace("_", "."): value for key, value in config.items()})
        self.admin.create_topics([new])[topic].result(30)
        self._await_partitions(topic, partitions)

    def delete_topic(self, topic: str) -> None:
        self.admin.delete_topics([topic])[topic].result(30)
        deadline = time.monotonic() + 30
        while topic in self.admin.list_topics(timeout=10).topics and time.monotonic() < deadline:
            time.sleep(0.1)

    def add_partitions(self, topic: str, total: int) -> None:
        self.admin.create_partitions([NewPartitions(topic, total)])[topic].result(30)
        self._await_partitions(topic, total)

    def delete_records(self, topic: str, partition: int, before: int) -> None:
        """Trims the log: the first available offset is then `before`."""
        for future in self.admin.delete_records([TopicPartition(topic, partition, before)]).values():
            future.result(30)

    def watermarks(self, topic: str, partition: int) -> tuple[int, int]:
        consumer = Consumer({"bootstrap.servers": self.bootstrap, "group.id": "watermarks"})
        try:
            return consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=10)
        finally:
            consumer.close()

    def _await_partitions(self, topic: str, count: int) -> None:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            found = self.admin.list_topics(topic, timeout=10).topics.get(topic)
            if found and len(found.partitions) == count and all(p.leader >= 0 for p in found.partitions.values()):
                return
            time.sleep(0.05)
        raise RuntimeError(f"topic {topic} did not get its {count} partitions")

    # --- records

    def producer(self, **config) -> Producer:
        return Producer({
            "bootstrap.servers": self.bootstrap, "linger.ms": 5, "batch.num.messages": 10000,
            "queue.buffering.max.messages": 1000000, **config,
        })  # fmt: skip

    def produce(self, topic: str, values, partition: int | None = None, keys=None, headers=None, timestamps_ms=None, **config) -> None:
        """Sends values (bytes, str or None) in order and returns when the broker has them all; values may be any iterable."""
        failed = []

        def delivered(error, _):
            if error is not None:
                failed.append(error)

        producer = self.producer(**config)
        for index, value in enumerate(values):
            more = {"on_delivery": delivered}
            if partition is not None:
                more["partition"] = partition
            if keys is not None:
                more["key"] = keys[index]
            if headers is not None:
                more["headers"] = headers[index]
            if timestamps_ms is not None:
                more["timestamp"] = timestamps_ms[index]
            while True:
                try:
                    producer.produce(topic, value, **more)
                    break
                except BufferError:
                    producer.poll(0.1)
            if index % 1000 == 0:
                producer.poll(0)
        producer.flush(60)
        if failed:
            raise RuntimeError(f"{len(failed)} records were not delivered: {failed[0]}")
