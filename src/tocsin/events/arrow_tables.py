"""Arrow tables to cells, a column at a time: the same answers as python_events.py on the same rows.

A field is reached by steps. At every step there is an array and, for each of its elements, the event
that it belongs to:

    orders: list<struct<price: double>>      event 0 [{1.5}, null], event 1 null, event 2 [{2.0}]

    column     [{1.5}, null]  null  [{2.0}]      rows  0 1 2
    elements   {1.5}  null  {2.0}                rows  0 0 2      (a list opened)
    .price     1.5    null  2.0                  rows  0 0 2      (a member taken)
    cells      1.5    2.0                        rows  0 2        (nulls dropped)

Columns that no wanted field names are not touched. Types that no condition can test (binary, time of
day, duration, interval) are an error only when a wanted field ends there. A union is taken apart value by
value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt
from numpy.typing import NDArray
from pyarrow import lib

from tocsin.errors import EventError, InputError
from tocsin.events.arrow_buffers import bits_of, list_elements, list_lengths, valid_of, values_of
from tocsin.events.cells import (
    NO_ROWS,
    BooleanCells,
    Cells,
    Column,
    DecimalCells,
    EventBatch,
    NumberCells,
    Path,
    Rows,
    StringCells,
    TimestampCells,
    codes_of,
    column_of_cells,
    path_text,
    string_cells,
)
from tocsin.events.number_pairs import split_floats, split_signed, split_unsigned
from tocsin.events.python_events import FieldPlan
from tocsin.tables import SCALARS, holds_union, is_list, is_text, plain, rows_not_utf8, without_views

MANY_COLUMNS = 32
"""Columns that are worth a call of the kernel that reads them together, at least."""


class _Reached(NamedTuple):
    """Where the walk stands: an array, and the event of each of its elements, ascending."""

    array: pa.Array
    rows: Rows
    repeated: bool


class _Ended(NamedTuple):
    """What one chunk holds of a field: scalars (nulls included), and the events of lists and objects."""

    scalars: pa.Array | None
    rows: Rows
    listed: Rows
    objects: Rows
    repeated: bool


def batch_of_table(
    table: pa.Table | pa.RecordBatch, fields: Iterable[Path], unreadable: dict[int, str] | None = None
) -> EventBatch:
    """The cells of `fields` in the rows of a table.

    InputError when a field is named by two columns or has a type that no condition can test;
    EventError when a text is not valid UTF-8. Given `unreadable`, such rows are noted there with the
    reason instead, and the batch is good for nothing unless it stays empty.
    """
    columns: dict[Path, Column] = {}
    places = _places_of(table.schema, fields)
    together: dict[Path, Column | None] = {}
    if len(places) >= MANY_COLUMNS and table.num_rows:
        from tocsin.events.wide_tables import read_together  # only here: it brings the compiler

        together = read_together(table, {field: place for field, place in places.items() if len(field) == 1})
    rows: Rows = np.arange(table.num_rows, dtype=np.int32)
    for field, place in places.items():
        if field in together:
            column = together[field]
        else:
            data = table.column(place)
            try:
                column = _column(data, field, rows, unreadable)
            except pa.ArrowException as error:
                raise InputError(f"{path_text(field)} in a column of type {data.type}: {error}") from error
        if column is not None:
            columns[field] = column
    return EventBatch(table.num_rows, columns)


def _places_of(schema: pa.Schema, fields: Iterable[Path]) -> dict[Path, int]:
    """The places of the columns that fields are in; InputError when a field has several."""
    names = schema.names
    place = {name: at for at, name in enumerate(names)}
    if len(place) == len(names):
        return {field: place[field[0]] for field in fields if field[0] in place}
    found = {field: place_of(schema, field[0]) for field in fields}
    return {field: at for field, at in found.items() if at is not None}


def place_of(schema: pa.Schema, name: str) -> int | None:
    """The place of the column of this name, or None; InputError when there are several."""
    places = schema.get_all_field_indices(name)
    if len(places) > 1:
        raise InputError(f"the table has {len(places)} columns named {path_text((name,))}")
    return places[0] if places else None


def _column(
    data: pa.Array | pa.ChunkedArray, field: Path, every: Rows, unreadable: dict[int, str] | None
) -> Column | None:
    """The column of a field, `every` being the rows of the table."""
    if holds_union(data.type):  # values of several kinds: sorted out as those of dictionaries are
        rows = [{field[0]: value} for value in data.to_pylist()]
        return FieldPlan([field]).batch(rows).columns.get(field)
    ended = []
    first = 0
    for chunk in data.chunks if isinstance(data, pa.ChunkedArray) else [data]:
        size = len(chunk)
        reached: _Reached | None = _Reached(chunk, every[first : first + size], repeated=False)
        first += size
        depth = 1
        while reached is not None and depth < len(field):
            reached = _member(reached, field[depth], field[:depth])
            depth += 1
        if reached is not None:
            ended.append(_end(reached))
    scalars = [(part.scalars, part.rows) for part in ended if part.scalars is not None]
    cells = cells_of_arrays(field, scalars, unreadable)
    listed = _joined([part.listed for part in ended])
    objects = _joined([part.objects for part in ended])
    return column_of_cells(cells, listed, objects, repeated=any(part.repeated for part in ended))


def _joined(rows: list[Rows]) -> Rows:
    if len(rows) == 1:
        return rows[0]
    return np.concatenate(rows) if rows else NO_ROWS


def _member(reached: _Reached, name: str, field: Path) -> _Reached | None:
    """Step into the member `name` of the objects reached, opening the lists on the way.

    None when there is none. `field` is the path so far.
    """
    array, rows, repeated = reached
    array = plain(array)
    while is_list(array.type):
        array, rows = _open_list(array, rows)
        repeated = True
        array = plain(array)
    if pt.is_struct(array.type):
        places = array.type.get_all_field_indices(name)
        if len(places) > 1:
            raise InputError(f"{path_text(field)} has {len(places)} members named {path_text((name,))}")
        return _Reached(pc.struct_field(array, places), rows, repeated) if places else None
    if pt.is_map(array.type):
        return _Reached(*_map_member(array, rows, name, field), repeated)
    return None


def _end(reached: _Reached) -> _Ended:
    """Take what stands at the end of a path, opening lists and setting objects apart."""
    array, rows, repeated = reached
    array = plain(array)
    if array.type.id in SCALARS:
        return _Ended(array, rows, NO_ROWS, NO_ROWS, repeated)
    listed: list[Rows] = []
    while is_list(array.type):
        listed.append(_known(array, rows))
        array, rows = _open_list(array, rows)
        repeated = True
        array = plain(array)
    lists = _joined(listed)
    if pt.is_struct(array.type) or pt.is_map(array.type):
        return _Ended(None, NO_ROWS, lists, _known(array, rows), repeated)
    return _Ended(array, rows, lists, NO_ROWS, repeated)


def _known(array: pa.Array, rows: Rows) -> Rows:
    """The rows whose element is not null."""
    valid = valid_of(array)
    return rows if valid is None else rows[valid]


def _open_list(array: pa.Array, rows: Rows) -> tuple[pa.Array, Rows]:
    """The elements of all lists in a row, and the event of each; null lists have none."""
    lengths = list_lengths(array)
    filled = lengths.nonzero()[0]
    return list_elements(array, lengths), np.repeat(rows[filled], lengths[filled])


def _map_member(array: pa.MapArray, rows: Rows, name: str, field: Path) -> tuple[pa.Array, Rows]:
    """The items under one key, of each map that has it the last."""
    keys = plain(array.keys)
    if not is_text(keys.type):
        raise InputError(f"{path_text(field)} is a map with keys of type {keys.type}, not strings")
    offsets = array.offsets.to_numpy()
    hits = np.flatnonzero(pc.equal(keys, pa.scalar(name, keys.type)).to_numpy(zero_copy_only=False))
    hits = hits[(hits >= offsets[0]) & (hits < offsets[-1])]
    owners = np.searchsorted(offsets, hits, side="right") - 1
    valid = valid_of(array)
    kept = np.ones(len(owners), np.bool_) if valid is None else valid[owners]
    kept[:-1] &= owners[:-1] != owners[1:]
    return without_views(array.items).take(pa.array(hits[kept])), rows[owners[kept]]


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
        values, rows = _joined_values([_fixed_values(array, rows, fixed[0]) for array, rows in parts])
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


def _joined_values(pieces: list[tuple[NDArray[Any], Rows]]) -> tuple[NDArray[Any], Rows]:
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
    try:
        cells.texts.validate(full=True)
    except pa.ArrowInvalid:
        reason = f"the text of field {path_text(field)} is not valid UTF-8"
        rows = cells.row[np.isin(cells.code, rows_not_utf8(cells.texts))].tolist()
        if unreadable is None:
            raise EventError(reason, row=rows[0]) from None
        for row in rows:
            unreadable.setdefault(row, reason)


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
