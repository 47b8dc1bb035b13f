"""The cells of one field, put together: what python_events.py and arrow_tables.py have in common.

Arrays are shared, between the parts of a batch and (the small constants below) between batches. None
is marked read-only all the same, because a compiled kernel takes one type of array; nobody writes.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tocsin.events.arrow_buffers import large_texts
from tocsin.events.cells import (
    BooleanCells,
    Column,
    DecimalCells,
    NumberCells,
    Rows,
    StringCells,
    TimestampCells,
)
from tocsin.events.number_pairs import split_integers

NO_ROWS: Rows = np.empty(0, np.int32)
FIRST_ROW: Rows = np.zeros(1, np.int32)

TRUE, FALSE = (
    Column(FIRST_ROW, NO_ROWS, booleans=BooleanCells(FIRST_ROW, np.array([value], np.uint8)))
    for value in (1, 0)
)
AN_OBJECT = Column(FIRST_ROW, NO_ROWS)
AN_EMPTY_LIST = Column(FIRST_ROW, FIRST_ROW)
"""With the three before, the columns of one event whose value is that."""

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


def _places(chosen: NDArray[np.bool_]) -> Rows:
    return chosen.nonzero()[0].astype(np.int32)


def column_of_one(cells: Cells, *, listed: bool, objects: bool) -> Column | None:
    """What column_of_cells gives for a batch of one event."""
    filled = objects or any(kind is not None for kind in cells)
    if not filled and not listed:
        return None
    return Column(FIRST_ROW, NO_ROWS if filled else FIRST_ROW, *cells)


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
    if len(values) != 1:
        return pa.array(values, type=_LARGE_STRING, from_pandas=False)
    data = values[0].encode()
    ends = bytes(8) + len(data).to_bytes(8, sys.byteorder)
    return pa.Array.from_buffers(_LARGE_STRING, 1, [None, pa.py_buffer(ends), pa.py_buffer(data)])


def codes_of(coded: pa.DictionaryArray) -> NDArray[np.int32]:
    """The places of a dictionary array's values, as an array that kernels take."""
    codes: NDArray[np.int32] = coded.indices.to_numpy().astype(np.int32)
    return codes
