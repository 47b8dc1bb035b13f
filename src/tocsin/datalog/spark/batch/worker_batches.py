"""What runs in a worker: batches of rows in, batches of rows with what was computed out.

A rule without a result for a row is no exception here: exceptions are tried again, and end the job with a
traceback. The row goes out with a failure, which whoever stores it finds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tocsin.arrays.dtypes import Longs
from tocsin.datalog.language import functors
from tocsin.datalog.language.syntax import TEXT_LIMIT, Type, Value
from tocsin.datalog.machine.column_arithmetic import worked_out
from tocsin.datalog.machine.normal_form import AggregateRule, Let, MapRule, Source, Test, Variable
from tocsin.datalog.machine.passes.text_work import Row, TextWork
from tocsin.datalog.machine.symbols import too_much_text, typed_words
from tocsin.datalog.spark.batch.value_columns import FAILURE, inside
from tocsin.errors import DerivationError

ARROW: dict[Type, pa.DataType] = {
    Type.NUMBER: pa.int64(),
    Type.UNSIGNED: pa.int64(),
    Type.FLOAT: pa.float64(),
    Type.SYMBOL: pa.string(),
}


@dataclass(frozen=True, slots=True)
class Work:
    """Lets, which bind new variables, and tests; `types` are those of the rule that are columns, in order."""

    types: tuple[tuple[Variable, Type], ...]
    lets: tuple[Let, ...]
    tests: tuple[Test, ...]
    source: Source


def failure_of(error: DerivationError, source: Source | None = None) -> str:
    """An error as a column holds it."""
    return json.dumps([error.reason, error.rule or (source.text if source else None)], ensure_ascii=False)


def error_of(failure: str) -> DerivationError:
    """The error that a column holds."""
    reason, rule = json.loads(failure)
    return DerivationError(reason, rule=rule)


def compute(work: Work, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows that satisfy all tests, with what the lets compute, null where it has no value, and a failure."""
    for batch in batches:
        columns = {
            variable: _words(batch.column(place))
            for place, (variable, kind) in enumerate(work.types)
            if kind is not Type.SYMBOL
        }
        outcome = worked_out(columns, batch.num_rows, work.lets, work.tests)
        rows = batch.take(pa.array(outcome.rows))
        arrays = [rows.column(place) for place in range(len(work.types))]
        for let in work.lets:
            words, failed = outcome.computed[let.variable]
            arrays.append(pa.array(words.view(ARROW[let.type].to_pandas_dtype()), mask=failed))
        variables = [*(variable for variable, _ in work.types), *(let.variable for let in work.lets)]
        names = list(map(name_of, variables))
        failures = _failures(work, rows, np.flatnonzero(outcome.failed))
        yield pa.RecordBatch.from_arrays([*arrays, failures], names=[*names, FAILURE])


def map_rows(
    rule: MapRule,
    origin: Sequence[Type],
    head: Sequence[Type],
    batches: Iterable[pa.RecordBatch],
    text_limit: int = TEXT_LIMIT,
) -> Iterator[pa.RecordBatch]:
    """What a MapRule gives for each tuple, with a failure; making too much text is one."""
    texts_made = [place for place, kind in enumerate(head) if kind is Type.SYMBOL]
    texts = 0
    for batch in batches:
        images: list[Row] = []
        failures: list[str | None] = []
        for values in _tuples(batch, origin):
            try:
                found = list(rule.function(values))
                texts += sum(len(str(row[place])) for row in found for place in texts_made)
                if texts > text_limit:
                    raise too_much_text(text_limit, rule.source.text if rule.source else None)
            except DerivationError as error:
                images.append((None,) * len(head))  # type: ignore[arg-type]
                failures.append(failure_of(error, rule.source))
                continue
            images += found
            failures += [None] * len(found)
        yield _rows(images, failures, head)


def divide(group: int, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Group, total and count to group and mean."""
    for batch in batches:
        totals, counts = (batch.column(group + place).to_pylist() for place in (0, 1))
        means = [int(total) / count for total, count in zip(totals, counts, strict=True)]
        arrays = [*batch.columns[:group], pa.array(means, pa.float64())]
        yield pa.RecordBatch.from_arrays(arrays, names=[f"c{place}" for place in range(group + 1)])


def aggregate_floats(rule: AggregateRule, tuples: pa.Table) -> pa.Table:
    """The result of one group of tuples, of which there is at least one."""
    result: Value | None = None
    failure = None
    try:
        result = functors.aggregate(rule.function, rule.type, tuples.column(rule.group).to_pylist())
    except DerivationError as error:
        failure = failure_of(error, rule.source)
    arrays = [tuples.column(place).slice(0, 1) for place in range(rule.group)]
    arrays += [pa.array([result], pa.float64()), pa.array([failure], pa.string())]
    return pa.Table.from_arrays(arrays, names=[*(f"c{place}" for place in range(rule.group + 1)), FAILURE])


def _rows(images: Sequence[Row], failures: Sequence[str | None], types: Sequence[Type]) -> pa.RecordBatch:
    arrays = [
        pa.array([None if row[place] is None else inside(row[place], kind) for row in images], ARROW[kind])
        for place, kind in enumerate(types)
    ]
    if not types:
        arrays = [pa.array([0 if failure is None else None for failure in failures], ARROW[Type.NUMBER])]
    names = [f"c{place}" for place in range(len(arrays))]
    return pa.RecordBatch.from_arrays([*arrays, pa.array(failures, pa.string())], names=[*names, FAILURE])


def _tuples(batch: pa.RecordBatch, types: Sequence[Type]) -> Iterator[tuple[Value, ...]]:
    """The rows of a batch as the program knows them."""
    if not types:
        return iter([()] * batch.num_rows)
    return zip(*(values_of(batch.column(place), kind) for place, kind in enumerate(types)), strict=True)


def values_of(column: pa.Array, kind: Type) -> list[Value]:
    """A column as the values of the program."""
    values: list[Value] = (
        column.to_pylist() if kind is Type.SYMBOL else typed_words(_words(column), kind).tolist()
    )
    return values


def _words(column: pa.Array) -> Longs:
    """A column of numbers as words."""
    words: Longs = column.to_numpy(zero_copy_only=False).view(np.int64)
    return words


def name_of(variable: Variable) -> str:
    """The column of a variable."""
    return f"v{variable.number}"


def _failures(work: Work, rows: pa.RecordBatch, failing: Longs) -> pa.Array:
    """Why some rows fail: these are worked out again, one by one."""
    reasons: list[str | None] = [None] * rows.num_rows
    if len(failing):
        variables, types = [each[0] for each in work.types], [each[1] for each in work.types]
        again = TextWork(variables, (*work.lets, *work.tests), (), work.source)
        for row, values in zip(failing, _tuples(rows.take(pa.array(failing)), types), strict=True):
            try:
                again(values)
            except DerivationError as error:
                reasons[row] = failure_of(error, work.source)
    return pa.array(reasons, pa.string())
