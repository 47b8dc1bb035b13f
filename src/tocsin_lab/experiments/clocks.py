"""Clocks, and what a run was made on."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from importlib.metadata import version
from typing import NamedTuple, TypeVar

T = TypeVar("T")
Name = TypeVar("Name", bound=Hashable)


class Seconds(NamedTuple):
    """The best, the median and the slowest of some rounds."""

    best: float
    median: float
    slowest: float

    @classmethod
    def of(cls, rounds: Sequence[float]) -> Seconds:
        """Those of these rounds."""
        return cls(min(rounds), statistics.median(rounds), max(rounds))

    def scaled(self, factor: float) -> Seconds:
        """In another unit."""
        return Seconds(*(factor * each for each in self))


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """What the work gives, and the seconds of processor time that this process spent on it."""
    start = time.process_time()
    done = work()
    return done, time.process_time() - start


def in_turns(works: Mapping[Name, Callable[[], object]], rounds: int) -> dict[Name, list[float]]:
    """Processor time of each work in each round; a round does all of them.

    A machine that is slow for a while is then slow for all of them, and ratios stay fair.
    """
    taken: dict[Name, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            taken[name].append(timed(work)[1])
    return taken


def interleaved(works: Mapping[Name, Callable[[], object]], rounds: int, per: int = 1) -> dict[Name, Seconds]:
    """What in_turns takes, divided by `per`."""
    taken = {name: [each / per for each in spent] for name, spent in in_turns(works, rounds).items()}
    return {name: Seconds.of(each) for name, each in taken.items()}


def machine_note() -> str:
    """What times were measured on."""
    return (
        f"Processor time on one core of {os.cpu_count()} ({platform.machine()}), best of several; "
        f"Python {platform.python_version()}, Numba {version('numba')}."
    )
