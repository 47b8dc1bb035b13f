"""Bits that say which terms may stand side by side."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tocsin.text.kernels.neighbours import may_be_neighbours, no_neighbours, note_neighbours, pair_of

ELEMENT = 1 << 32


def noted(elements: list[list[int]], bits: np.ndarray) -> None:
    terms = [term for words in elements for term in words]
    places = [number * ELEMENT + at for number, words in enumerate(elements) for at in range(len(words))]
    note_neighbours(np.array(terms, np.int32), np.array(places, np.int64), len(terms), bits)


@given(
    documents=st.lists(st.lists(st.lists(st.integers(-1, 9), max_size=9), max_size=3), min_size=1, max_size=3)
)
def test_neighbours_are_never_denied_and_others_mostly_are(documents: list[list[list[int]]]):
    bits = no_neighbours()
    for elements in documents:
        noted(elements, bits)
        pairs = {pair for words in elements for pair in pairwise(words)}
        known = {pair_of(a, b) for a, b in pairs if a >= 0 and b >= 0}
        for a in range(10):
            for b in range(10):
                assert may_be_neighbours(bits, int(pair_of(a, b))) == (pair_of(a, b) in known)


def test_no_pair_is_always_allowed():
    bits = no_neighbours()
    assert may_be_neighbours(bits, 0)
    assert all(pair_of(a, b) != 0 for a in range(100) for b in range(100))


def test_pairs_are_spread_over_the_bits():
    pairs = {int(pair_of(a, b)) for a in range(60) for b in range(60)}
    assert len(pairs) > 2500
    assert int(pair_of(1, 2)) != int(pair_of(2, 1))
