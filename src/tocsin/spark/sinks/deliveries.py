"""Alerts delivered by the driver: blocks of bytes that the tasks have made, and patience with who takes them.

Some sinks take alerts from one place: a transaction is one connection's, and a webhook that asks for
patience should be asked again by one caller. The work of writing alerts as bytes is the tasks'; the driver
hands on blocks, some at a time, and never has a Python object for each alert.
"""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import pyspark.sql.functions as F  # noqa: N812  (as everybody writes it)
from pyspark.sql import DataFrame

T = TypeVar("T")

BYTES_AT_ONCE = 16 << 20
"""Bytes of blocks that the driver asks Spark for together, about."""

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


@contextlib.contextmanager
def driver_rows(blocks: DataFrame) -> Iterator[Callable[[], Iterator[Any]]]:
    """The rows of a DataFrame with a column `block` (binary), one after the other, in the driver.

    What is given can be called again, to begin again with the first. The rows are made once, by all tasks
    at the same time, and kept by Spark until the end of the `with`, on disk when there are many.
    """
    kept = blocks.persist()
    try:
        total = kept.agg(F.sum(F.length("block"))).first()
        size = 0 if total is None else total[0] or 0
        few = kept.coalesce(1 + size // BYTES_AT_ONCE)
        yield lambda: few.toLocalIterator() if size else iter(())
    finally:
        kept.unpersist()
