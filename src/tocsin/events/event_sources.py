"""Events from wherever they are, as cells in batches: files and folders, frames, dictionaries.

Of the few that are shown a person reads JSON: a line as it was written; a row of a table as an object of its
columns, missing ones left out, and so is a value that has no text (a date beyond what Python can say).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import pyarrow as pa

from tocsin.arrays.dtypes import Ints, Longs
from tocsin.errors import InputError, UsageError
from tocsin.events.arrow_tables import batch_of_table
from tocsin.events.cells import Column, EventBatch, Path
from tocsin.events.event_files import BATCH_ROWS, read_rows, read_slice, rows_of_batch
from tocsin.events.kept_columns import json_text, json_texts, kept_columns, plain
from tocsin.events.python_events import FieldPlan
from tocsin.events.slices import Paths, Slice, plan_slices
from tocsin.printable import described
from tocsin.syntax import parse_timestamp
from tocsin.tables import (
    Frame,
    column_names,
    is_frame,
    open_records,
    parse_lines,
    record_lines,
    table_of,
    without_views,
)

_NANOS = 1_000_000_000
_LOOKED_AT = 100
_NO_TIME = np.iinfo(np.int64).min

RowTexts = Callable[[Sequence[int]], list[str | None]]
"""The JSON texts of these rows of a batch; None of an event that has none."""


def no_texts(rows: Sequence[int]) -> list[str | None]:
    """For a batch of which nothing is to be shown."""
    return [None] * len(rows)


def texts_of_lines(lines: Sequence[bytes]) -> RowTexts:
    """Of events that were lines of JSON."""
    return lambda rows: [lines[row].decode().strip() for row in rows]


def texts_of_events(events: Sequence[Mapping[str, object]]) -> RowTexts:
    """Of events that are dictionaries."""

    def texts(rows: Sequence[int]) -> list[str | None]:
        return [_event_text(events[row]) for row in rows]

    return texts


def _event_text(event: Mapping[str, object]) -> str | None:
    try:
        return json_text(dict(event))
    except (RecursionError, ValueError, TypeError):
        return None


def texts_of_columns(columns: Mapping[str, pa.Array]) -> RowTexts:
    """Of events that are rows of a table."""

    def texts(rows: Sequence[int]) -> list[str | None]:
        places = pa.array(rows, pa.int64())
        written: list[list[str]] = [[] for _ in rows]
        for name, column in columns.items():
            key = json.dumps(name, ensure_ascii=False)
            for members, text in zip(written, _texts(without_views(column).take(places), name), strict=True):
                if text is not None:
                    members.append(f"{key}: {text}")
        return ["{" + ", ".join(members) + "}" for members in written]

    return texts


def _texts(column: pa.Array, name: str) -> list[str | None]:
    try:
        return json_texts(plain(column, name))
    except InputError:
        return [None] * len(column)


class EventPortion(NamedTuple):
    """Some events: the row number of each, their cells, how many records were no events, and what to show
    of events that are asked for by their place here."""

    rows: Longs
    events: EventBatch
    rejects: int = 0
    texts: RowTexts = no_texts


class EventSource(Protocol):
    """Events that can be gone through more than once."""

    def __len__(self) -> int:
        """How many records there are, as far as that is known beforehand."""

    def names(self) -> list[str]:
        """Names of fields that the first events have, outermost ones only, in order."""

    def portions(
        self, fields: Sequence[Path], rows: int = BATCH_ROWS, show: Sequence[str] | None = ()
    ) -> Iterator[EventPortion]:
        """All events, with the cells of these fields. `show` names what can be shown of them; None is all."""

    def rows(self) -> Iterator[tuple[int, Mapping[str, object]]]:
        """All events whole, each with its row number; those that cannot be read are left out."""


Events: TypeAlias = str | os.PathLike[str] | Frame | Iterable[Mapping[str, Any]] | EventSource
"""What events that are gone through more than once may be given as."""


def event_source(events: object) -> EventSource:
    """Paths, a frame of any kind, dictionaries or a source; InputError or UsageError when it is none."""
    if isinstance(events, _Files | _Table | _Dictionaries):
        return events
    if isinstance(events, str | os.PathLike):
        return _Files(events)
    if is_frame(events):
        return _Table(table_of(events))
    if isinstance(events, Iterable) and not isinstance(events, bytes | Mapping):
        every = list(events)
        if every and all(isinstance(each, str | os.PathLike) for each in every):
            return _Files(every)
        return _Dictionaries(every)
    what = (
        "one event as a dictionary: put it into a list" if isinstance(events, Mapping) else described(events)
    )
    raise UsageError(
        "events are paths, a table (Arrow, pandas, polars, DuckDB) or a list of dictionaries, not " + what
    )


class _Files:
    def __init__(self, paths: Paths) -> None:
        self.slices = plan_slices(paths)

    def __len__(self) -> int:
        return sum(piece.rows or 0 for piece in self.slices)

    def names(self) -> list[str]:
        return _names_in(self.slices[0]) if self.slices else []

    def portions(
        self, fields: Sequence[Path], rows: int = BATCH_ROWS, show: Sequence[str] | None = ()
    ) -> Iterator[EventPortion]:
        for piece in self.slices:
            yield from portions_of_slice(piece, fields, rows, show)

    def rows(self) -> Iterator[tuple[int, Mapping[str, object]]]:
        for piece in self.slices:
            for chunk in read_rows(piece):
                yield from zip(chunk.numbers, chunk.rows, strict=True)


def portions_of_slice(
    piece: Slice, fields: Sequence[Path], rows: int = BATCH_ROWS, show: Sequence[str] | None = ()
) -> Iterator[EventPortion]:
    """The events of a slice."""
    is_whole_line = show is None and piece.format == "jsonl"
    keep = [] if is_whole_line else _present(piece, show)
    for chunk in read_slice(piece, fields, keep, rows):
        texts: RowTexts = no_texts
        if is_whole_line:
            texts = texts_of_lines(chunk.lines)
        elif keep:
            texts = texts_of_columns(kept_columns(piece, chunk.kept))
        yield EventPortion(chunk.rows, chunk.events, len(chunk.rejects), texts)


def _present(piece: Slice, show: Sequence[str] | None) -> list[str]:
    """Those of the columns that a file has, or all of them; names that two columns have are left out."""
    if piece.format == "jsonl":
        return list(show or ())
    names = _names_in(piece)
    return [name for name in (names if show is None else show) if names.count(name) == 1]


def _names_in(piece: Slice) -> list[str]:
    if piece.format == "csv":
        return [name for name, _ in piece.layout]
    if piece.format == "parquet":
        return column_names(piece.file)
    with open_records(piece.file) as stream:
        events = parse_lines(list(islice(record_lines(stream), _LOOKED_AT))).objects
    return list(dict.fromkeys(name for event in events for name in event))


class _Table:
    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def names(self) -> list[str]:
        return list(self._table.schema.names)

    def portions(
        self, fields: Sequence[Path], rows: int = BATCH_ROWS, show: Sequence[str] | None = ()
    ) -> Iterator[EventPortion]:
        every = self._table.schema.names
        names = [name for name in (every if show is None else show) if every.count(name) == 1]
        for first in range(0, self._table.num_rows, rows):
            part = self._table.slice(first, min(rows, self._table.num_rows - first))
            texts = texts_of_columns({name: _array(part.column(name)) for name in names})
            yield EventPortion(
                np.arange(first, first + part.num_rows), batch_of_table(part, fields), 0, texts
            )

    def rows(self) -> Iterator[tuple[int, Mapping[str, object]]]:
        for first in range(0, self._table.num_rows, BATCH_ROWS):
            part = self._table.slice(first, BATCH_ROWS)
            columns = [_array(column) for column in part.columns]
            batch = pa.RecordBatch.from_arrays(columns, names=part.schema.names) if columns else part
            read = enumerate(rows_of_batch(batch), first)
            yield from ((number, row) for number, row in read if not isinstance(row, str))


def _array(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


class _Dictionaries:
    def __init__(self, events: list[object]) -> None:
        self._events: list[Mapping[str, object]] = []
        for event in events:
            if not isinstance(event, Mapping):
                raise UsageError(f"an event is a dictionary, not {described(event)}")
            self._events.append(event)

    def __len__(self) -> int:
        return len(self._events)

    def names(self) -> list[str]:
        return list(dict.fromkeys(name for event in self._events[:_LOOKED_AT] for name in event))

    def portions(
        self, fields: Sequence[Path], rows: int = BATCH_ROWS, show: Sequence[str] | None = ()
    ) -> Iterator[EventPortion]:
        plan = FieldPlan(fields)
        for first in range(0, len(self._events), rows):
            part = self._events[first : first + rows]
            shown = part if show is None else [_members(event, show) for event in part]
            yield EventPortion(
                np.arange(first, first + len(part)), plan.batch(part), 0, texts_of_events(shown)
            )

    def rows(self) -> Iterator[tuple[int, Mapping[str, object]]]:
        return iter(enumerate(self._events))


def _members(event: Mapping[str, object], names: Sequence[str]) -> Mapping[str, object]:
    return {name: event[name] for name in names if name in event}


def seconds_of(column: Column) -> tuple[Ints, Longs]:
    """The events of a column that have a time, ascending, and the whole second of each since 1970.

    A time is a timestamp, or a string that reads as one; of several in a list the first counts.
    """
    rows: list[Ints] = [np.empty(0, np.int32)]
    seconds: list[Longs] = [np.empty(0, np.int64)]
    if column.timestamps is not None:
        rows.append(column.timestamps.row)
        seconds.append(column.timestamps.second)
    if column.strings is not None:
        instants = [parse_timestamp(text) for text in column.strings.texts.to_pylist()]
        second_of = np.array([_NO_TIME if each is None else each // _NANOS for each in instants], np.int64)
        second = second_of[column.strings.code]
        rows.append(column.strings.row[second != _NO_TIME])
        seconds.append(second[second != _NO_TIME])
    row, second = np.concatenate(rows), np.concatenate(seconds)
    once, first = np.unique(row, return_index=True)
    return once, second[first]


def time_field(source: EventSource) -> Path | None:
    """The first field whose values, in the first events, are all timestamps or texts that say one."""
    names = source.names()
    for portion in source.portions([(name,) for name in names], _LOOKED_AT):
        for name in names:
            column = portion.events.columns.get((name,))
            if column is not None and len(column.present) == len(seconds_of(column)[0]):
                return (name,)
        break
    return None
