"""Portions of bounded size."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tocsin
from tocsin.conditions.kernels.bitmap_store import BLOCK
from tocsin.conditions.live import table_matcher
from tocsin.conditions.matching import cuts
from tocsin.conditions.matching.portions import (
    EVENTS_AT_ONCE,
    FEWEST_EVENTS,
    MATCHES_AIMED_AT,
    even_size,
    first_size,
    next_size,
)


@given(st.lists(st.integers(0, 40)), st.integers(1, 60))
def test_cuts_cover_everything_within_the_limit(weights: list[int], limit: int) -> None:
    runs = list(cuts(np.array(weights, np.int64), limit))
    assert [place for first, last in runs for place in range(first, last)] == list(range(len(weights)))
    for first, last in runs:
        assert sum(weights[first:last]) <= limit or last - first == 1
        assert last == len(weights) or sum(weights[first : last + 1]) > limit


def test_portions_follow_what_they_gave() -> None:
    assert next_size(1_024, 1_024, 0) == 4_096
    assert next_size(EVENTS_AT_ONCE, EVENTS_AT_ONCE, EVENTS_AT_ONCE * 10) == EVENTS_AT_ONCE
    assert next_size(4_096, 4_096, 4 * MATCHES_AIMED_AT) == 1_024
    assert next_size(1_024, 1_024, 100 * MATCHES_AIMED_AT) == FEWEST_EVENTS
    assert first_size(10) > first_size(1_000_000) >= FEWEST_EVENTS


@given(st.integers(1, 200_000), st.integers(1, 9))
def test_every_thread_gets_as_many_events(events: int, threads: int) -> None:
    size = even_size(events, threads)
    portions = -(-events // size)
    assert size % 64 == 0
    assert size <= BLOCK
    assert size == 64 or portions % threads == 0 or portions * 64 > events - threads * 64


def test_results_are_cut_by_their_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_matcher, "BYTES_AT_ONCE", 200)
    index = tocsin.build([("r" * 1_000, "true"), ("s", "x = 1")])
    table = pa.table({"x": [1] * 50})
    found = index.match_table(table)
    assert isinstance(found, pa.Table)
    assert found.num_rows == 100
    assert found["event"].num_chunks > 5
    assert found["event"].to_pylist() == [event for event in range(50) for _ in range(2)]


def test_a_table_of_many_small_chunks_is_matched_as_one() -> None:
    index = tocsin.build([("odd", "x in (1, 3, 5)"), ("big", "x > 3")])
    chunked = pa.chunked_array([[number] for number in range(6)])
    found = index.match_table(pa.table({"x": chunked}))
    assert isinstance(found, pa.Table)
    assert found["event"].num_chunks == 1
    pairs = list(zip(found["event"].to_pylist(), found["rule"].to_pylist(), strict=True))
    assert pairs == [(1, "odd"), (3, "odd"), (4, "big"), (5, "odd"), (5, "big")]
