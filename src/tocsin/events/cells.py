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

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tocsin.arrays.dtypes import Bytes, Doubles, Flags, Ints, Longs
from tocsin.events.arrow_buffers import large_texts
from tocsin.events.number_pairs import split_integers
from tocsin.printable import printable

Path = tuple[str, ...]
Rows = Ints


_BARE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_LONGEST = 200


def path_text(path: Path) -> str:
    """`user.age`, or `"a.b".c` where a name needs quotes; printable, cut short when very long."""
    names = path if len(path) <= _LONGEST else path[:_LONGEST]
    text = ".".join(name if _BARE_NAME.match(name) else '"' + name.replace('"', '""') + '"' for name in names)
    return printable(text if len(text) <= _LONGEST and names is path else text[:_LONGEST] + "...")


class NumberCells(NamedTuple):
    """Integers and floats. Ordered by (high, low), which is their exact order by value.

    high is the double nearest to the value (never NaN, never -0.0); low the exact rest, 0 for a
    float. An integer beyond the doubles has high = ±the largest double and low = ±1.
    """

    row: Rows
    high: Doubles
    low: Longs


class DecimalCells(NamedTuple):
    """Decimals, which compare with a literal's decimal text: code[i] is a place in values."""

    row: Rows
    code: Ints
    values: list[Decimal]


class StringCells(NamedTuple):
    """Strings: code[i] is a place in texts, which holds the batch's distinct values of the field."""

    row: Rows
    code: Ints
    texts: pa.LargeStringArray


class BooleanCells(NamedTuple):
    """Booleans as 0 and 1."""

    row: Rows
    value: Bytes


class TimestampCells(NamedTuple):
    """Instants: whole seconds since 1970 (rounded down) and nanoseconds within the second."""

    row: Rows
    second: Longs
    nano: Longs


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


NO_ROWS: Rows = np.empty(0, np.int32)

_LARGE_STRING = pa.large_string()


class Cells(NamedTuple):
    """The cells of one field by kind; a kind that does not occur is None."""

    numbers: NumberCells | None = None
    decimals: DecimalCells | None = None
    strings: StringCells | None = None
    booleans: BooleanCells | None = None
    timestamps: TimestampCells | None = None


def column_of_cells(
    cells: Cells, listed: Rows = NO_ROWS, objects: Rows = NO_ROWS, *, repeated: bool = False
) -> Column | None:
    """The column of a field, or None when no event has it.

    `listed` are the events whose value is a list, `objects` those that hold an object there or in
    that list; both may repeat an event. `repeated` says that an event may have several cells.
    """
    rows = [kind.row for kind in cells if kind is not None]
    if not repeated and not len(listed) and not len(objects) and len(rows) == 1:
        return Column(rows[0], NO_ROWS, *cells)
    if not rows and not len(listed) and not len(objects):
        return None
    filled = np.zeros(1 + max(int(row.max()) for row in (*rows, listed, objects) if len(row)), np.bool_)
    for row in (*rows, objects):
        filled[row] = True
    present = filled.copy()
    present[listed] = True
    empty = present & ~filled
    return Column(_places(present), _places(empty), *cells)


def _places(chosen: Flags) -> Rows:
    return chosen.nonzero()[0].astype(np.int32)


def column_of_integers(row: Rows, values: Sequence[int]) -> Column | None:
    """The column of a field that holds one integer, of any size, in each of the events `row`."""
    if not len(row):
        return None
    return Column(row, NO_ROWS, numbers=NumberCells(row, *split_integers(values)))


def string_cells(row: Rows, texts: pa.StringArray | pa.LargeStringArray) -> StringCells:
    """Cells of strings, none of them null."""
    coded = texts.dictionary_encode()
    distinct = coded.dictionary
    if distinct.type != _LARGE_STRING:
        distinct = large_texts(distinct)
    return StringCells(row, codes_of(coded), distinct)


def texts_of(values: list[str]) -> pa.LargeStringArray:
    """The texts as an Arrow array; UnicodeEncodeError when one holds half a surrogate pair."""
    return pa.array(values, type=_LARGE_STRING, from_pandas=False)


def codes_of(coded: pa.DictionaryArray) -> Ints:
    """The places of a dictionary array's values, as an array that kernels take."""
    codes: Ints = coded.indices.to_numpy().astype(np.int32)
    return codes
