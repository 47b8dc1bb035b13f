"""Event files matched on Spark: every slice is one task, which leaves one part, and perhaps another that
makes a file of the result of it.

The driver sends slices, not events: a task reads its slice itself, with the same code that reads
files without Spark, so the answers are the same. What comes back through Spark is a small report for
each slice; parts are read from the folder, which every worker must be able to write to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa
from pyspark.sql import SparkSession

from tocsin.conditions.live.sharded_index import RuleIndex
from tocsin.engines.slice_matchers import IndexOnSlices
from tocsin.errors import InputError, TocsinError
from tocsin.matches.result_folder import ResultFiles
from tocsin.matches.slice_matches import PartReport, SliceJob, match_slice
from tocsin.spark.failures import on_spark
from tocsin.spark.index_shipment import ship_rules

_ANSWER = pa.schema([("answer", pa.string()), ("failure", pa.string())])


def match_slices(session: SparkSession, index: RuleIndex, job: SliceJob) -> list[PartReport]:
    """Match every slice of a job; the reports are in the order of the slices.

    Raises InputError when a slice cannot be read, TocsinError when Spark fails.
    """
    shipped = ship_rules(session, index)

    def matching() -> Callable[[int], str]:
        matcher = IndexOnSlices(shipped.open())
        return lambda number: match_slice(matcher, job, number).to_json()

    answers = _in_tasks(session, len(job.slices), matching, "match the events")
    return sorted(map(PartReport.from_json, answers), key=lambda report: report.slice)


def write_files(
    session: SparkSession, index: RuleIndex, files: ResultFiles, reports: Sequence[PartReport]
) -> None:
    """Make the parts of slices, which this index has matched, files of a result."""
    shipped = ship_rules(session, index)

    def writing() -> Callable[[int], str]:
        names = IndexOnSlices(shipped.open()).names()

        def write(place: int) -> str:
            files.write(names, reports[place])
            return ""

        return write

    _in_tasks(session, len(reports), writing, "write the matches")


def _in_tasks(
    session: SparkSession, count: int, start: Callable[[], Callable[[int], str]], aim: str
) -> list[str]:
    """What tasks say to the numbers below `count`, one each, in any order.

    `start` is called in each task, and gives the work. What goes wrong with the input is raised as an
    InputError; a task that fails by it is not tried again.
    """

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        say = start()
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield _answer(say, number)

    if not count:
        return []
    numbers = session.range(0, count, 1, numPartitions=count)
    answers = on_spark(numbers.mapInArrow(work, "answer string, failure string").collect, aim)
    for answer in answers:
        if answer.failure is not None:
            raise InputError(answer.failure)
    return [answer.answer for answer in answers]


def _answer(say: Callable[[int], str], number: int) -> pa.RecordBatch:
    """An answer, or why there is none: an error of the input is no reason to try again."""
    answer, failure = None, None
    try:
        answer = say(number)
    except TocsinError as error:
        failure = str(error)
    return pa.RecordBatch.from_pylist([{"answer": answer, "failure": failure}], schema=_ANSWER)
