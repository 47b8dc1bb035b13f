"""What is small is worked out in one worker, by the engine that runs without Spark.

A round of recursion costs Spark a good part of a second however few tuples there are, and the engine a
millisecond. So components whose inputs are small go to a single task, as many at once as there are in a row.
All relations come to it, and leave it, in one DataFrame:

    relation                    which of the relations a row is a tuple of
    n0, n1 ...                  its columns that are numbers (or unsigned), null where it has another type
    f0, f1 ...  s0, s1 ...      the same of floats and of symbols

Nothing of it passes through the driver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import IntegerType, StringType, StructField, StructType

from tocsin.datalog.language.functors import TEXT_LIMIT
from tocsin.datalog.language.syntax import Type
from tocsin.datalog.machine.normal_form import NormalProgram
from tocsin.datalog.spark.batch.stored_frames import Frame, Storage
from tocsin.datalog.spark.batch.value_columns import FAILURE, Columns, columns_inside
from tocsin.datalog.spark.batch.worker_batches import error_of
from tocsin.errors import DerivationError

RELATION = "relation"
_LETTERS = {Type.NUMBER: "n", Type.UNSIGNED: "n", Type.FLOAT: "f", Type.SYMBOL: "s"}
_NOBODY = -1
"""The relation of a row that is there so that there is a task, and of one that only has a failure."""


@dataclass(frozen=True, slots=True)
class Job:
    """What the worker is asked: the program, which relations come and go, by number, and the limits."""

    program: NormalProgram
    given: tuple[str, ...]
    wanted: tuple[str, ...]
    limit: int
    text_limit: int = TEXT_LIMIT

    def columns(self, relation: str) -> list[str]:
        """The columns of the one DataFrame that a relation has."""
        return wide_names(self.types(relation))

    def types(self, relation: str) -> tuple[Type, ...]:
        """The types of a relation."""
        return next(each.types for each in self.program.relations if each.name == relation)


def wide_names(types: Sequence[Type]) -> list[str]:
    """The columns of tuples of these types; a relation without columns has one."""
    return [f"{_LETTERS[kind]}{place}" for place, kind in enumerate(columns_inside(types).types)]


class TooMany(Exception):
    """More tuples are derived than one worker should hold."""


def finish_in_one_worker(
    session: SparkSession, storage: Storage, job: Job, frames: Mapping[str, Sequence[DataFrame]]
) -> dict[str, Frame]:
    """The wanted relations of a job. TooMany when its limit is passed, DerivationError as everywhere."""
    schema = _schema(job)
    rows = [session.range(1).select(*_wide(schema, _NOBODY, {}))]
    for number, name in enumerate(job.given):
        columns = {wide: f"c{place}" for place, wide in enumerate(job.columns(name))}
        rows += [data.select(*_wide(schema, number, columns)) for data in frames[name]]
    everything = reduce(DataFrame.unionAll, rows).repartition(1)
    answered = StructType([*schema.fields, StructField(FAILURE, StringType())])
    found = storage.keep(everything.mapInArrow(_task(job), answered))
    counts = (
        found.groupBy(RELATION).agg(F.count(F.lit(1)).alias("rows"), F.min(FAILURE).alias(FAILURE)).collect()
    )
    for answer in counts:
        if answer[FAILURE] is not None:
            _raise(error_of(answer[FAILURE]))
    sizes = {answer[RELATION]: answer["rows"] for answer in counts}
    return {
        name: Frame(_narrow(found, number, job.columns(name)), sizes.get(number, 0), distinct=True)
        for number, name in enumerate(job.wanted)
    }


def _raise(error: DerivationError) -> None:
    """An error that names no rule is that of the limit."""
    if error.rule is None:
        raise TooMany from error
    raise error


def _schema(job: Job) -> StructType:
    fields: dict[str, StructField] = {}
    for name in dict.fromkeys((*job.given, *job.wanted)):
        kinds: Columns = columns_inside(job.types(name))
        for wide, field in zip(job.columns(name), kinds.schema.fields, strict=True):
            fields[wide] = StructField(wide, field.dataType)
    return StructType([StructField(RELATION, IntegerType()), *(fields[name] for name in sorted(fields))])


def _wide(schema: StructType, number: int, columns: Mapping[str, str]) -> list[Any]:
    return [
        F.lit(number).alias(RELATION),
        *(
            (F.col(columns[field.name]) if field.name in columns else F.lit(None))
            .cast(field.dataType)
            .alias(field.name)
            for field in schema.fields[1:]
        ),
    ]


def _narrow(found: DataFrame, number: int, columns: Sequence[str]) -> DataFrame:
    return found.where(F.col(RELATION) == number).select(
        *[F.col(name).alias(f"c{place}") for place, name in enumerate(columns)]
    )


def _task(job: Job) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def finish_in_worker(batches: Iterable[Any]) -> Iterator[Any]:
        from tocsin.datalog.spark.batch.worker_machine import finish

        return finish(job, batches)

    return finish_in_worker
