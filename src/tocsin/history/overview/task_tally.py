"""What tasks put out: one table of facts, of which those of several tasks add up.

    fact     rule   key      place   number   text
    hits     3                       1203              events that satisfy rule 3
    bucket   3      start    width   17                ... of those in a stretch of time
    score    3      code             5                 ... of those with a score (score_codes.py)
    sample   3      hash     place                     an event that is shown for rule 3
    event           hash     place            {"id":   what is shown of it
    time     -1     start    width   9000              all events in a stretch of time
    time     -2     start    width   400               ... of those that satisfy any rule
    time     -3     start    width   950               ... matches
    total    -1                      50000             all events, and so on as above
    total    -4                      2                 records that are no events
    seen     7                                [970, …  what events hold in field 7 (value_summaries.py)
    failure                                   a.csv:…  why a part of the history cannot be read

`start` and `width` are seconds, a `place` says where an event stands in the history.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tocsin.arrays.dtypes import Longs

PARTIALS = pa.schema(
    [
        ("fact", pa.string()),
        ("rule", pa.int32()),
        ("key", pa.int64()),
        ("place", pa.int64()),
        ("number", pa.int64()),
        ("text", pa.string()),
    ]
)
"""Columns that do not matter to a fact are null."""

HITS, BUCKET, SCORE, SAMPLE, EVENT = "hits", "bucket", "score", "sample", "event"
TIME, TOTAL, SEEN, FAILURE = "time", "total", "seen", "failure"
EVENTS, MATCHED, MATCHES, REJECTS = -1, -2, -3, -4
"""In the place of a rule: all events, those that satisfy any rule, matches, records that are no events."""

COUNTED = (HITS, BUCKET, SCORE)
"""Facts of rules whose numbers are summed."""


def fact_rows(
    fact: str,
    rule: NDArray[Any] | int | None = None,
    *,
    key: Longs | int | None = None,
    place: Longs | int | None = None,
    number: Longs | int | None = None,
    text: Sequence[str | None] | None = None,
) -> pa.RecordBatch:
    """Facts of one name. A column that is one number is that in every row."""
    columns = {"rule": rule, "key": key, "place": place, "number": number, "text": text}
    count = next((len(each) for each in columns.values() if isinstance(each, np.ndarray | list)), 1)
    arrays = [pa.repeat(pa.scalar(fact), count)]
    for name, values in columns.items():
        kind = PARTIALS.field(name).type
        if isinstance(values, np.ndarray | list):
            arrays.append(pa.array(values, kind))
        else:
            arrays.append(pa.repeat(pa.scalar(values, kind), count))
    return pa.RecordBatch.from_arrays(arrays, schema=PARTIALS)


def table_of(batches: Iterable[pa.RecordBatch]) -> pa.Table:
    """Facts put together."""
    return pa.Table.from_batches(batches, PARTIALS)
