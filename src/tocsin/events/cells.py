"""A batch of events as arrays: for each field that rules name, the cells found there.

A cell is one scalar value of one event: a plain value gives one cell, a list one for each element
that is left when nulls and NaNs are dropped. Cells are kept apart by kind, so a kernel never
branches on a type:

    Column for `tags`, three events  {"tags": ["a", "b"]}  {"tags": []}  {"tags": ["a", 7]}

    present        0 1 2            events whose field is not missing, ascending
    empty            1              of these, the empty lists: known to every kind, satisfying nothing
    strings.row    0 0 2            the event of each cell, ascending
    strings.code   0 1 0            which of the texts
    strings.texts  "a" "b"          each distinct text is looked up once a batch, however often it occurs
    numbers.row    2
    numbers.high   7.0              the nearest double ...
    numbers.low    0                ... and what is left: value = high + low, exactly (see NumberCells)

An event whose field is an object, or a list that holds only objects, is present and has no cell: it
is not null, and unknown to every other predicate.
"""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Path = tuple[str, ...]
Rows = NDArray[np.int32]


class NumberCells(NamedTuple):
    """Integers and floats. Ordered by (high, low), which is their exact order by value.

    high is the double nearest to the value (never NaN, never -0.0); low the exact rest, 0 for a
    float. An integer beyond the doubles has high = ±the largest double and low = ±1.
    """

    row: Rows
    high: NDArray[np.float64]
    low: NDArray[np.int64]


class DecimalCells(NamedTuple):
    """Decimals, which compare with a literal's decimal text: code[i] is a place in values."""

    row: Rows
    code: NDArray[np.int32]
    values: list[Decimal]


class StringCells(NamedTuple):
    """Strings: code[i] is a place in texts, which holds the batch's distinct values of the field."""

    row: Rows
    code: NDArray[np.int32]
    texts: pa.LargeStringArray


class BooleanCells(NamedTuple):
    """Booleans as 0 and 1."""

    row: Rows
    value: NDArray[np.uint8]


class TimestampCells(NamedTuple):
    """Instants: whole seconds since 1970 (rounded down) and nanoseconds within the second."""

    row: Rows
    second: NDArray[np.int64]
    nano: NDArray[np.int64]


class Column(NamedTuple):
    """What one field holds over a batch; a kind that does not occur is None."""

    present: Rows
    empty: Rows
    numbers: NumberCells | None = None
    decimals: DecimalCells | None = None
    strings: StringCells | None = None
    booleans: BooleanCells | None = None
    timestamps: TimestampCells | None = None


class EventBatch(NamedTuple):
    """A batch: how many events, and a column for each wanted field that any of them has."""

    length: int
    columns: dict[Path, Column]
