"""Progress on a terminal: what is running is what is shown, and nothing is left behind."""

from __future__ import annotations

import io
import re
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pyarrow as pa
import pytest
from pyspark import SparkStageInfo, StatusTracker
from pyspark.sql import SparkSession

from tocsin.spark.stage_progress import GROUP, running_stages, stages_shown


class Terminal(io.StringIO):
    """Standard error as a person has it. Once a stage of one of some titles was drawn, it makes a file."""

    def __init__(self, drawn: Mapping[str, Path] | None = None) -> None:
        super().__init__()
        self._drawn = drawn or {}

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        written = super().write(text)
        for title, file in self._drawn.items():
            if any(re.search(rf"{title}: stage 1 .* [012]/3 tasks", line) for line in self.lines()):
                file.touch()
        return written

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


def run_a_job(spark: SparkSession, drawn: Path | None = None) -> None:
    """Three tasks, which wait until they have been drawn."""

    def patient(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        given_up = time.monotonic() + 60
        while drawn is not None and not drawn.exists() and time.monotonic() < given_up:
            time.sleep(0.05)
        yield from batches

    spark.range(3, numPartitions=3).mapInArrow(patient, "id bigint").count()


def test_stages_of_jobs_are_shown_by_title(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    drawn = {title: tmp_path / title for title in ("Counting", "Sorting")}
    terminal = Terminal(drawn)
    monkeypatch.setattr(sys, "stderr", terminal)
    context = spark.sparkContext
    context.setJobGroup("before", "what the user does")
    try:
        with stages_shown(spark, "Counting") as name_step:
            run_a_job(spark, drawn["Counting"])
            name_step("Grouping")
            with stages_shown(spark, "Sorting"):
                run_a_job(spark, drawn["Sorting"])
            time.sleep(0.6)
        assert [context.getLocalProperty(name) for name in GROUP] == ["before", "what the user does"]
    finally:
        for name in GROUP:
            context.setLocalProperty(name, cast(str, None))
    assert all(file.exists() for file in drawn.values()), "tasks were not drawn while they ran"
    assert any(re.match(r"Grouping ", line) for line in terminal.lines())


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
