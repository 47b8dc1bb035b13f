"""Rows are numbered as a dictionary numbers them, and those that were forgotten are not found."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tocsin.arrays.row_table import distinct_rows, enter_rows, find_rows, forget_row

FEW = st.integers(-2, 2) | st.sampled_from([-(2**63), 2**63 - 1, 2**32])
rows_of_words = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.tuples(*[FEW] * width), min_size=1, max_size=60)
)


@given(rows_of_words)
def test_distinct_rows_against_a_dictionary(rows: list[tuple[int, ...]]) -> None:
    number, first = distinct_rows(*np.array(rows, np.int64).T)
    expected: dict[tuple[int, ...], int] = {}
    assert number.tolist() == [expected.setdefault(row, len(expected)) for row in rows]
    assert first.tolist() == [rows.index(row) for row in expected]


def test_no_rows() -> None:
    number, first = distinct_rows(np.empty(0, np.int32), np.empty(0, np.uint8))
    assert number.tolist() == first.tolist() == []


@given(rows_of_words, st.data())
def test_forgotten_rows_hide_no_others(rows: list[tuple[int, ...]], data: st.DataObject) -> None:
    known = list(dict.fromkeys(rows))
    words = np.array(known, np.int64).reshape(-1)
    width = len(known[0])
    hashed = np.zeros(1 << (2 * len(known) - 1).bit_length(), np.int32)
    enter_rows(words, width, len(known), np.zeros(len(known), np.int32), hashed)
    gone = data.draw(st.lists(st.sampled_from(range(len(known))), unique=True))
    for number in gone:
        forget_row(words, width, number, hashed)
    numbers = np.empty(len(known), np.int32)
    find_rows(words, width, words, numbers, hashed)
    assert numbers.tolist() == [-1 if number in gone else number for number in range(len(known))]
