"""Arrow arrays of scalars to the cells of one kind."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from tocsin.errors import EventError, InputError
from tocsin.events.arrow_types import is_text
from tocsin.events.cells import (
    BooleanCells,
    DecimalCells,
    NumberCells,
    Path,
    Rows,
    StringCells,
    TimestampCells,
)
from tocsin.events.columns import Cells, codes_of, string_cells
from tocsin.events.numbers import split_floats, split_signed, split_unsigned
from tocsin.events.paths import path_text

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
    maker = next((make for is_one, make in _MAKERS if is_one(data_type)), None)
    if maker is None:
        reason = f"field {path_text(field)} has the type {data_type}, which no condition can test"
        raise InputError(reason)
    pieces = [_without_nulls(array, rows) for array, rows in parts]
    array = pieces[0][0] if len(pieces) == 1 else pa.concat_arrays([piece[0] for piece in pieces])
    rows = pieces[0][1] if len(pieces) == 1 else np.concatenate([piece[1] for piece in pieces])
    cells = maker(array, rows) if len(rows) else Cells()
    if cells.strings is not None:
        _check_utf8(field, cells.strings, unreadable)
    return cells


def _without_nulls(array: pa.Array, rows: Rows) -> tuple[pa.Array, Rows]:
    """Also brings the types that lack operations in Arrow to a wider one that has them."""
    if is_text(array.type):
        array = array.cast(pa.large_string())
    elif pt.is_decimal32(array.type) or pt.is_decimal64(array.type):
        array = array.cast(pa.decimal128(array.type.precision, array.type.scale))
    if array.null_count == 0:
        return array, rows
    return array.drop_null(), rows[array.is_valid().to_numpy(zero_copy_only=False)]


def _booleans(array: pa.Array, rows: Rows) -> Cells:
    return Cells(booleans=BooleanCells(rows, array.to_numpy(zero_copy_only=False).astype(np.uint8)))


def _signed(array: pa.Array, rows: Rows) -> Cells:
    return Cells(numbers=NumberCells(rows, *split_signed(array.to_numpy())))


def _unsigned(array: pa.Array, rows: Rows) -> Cells:
    return Cells(numbers=NumberCells(rows, *split_unsigned(array.to_numpy())))


def _floats(array: pa.Array, rows: Rows) -> Cells:
    values = array.to_numpy()
    known = values == values
    if not known.all():
        values, rows = values[known], rows[known]
    return Cells(numbers=NumberCells(rows, *split_floats(values))) if len(rows) else Cells()


def _decimals(array: pa.Array, rows: Rows) -> Cells:
    coded = array.dictionary_encode()
    return Cells(decimals=DecimalCells(rows, codes_of(coded), coded.dictionary.to_pylist()))


def _strings(array: pa.Array, rows: Rows) -> Cells:
    return Cells(strings=string_cells(rows, array))


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


def _timestamps(array: pa.Array, rows: Rows) -> Cells:
    per_second = _PER_SECOND[array.type.unit]
    ticks = array.view(pa.int64()).to_numpy()
    second = ticks // per_second
    nano = (ticks - second * per_second) * (1_000_000_000 // per_second)
    return Cells(timestamps=TimestampCells(rows, second, nano))


def _days(array: pa.Array, rows: Rows) -> Cells:
    """A date is its midnight; Arrow's date64 counts milliseconds and may say more than the day."""
    if pt.is_date32(array.type):
        day = array.view(pa.int32()).to_numpy().astype(np.int64)
    else:
        day = array.view(pa.int64()).to_numpy() // 86_400_000
    return Cells(timestamps=TimestampCells(rows, day * 86_400, np.zeros(len(rows), np.int64)))


_MAKERS: tuple[tuple[Callable[[pa.DataType], bool], Callable[[pa.Array, Rows], Cells]], ...] = (
    (is_text, _strings),
    (pt.is_signed_integer, _signed),
    (pt.is_floating, _floats),
    (pt.is_boolean, _booleans),
    (pt.is_timestamp, _timestamps),
    (pt.is_date, _days),
    (pt.is_unsigned_integer, _unsigned),
    (pt.is_decimal, _decimals),
)
