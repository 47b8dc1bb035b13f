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

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import IntegerType, StringType, StructField, StructType

from tocsin.datalog.language.syntax import TEXT_LIMIT, Type
from tocsin.datalog.machine.closures import closure_steps
from tocsin.datalog.machine.machine import Machine, too_many_tuples
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
        """The columns of the one DataFrame that a relation has; without columns of its own it has one."""
        kinds = columns_inside(self.types(relation)).types
        return [f"{_LETTERS[kind]}{place}" for place, kind in enumerate(kinds)]

    def types(self, relation: str) -> tuple[Type, ...]:
        """The types of a relation."""
        return next(each.types for each in self.program.relations if each.name == relation)


class TooMany(Exception):
    """More tuples are derived than one worker should hold."""


def finish_in_one_worker(
    session: SparkSession, storage: Storage, job: Job, frames: Mapping[str, Sequence[DataFrame]]
) -> dict[str, Frame]:
    """The wanted relations of a job. TooMany when its limit is passed, DerivationError as everywhere."""
    schema = _schema(job)
    rows = [session.range(1).select(*_wide(schema, _NOBODY, {}))]
    for number, name in enumerate(job.given):
        places = {wide: f"c{place}" for place, wide in enumerate(job.columns(name))}
        rows += [data.select(*_wide(schema, number, places)) for data in frames[name]]
    everything = reduce(DataFrame.unionAll, rows).repartition(1)
    answered = StructType([*schema.fields, StructField(FAILURE, StringType())])
    found = storage.keep(everything.mapInArrow(partial(finish, job), answered))
    counted = F.count(F.lit(1)).alias("rows"), F.min(FAILURE).alias(FAILURE)
    sizes: dict[int, int] = {}
    for number, rows_of_it, failure in found.groupBy(RELATION).agg(*counted).collect():
        if failure is not None:
            error = error_of(failure)
            if error.rule is None:  # that of the limit
                raise TooMany from error
            raise error
        sizes[number] = rows_of_it
    frames_of = {}
    for number, name in enumerate(job.wanted):
        columns = [F.col(wide).alias(f"c{place}") for place, wide in enumerate(job.columns(name))]
        data = found.where(F.col(RELATION) == number).select(*columns)
        frames_of[name] = Frame(data, sizes.get(number, 0), distinct=True)
    return frames_of


def _schema(job: Job) -> StructType:
    fields: dict[str, StructField] = {}
    for name in dict.fromkeys((*job.given, *job.wanted)):
        kinds: Columns = columns_inside(job.types(name))
        for wide, field in zip(job.columns(name), kinds.schema.fields, strict=True):
            fields[wide] = StructField(wide, field.dataType)
    return StructType([StructField(RELATION, IntegerType()), *(fields[name] for name in sorted(fields))])


def _wide(schema: StructType, number: int, columns: Mapping[str, str]) -> list[Column]:
    chosen = [F.lit(number).alias(RELATION)]
    for field in schema.fields[1:]:
        value = F.col(columns[field.name]) if field.name in columns else F.lit(None)
        chosen.append(value.cast(field.dataType).alias(field.name))
    return chosen


_PIECE = 1 << 16
"""Rows of a batch that goes out."""


def finish(job: Job, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The wanted relations, or one row that says why there are none."""
    schema: pa.Schema | None = None
    symbols = Symbols(limit=job.text_limit)
    words = {name: tuple(map(word_type, job.types(name))) for name in (*job.given, *job.wanted)}
    codes = {name: TupleCode(name, types, symbols) for name, types in words.items()}
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
        failed = {RELATION: pa.array([_NOBODY], pa.int32()), FAILURE: pa.array([failure_of(error)])}
        yield _filled(answer, 1, failed)
        return
    for number, name in enumerate(job.wanted):
        rows = machine.rows(machine.relation(name))
        for start in range(0, len(rows), _PIECE):
            yield _written(job, codes[name], number, rows[start : start + _PIECE], answer)


def _by_relation(
    job: Job, codes: Mapping[str, TupleCode], batch: pa.RecordBatch
) -> Iterator[tuple[str, Rows]]:
    numbers = batch.column(0)
    for number in pc.unique(numbers).to_pylist():
        if number == _NOBODY:
            continue
        name = job.given[number]
        code = codes[name]
        if code.types:
            of_relation = batch.filter(pc.equal(numbers, number)).select(job.columns(name))
            yield name, code.rows_of_table(of_relation.rename_columns(list(code.columns)))
        else:
            yield name, np.empty((1, 0), np.int64)


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
        raise too_many_tuples(job.limit)
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
