"""Alerts on their way through the driver: as blocks of bytes that the tasks have made.

Some sinks take alerts from one place: a transaction is one connection's, and a webhook that asks for
patience should be asked again by one caller. The work of writing alerts as bytes is the tasks'; the driver
hands on blocks, some at a time, and never has a Python object for each alert.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pyspark.sql.functions as F  # noqa: N812  (as everybody writes it)
from pyspark.sql import DataFrame

BYTES_AT_ONCE = 16 << 20
"""Bytes of blocks that the driver asks Spark for together, about."""


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
