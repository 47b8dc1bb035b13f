"""Single values of events: what names an event, when it was, and what an alert's text tells of it.

Values come from columns as they are kept (events/kept_columns.py), by way of JSON texts: so a value reads the
same whether it stood in JSON lines, CSV, Parquet or a DataFrame, and integers of any size stay exact.
"""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from tocsin.arrays.dtypes import Longs
from tocsin.conditions.meaning import lookup
from tocsin.errors import InputError
from tocsin.events import JSON, Column, Path, json_text, json_texts, path_text
from tocsin.syntax import parse_timestamp
from tocsin.tables import parsed
from tocsin.watches import TOO_DEEP

MICROS = 1_000_000
EARLIEST, LATEST = -62_135_596_800 * MICROS, 253_402_300_800 * MICROS - 1
"""Spark's timestamps in microseconds since 1970: the years 1 to 9999."""
NOT_UTF_8 = "the text of field {} is not valid UTF-8"
NO_TEXT = "field {} holds a time or a date that cannot be written"


def values_at(column: pa.Array | None, path: Path, count: int) -> list[str | None]:
    """The JSON texts of what a top-level column holds at a path; the path's first name is the column's."""
    if column is None:
        return [None] * count
    texts = json_texts(column)
    if len(path) == 1:
        return [None if text in (None, "null") else text for text in texts]
    return [None if text is None else _member(text, path) for text in texts]


def _member(text: str, path: Path) -> str | None:
    value = lookup({path[0]: parsed(text)}, path)
    try:
        return None if value is None else json_text(value)
    except RecursionError:
        return json.dumps(TOO_DEEP)


def keys_of(column: pa.Array | None, path: Path, count: int) -> tuple[pa.Array, dict[int, str]]:
    """The keys of events as texts, and why some have none: a string as it is, everything else as JSON."""
    if column is not None and len(path) == 1 and not column.null_count:
        if pt.is_string(column.type) or pt.is_integer(column.type):
            return column.cast(pa.string()), {}
        if column.type == JSON:
            return pa.array(map(plain_text, column.storage.to_pylist()), pa.string()), {}
    texts = values_at(column, path, count)
    missing = f"the field {path_text(path)}, which is to be the key, is missing"
    reasons = {row: missing for row, text in enumerate(texts) if text is None}
    return pa.array([None if text is None else plain_text(text) for text in texts], pa.string()), reasons


def plain_text(text: str) -> str:
    """A JSON text as plain text: a string as it is, everything else as JSON writes it."""
    return str(parsed(text)) if text.startswith('"') else text


def times_of(column: Column | None, path: Path, count: int) -> tuple[Longs, dict[int, str]]:
    """When events were, in microseconds since 1970 UTC, rounded down; and why some have no time.

    A time is a timestamp or a date, or a string that is one in RFC 3339. A number is none: nobody could
    tell whether it counts seconds or milliseconds.
    """
    name = path_text(path)
    micros = np.zeros(count, np.int64)
    if column is None:
        return micros, dict.fromkeys(range(count), f"the field {name}, which is to be the time, is missing")
    found = np.zeros(count, np.int32)
    cells = np.zeros(count, np.int32)
    for kind in (column.numbers, column.decimals, column.strings, column.booleans, column.timestamps):
        if kind is not None:
            np.add.at(cells, kind.row, 1)
    if column.timestamps is not None:
        stamps = column.timestamps
        in_range = (stamps.second >= EARLIEST // MICROS) & (stamps.second <= LATEST // MICROS)
        second, row = stamps.second[in_range], stamps.row[in_range]
        micros[row] = second * MICROS + stamps.nano[in_range] // 1_000
        found[row] += 1
    if column.strings is not None:
        strings = column.strings
        read = [_micros(text) for text in strings.texts.to_pylist()]
        is_time = np.array([each is not None for each in read], np.bool_)[strings.code]
        value = np.array([each or 0 for each in read], np.int64)[strings.code]
        micros[strings.row[is_time]] = value[is_time]
        np.add.at(found, strings.row[is_time], 1)
    good = (found == 1) & (cells == 1)
    missing = np.setdiff1d(np.arange(count), column.present)
    reasons = dict.fromkeys(
        np.flatnonzero(~good).tolist(),
        f"the field {name}, which is to be the time, holds no timestamp: RFC 3339 is expected",
    )
    reasons |= dict.fromkeys(missing.tolist(), f"the field {name}, which is to be the time, is missing")
    return micros, reasons


def _micros(text: str) -> int | None:
    nanos = parse_timestamp(text)
    micros = None if nanos is None else nanos // 1_000
    return micros if micros is not None and EARLIEST <= micros <= LATEST else None


def mended(column: pa.Array) -> tuple[pa.Array, dict[int, str]]:
    """A column without the values that have no text, and for their rows why; {} stands for the field."""
    wrong: dict[int, str] = {}
    for is_right, reason in ((_is_valid, NOT_UTF_8), (_has_texts, NO_TEXT)):
        if not is_right(column):
            rows = [row for row in range(len(column)) if not is_right(column.take(pa.array([row])))]
            wrong |= dict.fromkeys(rows, reason)
            kept = [None if row in wrong else row for row in range(len(column))]
            column = column.take(pa.array(kept, pa.int64()))
    return column, wrong


def _is_valid(column: pa.Array) -> bool:
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _has_texts(column: pa.Array) -> bool:
    """Whether all times can be written; of a column of dates the first and the last are asked."""
    if not _holds_times(column.type):
        return True
    if pt.is_date(column.type) or pt.is_timestamp(column.type):
        ends = pc.min_max(column)
        column = pa.array([ends["min"], ends["max"]], column.type)
    try:
        json_texts(column)
    except InputError:
        return False
    return True


def _holds_times(data_type: pa.DataType) -> bool:
    inner = (data_type.field(place).type for place in range(data_type.num_fields))
    return pt.is_temporal(data_type) or any(map(_holds_times, inner))
