"""Some records of a file, as whoever matches them takes them: cells, texts to keep, and what is no event."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tocsin.arrays.dtypes import Longs
from tocsin.errors import LimitError
from tocsin.events.cells import EventBatch
from tocsin.events.python_events import FieldPlan
from tocsin.tables import Reject, member_text, parse_lines

CHUNK_BYTES = 32 * 2**20
"""A chunk has no more, unless a single record has."""
READING_FAILS = (OSError, EOFError, zlib.error, LimitError)


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
    rows: Longs
    events: EventBatch
    kept: pa.Table
    rejects: list[Reject]
    lines: Sequence[bytes] = ()


def table_of(columns: Mapping[str, pa.Array], length: int) -> pa.Table:
    """A table of that many rows even when it has no column."""
    if columns:
        return pa.table(columns)
    return pa.table({"": pa.nulls(length)}).select([])


def parsed_chunk(lines: Sequence[bytes], first_row: int, plan: FieldPlan, keep: Sequence[str]) -> EventChunk:
    """Lines of JSON by Python's json."""
    events, rows, good, rejects = parse_lines(lines, first_row)
    records = list(zip(events, good, strict=True))
    kept = {
        name: pa.array([member_text(event, line, name) for event, line in records], pa.large_string())
        for name in keep
    }
    return EventChunk(
        first_row, np.array(rows, np.int64), plan.batch(events), table_of(kept, len(rows)), rejects, good
    )


def line_portions(lines: Iterator[bytes], batch_rows: int) -> Iterator[list[bytes]]:
    """Lines in portions of at most that many, and of some 32 MB.

    When reading on fails, the lines before that come first, and then the error.
    """
    portion: list[bytes] = []
    size = 0
    try:
        for line in lines:
            portion.append(line)
            size += len(line)
            if len(portion) >= batch_rows or size >= CHUNK_BYTES:
                yield portion
                portion, size = [], 0
    except READING_FAILS:
        if portion:
            yield portion
        raise
    if portion:
        yield portion
