"""What users hand to an engine, checked: operations, patterns, sources of facts, times."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from tocsin.datalog.engine.changes import Tuple
from tocsin.datalog.engine.expiry import Fact
from tocsin.datalog.engine.fact_files import read_fact_file
from tocsin.datalog.language.syntax import Value
from tocsin.datalog.machine.tuples import Rows, TupleCode
from tocsin.errors import InputError, UsageError
from tocsin.printable import described
from tocsin.storage import UNPACKED_LIMIT
from tocsin.tables import Frame, batches_of, is_frame

Operation = tuple[str, str, Tuple]
"""`("+", relation, tuple)` or `("-", relation, tuple)`."""

Pattern = tuple[Value | None, ...] | Mapping[str, Value]
"""A tuple with None where any value will do, or a mapping from column to value."""

Source: TypeAlias = Frame | str | os.PathLike[str] | Iterable[Tuple]
"""Where facts of one relation come from."""


def read_operations(operations: Iterable[Operation], codes: Mapping[str, TupleCode]) -> dict[Fact, bool]:
    """Each tuple that is named, and whether it is given in the end."""
    wanted: dict[Fact, bool] = {}
    if not isinstance(operations, Iterable):
        raise UsageError(f"operations come in a list, not as {operations!r}")
    for place, operation in enumerate(operations):
        if (
            not isinstance(operation, tuple | list)
            or len(operation) != 3
            or not isinstance(operation[1], str)
            or operation[0] not in ("+", "-")
        ):
            raise UsageError(
                f"operation {place} is neither ('+', relation, tuple) nor ('-', ...): {operation!r}"
            )
        sign, relation, values = operation
        if relation not in codes:
            raise unknown_relation(relation, codes)
        try:
            row = codes[relation].encode(values)
        except InputError as error:
            raise InputError(f"operation {place}: {error}") from None
        wanted[relation, row] = sign == "+"
    return wanted


def by_relation(wanted: Mapping[Fact, bool], codes: Mapping[str, TupleCode]) -> dict[str, tuple[Rows, Rows]]:
    """Facts that are to go and facts that are to come, as rows of each relation."""
    lists: dict[str, tuple[list[tuple[int, ...]], list[tuple[int, ...]]]] = {}
    for (relation, row), given in wanted.items():
        lists.setdefault(relation, ([], []))[given].append(row)
    return {
        relation: (rows_of_words(going, codes[relation]), rows_of_words(coming, codes[relation]))
        for relation, (going, coming) in lists.items()
    }


def pattern_columns(pattern: Pattern | None, code: TupleCode) -> dict[int, Value]:
    """The columns that a pattern asks for, by number, ascending."""
    if pattern is None:
        return {}
    if isinstance(pattern, Mapping):
        unknown = [name for name in pattern if name not in code.columns]
        if unknown:
            raise UsageError(
                f"{code.relation} has no column {unknown[0]!r}: its columns are {', '.join(code.columns)}"
            )
        pattern = tuple(pattern.get(name) for name in code.columns)
    if not isinstance(pattern, tuple | list):
        raise UsageError(f"a pattern is a tuple or a mapping from column to value, not {pattern!r}")
    if len(pattern) != len(code.types):
        raise UsageError(
            f"{code.relation} has {len(code.types)} columns, and the pattern {pattern!r} has {len(pattern)}"
        )
    return {column: value for column, value in enumerate(pattern) if value is not None}


def rows_of_source(source: Source, code: TupleCode, unpacked_limit: int = UNPACKED_LIMIT) -> Rows:
    """The tuples of a source as rows; of a packed file at most so many bytes are unpacked."""
    if is_frame(source):
        batches = batches_of(source)
        if isinstance(batches, pa.RecordBatchReader):
            return np.concatenate([rows_of_words([], code), *map(code.rows_of_table, batches)])
        return code.rows_of_table(batches)
    if isinstance(source, str | os.PathLike):
        return read_fact_file(Path(source), code, unpacked_limit=unpacked_limit)
    if isinstance(source, Iterable) and not isinstance(source, Mapping):
        return code.rows(source)
    raise UsageError(
        "facts are a table (Arrow, pandas, polars, DuckDB), the path of a file, or tuples,"
        f" not {described(source)}"
    )


def rows_of_words(rows: Sequence[tuple[int, ...]], code: TupleCode) -> Rows:
    """Rows of words as one array."""
    flat = np.fromiter(chain.from_iterable(rows), np.int64, len(rows) * len(code.types))
    return flat.reshape(len(rows), len(code.types))


def unknown_relation(relation: object, known: Iterable[str]) -> UsageError:
    """The error of a relation that is not declared."""
    return UsageError(f"there is no relation {relation!r}: the program declares {', '.join(known)}")


def is_time(value: object) -> bool:
    """Whether a value is a time: any number but NaN, and no integer beyond all floats."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return value == value and (isinstance(value, float) or abs(value) <= sys.float_info.max)


def is_moment(value: object) -> bool:
    """Whether a tuple can expire then: at a time, or at the sum of two, which may be beyond all floats."""
    return type(value) in (int, float) and value == value


def check_ttl(ttl: object) -> None:
    """Refuse what is no time to live."""
    if not is_time(ttl) or ttl < 0:  # type: ignore[operator]
        raise UsageError(f"ttl is a time, 0 or more, not {ttl!r}")
