"""In the one worker: relations as Arrow batches into the activation index, and what it derives out again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.datalog.language.syntax import Type
from tocsin.datalog.machine.closures import closure_steps
from tocsin.datalog.machine.machine import Machine
from tocsin.datalog.machine.normal_form import ClosureRule
from tocsin.datalog.machine.symbols import Symbols
from tocsin.datalog.machine.tuples import Rows, TupleCode
from tocsin.datalog.spark.batch.one_worker import RELATION, Job
from tocsin.datalog.spark.batch.value_columns import FAILURE, word_type
from tocsin.datalog.spark.batch.worker_batches import failure_of
from tocsin.errors import DerivationError

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
