"""Work by numbers: slices of files, pieces, blocks or shards, each of them a task or one of a few."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession

from tocsin.errors import InputError, TocsinError
from tocsin.spark.failures import on_spark


def numbers(session: SparkSession, count: int, tasks: int | None = None) -> DataFrame:
    """The numbers below `count`, neighbours in one task when there are more than `tasks`."""
    return session.range(0, count, 1, numPartitions=max(1, min(count, tasks or count)))


def each_number(batches: Iterable[Any]) -> Iterator[int]:
    """In a worker: the numbers that a task is for."""
    for batch in batches:
        yield from batch.column(0).to_pylist()


def partition_number() -> int:
    """In a worker: which of a job's partitions a task has."""
    context = TaskContext.get()
    return 0 if context is None else context.partitionId()


def answers(
    session: SparkSession,
    count: int,
    start: Callable[[], Callable[[int], str]],
    aim: str,
    tasks: int | None = None,
) -> list[str]:
    """What so many tasks, one for each number without it, say to the numbers below `count`, in any order.

    `start` is called in each task, and gives the work. What goes wrong with the input is raised as an
    InputError; a task that fails by it is not tried again.
    """

    def work(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        say = start()
        for number in each_number(batches):
            said: tuple[str | None, str | None]
            try:
                said = say(number), None
            except TocsinError as error:
                said = None, str(error)
            yield pa.record_batch([pa.array([text], pa.string()) for text in said], ["answer", "failure"])

    if not count:
        return []
    asked = numbers(session, count, tasks).mapInArrow(work, "answer string, failure string")
    rows = on_spark(asked.collect, aim)
    for row in rows:
        if row.failure is not None:
            raise InputError(row.failure)
    return [row.answer for row in rows]
