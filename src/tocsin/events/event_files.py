"""Slices of event files to chunks: cells to match, columns to keep, and the records that are no events.

The same code reads a slice whether Spark hands it out or a loop does. Memory stays bounded: a chunk
is at most `batch_rows` records, and some 32 MB unless a single one is larger.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path as FilePath
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from tocsin.errors import InputError, LimitError
from tocsin.events.arrow_tables import batch_of_table
from tocsin.events.arrow_types import table_without_views
from tocsin.events.cell_columns import column_of_integers
from tocsin.events.cells import EventBatch, Path
from tocsin.events.csv_files import (
    ColumnType,
    CsvFile,
    Records,
    long_integers,
    open_plain_or_gz,
    typed_column,
)
from tocsin.events.json_lines import member_text, parse_lines, record_lines
from tocsin.events.parquet_sizes import RowGroup, unpacked_size
from tocsin.events.python_events import FieldPlan
from tocsin.events.rejects import Reject
from tocsin.events.slices import Slice
from tocsin.storage.packed_files import check_unpacked, most_unpacked

BATCH_ROWS = 8_192
_CHUNK_BYTES = 32 * 2**20
_BUFFER_BYTES = 2**20
"""Read of a column at a time: a row group may have any size, and is never in memory as a whole."""


class EventChunk(NamedTuple):
    """Some records of a slice, in order.

    first_row   the row number of its first record, good or not
    rows        the row number of each event, ascending; rejects leave holes
    events      the cells of the wanted fields
    kept        one row for each event: the top-level values to carry along. Of JSON lines they are
                JSON texts (null when missing), of CSV typed columns, of Parquet as stored
    rejects     the records that are no events
    lines       the line of each event, when they are lines of JSON
    """

    first_row: int
    rows: NDArray[np.int64]
    events: EventBatch
    kept: pa.Table
    rejects: list[Reject]
    lines: Sequence[bytes] = ()


def read_slice(
    piece: Slice, fields: Iterable[Path], keep: Sequence[str] = (), batch_rows: int = BATCH_ROWS
) -> Iterator[EventChunk]:
    """The events of a slice, with the cells of `fields` and the top-level columns `keep`.

    InputError when the file cannot be read, or a table has no column that is to be kept.
    """
    wanted = list(fields)
    readers = {"jsonl": _json_chunks, "csv": _csv_chunks, "parquet": _parquet_chunks}
    try:
        yield from readers[piece.format](piece, wanted, list(keep), batch_rows)
    except (OSError, UnicodeDecodeError, EOFError, zlib.error, pa.ArrowException) as error:
        raise InputError(f"{piece.file}: cannot be read: {error}") from error


def _json_chunks(piece: Slice, fields: list[Path], keep: list[str], batch_rows: int) -> Iterator[EventChunk]:
    plan = FieldPlan(fields)
    first_row = piece.first_row
    with open_plain_or_gz(piece.file) as stream:
        if piece.start:
            stream.seek(piece.start)
        for lines in portions(record_lines(stream, piece.start, piece.stop), batch_rows):
            parsed = parse_lines(lines, first_row)
            kept = {
                name: pa.array(
                    [
                        member_text(event, line, name)
                        for event, line in zip(parsed.events, parsed.lines, strict=True)
                    ],
                    pa.large_string(),
                )
                for name in keep
            }
            rows = np.array(parsed.rows, np.int64)
            events = plan.batch(parsed.events)
            yield EventChunk(first_row, rows, events, _table(kept, len(rows)), parsed.rejects, parsed.lines)
            first_row += len(lines)


def portions(lines: Iterator[bytes], batch_rows: int) -> Iterator[list[bytes]]:
    """Lines in portions of at most that many, and of some 32 MB.

    When reading on fails, the lines before that come first, and then the error.
    """
    portion: list[bytes] = []
    size = 0
    try:
        for line in lines:
            portion.append(line)
            size += len(line)
            if len(portion) >= batch_rows or size >= _CHUNK_BYTES:
                yield portion
                portion, size = [], 0
    except (OSError, EOFError, zlib.error, LimitError):
        if portion:
            yield portion
        raise
    if portion:
        yield portion


def _table(columns: dict[str, pa.Array], length: int) -> pa.Table:
    """A table of that many rows even when it has no column."""
    if columns:
        return pa.table(columns)
    return pa.table({"": pa.nulls(length)}).select([])


def _csv_chunks(piece: Slice, fields: list[Path], keep: list[str], batch_rows: int) -> Iterator[EventChunk]:
    types = dict(piece.layout)
    _check_kept(piece, keep, types)
    with CsvFile(piece.file) as opened:
        places = {name: place for place, name in enumerate(opened.names)}
        names = {field[0] for field in fields if len(field) == 1} & places.keys()
        first_row = piece.first_row
        for records in opened.batches(first_row, batch_rows):
            texts = {
                name: records.column(places[name]) if name in places else _all_missing(records)
                for name in {*names, *keep}
            }
            typed = {name: typed_column(column, types[name]) for name, column in texts.items()}
            events = _csv_cells(typed, types, names, len(records.rows))
            kept = _table({name: typed[name] for name in keep}, len(records.rows))
            rows = np.array(records.rows, np.int64)
            yield EventChunk(first_row, rows, events, kept, records.rejects)
            first_row += len(records.rows) + len(records.rejects)


def _all_missing(records: Records) -> pa.Array:
    return pa.nulls(len(records.rows), pa.large_string())


def _csv_cells(
    typed: dict[str, pa.Array], types: dict[str, ColumnType], names: set[str], length: int
) -> EventBatch:
    long = {name for name in names if types[name] is ColumnType.LONG_INTEGER}
    plain = {name: typed[name] for name in names - long}
    batch = batch_of_table(_table(plain, length), [(name,) for name in plain])
    for name in long:
        places, integers = long_integers(typed[name])
        column = column_of_integers(np.array(places, np.int32), integers)
        if column is not None:
            batch.columns[(name,)] = column
    return EventBatch(length, batch.columns)


def _parquet_chunks(
    piece: Slice, fields: list[Path], keep: list[str], batch_rows: int
) -> Iterator[EventChunk]:
    with pq.ParquetFile(piece.file, buffer_size=_BUFFER_BYTES, pre_buffer=False) as opened:
        _check_kept(piece, keep, opened.schema_arrow.names)
        groups = list(range(piece.start, opened.num_row_groups if piece.stop is None else piece.stop))
        names = {*keep, *(field[0] for field in fields)}
        most = most_unpacked(FilePath(piece.file).stat().st_size)
        rows = [batch_rows]
        for group in groups:
            size = unpacked_size([RowGroup(piece.file, opened.metadata, group)], most, names)
            check_unpacked(piece.file, size, most)
            if count := opened.metadata.row_group(group).num_rows:
                rows.append(max(1, _CHUNK_BYTES * count // max(1, size)))  # some 32 MB; texts may be long
        first_row = piece.first_row
        for batch in _batches_of_groups(opened, groups, min(rows), list(names)):
            yield _table_chunk(batch, fields, keep, first_row)
            first_row += batch.num_rows


def _batches_of_groups(
    opened: pq.ParquetFile, groups: list[int], size: int, names: list[str]
) -> Iterator[pa.RecordBatch]:
    """The rows of row groups. When one cannot be read, those before it come first, and then the error."""
    seen = 0
    try:
        for batch in opened.iter_batches(size, groups, columns=names):
            yield batch
            seen += batch.num_rows
        return
    except (OSError, pa.ArrowException):
        pass  # a batch may span groups, so that good ones fail with it: they are read one by one below
    for group in groups:
        for batch in opened.iter_batches(size, [group], columns=names):
            known = min(seen, batch.num_rows)
            seen -= known
            if known < batch.num_rows:
                yield batch.slice(known)


def _table_chunk(batch: pa.RecordBatch, fields: list[Path], keep: list[str], first_row: int) -> EventChunk:
    """A chunk of a table, without the rows that cannot be read."""
    table = pa.Table.from_batches([batch])
    rows: NDArray[np.int64] = np.arange(first_row, first_row + batch.num_rows, dtype=np.int64)
    unreadable: dict[int, str] = {}
    events = batch_of_table(batch, fields, unreadable)
    rejects = [Reject(first_row + row, reason, "") for row, reason in sorted(unreadable.items())]
    if rejects:
        good = np.delete(np.arange(batch.num_rows), sorted(unreadable))
        table, rows = table_without_views(table).take(pa.array(good)), rows[good]
        events = batch_of_table(table, fields)
    return EventChunk(first_row, rows, events, table.select(keep), rejects)


def _check_kept(piece: Slice, keep: list[str], names: Iterable[str]) -> None:
    known = list(names)
    for name in keep:
        if known.count(name) != 1:
            how_many = "no column" if name not in known else f"{known.count(name)} columns"
            raise InputError(f"{piece.file}: there is {how_many} named {name!r} to keep")
