"""A stream with throttles into PostgreSQL, killed and started again: nothing is lost, nothing twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.postgres_server import PostgresServer
from tests.spark.sinks.killed_postgres import start

ROOT = Path(__file__).parents[3]
START = datetime(2026, 1, 1, tzinfo=UTC)
THROTTLE = timedelta(seconds=20)
RULES = [
    {"id": "all", "when": "n >= 0"},
    {"id": "quiet", "when": "n >= 0", "throttle": "20 seconds", "dedup": "m"},
]


class Case:
    """Events that come, and what must be in the table when all have been through."""

    def __init__(self, folder: Path, uri: str, seed: int) -> None:
        self.folder = folder
        self.uri = uri
        self.dice = random.Random(seed)
        self.events: dict[str, dict[str, Any]] = {}
        (folder / "events").mkdir()
        (folder / "rules.jsonl").write_text("".join(json.dumps(rule) + "\n" for rule in RULES))

    def put_files(self, count: int) -> None:
        """Files of events; their times go on from file to file, and back a little now and then."""
        for _ in range(count):
            name = f"{len(self.events):06d}.jsonl"
            lines = []
            for row in range(40):
                at = START + timedelta(seconds=len(self.events) + self.dice.randrange(-15, 15))
                event = {"n": row, "m": self.dice.randrange(4), "at": at.isoformat()}
                self.events[f"{name}:{row}"] = event
                lines.append(json.dumps(event) + "\n")
            draft = self.folder / "events" / f".{name}"
            draft.write_text("".join(lines))
            draft.rename(draft.with_name(name))

    @contextmanager
    def running(self, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """The stream in a process of its own, killed at the end with everything it started."""
        environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
        program = "tests.spark.sinks.killed_postgres"
        process = subprocess.Popen(
            [sys.executable, "-m", program, str(self.folder), self.uri, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()

    def check(self, rows: list[tuple[str, str, int, datetime, int]]) -> None:
        """Every event once, and of the throttled rule what one look at all alerts in order leaves."""
        told = Counter((rule, key) for rule, key, *_ in rows)
        assert max(told.values()) == 1
        places = {key: place for place, key in enumerate(self.events)}
        whole = [(batch, time, places[key], key, m) for rule, key, batch, time, m in rows if rule == "all"]
        assert {key for _, _, _, key, _ in whole} == set(self.events)
        last: dict[int, datetime] = {}
        expected = set()
        for batch, time, _, key, m in sorted(whole):
            assert (m, time) == (self.events[key]["m"], datetime.fromisoformat(self.events[key]["at"]))
            if m not in last or time - last[m] >= THROTTLE:
                last[m] = time
                expected.add((key, batch))
        assert {(key, batch) for rule, key, batch, _, _ in rows if rule == "quiet"} == expected
        assert len(expected) < len(whole)


def table(postgres: PostgresServer, database: str) -> list[tuple[str, str, int, datetime, int]]:
    query = "select rule, key, batch, time, m::int from alerts"
    with postgres.connect(database) as connection:
        return connection.execute(query).fetchall()


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, process.stderr.read() if process.stderr else ""
    return line.strip()


def test_killed_in_the_middle_of_a_batch(
    spark: SparkSession, postgres: PostgresServer, database: str, tmp_path: Path
) -> None:
    case = Case(tmp_path, postgres.url(database), 1)
    case.put_files(6)
    with case.running("1") as process:
        assert [line_of(process), line_of(process)] == ["batch 0", "copying 1"]
    assert {batch for _, _, batch, _, _ in table(postgres, database)} == {0}
    case.put_files(2)
    start(tmp_path, case.uri, spark, once=True).wait()
    case.check(table(postgres, database))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3])
def test_killed_again_and_again(
    spark: SparkSession, postgres: PostgresServer, database: str, tmp_path: Path, seed: int
) -> None:
    case = Case(tmp_path, postgres.url(database), seed)
    for _ in range(5):
        case.put_files(8)
        with case.running() as process:
            for _ in range(case.dice.randrange(1, 4)):
                assert line_of(process).startswith("batch ")
            case.put_files(2)
            try:
                process.wait(case.dice.random())
            except subprocess.TimeoutExpired:
                continue
    start(tmp_path, case.uri, spark, once=True).wait()
    case.check(table(postgres, database))
