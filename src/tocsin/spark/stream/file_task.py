"""In a worker: a file of events to found rows. What of it cannot be read is a reject, and no more."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from tocsin.errors import InputError
from tocsin.events.csv_files import layout_of
from tocsin.events.event_files import BATCH_ROWS, EventChunk, read_slice
from tocsin.events.kept_columns import kept_columns
from tocsin.events.slices import FORMATS, Slice, format_of
from tocsin.matches.slice_matches import columns_present
from tocsin.spark.stream.alert_values import joined, zero_padded
from tocsin.spark.stream.match_task import Events, Finder, Rejected

_MOST_RULES_TIMES_EVENTS = 1 << 30


def rows_of_file(finder: Finder, folder: str, uri: str) -> Iterator[pa.RecordBatch]:
    """The found rows of a file that Spark names by a URI."""
    file = local_path(uri)
    name = os.path.relpath(file, folder)
    row = 0
    try:
        piece = _slice(file)
        present = columns_present(piece, set(finder.columns))
        rows = max(1, min(BATCH_ROWS, _MOST_RULES_TIMES_EVENTS // max(1, finder.rule_count)))
        for chunk in read_slice(piece, finder.fields, present, rows):
            yield from _rows_of_chunk(finder, name, piece, chunk)
            row = chunk.first_row + len(chunk.rows) + len(chunk.rejects)
    except (InputError, OSError, EOFError) as error:
        reason = str(error).replace(f"{file}: ", "").replace(f"{file}:", "line ")
        where = f"from row {row} on: {reason}" if row else reason
        yield from finder.rejected([Rejected(name, f"{name}:{row:015d}", where)])


def local_path(uri: str) -> str:
    """The path of a file as Spark names it."""
    return "/" + uri.removeprefix("file:").lstrip("/")


def _slice(file: str) -> Slice:
    """The whole file; InputError when its name is not that of an event file."""
    file_format = format_of(file)
    if file_format is None:
        raise InputError(f"no event file: the name of one ends in {', '.join(FORMATS)}")
    layout = layout_of([file], as_far_as_readable=True)[0] if file_format == "csv" else ()
    return Slice(file, file_format, 0, None, layout=layout)


def _rows_of_chunk(finder: Finder, name: str, piece: Slice, chunk: EventChunk) -> Iterator[pa.RecordBatch]:
    yield from finder.rejected(
        Rejected(f"{name}:{row}", f"{name}:{row:015d}", reason, text) for row, reason, text in chunk.rejects
    )
    rows: np.ndarray = chunk.rows
    events = Events(
        chunk.events,
        joined(f"{name}:", rows.tolist()),
        joined(f"{name}:", zero_padded(rows)),
        kept_columns(piece, chunk.kept),
    )
    yield from finder.rows(events)
