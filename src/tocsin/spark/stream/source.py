"""What a source of events is to a stream, and what the tasks of a batch are given.

events ──> found rows ──> Onward                       found rows ──> Spark, and so to sinks of any kind
                     └──> FoundParts                   files; Spark sees their names alone
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark import Accumulator, AccumulatorParam
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructField, StructType

from tocsin.rules import Trigger
from tocsin.spark.stream.match_columns import Wanted, found_schema, json_field
from tocsin.spark.stream.rule_version import RuleVersion

if TYPE_CHECKING:
    from tocsin.spark.stream.document_counts import DocumentCounts
    from tocsin.spark.stream.folder_source import PassedOver
    from tocsin.spark.stream.match_task import Finder
    from tocsin.spark.stream.word_history import WordVersion

    Look = Callable[[Finder, Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


@dataclass(slots=True)
class Tally:
    """What a batch counts in passing. `seen` has a bit for each field of the rules, in Version.fields' order.

    A Spark accumulator brings it to the driver with the results of the tasks, `tasks` of which have counted:
    so it costs no job. When a task is done twice it may count twice. Nothing but messages depends on it, and
    whether there are rejects to look for: that there are none is believed when a task has counted.
    """

    tasks: int = 0
    events: int = 0
    matches: int = 0
    rejects: int = 0
    seen: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.tasks + other.tasks,
            self.events + other.events,
            self.matches + other.matches,
            self.rejects + other.rejects,
            self.seen | other.seen,
        )


class _TallyParam(AccumulatorParam[Tally]):
    def zero(self, value: Tally) -> Tally:  # noqa: ARG002  (Spark's)
        return Tally()

    def addInPlace(self, value1: Tally, value2: Tally) -> Tally:  # noqa: N802  (Spark's name)
        return value1 + value2


TALLY_PARAM = _TallyParam()


class Onward:
    """What a task does with the rows that it has found, before Spark sees them: nothing. Can be pickled."""

    def schema(self, found: StructType) -> StructType:
        """The columns of what comes out, given those of found rows."""
        return found

    def rows(self, found: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """In a worker: what comes out."""
        return found


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for in a batch, and what becomes of it. Small, and made to be pickled.

    Events, matches, rejects and the fields that were there are counted in `tally` by the tasks.

    words     the dictionaries that scores go by; None: those that the rules were built with
    counts    where the words of documents are counted; None when nothing is learnt
    """

    rules: RuleVersion
    wanted: Wanted
    tally: Accumulator[Tally]
    onward: Onward
    words: WordVersion | None = None
    counts: DocumentCounts | None = None

    def found(
        self, batch: DataFrame, carried: Sequence[StructField], kept: Sequence[StructField], look: Look
    ) -> DataFrame:
        """What becomes of the rows that `look` finds, which is called in each task with what it gets."""
        names = [field.name for field in carried] + [field.name for field in kept]

        def find(batches: Iterable[Any]) -> Iterator[Any]:
            from tocsin.spark.stream.match_task import Finder

            counter = None if self.counts is None else self.counts.counter()
            others = pa.schema([(name, pa.string()) for name in names])
            finder = Finder(self.rules, self.wanted, others, self.words, counter)
            yield from look(finder, batches)
            if counter is not None:
                counter.write()
            self.tally.add(finder.tally)

        schema = self.onward.schema(found_schema(carried, kept))
        return batch.mapInArrow(lambda batches: self.onward.rows(find(batches)), schema)


class Source(ABC):
    """Where events come from. It lives on the driver, as long as the stream.

    Everything that `found` gives has to depend on the batch's DataFrame, the rules and `wanted` alone: a
    batch that is done again must give the same rows.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """What a person calls it; without passwords."""

    @property
    def carried(self) -> Sequence[StructField]:
        """Columns of its own that found rows have; a part of an alert's id."""
        return ()

    def joins(self, trigger: Trigger) -> bool:  # noqa: ARG002
        """Whether it knows of tables and their changes what a trigger asks for that no index takes."""
        return False

    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """What must be the same when the stream is started again from its checkpoint; JSON, no passwords."""

    def check(self, wanted: Wanted, rules: RuleVersion) -> Sequence[StructField]:  # noqa: ARG002
        """The fields of the kept columns: JSON texts, where events may hold any fields.

        Called before the stream starts, and again for each new version. UsageError or InputError when
        something is wanted, or named by rules, that the source cannot give.
        """
        return [json_field(name) for name in wanted.keep]

    def reads(self, folder: Path) -> bool:  # noqa: ARG002
        """Whether files in a folder would come as events."""
        return False

    def passed_over(self) -> PassedOver | None:
        """What looks for files that are left out without a word, where there can be such."""
        return None

    @abstractmethod
    def stream(self, session: SparkSession, checkpoint: Path) -> DataFrame:
        """The streaming DataFrame. `checkpoint / "source"` is a folder that the source may use."""

    @abstractmethod
    def found(self, batch: DataFrame, search: Search) -> DataFrame:
        """What becomes of the found rows of a batch (see match_columns.py), by one pass over it."""
