"""What fails now and may not fail later is tried again, with more and more patience."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

T = TypeVar("T")

TRIES = 8
FIRST_WAIT = 0.5
LONGEST_WAIT = 60.0


def waits(tries: int = TRIES) -> Iterator[float]:
    """Seconds to wait after each try but the last: twice as long each time, and never quite the same.

    So several streams that wait for one server that was away do not all come back at the same moment.
    """
    for number in range(tries - 1):
        yield min(LONGEST_WAIT, FIRST_WAIT * 2**number) * random.uniform(0.5, 1.0)


def try_again(action: Callable[[], T], passing: type[Exception]) -> T:
    """What an action gives at last; the error of its last try when all have failed in passing."""
    for wait in waits():
        try:
            return action()
        except passing:
            time.sleep(wait)
    return action()
