"""Event files matched on Spark: every slice is one task, which leaves one part, and perhaps another that
makes a file of the result of it.

The driver sends slices, not events: a task reads its slice itself, with the same code that reads
files without Spark, so the answers are the same. What comes back through Spark is a small report for
each slice; parts are read from the folder, which every worker must be able to write to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyspark.sql import SparkSession

from tocsin.conditions.live import Index
from tocsin.matches import PartReport, ResultFiles, SliceJob, names_of, write_part
from tocsin.spark.index_shipment import ship_rules
from tocsin.spark.numbered_tasks import answers


def match_slices(session: SparkSession, index: Index, job: SliceJob) -> list[PartReport]:
    """Match every slice of a job; the reports are in the order of the slices.

    Raises InputError when a slice cannot be read, TocsinError when Spark fails.
    """
    shipped = ship_rules(session, index)

    def matching() -> Callable[[int], str]:
        rules = shipped.open().version
        return lambda number: write_part(rules, job, number).to_json()

    said = answers(session, len(job.slices), matching, "match the events")
    return sorted(map(PartReport.from_json, said), key=lambda report: report.slice)


def write_files(
    session: SparkSession, index: Index, files: ResultFiles, reports: Sequence[PartReport]
) -> None:
    """Make the parts of slices, which this index has matched, files of a result."""
    shipped = ship_rules(session, index)

    def writing() -> Callable[[int], str]:
        names = names_of(shipped.open().version)

        def write(place: int) -> str:
            files.write(names, reports[place])
            return ""

        return write

    answers(session, len(reports), writing, "write the matches")
