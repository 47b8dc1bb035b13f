"""Clocks, and what a run was made on."""

from __future__ import annotations

import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version


@dataclass
class Seconds:
    """The best and the median of some repetitions, for each thing done."""

    best: float
    median: float


def timed(work: Callable[[], object], repeat: int, per: int = 1) -> Seconds:
    """Processor time of some repetitions, each divided by `per`."""
    taken = []
    for _ in range(repeat):
        start = time.process_time()
        work()
        taken.append((time.process_time() - start) / per)
    return Seconds(min(taken), statistics.median(taken))


def machine_facts() -> dict[str, str]:
    return {
        "cores": str(os.cpu_count()),
        "processor": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        **{name: version(name) for name in ("numba", "numpy", "pyarrow")},
    }


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
