"""The types of CSV columns: a column has one type over the whole input, all files together.

The first record of a file names its columns (`a.b` there is one key with a dot), quotes are double
quotes, and a value that is empty, quoted or not, is missing. A column is, from all its values that
are not empty, with spaces and tabs around them left out of account:

    Boolean   when every one is `true` or `false`, in capitals or not
    integer   when every one is digits with an optional sign, of any length; leading zeros count for nothing
    float     when every one is a decimal number with an optional exponent, or one of nan, inf and
              infinity, and at least one has digits
    string    otherwise, as written, spaces included

Only an empty value is missing: `NULL`, `N/A` and the like are strings. A record with too many or too few
values, or with a fault that tables/csv_records.py finds, is set apart with its row number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.events.arrow_tables import batch_of_table
from tocsin.events.cells import EventBatch, column_of_integers
from tocsin.events.event_chunk import table_of
from tocsin.events.kernels.value_traits import (
    DIGITS,
    LONG,
    NO_BOOLEAN,
    NO_INTEGER,
    NO_NUMBER,
    SEEN,
)
from tocsin.tables import integer_of_digits

TEXT = pa.large_string()
"""The type of columns as they are written."""
_MOST_DIGITS = 19
_INTEGER = re.compile(r"[+-]?[0-9]+")
_FLOAT = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_FLOAT_WORD = re.compile(r"[+-]?(nan|inf|infinity)", re.ASCII | re.IGNORECASE)
_BOOLEAN = re.compile(r"true|false", re.ASCII | re.IGNORECASE)


class ColumnType(Enum):
    """What a column of a CSV input holds; LONG_INTEGER is one that does not fit in 64 bits."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    LONG_INTEGER = "long integer"
    FLOAT = "float"
    STRING = "string"
    EMPTY = "empty"


Layout = tuple[tuple[str, ColumnType], ...]
"""The columns of an input in order of first appearance, with their types."""


def traits_of(text: str) -> int:
    """The traits of a value; the obvious way, for few (kernels/value_traits.py has what they are)."""
    if not text:
        return 0
    text = text.strip(" \t")
    if _BOOLEAN.fullmatch(text):
        return SEEN | NO_INTEGER | NO_NUMBER
    if _INTEGER.fullmatch(text):
        return SEEN | NO_BOOLEAN | DIGITS | (0 if _fits(text) else LONG)
    if _FLOAT.fullmatch(text):
        return SEEN | NO_BOOLEAN | NO_INTEGER | DIGITS
    return SEEN | NO_BOOLEAN | NO_INTEGER | (0 if _FLOAT_WORD.fullmatch(text) else NO_NUMBER)


def _fits(digits: str) -> bool:
    """Whether an integer fits in 64 bits."""
    significant = digits.lstrip("+-").lstrip("0")
    if len(significant) > _MOST_DIGITS:
        return False
    value = int(significant or "0")
    return value < 2**63 or (value == 2**63 and digits[0] == "-")


def type_of(traits: int) -> ColumnType:
    """What a column is whose values have these traits."""
    if not traits & SEEN:
        return ColumnType.EMPTY
    if not traits & NO_BOOLEAN:
        return ColumnType.BOOLEAN
    if not traits & NO_INTEGER:
        return ColumnType.LONG_INTEGER if traits & LONG else ColumnType.INTEGER
    return ColumnType.STRING if traits & NO_NUMBER or not traits & DIGITS else ColumnType.FLOAT


def typed_column(values: pa.Array, column_type: ColumnType) -> pa.Array:
    """The values of a column in its type; long integers stay texts, for `long_integers` to read."""
    if column_type in (ColumnType.STRING, ColumnType.LONG_INTEGER, ColumnType.EMPTY):
        return values
    trimmed = pc.utf8_trim(values, " \t")
    if column_type is ColumnType.BOOLEAN:
        return pc.equal(pc.ascii_lower(trimmed), "true")
    number = int if column_type is ColumnType.INTEGER else float
    target = pa.int64() if column_type is ColumnType.INTEGER else pa.float64()
    numbers = [None if text is None else number(text) for text in trimmed.to_pylist()]
    return pa.array(numbers, target)


def long_integers(values: pa.Array) -> tuple[list[int], list[int]]:
    """The places of the values of a LONG_INTEGER column that are not missing, and the integers."""
    texts = [(place, text) for place, text in enumerate(values.to_pylist()) if text is not None]
    return [place for place, _ in texts], [integer_of_digits(text.strip(" \t")) for _, text in texts]


def cells_of_texts(texts: Mapping[str, pa.Array], types: Mapping[str, ColumnType], length: int) -> EventBatch:
    """The cells of columns of texts that have these types."""
    long = [name for name, kind in types.items() if kind is ColumnType.LONG_INTEGER]
    plain = {name: typed_column(texts[name], types[name]) for name in types if name not in long}
    batch = batch_of_table(table_of(plain, length), [(name,) for name in plain])
    for name in long:
        places, integers = long_integers(texts[name])
        column = column_of_integers(np.array(places, np.int32), integers)
        if column is not None:
            batch.columns[(name,)] = column
    return EventBatch(length, batch.columns)
