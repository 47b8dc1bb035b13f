"""What the one worker does with batches, without a Spark around it."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from tests.datalog_programs import Case, cases

from tocsin.datalog.language import Type, Value
from tocsin.datalog.machine import NormalProgram
from tocsin.datalog.machine.normaliser import normal_program
from tocsin.datalog.meaning import evaluate
from tocsin.datalog.spark.batch.one_worker import RELATION, Job, finish
from tocsin.datalog.spark.batch.value_columns import FAILURE, columns_inside, inside
from tocsin.datalog.spark.batch.worker_batches import ARROW, error_of

Rows = list[tuple[str, tuple[Value, ...]]]


def job_of(program: NormalProgram, wanted: list[str], limit: int = 10_000) -> Job:
    """A job for all of a program, as another process gets it."""
    whole = NormalProgram(program.relations, program.steps)
    job = Job(whole, tuple(relation.name for relation in program.relations), tuple(wanted), limit)
    copy: Job = pickle.loads(pickle.dumps(job))
    return copy


def batches(job: Job, rows: Rows) -> Iterator[pa.RecordBatch]:
    """The one DataFrame, three rows at a time; the first row is nobody's."""
    kinds: dict[str, pa.DataType] = {}
    for name in (*job.given, *job.wanted):
        for wide, kind in zip(job.columns(name), columns_inside(job.types(name)).types, strict=True):
            kinds[wide] = ARROW[kind]
    schema = pa.schema([(RELATION, pa.int32()), *sorted(kinds.items())])
    lines: list[dict[str, Any]] = [{RELATION: -1}]
    for name, values in rows:
        held = [inside(value, kind) for value, kind in zip(values, job.types(name), strict=True)] or [0]
        lines.append({RELATION: job.given.index(name), **dict(zip(job.columns(name), held, strict=True))})
    for start in range(0, len(lines), 3):
        yield pa.RecordBatch.from_pylist(lines[start : start + 3], schema=schema)


def read(job: Job, found: Iterator[pa.RecordBatch]) -> dict[str, set[tuple[Value, ...]]]:
    contents: dict[str, set[tuple[Value, ...]]] = {name: set() for name in job.wanted}
    for row in (row for batch in found for row in batch.to_pylist()):
        assert row[FAILURE] is None
        name = job.wanted[row[RELATION]]
        types = job.types(name)
        values = [row[wide] for wide in job.columns(name)][: len(types)]
        contents[name].add(
            tuple(
                value % 2**64 if kind is Type.UNSIGNED else value
                for value, kind in zip(values, types, strict=True)
            )
        )
    return contents


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(cases())
def test_a_program_comes_out_as_it_means(case: Case) -> None:
    checked = case.program()
    program = normal_program(checked)
    job = job_of(program, list(checked.relations))
    rows = [*program.facts, *((name, each) for name, tuples in case.facts.items() for each in tuples)]
    assert read(job, finish(job, batches(job, rows))) == evaluate(checked, case.facts)


def test_what_goes_wrong_is_one_row() -> None:
    checked = Case(".decl a(x: number) .decl b(x: number) b(6 / x) :- a(x). b(x + 1) :- b(x).", {}).program()
    program = normal_program(checked)
    for given_row, limit, reason in ((0, 9, "division by zero"), (1, 9, "more than 9 tuples are derived")):
        job = job_of(program, ["b"], limit)
        (found,) = finish(job, batches(job, [("a", (given_row,))]))
        (row,) = found.to_pylist()
        error = error_of(row[FAILURE])
        assert error.reason.startswith(reason)
        assert (error.rule is None) == (given_row == 1)
