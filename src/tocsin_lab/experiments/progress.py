"""Who is told how far a run is: a bar on a terminal, plain lines elsewhere; and how long it will yet take."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

SURE = 60.0
"""Seconds that what was expected is believed for: the pace of the first steps alone would say little."""


class Progress(Protocol):
    """What an experiment tells: how many steps there are, again when that changes; each step as it begins."""

    def steps(self, count: int) -> None:
        """So many steps there are, those that have begun among them."""

    def step(self, doing: str) -> None:
        """The next step begins."""

    def skip(self, count: int) -> None:
        """So many steps need not be done: they were, in a run before."""


class Silence:
    """Nobody is told."""

    def steps(self, count: int) -> None:
        """Nothing."""

    def step(self, doing: str) -> None:
        """Nothing."""

    def skip(self, count: int) -> None:
        """Nothing."""


@dataclass
class TimeLeft:
    """How long several experiments will yet take.

    `expected` seconds were thought of for all of them; of these `done` are measured, `skipped` were not
    needed. What is left goes on at the pace of what is done.
    """

    expected: float
    clock: Callable[[], float] = time.monotonic
    done: float = 0.0
    skipped: float = 0.0
    began: float = field(init=False)

    def __post_init__(self) -> None:
        self.began = self.clock()

    @property
    def seconds(self) -> float:
        """What is left."""
        pace = (self.clock() - self.began + SURE) / (self.done + SURE)
        return pace * max(0.0, self.expected - self.done - self.skipped)

    def __str__(self) -> str:
        minutes = round(self.seconds / 60)
        return f"about {minutes} min left" if minutes else "less than a minute left"


class _Steps:
    """Counts the steps of one experiment, and what they come to of its expected seconds."""

    def __init__(self, left: TimeLeft | None, expected: float) -> None:
        self.count = self.begun = self.skipped = 0
        self._left = left
        self._expected = expected
        self._told = (0.0, 0.0)

    def told(self, finished: int) -> str:
        """How long all experiments will yet take, when so many steps are finished."""
        if self._left is None:
            return ""
        whole = self._expected / max(1, self.count)
        done, skipped = whole * (finished - self.skipped), whole * self.skipped
        self._left.done += done - self._told[0]
        self._left.skipped += skipped - self._told[1]
        self._told = (done, skipped)
        return f", {self._left}"


class _Said:
    """A line on standard error for each step."""

    def __init__(self, title: str, steps: _Steps) -> None:
        self._title = title
        self._steps = steps

    def steps(self, count: int) -> None:
        self._steps.count = count

    def step(self, doing: str) -> None:
        steps = self._steps
        left = steps.told(steps.begun)
        steps.begun += 1
        of_all = f"{steps.begun}/{steps.count}" if steps.count else f"{steps.begun}"
        print(f"{self._title} {of_all}{left}: {doing}", file=sys.stderr, flush=True)

    def skip(self, count: int) -> None:
        self._steps.begun += count
        self._steps.skipped += count


class _Bar:
    """A bar that says what is being done."""

    def __init__(self, bar: RichProgress, task: TaskID, steps: _Steps) -> None:
        self._bar = bar
        self._task = task
        self._steps = steps

    def steps(self, count: int) -> None:
        self._steps.count = count
        self._bar.update(self._task, total=count)

    def step(self, doing: str) -> None:
        left = self._steps.told(self._steps.begun)
        self._bar.update(self._task, completed=self._steps.begun, doing=doing, left=left.removeprefix(", "))
        self._steps.begun += 1

    def skip(self, count: int) -> None:
        self._steps.begun += count
        self._steps.skipped += count


@contextlib.contextmanager
def progress(title: str, left: TimeLeft | None = None, expected: float = 0.0) -> Iterator[Progress]:
    """For one experiment: on a terminal a bar that is gone at the end, elsewhere lines.

    With `left` also how long all will yet take; this one was `expected` to take so many seconds.
    """
    steps = _Steps(left, expected)
    if not sys.stderr.isatty():
        yield _Said(title, steps)
    else:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            TextColumn("{task.fields[doing]}"),
        )
        with RichProgress(*columns, console=Console(stderr=True), transient=True) as bar:
            yield _Bar(bar, bar.add_task(title, total=None, doing="", left=""), steps)
    steps.told(steps.count)
