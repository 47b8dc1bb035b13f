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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import IntegerType, StringType, StructField, StructType

from tocsin.datalog.language.syntax import TEXT_LIMIT, Type
from tocsin.datalog.machine.closures import closure_steps
from tocsin.datalog.machine.machine import Machine
from tocsin.datalog.machine.normal_form import ClosureRule, NormalProgram
from tocsin.datalog.machine.symbols import Symbols
from tocsin.datalog.machine.tuples import Rows, TupleCode
from tocsin.datalog.spark.batch.stored_frames import Frame, Storage
from tocsin.datalog.spark.batch.value_columns import FAILURE, Columns, columns_inside, word_type
from tocsin.datalog.spark.batch.worker_batches import error_of, failure_of
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
    found = storage.keep(everything.mapInArrow(partial(finish, job), answered))
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


_PIECE = 1 << 16
"""Rows of a batch that goes out."""


def finish(job: Job, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The wanted relations, or one row that says why there are none."""
    schema: pa.Schema | None = None
    symbols = Symbols(limit=job.text_limit)
    codes = {name: _code(name, job.types(name), symbols) for name in (*job.given, *job.wanted)}
    given: dict[str, list[Rows]] = {name: [] for name in job.given}
    for batch in batches:
        schema = batch.schema
        for name, rows in _by_relation(job, codes, batch):
            given[name].append(rows)
    if schema is None:
        return
    answer = schema.append(pa.field(FAILURE, pa.string()))
    try:
        machine = _settled(job, symbols, given)
    except DerivationError as error:
        yield _filled(
            answer, 1, {RELATION: pa.array([-1], pa.int32()), FAILURE: pa.array([failure_of(error)])}
        )
        return
    for number, name in enumerate(job.wanted):
        rows = machine.rows(machine.relation(name))
        for start in range(0, len(rows), _PIECE):
            yield _written(job, codes[name], number, rows[start : start + _PIECE], answer)


def _code(name: str, types: tuple[Type, ...], symbols: Symbols) -> TupleCode:
    """The code of a relation's words, among which an unsigned is its bits."""
    return TupleCode(name, tuple(map(word_type, types)), symbols)


def _by_relation(
    job: Job, codes: Mapping[str, TupleCode], batch: pa.RecordBatch
) -> Iterator[tuple[str, Rows]]:
    numbers = batch.column(0)
    for number in pc.unique(numbers).to_pylist():
        if number < 0:
            continue
        name = job.given[number]
        of_relation = batch.filter(pc.equal(numbers, number))
        code = codes[name]
        if not code.types:
            yield name, np.empty((1, 0), np.int64)
            continue
        columns = [of_relation.column(wide) for wide in job.columns(name)]
        yield name, code.rows_of_table(pa.RecordBatch.from_arrays(columns, names=list(code.columns)))


def _settled(job: Job, symbols: Symbols, given: Mapping[str, list[Rows]]) -> Machine:
    """The index with all that follows from what was given. Raises DerivationError."""
    fed = {name: rows for name, rows in given.items() if rows}
    program = closure_steps(job.program, fed)
    homes = {step.head: step.facts or step.head for step in program.steps if isinstance(step, ClosureRule)}
    machine = Machine(program, symbols, reported=(), limit=job.limit)
    for name, rows in fed.items():
        machine.change(machine.relation(homes.get(name, name)), np.concatenate(rows), True)
    machine.settle()
    if sum(machine.size(machine.relation(name)) for name in job.wanted) > job.limit:
        raise DerivationError(f"more than {job.limit:,} tuples are derived, which is the limit")
    return machine


def _written(job: Job, code: TupleCode, number: int, rows: Rows, schema: pa.Schema) -> pa.RecordBatch:
    columns = {RELATION: pa.array(np.full(len(rows), number, np.int32))}
    if code.types:
        table = code.table(rows).combine_chunks()
        for wide, column in zip(job.columns(code.relation), table.columns, strict=True):
            columns[wide] = column.combine_chunks()
    else:
        columns[job.columns(code.relation)[0]] = pa.array(np.zeros(len(rows), np.int64))
    return _filled(schema, len(rows), columns)


def _filled(schema: pa.Schema, count: int, columns: Mapping[str, pa.Array]) -> pa.RecordBatch:
    """A batch with nulls where there is no column."""
    arrays = [
        columns[field.name].cast(field.type) if field.name in columns else pa.nulls(count, field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
