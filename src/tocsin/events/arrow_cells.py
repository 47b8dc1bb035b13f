"""Arrow arrays of scalars to the cells of one kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as pt
from numpy.typing import NDArray
from pyarrow import lib

from tocsin.errors import EventError, InputError
from tocsin.events.arrow_buffers import bits_of, valid_of, values_of
from tocsin.events.arrow_types import is_text, without_views
from tocsin.events.cell_columns import Cells, codes_of, string_cells
from tocsin.events.cells import (
    BooleanCells,
    DecimalCells,
    NumberCells,
    Path,
    Rows,
    StringCells,
    TimestampCells,
)
from tocsin.events.field_paths import path_text
from tocsin.events.number_pairs import split_floats, split_signed, split_unsigned

_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


def cells_of_arrays(
    field: Path, parts: list[tuple[pa.Array, Rows]], unreadable: dict[int, str] | None = None
) -> Cells:
    """The cells in arrays of one type, each with the event of every element; nulls and NaNs dropped.

    InputError when the type is one that no condition can test; EventError when a text is not valid
    UTF-8, unless such events may be noted in `unreadable`, with the reason.
    """
    if not parts or pt.is_null(parts[0][0].type):
        return Cells()
    data_type = parts[0][0].type
    fixed = _FIXED.get(data_type.id)
    if fixed is not None:
        values, rows = _joined([_fixed_values(array, rows, fixed[0]) for array, rows in parts])
        return fixed[1](values, rows, data_type) if len(rows) else Cells()
    if not is_text(data_type) and not pt.is_decimal(data_type):
        raise InputError(f"field {path_text(field)} has the type {data_type}, which no condition can test")
    pieces = [_without_nulls(array, rows) for array, rows in parts]
    rows = pieces[0][1] if len(pieces) == 1 else np.concatenate([piece[1] for piece in pieces])
    array = pieces[0][0] if len(pieces) == 1 else pa.concat_arrays([piece[0] for piece in pieces])
    if not len(rows):
        return Cells()
    if pt.is_decimal(data_type):
        return _decimals(array, rows)
    strings = string_cells(rows, array)
    _check_utf8(field, strings, unreadable)
    return Cells(strings=strings)


def _fixed_values(array: pa.Array, rows: Rows, dtype: np.dtype[Any]) -> tuple[NDArray[Any], Rows]:
    """The values that are not null, and their events."""
    count = len(array)
    if array.null_count == count:
        return np.empty(0, dtype), rows[:0]
    if dtype == np.bool_:
        values: NDArray[Any] = bits_of(array.buffers()[1], array.offset, count)
    else:
        values = values_of(array, dtype)
    valid = valid_of(array)
    if valid is None:
        return values, rows
    places = valid.nonzero()[0]
    return values[places], rows[places]


def _joined(pieces: list[tuple[NDArray[Any], Rows]]) -> tuple[NDArray[Any], Rows]:
    if len(pieces) == 1:
        return pieces[0]
    return np.concatenate([piece[0] for piece in pieces]), np.concatenate([piece[1] for piece in pieces])


def _without_nulls(array: pa.Array, rows: Rows) -> tuple[pa.Array, Rows]:
    """Also brings the types that lack operations in Arrow to a wider one that has them."""
    valid = valid_of(array)
    if valid is not None:
        rows = rows[valid]
    array = without_views(array)
    if pt.is_decimal32(array.type) or pt.is_decimal64(array.type):
        array = array.cast(pa.decimal128(array.type.precision, array.type.scale))
    return (array if valid is None else array.drop_null()), rows


def _booleans(values: NDArray[Any], rows: Rows, _: pa.DataType) -> Cells:
    return Cells(booleans=BooleanCells(rows, values.astype(np.uint8)))


def _signed(values: NDArray[Any], rows: Rows, _: pa.DataType) -> Cells:
    return Cells(numbers=NumberCells(rows, *split_signed(values)))


def _unsigned(values: NDArray[Any], rows: Rows, _: pa.DataType) -> Cells:
    return Cells(numbers=NumberCells(rows, *split_unsigned(values)))


def _floats(values: NDArray[Any], rows: Rows, _: pa.DataType) -> Cells:
    known = values == values
    if not known.all():
        values, rows = values[known], rows[known]
    return Cells(numbers=NumberCells(rows, *split_floats(values))) if len(rows) else Cells()


def _decimals(array: pa.Array, rows: Rows) -> Cells:
    coded = array.dictionary_encode()
    return Cells(decimals=DecimalCells(rows, codes_of(coded), coded.dictionary.to_pylist()))


def _check_utf8(field: Path, cells: StringCells, unreadable: dict[int, str] | None) -> None:
    """Arrow does not check that its strings are valid UTF-8, and Spark's may be anything."""
    try:
        cells.texts.validate(full=True)
    except pa.ArrowInvalid:
        reason = f"the text of field {path_text(field)} is not valid UTF-8"
        rows = cells.row[np.isin(cells.code, _not_utf8(cells.texts))].tolist()
        if unreadable is None:
            raise EventError(reason, row=rows[0]) from None
        for row in rows:
            unreadable.setdefault(row, reason)


def _not_utf8(texts: pa.LargeStringArray) -> list[int]:
    """The places of the texts that are not valid UTF-8."""
    places = []
    for place, text in enumerate(texts.cast(pa.large_binary()).to_pylist()):
        try:
            text.decode()
        except UnicodeDecodeError:
            places.append(place)
    return places


def _timestamps(ticks: NDArray[Any], rows: Rows, data_type: pa.DataType) -> Cells:
    per_second = _PER_SECOND[data_type.unit]
    second = ticks // per_second
    nano = (ticks - second * per_second) * (1_000_000_000 // per_second)
    return Cells(timestamps=TimestampCells(rows, second, nano))


def _days(values: NDArray[Any], rows: Rows, data_type: pa.DataType) -> Cells:
    """A date is its midnight; Arrow's date64 counts milliseconds and may say more than the day."""
    day = values.astype(np.int64) if pt.is_date32(data_type) else values // 86_400_000
    return Cells(timestamps=TimestampCells(rows, day * 86_400, np.zeros(len(rows), np.int64)))


_FIXED: dict[int, tuple[np.dtype[Any], Callable[[NDArray[Any], Rows, pa.DataType], Cells]]] = {
    lib.Type_BOOL: (np.dtype(np.bool_), _booleans),
    lib.Type_INT8: (np.dtype(np.int8), _signed),
    lib.Type_INT16: (np.dtype(np.int16), _signed),
    lib.Type_INT32: (np.dtype(np.int32), _signed),
    lib.Type_INT64: (np.dtype(np.int64), _signed),
    lib.Type_UINT8: (np.dtype(np.uint8), _unsigned),
    lib.Type_UINT16: (np.dtype(np.uint16), _unsigned),
    lib.Type_UINT32: (np.dtype(np.uint32), _unsigned),
    lib.Type_UINT64: (np.dtype(np.uint64), _unsigned),
    lib.Type_HALF_FLOAT: (np.dtype(np.float16), _floats),
    lib.Type_FLOAT: (np.dtype(np.float32), _floats),
    lib.Type_DOUBLE: (np.dtype(np.float64), _floats),
    lib.Type_TIMESTAMP: (np.dtype(np.int64), _timestamps),
    lib.Type_DATE32: (np.dtype(np.int32), _days),
    lib.Type_DATE64: (np.dtype(np.int64), _days),
}
"""The types of fixed width, by Arrow's id: what the memory holds, and what makes cells of it."""
