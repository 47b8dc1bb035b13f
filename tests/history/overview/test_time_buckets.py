"""Stretches of time: few of them, and those of a smaller width add up to those of a larger."""

from __future__ import annotations

import datetime as dt
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.history.overview import MONDAY
from tocsin.history.overview.time_buckets import (
    MOST_BUCKETS,
    WIDTHS,
    bucket_numbers,
    bucket_start,
    width_for,
    width_text,
)

FIRST, LAST = -62_135_596_800, 253_402_300_799
"""The years that there are: from 1 to 9999."""

seconds = st.integers(FIRST, LAST)


def test_every_width_divides_the_next() -> None:
    assert all(larger % smaller == 0 for smaller, larger in pairwise(WIDTHS))


def test_weeks_start_on_monday() -> None:
    assert (dt.datetime(1970, 1, 1) + dt.timedelta(seconds=MONDAY)).weekday() == 0


@given(seconds, seconds)
def test_there_are_few_buckets_and_no_smaller_width_has(one: int, other: int) -> None:
    first, last = sorted((one, other))
    width = width_for(first, last)
    smaller = [each for each in WIDTHS if each < width]
    assert count(first, last, width) <= MOST_BUCKETS
    assert all(count(first, last, each) > MOST_BUCKETS for each in smaller)


def count(first: int, last: int, width: int) -> int:
    low, high = bucket_numbers(np.array([first, last]), width).tolist()
    return int(high - low + 1)


@given(seconds, st.integers(0, len(WIDTHS) - 1), st.integers(0, len(WIDTHS) - 1))
def test_a_bucket_lies_within_one_of_any_larger_width(second: int, one: int, other: int) -> None:
    small, large = WIDTHS[min(one, other)], WIDTHS[max(one, other)]
    start = bucket_start(int(bucket_numbers(np.array([second]), small)[0]), small)
    assert start <= second < start + small
    assert bucket_numbers(np.array([start]), large) == bucket_numbers(np.array([second]), large)


@given(st.lists(seconds, min_size=2, max_size=20), st.integers(1, 19))
def test_the_whole_is_never_narrower_than_a_part(times: list[int], cut: int) -> None:
    part = times[:cut]
    assert width_for(min(part), max(part)) <= width_for(min(times), max(times))


@pytest.mark.parametrize(
    ("width", "text"),
    [
        (1, "1 second"),
        (15, "15 seconds"),
        (300, "5 minutes"),
        (21_600, "6 hours"),
        (86_400, "1 day"),
        (90, "90 seconds"),
    ],
)
def test_in_words(width: int, text: str) -> None:
    assert width_text(width) == text
