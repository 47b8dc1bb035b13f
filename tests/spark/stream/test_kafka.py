"""`tocsin stream` from Kafka to Kafka and a folder, with a real broker: run by `make test-kafka` alone."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.kafka.broker import Broker, running_broker
from tests.kafka.jars import NoKafka, jars

from tocsin.conditions.language import parse_condition
from tocsin.conditions.meaning import matches

ROOT = Path(__file__).parents[3]
SECONDS = 300.0
ASKED_FOR = "TOCSIN_TEST_KAFKA"

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(ASKED_FOR not in os.environ, reason="make test-kafka runs it: Maven fetches Kafka"),
]


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with ExitStack() as ending:
        try:
            jars("connector")
            yield ending.enter_context(running_broker())
        except NoKafka as error:
            pytest.skip(str(error))


class Case:
    """Records that come, rules that change, and the process that is to be killed."""

    def __init__(self, folder: Path, broker: Broker, seed: int) -> None:
        self.folder = folder
        self.broker = broker
        self.dice = random.Random(seed)
        self.rules: list[dict[str, str]] = []
        broker.create("events", 2)
        broker.create("alerts", 1)
        self.change_rules()

    def send(self, count: int) -> None:
        """Events, and garbage of several kinds among them."""
        garbage = ["garbage", "{", "[1]", ""]
        drawn = [{"n": self.dice.randrange(20), "m": self.dice.randrange(5)} for _ in range(count)]
        values = [json.dumps(event) for event in drawn]
        for each in garbage:
            values.insert(self.dice.randrange(count), each)
        self.broker.send("events", values)

    def change_rules(self) -> None:
        """Another set of rules, whose ids tell which set it is."""
        number = len(self.rules)
        rules = {f"{place}@{number}": f"n > {self.dice.randrange(9)} and m = {place}" for place in range(5)}
        self.rules.append(rules)
        draft = self.folder / ".rules"
        draft.write_text(
            "".join(json.dumps({"id": each, "when": when}) + "\n" for each, when in rules.items())
        )
        draft.rename(self.folder / "rules.jsonl")

    @contextmanager
    def running(self, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """The command in a process of its own, killed at the end with everything it started."""
        options = "startingOffsets=earliest&maxOffsetsPerTrigger=20"
        command = [sys.executable, "-m", "tocsin", "stream", str(self.folder / "rules.jsonl")]
        command += ["--source", f"kafka://{self.broker.server}/events?{options}"]
        command += ["--sink", f"jsonl:{self.folder / 'lines'}"]
        command += ["--sink", f"kafka://{self.broker.server}/alerts"]
        command += ["--keep", "n", "--jars", *map(str, jars("connector")), *arguments]
        process = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
            start_new_session=True,
        )
        try:
            yield process
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()

    def alerts_in_folder(self) -> list[dict[str, Any]]:
        files = (self.folder / "lines").glob("batch=*/*.jsonl")
        return [json.loads(line) for file in files for line in file.read_text().splitlines()]

    def check(self) -> None:
        """What must be true when all records have been through."""
        told = self.alerts_in_folder()
        assert max(Counter(alert["alert"] for alert in told).values()) == 1
        self._check_kafka({alert["alert"]: alert for alert in told})
        versions = {alert["batch"]: alert["version"] for alert in told}
        assert all(alert["version"] == versions[alert["batch"]] for alert in told)
        assert {alert["rule"].split("@")[1] for alert in told} == {"0", "1"}
        found: dict[str, set[str]] = {}
        for alert in told:
            assert alert["rule"].endswith(f"@{alert['version'] - 1}")
            found.setdefault(alert["key"], set()).add(alert["rule"])
        read = [[(name, parse_condition(when)) for name, when in each.items()] for each in self.rules]
        garbage = set()
        for record in self.broker.records("events"):
            if not record.value.startswith('{"'):
                garbage.add(record.place)
                continue
            event = json.loads(record.value)
            wanted = [{name for name, when in rules if matches(when, event)} for rules in read]
            assert found.pop(record.place, set()) in wanted, record
        assert found == {}
        rejects = (self.folder / "lines.checkpoint" / "rejects").rglob("*.jsonl")
        refused = [json.loads(line) for file in rejects for line in file.read_text().splitlines()]
        assert Counter(each["place"] for each in refused) == Counter(garbage)
        assert len(garbage) == 8

    def _check_kafka(self, told: dict[str, dict[str, Any]]) -> None:
        """Kafka has every alert of the folder, each time the same one under its id, and no others."""
        records = self.broker.records("alerts")
        assert {record.key for record in records} == told.keys()
        for record in records:
            assert json.loads(record.value) == told[record.key]


def line_of(process: subprocess.Popen[str], beginning: str) -> str:
    """The next line on standard error that begins so; what was said until the end when there is none."""
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        if line.startswith(beginning):
            return line
        said.append(line)
    raise AssertionError("".join(said))


def test_killed_in_the_middle_of_a_batch_with_rules_that_change(tmp_path: Path, broker: Broker) -> None:
    case = Case(tmp_path, broker, 1)
    case.send(150)
    with case.running() as process:
        line = line_of(process, "batch ")
        case.change_rules()
        while "rules version 2" not in line:
            line = line_of(process, "batch ")
        done = int(line.split()[1].rstrip(":"))
        end = time.monotonic() + SECONDS
        while not (tmp_path / "lines" / f"batch={done + 2}").exists():
            assert time.monotonic() < end
    # The folder, which comes first, has a batch that Kafka may have none or some of.
    case.send(50)
    with case.running("--once") as process:
        assert process.stderr is not None
        said = process.stderr.read()
        assert process.wait(SECONDS) == 0, said
        assert "(again)" in said
    case.check()
