"""Portions of bounded size: how many events to match together, and how many rows to hand on at once.

How many rules an event matches is not known before, and may be all of them. So a portion starts
small and grows or shrinks by what the one before it gave, and rows are cut by their bytes before
they are written out.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from tocsin.arrays.dtypes import Longs

EVENTS_AT_ONCE = 16_384
"""Events in a portion, at most: memory does not grow with the input."""

FEWEST_EVENTS = 64

MATCHES_AT_FIRST = 1 << 28
"""Matches that the first portion may give, if all rules match all of its events."""

MATCHES_AIMED_AT = 1 << 26
"""Matches that a portion of a stream is meant to give, four bytes each: many, because a full block of events
costs little more than one that is almost empty."""

BYTES_OF_ROW = 16
"""What a row takes beside its rule's id and kept columns: the event's number and the score."""


def first_size(rules: int) -> int:
    """How many events to take first, against so many rules."""
    from tocsin.conditions.kernels.bitmap_store import BLOCK

    return max(FEWEST_EVENTS, min(BLOCK, MATCHES_AT_FIRST // max(1, rules)))


def next_size(size: int, events: int, matches: int) -> int:
    """How many events to take next, when `events` of them gave `matches`: full blocks, if more than one."""
    from tocsin.conditions.kernels.bitmap_store import BLOCK

    wanted = min(MATCHES_AIMED_AT * events // max(1, matches), 4 * size, EVENTS_AT_ONCE)
    return wanted // BLOCK * BLOCK if wanted > BLOCK else max(FEWEST_EVENTS, wanted)


def even_size(events: int, threads: int) -> int:
    """How many events to take at a time so that every thread gets as many, and at most a block at once."""
    from tocsin.conditions.kernels.bitmap_store import BLOCK

    rounds = -(-events // (threads * BLOCK))
    size = -(-events // (threads * rounds))
    return max(FEWEST_EVENTS, -(-size // 64) * 64)


def cuts(weights: Longs, limit: int) -> Iterator[tuple[int, int]]:
    """Runs of places whose weights add up to at most `limit`, as long as can be; one place at least."""
    ends = np.cumsum(weights)
    first = 0
    while first < len(ends):
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + limit, side="right")))
        yield first, last
        first = last


def row_bytes(column: pa.Array) -> Longs:
    """About how many bytes each value of a column takes."""
    if pt.is_null(column.type):
        return np.zeros(len(column), np.int64)
    if pt.is_string(column.type) or pt.is_large_string(column.type) or pt.is_binary(column.type):
        lengths: Longs = pc.fill_null(pc.binary_length(column), 0).to_numpy().astype(np.int64)
        return lengths
    try:
        return np.full(len(column), -(-column.type.bit_width // 8), np.int64)
    except ValueError:  # of no fixed width: lists, structs and maps
        return np.array([column.slice(row, 1).nbytes for row in range(len(column))], np.int64)
