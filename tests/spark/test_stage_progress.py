"""Progress on a terminal: what is running is what is shown, and nothing is left behind."""

from __future__ import annotations

import io
import re
import sys
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pyarrow as pa
import pytest
from pyspark import SparkStageInfo, StatusTracker
from pyspark.sql import SparkSession

from tocsin.spark.stage_progress import GROUP, running_stages, stages_shown


class Terminal(io.StringIO):
    """Standard error as a person has it."""

    def isatty(self) -> bool:
        return True

    def lines(self) -> list[str]:
        """What was drawn, without colours and movements."""
        plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.getvalue())
        return [line for line in re.split(r"[\r\n]+", plain) if line.strip()]


@pytest.fixture(autouse=True)
def a_terminal_that_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the one is that the tests run in."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")


class Recorded:
    """A tracker of jobs that are given as stages by their number, with those that are running."""

    def __init__(
        self, jobs: dict[int, list[int]], running: dict[int, SparkStageInfo | None], group: list[int]
    ) -> None:
        self.jobs, self.running, self.group = jobs, running, group

    def getJobIdsForGroup(self, _group: str) -> list[int]:  # noqa: N802
        return self.group

    def getActiveJobsIds(self) -> list[int]:  # noqa: N802
        return list(self.jobs)

    def getActiveStageIds(self) -> list[int]:  # noqa: N802
        return sorted(self.running)

    def getJobInfo(self, job: int) -> Any:  # noqa: N802
        stages = self.jobs[job]
        return SimpleNamespace(stageIds=stages) if stages else None

    def getStageInfo(self, number: int) -> Any:  # noqa: N802
        return self.running[number]


def test_running_stages_are_those_of_the_group() -> None:
    """Of other jobs nothing is told, nor of what Spark has forgotten or does not know yet."""
    running = {3: stage(3), 4: None, 5: stage(5), 9: stage(9)}
    tracker = Recorded({1: [2, 3, 4], 2: [5, 6], 3: [9], 4: []}, running, [0, 1, 2, 4])
    found = running_stages(cast(StatusTracker, tracker), "ours")
    assert found == [stage(3), stage(5)]


def stage(number: int) -> SparkStageInfo:
    return SparkStageInfo(number, 0, "", 10, 1, number, 0)


def slow(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    time.sleep(0.6)
    yield from batches


def run_a_job(spark: SparkSession) -> None:
    spark.range(3, numPartitions=3).mapInArrow(slow, "id bigint").count()


def test_stages_of_jobs_are_shown_by_title(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    spark.sparkContext.setJobGroup("before", "what the user does")
    with stages_shown(spark, "Counting") as name_step:
        run_a_job(spark)
        name_step("Grouping")
        with stages_shown(spark, "Sorting"):
            run_a_job(spark)
        time.sleep(0.6)
    drawn = terminal.lines()
    assert any(re.search(r"Counting: stage 1 .* [012]/3 tasks", line) for line in drawn)
    assert any(re.search(r"Sorting: stage 1 .* [012]/3 tasks", line) for line in drawn)
    assert any(re.match(r"Grouping ", line) for line in drawn)
    context = spark.sparkContext
    assert [context.getLocalProperty(name) for name in GROUP] == ["before", "what the user does"]
    for name in GROUP:
        context.setLocalProperty(name, cast(str, None))


def test_nothing_is_shown_where_nobody_looks(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    with stages_shown(spark, "Counting") as name_step:
        name_step("Grouping")
        run_a_job(spark)
    assert capsys.readouterr().err == ""


def test_an_error_takes_the_bars_away(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    with pytest.raises(ValueError, match="mine"), stages_shown(spark, "Counting"):
        raise ValueError("mine")
    with stages_shown(spark, "Counting again"):
        pass
    assert spark.sparkContext.getLocalProperty(GROUP[0]) is None
