"""Scores to three digits, and their quantiles."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.history.overview.score_codes import CODES, QUANTILES, quantiles, score_codes, scores_of_codes

scores = st.floats(0, 1e9, allow_subnormal=False)


@given(st.lists(scores, min_size=1, max_size=50))
def test_a_code_is_near_its_score_and_in_its_order(given_scores: list[float]) -> None:
    exact = np.array(sorted(given_scores))
    codes = score_codes(exact)
    assert (np.diff(codes) >= 0).all()
    assert ((codes >= 0) & (codes < CODES)).all()
    near = scores_of_codes(codes)
    large = exact > 1e-50
    assert np.allclose(near[large], exact[large], rtol=0.00501, atol=0)
    assert (near[~large] < 1.1e-50).all()


@pytest.mark.parametrize(
    ("score", "shown"), [(0.0, 0.0), (1.0, 1.0), (1.4142, 1.41), (0.9996, 1.0), (123456.0, 123000.0)]
)
def test_three_digits(score: float, shown: float) -> None:
    assert scores_of_codes(score_codes(np.array([score]))).tolist() == [shown]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 20)), max_size=60))
def test_quantiles_are_those_of_the_sorted_scores(noted: list[tuple[int, int]]) -> None:
    pairs = sorted(set(noted))
    counts = [noted.count(pair) for pair in pairs]
    rule, code = (np.array([pair[place] for pair in pairs], np.int64) for place in (0, 1))
    found = quantiles(rule, 60_100 + code, np.array(counts, np.int64), 5)
    for number in range(5):
        own = sorted(score for of, score in noted if of == number)
        if not own:
            assert np.isnan(found[number]).all()
            continue
        wanted = [own[max(1, math.ceil(share * len(own) - 1e-9)) - 1] for share in QUANTILES]
        assert found[number].tolist() == scores_of_codes(60_100 + np.array(wanted)).tolist()
