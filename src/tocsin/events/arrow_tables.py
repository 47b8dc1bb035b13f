"""Arrow tables to cells, a column at a time: the same answers as python_events.py on the same rows.

A field is reached by steps. At every step there is an array and, for each of its elements, the event
that it belongs to:

    orders: list<struct<price: double>>      event 0 [{1.5}, null], event 1 null, event 2 [{2.0}]

    column     [{1.5}, null]  null  [{2.0}]      rows  0 1 2
    elements   {1.5}  null  {2.0}                rows  0 0 2      (a list opened)
    .price     1.5    null  2.0                  rows  0 0 2      (a member taken)
    cells      1.5    2.0                        rows  0 2        (nulls dropped)

Columns that no wanted field names are not touched. Types that no condition can test (binary, time of
day, duration, interval, union) are an error only when a wanted field ends there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from tocsin.errors import InputError
from tocsin.events.arrow_buffers import list_elements, list_lengths, valid_of
from tocsin.events.arrow_cells import cells_of_arrays
from tocsin.events.arrow_types import SCALARS, is_list, is_text, plain, without_views
from tocsin.events.cell_columns import NO_ROWS, column_of_cells
from tocsin.events.cells import Column, EventBatch, Path, Rows
from tocsin.events.field_paths import path_text


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
    schema = table.schema
    rows: Rows = np.arange(table.num_rows, dtype=np.int32)
    for field in fields:
        place = place_of(schema, field[0])
        if place is not None:
            data = table.column(place)
            try:
                column = _column(data, field, rows, unreadable)
            except pa.ArrowException as error:
                raise InputError(f"{path_text(field)} in a column of type {data.type}: {error}") from error
            if column is not None:
                columns[field] = column
    return EventBatch(table.num_rows, columns)


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
