"""Many columns of a table read together: what arrow_tables.py gives for each, without its work for each.

Columns of numbers, Booleans and strings, and lists of these, whose names are fields. Others, and tables of
few such columns, are for arrow_tables.py: one kernel more need not be compiled for them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import lib

from tocsin.arrays.packed import arrow_texts
from tocsin.events.arrow_tables import MANY_COLUMNS
from tocsin.events.cells import (
    NO_ROWS,
    BooleanCells,
    Cells,
    Column,
    NumberCells,
    Path,
    StringCells,
)
from tocsin.events.kernels import wide_tables as kernels
from tocsin.events.kernels.wide_tables import WideCells, WideColumns, read_wide

_KINDS: dict[int, int] = {
    lib.Type_BOOL: kernels.BOOLEAN,
    lib.Type_INT8: kernels.INT8,
    lib.Type_INT16: kernels.INT16,
    lib.Type_INT32: kernels.INT32,
    lib.Type_INT64: kernels.INT64,
    lib.Type_UINT8: kernels.UINT8,
    lib.Type_UINT16: kernels.UINT16,
    lib.Type_UINT32: kernels.UINT32,
    lib.Type_UINT64: kernels.UINT64,
    lib.Type_FLOAT: kernels.FLOAT,
    lib.Type_DOUBLE: kernels.DOUBLE,
    lib.Type_STRING: kernels.TEXT,
    lib.Type_LARGE_STRING: kernels.LARGE_TEXT,
}
_NESTINGS = {lib.Type_LIST: kernels.LIST, lib.Type_LARGE_LIST: kernels.LARGE_LIST}

_pointer: Any = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_CHILDREN = 6
"""The word of an ArrowArray that says where its children are."""


def read_together(table: pa.Table | pa.RecordBatch, places: Mapping[Path, int]) -> dict[Path, Column | None]:
    """The columns of fields at these places, of those that can be read together; none when that does not pay.

    None for a field that no event has. When a text is not valid UTF-8, nothing is read.
    """
    types = table.schema.types
    chosen = [
        (path, place, kind) for path, place in places.items() if (kind := _kind_of(types[place])) is not None
    ]
    if len(chosen) < MANY_COLUMNS:
        return {}
    whole = _one_batch(table, [place for _, place, _ in chosen])
    if whole is None:
        return {}
    kinds = np.array([kind for _, _, kind in chosen], np.int8)
    columns = WideColumns(np.arange(len(chosen), dtype=np.int32), kinds[:, 0].copy(), kinds[:, 1].copy())
    _, array = whole.__arrow_c_array__()
    address = _pointer(array, b"arrow_array")
    children = ctypes.c_int64.from_address(address + 8 * _CHILDREN).value
    found = read_wide(children, columns)
    texts = arrow_texts(found.text_at, found.data)
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        return {}
    return dict(zip((path for path, _, _ in chosen), _columns(columns, found, texts), strict=True))


def _kind_of(data_type: pa.DataType) -> tuple[int, int] | None:
    """kind and nesting of the kernel; None for a type that it does not read."""
    kind = _KINDS.get(data_type.id)
    if kind is not None:
        return kind, kernels.SCALAR
    nesting = _NESTINGS.get(data_type.id)
    if nesting is None:
        return None
    kind = _KINDS.get(data_type.value_type.id)
    return None if kind is None else (kind, nesting)


def _one_batch(table: pa.Table | pa.RecordBatch, places: list[int]) -> pa.RecordBatch | None:
    """These columns as one batch; None when they are too large for one."""
    some = table.select(places)
    if isinstance(some, pa.RecordBatch):
        return some
    batches = some.to_batches()
    if len(batches) > 1:
        batches = some.combine_chunks().to_batches()
    return batches[0] if len(batches) == 1 else None


def _columns(columns: WideColumns, found: WideCells, texts: pa.LargeStringArray) -> list[Column | None]:
    made: list[Column | None] = []
    starts, ends, text_start = found.start.tolist(), found.end.tolist(), found.text_start.tolist()
    lists, empties, list_start = found.lists.tolist(), found.empties.tolist(), found.list_start.tolist()
    for place, (kind, nesting) in enumerate(
        zip(columns.kind.tolist(), columns.nesting.tolist(), strict=True)
    ):
        some = slice(starts[place], ends[place])
        row = found.row[some]
        cells = Cells()
        if not len(row):
            pass
        elif kind == kernels.BOOLEAN:
            cells = Cells(booleans=BooleanCells(row, found.code[some].astype(np.uint8)))
        elif kind >= kernels.TEXT:
            first, last = text_start[place], text_start[place + 1]
            cells = Cells(strings=StringCells(row, found.code[some], texts.slice(first, last - first)))
        else:
            cells = Cells(numbers=NumberCells(row, found.high[some], found.low[some]))
        if nesting == kernels.SCALAR:
            made.append(Column(row, NO_ROWS, *cells) if len(row) else None)
            continue
        first = list_start[place]
        present, empty = (
            found.listed[first : first + lists[place]],
            found.empty[first : first + empties[place]],
        )
        made.append(Column(present, empty, *cells) if len(present) else None)
    return made
