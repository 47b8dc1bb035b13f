"""Progress on a terminal, as Spark's own stages tell it.

    with stages_shown(spark, "Matching"):
        ...                                  # any jobs, started in this thread

    Matching: stage 2  ━━━━━━━━━━━━━━━━━━╸━━━━━━  31/48 tasks  0:00:12

A job on Spark is a row of stages, each of which has its tasks; how many stages there will be nobody knows
beforehand, so there is a bar for each stage that runs and none for the whole. Nothing is shown where
standard error is no terminal, nor beside the bar that Spark shows by itself (spark.ui.showConsoleProgress).
"""

from __future__ import annotations

import contextlib
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from py4j.protocol import Py4JError
from pyspark import SparkContext, StatusTracker
from pyspark.errors import PySparkAttributeError, PySparkNotImplementedError
from pyspark.sql import SparkSession

from tocsin.printable import number_of

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

NameStep = Callable[[str], None]
"""Called with what the jobs from here on are about."""

WITHOUT_SPARKS_BAR = {"spark.ui.showConsoleProgress": "false"}
"""For a session of a command that shows its own."""

SECONDS_BETWEEN_LOOKS = 0.25
GROUP = ("spark.jobGroup.id", "spark.job.description")
"""Spark's own names for the group of the jobs that a thread starts, and for what they are about."""


class RunningStage(NamedTuple):
    """A stage as it is now."""

    number: int
    done: int
    tasks: int


@contextlib.contextmanager
def stages_shown(session: SparkSession, title: str) -> Iterator[NameStep]:
    """Show the stages of the jobs that this thread starts meanwhile; the result gives them another title.

    Within another `stages_shown` of the same process it only changes the title, for as long as it lasts.
    """
    shown = _Shown.now
    if shown is not None:
        before = shown.title
        shown.rename(title)
        try:
            yield shown.rename
        finally:
            shown.rename(before)
        return
    context = _context(session)
    if context is None or not sys.stderr.isatty() or _shows_its_own(context):
        yield lambda _title: None
        return
    from rich.console import Console

    with _job_group(context, title) as group, _Shown(context, group, title, Console(stderr=True)) as shown:
        yield shown.rename


def running_stages(tracker: StatusTracker, group: str) -> list[RunningStage]:
    """The stages that run now, of the jobs of a group, in their order.

    Only what is active is asked about: a long loop leaves thousands of jobs behind it. Spark forgets and
    learns while it is asked, so anything may be missing.
    """
    jobs = set(tracker.getActiveJobsIds()).intersection(tracker.getJobIdsForGroup(group))
    infos = [info for job in sorted(jobs) if (info := tracker.getJobInfo(job)) is not None]
    ours = {number for info in infos for number in info.stageIds}
    found = []
    for number in tracker.getActiveStageIds():
        stage = tracker.getStageInfo(number) if number in ours else None
        if stage is not None:
            found.append(RunningStage(number, stage.numCompletedTasks, stage.numTasks))
    return found


class _Shown:
    """The bars on the terminal, and the thread that keeps them true."""

    now: _Shown | None = None
    """What is being shown: a terminal has room for one."""

    def __init__(self, context: SparkContext, group: str, title: str, console: Console) -> None:
        self.title = title
        self._bars = _Bars(console)
        self._tracker = context.statusTracker()
        self._group = group
        self._done = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name="tocsin-progress", daemon=True)

    def __enter__(self) -> _Shown:
        _Shown.now = self
        self._bars.start(self.title)
        self._watcher.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._done.set()
        self._watcher.join()
        self._bars.stop()
        _Shown.now = None

    def rename(self, title: str) -> None:
        """What the stages from here on are about."""
        self.title = title

    def _watch(self) -> None:
        while not self._done.wait(SECONDS_BETWEEN_LOOKS):
            try:
                stages = running_stages(self._tracker, self._group)
            except (Py4JError, OSError):
                return  # Spark has ended, and whoever waits for it will say so
            self._bars.show(self.title, stages)


class _Bars:
    """A bar for each stage that runs; while there is none, one that only says that something goes on.

    Stages count from 1 under each title: Spark's own numbers count all that a session ever did.
    """

    def __init__(self, console: Console) -> None:
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[tasks]}"),
            TimeElapsedColumn(),
        )
        self._progress: Progress = Progress(*columns, console=console, transient=True)
        self._bars: dict[int, TaskID] = {}
        self._waiting = self._progress.add_task("", total=None, tasks="")
        self._title = ""
        self._stages = 0

    def start(self, title: str) -> None:
        self.show(title, [])
        self._progress.start()

    def stop(self) -> None:
        self._progress.stop()

    def show(self, title: str, stages: list[RunningStage]) -> None:
        """Make the bars those of these stages."""
        if title != self._title:
            self._title, self._stages = title, 0
        numbers = {stage.number for stage in stages}
        for number in [each for each in self._bars if each not in numbers]:
            self._progress.remove_task(self._bars.pop(number))
        for stage in stages:
            if stage.number not in self._bars:
                self._stages += 1
                name = f"{title}: stage {self._stages}"
                self._bars[stage.number] = self._progress.add_task(name, total=stage.tasks, tasks="")
            said = f"{stage.done:,}/{number_of(stage.tasks, 'task')}"
            bar = self._bars[stage.number]
            self._progress.update(bar, completed=stage.done, total=stage.tasks, tasks=said)
        self._progress.update(self._waiting, description=title, visible=not stages)


@contextlib.contextmanager
def _job_group(context: SparkContext, title: str) -> Iterator[str]:
    """A group of its own for the jobs that this thread starts, and then the one that it had before."""
    before = [context.getLocalProperty(name) for name in GROUP]
    group = f"tocsin-{uuid.uuid4()}"
    context.setLocalProperty(GROUP[0], group)
    context.setLocalProperty(GROUP[1], title)
    try:
        yield group
    finally:
        with contextlib.suppress(Py4JError, OSError):  # if Spark has ended, there is nothing to put back
            for name, value in zip(GROUP, before, strict=True):
                context.setLocalProperty(name, value)  # type: ignore[arg-type]  # None takes it away


def _context(session: SparkSession) -> SparkContext | None:
    """What jobs are asked of; a Spark Connect session has none here."""
    try:
        return session.sparkContext
    except (PySparkAttributeError, PySparkNotImplementedError):
        return None


def _shows_its_own(context: SparkContext) -> bool:
    return any(context.getConf().get(name) == "true" for name in WITHOUT_SPARKS_BAR)
