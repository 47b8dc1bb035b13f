"""Processor time of a job that is repeated for long enough."""

from __future__ import annotations

import time
from collections.abc import Callable


def seconds_of(work: Callable[[], object], at_least: float) -> float:
    """Processor seconds of one run, all threads counted: the mean of runs that take so many seconds together.

    It runs once before, so that caches and compiled code are warm.
    """
    work()
    runs = 0
    start = time.process_time()
    while True:
        work()
        runs += 1
        taken = time.process_time() - start
        if taken >= at_least:
            return taken / runs
