"""A stream whose driver and workers are killed, and that is started again: nothing is lost, nothing twice."""

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
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest

from tocsin.conditions.language import parse_condition
from tocsin.conditions.meaning import matches

ROOT = Path(__file__).parents[3]
SECONDS = 300.0

pytestmark = pytest.mark.spark


class Killed:
    """Events and rules that change, and the process that is to be killed."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.dice = random.Random(seed)
        self.events: dict[str, list[dict[str, Any]]] = {}
        self.rules: list[dict[str, str]] = []
        (folder / "events").mkdir()
        self.change_rules()

    def put_files(self, count: int) -> None:
        for _ in range(count):
            name = f"{len(self.events):04d}.jsonl"
            events = [{"n": self.dice.randrange(20), "m": self.dice.randrange(5)} for _ in range(50)]
            self.events[name] = events
            lines = [json.dumps(event) for event in events]
            lines.insert(self.dice.randrange(51), "garbage")
            draft = self.folder / "events" / f".{name}"
            draft.write_text("\n".join(lines) + "\n")
            draft.rename(draft.with_name(name))

    def change_rules(self) -> None:
        """Another set of rules, whose ids tell which set it is."""
        number = len(self.rules)
        rules = {f"{place}@{number}": f"n > {self.dice.randrange(18)} and m = {place}" for place in range(5)}
        self.rules.append(rules)
        draft = self.folder / ".rules"
        draft.write_text(
            "".join(json.dumps({"id": each, "when": when}) + "\n" for each, when in rules.items())
        )
        draft.rename(self.folder / "rules.jsonl")

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
        return subprocess.Popen(
            [sys.executable, "-m", "tests.spark.stream.killed_stream", str(self.folder), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            start_new_session=True,
        )

    def check(self) -> None:
        """Every event has the alerts of one set of rules, once each; and so for each sink."""
        rows = ds.dataset(self.folder / "alerts", partitioning="hive").to_table().to_pylist()
        lines = [
            json.loads(line) for file in (self.folder / "lines").rglob("*.jsonl") for line in file.open()
        ]
        assert Counter(row["alert"] for row in rows) == Counter(line["alert"] for line in lines)
        assert max(Counter(row["alert"] for row in rows).values()) == 1
        sets = {row["version"]: row["rule"].split("@")[1] for row in rows}
        batches = {row["batch"]: row["version"] for row in rows}
        for row in rows:
            assert row["rule"].split("@")[1] == sets[row["version"]]
            assert row["version"] == batches[row["batch"]]
        read = [[(name, parse_condition(when)) for name, when in each.items()] for each in self.rules]
        found: dict[str, set[str]] = {}
        used: dict[str, set[int]] = {}
        for row in rows:
            found.setdefault(row["key"], set()).add(row["rule"])
            used.setdefault(row["key"].split(":")[0], set()).add(int(row["rule"].split("@")[1]))
        for name, events in self.events.items():
            (of_file,) = used[name]
            records = (self.folder / "events" / name).read_text().splitlines()
            places = [row for row, record in enumerate(records) if record != "garbage"]
            for place, event in zip(places, events, strict=True):
                want = {rule for rule, condition in read[of_file] if matches(condition, event)}
                assert found.get(f"{name}:{place}", set()) == want
        rejects = self.folder / "alerts.checkpoint" / "rejects"
        refused = [json.loads(line)["place"] for file in rejects.rglob("*.jsonl") for line in file.open()]
        assert sorted(place.split(":")[0] for place in refused) == sorted(self.events)


def wait_for_batch(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("batch "), line + (process.stderr.read() if process.stderr else "")


def workers_of(process: subprocess.Popen[str]) -> Iterator[int]:
    """Spark's Python workers that the process has, forked from the daemon."""
    parents: dict[int, int] = {}
    daemons: set[int] = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            status = (folder / "stat").read_text().rpartition(")")[2].split()
            command = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if int(status[2]) == process.pid or int(status[3]) == process.pid:  # its group or its session
            parents[int(folder.name)] = int(status[1])
            if b"tocsin.spark.worker_daemon" in command:
                daemons.add(int(folder.name))
    return (pid for pid, parent in parents.items() if pid in daemons and parent in daemons)


def kill_everything(process: subprocess.Popen[str]) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def run(case: Killed, kills: int) -> None:
    for _ in range(kills):
        case.put_files(4)
        process = case.start()
        try:
            wait_for_batch(process)
            for pid in workers_of(process):
                os.kill(pid, signal.SIGKILL)
            case.change_rules()
            case.put_files(8)
            for _ in range(case.dice.randrange(1, 4)):
                wait_for_batch(process)
            time.sleep(case.dice.random())
        finally:
            kill_everything(process)
    last = case.start("once")
    try:
        out, err = last.communicate(timeout=SECONDS)
    finally:
        if last.poll() is None:
            kill_everything(last)
    assert last.returncode == 0, out + err
    case.check()


def test_driver_and_workers_are_killed(tmp_path: Path) -> None:
    run(Killed(tmp_path, 1), 1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3])
def test_they_are_killed_again_and_again(tmp_path: Path, seed: int) -> None:
    run(Killed(tmp_path, seed), 6)
