"""Who is told how far a run is: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID


class Progress(Protocol):
    """What an experiment tells: how many steps there are, again when that changes; each step as it begins."""

    def steps(self, count: int) -> None:
        """So many steps there are, those that have begun among them."""

    def step(self, doing: str) -> None:
        """The next step begins."""


class Silence:
    """Nobody is told."""

    def steps(self, count: int) -> None:
        """Nothing."""

    def step(self, doing: str) -> None:
        """Nothing."""


class _Said:
    """A line on standard error for each step."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._count = 0
        self._done = 0

    def steps(self, count: int) -> None:
        self._count = count

    def step(self, doing: str) -> None:
        self._done += 1
        of_all = f"{self._done}/{self._count}" if self._count else f"{self._done}"
        print(f"{self._title} {of_all}: {doing}", file=sys.stderr, flush=True)


class _Bar:
    """A bar that says what is being done."""

    def __init__(self, bar: RichProgress, task: TaskID) -> None:
        self._bar = bar
        self._task = task
        self._begun = 0

    def steps(self, count: int) -> None:
        self._bar.update(self._task, total=count)

    def step(self, doing: str) -> None:
        self._bar.update(self._task, completed=self._begun, doing=doing)
        self._begun += 1


@contextlib.contextmanager
def progress(title: str) -> Iterator[Progress]:
    """For one experiment: on a terminal a bar that is gone at the end, elsewhere lines."""
    if not sys.stderr.isatty():
        yield _Said(title)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as RichProgress

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[doing]}"),
    )
    with RichProgress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield _Bar(bar, bar.add_task(title, total=None, doing=""))
