"""Event files matched on Spark: every slice is one task, which leaves one part.

The driver sends slices, not events: a task reads its slice itself, with the same code that reads
files without Spark, so the answers are the same. What comes back through Spark is a small report for
each slice; parts are read from the folder, which every worker must be able to write to.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tocsin.errors import InputError, TocsinError
from tocsin.monitor.index import Index
from tocsin.monitor.index_in_parts import IndexInParts
from tocsin.monitor.parts import PartReport, SliceJob, match_slice
from tocsin.monitor.slice_matchers import IndexOnSlices
from tocsin.spark.failures import reason_of
from tocsin.spark.shipping import ship_parts

_ANSWER = pa.schema([("report", pa.string()), ("failure", pa.string())])


def match_slices(session: SparkSession, index: Index | IndexInParts, job: SliceJob) -> list[PartReport]:
    """Match every slice of a job; the reports are in the order of the slices.

    Raises InputError when a slice cannot be read, TocsinError when Spark fails.
    """
    shipped = ship_parts(session, index)
    count = len(job.slices)

    def match_numbered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        indexes = [part.open() for part in shipped]
        matcher = IndexOnSlices(indexes[0] if len(indexes) == 1 else IndexInParts(indexes))
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield _answer(matcher, job, number)

    if not count:
        return []
    numbers = session.range(0, count, 1, numPartitions=count)
    try:
        answers = numbers.mapInArrow(match_numbered, "report string, failure string").collect()
    except (PySparkException, Py4JError) as error:
        raise TocsinError(f"Spark could not match the events: {reason_of(str(error))}") from error
    for answer in answers:
        if answer.failure is not None:
            raise InputError(answer.failure)
    reports = [PartReport.from_json(answer.report) for answer in answers]
    return sorted(reports, key=lambda report: report.slice)


def _answer(matcher: IndexOnSlices, job: SliceJob, number: int) -> pa.RecordBatch:
    """The report of a slice, or why it cannot be read: an error of the input is no reason to try again."""
    report, failure = None, None
    try:
        report = match_slice(matcher, job, number).to_json()
    except TocsinError as error:
        failure = str(error)
    return pa.RecordBatch.from_pylist([{"report": report, "failure": failure}], schema=_ANSWER)
