"""A stream into PostgreSQL, to be killed.

    python -m tests.spark.sinks.killed_postgres FOLDER URI [BATCH]

It takes events from FOLDER/events and rules from FOLDER/rules.jsonl, and says `batch N` for each batch. In
the middle of writing the batch that is given it says `copying N`, and waits to be killed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from tests.spark.conftest import QUICK_START
from tests.spark.stream.killed_stream import Spoken

import tocsin.spark as ts
from tocsin.spark.sinks.postgres_sink import PostgresSink
from tocsin.spark.stream.stream import Stream


def start(folder: Path, uri: str, session: SparkSession, *, once: bool) -> Stream:
    return ts.stream(
        f"{folder / 'events'}?files=2",
        folder / "rules.jsonl",
        uri,
        checkpoint=folder / "checkpoint",
        time="at",
        keep=["m"],
        once=once,
        session=session,
        listener=Spoken(),
    )


def wait_in_the_middle_of(chosen: int) -> None:
    """Let the sink stop when the server has some of the alerts of a batch, and not yet the end."""
    real = PostgresSink._write_blocks

    def write_blocks(self: PostgresSink, columns: Sequence[str], rows: Iterable[Any], batch: int) -> None:
        real(self, columns, _stopping(rows, batch) if batch == chosen else rows, batch)

    PostgresSink._write_blocks = write_blocks  # type: ignore[method-assign]


def _stopping(rows: Iterable[Any], number: int) -> Iterator[Any]:
    for row in rows:
        yield row
        print(f"copying {number}", flush=True)
        time.sleep(1000)


if __name__ == "__main__":
    if len(sys.argv) > 3:
        wait_in_the_middle_of(int(sys.argv[3]))
    local = ts.session("local[2,4]", config=QUICK_START)
    start(Path(sys.argv[1]), sys.argv[2], local, once=False).wait()
