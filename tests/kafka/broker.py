"""A real Kafka broker for tests, which they start themselves and end again: alone, on this machine, KRaft."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tests.kafka.jars import NoKafka, jars

from tocsin.spark.java import find_java

SECONDS_TO_START = 60
SECONDS_OF_TOOLS = 120
CLUSTER = "dG9jc2luLXRlc3RzLTAwMQ"
JAVA_OPTIONS = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
SETTINGS = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "num.partitions": "1",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
    "auto.create.topics.enable": "false",
}
LOGGING = """\
log4j.rootLogger=WARN, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.target=System.err
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%d %p %m (%c)%n
"""


class Record(NamedTuple):
    """A record of a topic."""

    place: str
    """topic/partition/offset"""
    key: str
    value: str


@dataclass(frozen=True)
class Broker:
    """A broker that runs, and Kafka's own tools to talk to it."""

    server: str
    folder: Path

    def create(self, topic: str, partitions: int) -> None:
        """Make a topic."""
        self._tool(
            "org.apache.kafka.tools.TopicCommand",
            "--create",
            "--topic",
            topic,
            "--partitions",
            str(partitions),
        )

    def send(self, topic: str, values: Sequence[str]) -> None:
        """Append records, spread over the partitions."""
        options = [
            "--producer-property",
            "partitioner.class=org.apache.kafka.clients.producer.RoundRobinPartitioner",
        ]
        self._tool(
            "kafka.tools.ConsoleProducer",
            "--topic",
            topic,
            *options,
            text="".join(f"{each}\n" for each in values),
        )

    def records(self, topic: str) -> list[Record]:
        """All records of a topic, those of a partition in order."""
        ends = self._tool("org.apache.kafka.tools.GetOffsetShell", "--topic", topic).splitlines()
        count = sum(int(line.rpartition(":")[2]) for line in ends)
        if not count:
            return []
        options = ["--topic", topic, "--from-beginning", "--max-messages", str(count)]
        for shown in ("partition", "offset", "key"):
            options += ["--property", f"print.{shown}=true"]
        found = []
        for line in self._tool("org.apache.kafka.tools.consumer.ConsoleConsumer", *options).splitlines():
            partition, offset, key, value = line.split("\t", 3)
            number, at = partition.removeprefix("Partition:"), offset.removeprefix("Offset:")
            found.append(Record(f"{topic}/{number}/{at}", key, value))
        return found

    def _tool(self, name: str, *arguments: str, text: str = "") -> str:
        done = subprocess.run(
            [*_java(self.folder, name), "--bootstrap-server", self.server, *arguments],
            input=text,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS_OF_TOOLS,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@contextlib.contextmanager
def running_broker() -> Iterator[Broker]:
    """Start a broker and end it again; NoKafka when that cannot be done."""
    with tempfile.TemporaryDirectory(prefix="tocsin-kafka-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        port, controller = _free_ports(2)
        server = f"127.0.0.1:{port}"
        settings = {
            **SETTINGS,
            "controller.quorum.voters": f"1@127.0.0.1:{controller}",
            "listeners": f"PLAINTEXT://{server},CONTROLLER://127.0.0.1:{controller}",
            "advertised.listeners": f"PLAINTEXT://{server}",
            "log.dirs": str(folder / "data"),
        }
        (folder / "log4j.properties").write_text(LOGGING)
        _write_settings(folder / "server.properties", settings)
        with _process(folder, port):
            yield Broker(server, folder)


@contextlib.contextmanager
def _process(folder: Path, port: int) -> Iterator[None]:
    settings = str(folder / "server.properties")
    formatting = [*_java(folder, "kafka.tools.StorageTool"), "format", "-t", CLUSTER, "-c", settings]
    formatted = subprocess.run(formatting, capture_output=True, text=True, check=False)
    if formatted.returncode:
        raise NoKafka(f"Kafka's storage cannot be made: {formatted.stdout}{formatted.stderr}")
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [*_java(folder, "kafka.Kafka"), settings], stdout=log, stderr=log, start_new_session=True
        )
    try:
        _wait_until_ready(process, port, folder / "log")
        yield
    finally:
        process.kill()  # what it holds goes with its folder
        process.wait()


def _java(folder: Path, main: str) -> list[str]:
    """The command that runs a class of Kafka."""
    logging = f"-Dlog4j.configuration={(folder / 'log4j.properties').as_uri()}"
    class_path = os.pathsep.join(map(str, jars("broker")))
    return [str(find_java().java), *JAVA_OPTIONS, logging, "-cp", class_path, main]


def _write_settings(path: Path, settings: Mapping[str, str]) -> None:
    path.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))


def _wait_until_ready(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + SECONDS_TO_START
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
            return
        except OSError as error:
            if process.poll() is not None or time.monotonic() > end:
                said = log.read_text(errors="replace")
                raise NoKafka(f"Kafka does not start: {said or error}") from error
        time.sleep(0.1)


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as held:
        probes = [held.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]
