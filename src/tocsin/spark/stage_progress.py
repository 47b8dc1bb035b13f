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
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError
from pyspark import SparkContext, SparkStageInfo, StatusTracker
from pyspark.sql import SparkSession

from tocsin.errors import UsageError
from tocsin.printable import number_of
from tocsin.spark.session import context_of

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

NameStep = Callable[[str], None]
"""Called with what the jobs from here on are about."""

WITHOUT_SPARKS_BAR = {"spark.ui.showConsoleProgress": "false"}
"""For a session of a command that shows its own."""

SECONDS_BETWEEN_LOOKS = 0.25
GROUP = ("spark.jobGroup.id", "spark.job.description")
"""Spark's own names for the group of the jobs that a thread starts, and for what they are about."""


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
    context = None
    with contextlib.suppress(UsageError):
        context = context_of(session, "tell of its stages")
    if context is None or not sys.stderr.isatty() or _shows_its_own(context):
        yield lambda _title: None
        return
    with _job_group(context, title) as group, _Shown(context, group, title) as shown:
        yield shown.rename


def _shows_its_own(context: SparkContext) -> bool:
    return any(context.getConf().get(name) == "true" for name in WITHOUT_SPARKS_BAR)


def running_stages(tracker: StatusTracker, group: str) -> list[SparkStageInfo]:
    """The stages that run now, of the jobs of a group, in their order.

    Only what is active is asked about: a long loop leaves thousands of jobs behind it. Spark forgets and
    learns while it is asked, so anything may be missing.
    """
    jobs = set(tracker.getActiveJobsIds()).intersection(tracker.getJobIdsForGroup(group))
    infos = [info for job in sorted(jobs) if (info := tracker.getJobInfo(job)) is not None]
    ours = {number for info in infos for number in info.stageIds}
    stages = (tracker.getStageInfo(number) for number in tracker.getActiveStageIds() if number in ours)
    return [stage for stage in stages if stage is not None]


class _Shown:
    """A bar for each stage that runs, kept true by a thread; while there is none, one that only says that
    something goes on.

    Stages count from 1 under each title: Spark's own numbers count all that a session ever did.
    """

    now: _Shown | None = None
    """What is being shown: a terminal has room for one."""

    def __init__(self, context: SparkContext, group: str, title: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        described, counted = TextColumn("{task.description}"), TextColumn("{task.fields[tasks]}")
        columns = (described, BarColumn(), counted, TimeElapsedColumn())
        self._progress: Progress = Progress(*columns, console=Console(stderr=True), transient=True)
        self._bars: dict[int, TaskID] = {}
        self._waiting = self._progress.add_task(title, total=None, tasks="")
        self._stages = 0
        self.title = self._shown_title = title
        self._tracker = context.statusTracker()
        self._group = group
        self._done = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name="tocsin-progress", daemon=True)

    def __enter__(self) -> _Shown:
        _Shown.now = self
        self._progress.start()
        self._watcher.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._done.set()
        self._watcher.join()
        self._progress.stop()
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
            self._show(self.title, stages)

    def _show(self, title: str, stages: list[SparkStageInfo]) -> None:
        """Make the bars those of these stages."""
        if title != self._shown_title:
            self._shown_title, self._stages = title, 0
        for number in self._bars.keys() - {stage.stageId for stage in stages}:
            self._progress.remove_task(self._bars.pop(number))
        for stage in stages:
            if stage.stageId not in self._bars:
                self._stages += 1
                name = f"{title}: stage {self._stages}"
                self._bars[stage.stageId] = self._progress.add_task(name, total=stage.numTasks, tasks="")
            done, tasks = stage.numCompletedTasks, stage.numTasks
            said = f"{done:,}/{number_of(tasks, 'task')}"
            self._progress.update(self._bars[stage.stageId], completed=done, total=tasks, tasks=said)
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
