"""The two columns that make a rule, `id` and `when`, checked.

Rows that cannot be a rule (no id, no condition, text that is not Unicode) become errors with their
row and id; the others go on. Whether errors stop everything is the caller's decision.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.arrays.dtypes import Flags, Longs
from tocsin.errors import InputError, RuleError
from tocsin.tables import is_text, rows_not_utf8, without_views

NO_ID = "the id is missing: expected a string or an integer"
EMPTY_ID = "the id is empty"
NO_CONDITION = "the condition is missing"
_NO_PAIRS = (str, bytes, bytearray, set, frozenset)
"""What can be taken apart into two and was never meant as an id and a condition."""
NOT_UNICODE = "the {} is not Unicode text"


class RuleColumns(NamedTuple):
    """The good rows of a source: `rows[i]` is the source's row, from 0, of the i-th id and condition."""

    ids: pa.LargeStringArray
    whens: pa.LargeStringArray
    rows: Longs
    errors: list[RuleError]


def columns_of_table(table: pa.Table, lines: Longs, file: str | None = None) -> RuleColumns:
    """The columns of an Arrow table whose rows stand at the given lines of a file."""
    check_names(table.column_names, file)
    ids, bad_ids = _text_column(table, "id", file)
    whens, bad_whens = _text_column(table, "when", file)
    reasons: dict[int, str] = {}
    for mask, reason in (
        (bad_whens, NOT_UNICODE.format("condition")),
        (_mask(whens.is_null()) & ~bad_whens, NO_CONDITION),
        (bad_ids, NOT_UNICODE.format("id")),
        (_mask(pc.equal(ids, "")), EMPTY_ID),
        (_mask(ids.is_null()) & ~bad_ids, NO_ID),
    ):
        reasons.update(dict.fromkeys(np.flatnonzero(mask).tolist(), reason))
    errors = [
        RuleError(reasons[row], rule=ids[row].as_py() or None, file=file, line=int(lines[row]))
        for row in sorted(reasons)
    ]
    if not reasons:
        return RuleColumns(ids, whens, np.arange(len(ids), dtype=np.int64), errors)
    good = np.ones(len(ids), np.bool_)
    good[list(reasons)] = False
    rows = np.flatnonzero(good).astype(np.int64)
    return RuleColumns(ids.take(pa.array(rows)), whens.take(pa.array(rows)), rows, errors)


def columns_of_pairs(
    pairs: Iterable[Any], lines: Longs | None = None, file: str | None = None
) -> RuleColumns:
    """The columns of an iterable of (id, condition); without lines a row's line is its number from 1."""
    ids: list[str] = []
    whens: list[str] = []
    rows: list[int] = []
    errors: list[RuleError] = []
    for row, pair in enumerate(pairs):
        name: Any = None
        when: Any = None
        reason: str | None = None
        try:
            if isinstance(pair, _NO_PAIRS):
                raise TypeError
            name, when = pair
        except (TypeError, ValueError):
            reason = f"expected a pair of an id and a condition, not {pair!r:.80}"
        reason = reason or pair_problem(name, when)
        if reason is None:
            ids.append(name if isinstance(name, str) else str(int(name)))
            whens.append(when)
            rows.append(row)
        else:
            known = str(name) if _is_id(name) and name != "" else None
            line = row + 1 if lines is None else int(lines[row])
            errors.append(RuleError(reason, rule=known, file=file, line=line))
    return RuleColumns(
        pa.array(ids, pa.large_string()), pa.array(whens, pa.large_string()), np.array(rows, np.int64), errors
    )


def check_names(names: Iterable[str], file: str | None = None) -> None:
    """Raise InputError unless `id` and `when` are among a table's columns, and every name stands once."""
    found = list(names)
    where = "" if file is None else f"{file}: "
    shown = ", ".join(map(repr, found[:20])) + (", ..." if len(found) > 20 else "")
    columns = f"the columns are {shown}" if found else "there are no columns"
    for name in ("id", "when"):
        if name not in found:
            raise InputError(f"{where}no column '{name}': {columns}")
    if len(set(found)) < len(found):
        twice = next(name for name in found if found.count(name) > 1)
        raise InputError(f"{where}the column '{twice}' stands there twice: {columns}")


def _is_id(value: object) -> bool:
    return isinstance(value, str | int | np.integer) and not isinstance(value, bool)


def pair_problem(name: object, when: object) -> str | None:
    """Why these cannot be the id and the condition of a rule, or None; the condition is not read."""
    if name is None:
        return NO_ID
    if not _is_id(name):
        return f"the id is of type {type(name).__name__}: expected a string or an integer"
    if name == "":
        return EMPTY_ID
    if when is None:
        return NO_CONDITION
    if not isinstance(when, str):
        return f"the condition is of type {type(when).__name__}: expected a string"
    for what, text in (("id", name), ("condition", when)):
        if isinstance(text, str) and not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError:
                return NOT_UNICODE.format(what)
    return None


def _text_column(table: pa.Table, name: str, file: str | None) -> tuple[pa.LargeStringArray, Flags]:
    """A column as one array of text, and which rows were not Unicode (they are null in the array)."""
    column = without_views(table[name])
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    text = is_text(kind)
    integers = name == "id" and pa.types.is_integer(kind)
    if not (text or integers or pa.types.is_null(kind)):
        where = "" if file is None else f"{file}: "
        expected = "strings or integers" if name == "id" else "strings"
        raise InputError(f"{where}the column '{name}' holds {column.type}: expected {expected}")
    if integers:
        column = column.cast(kind).cast(pa.string())
    array = column.cast(pa.large_string()).combine_chunks()
    bad = np.zeros(len(array), np.bool_)
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        bad[rows_not_utf8(array)] = True
        array = array.take(pa.array(np.arange(len(array)), mask=bad))
    return array, bad


def _mask(array: pa.BooleanArray) -> Flags:
    mask: Flags = pc.fill_null(array, False).to_numpy(zero_copy_only=False)
    return mask
