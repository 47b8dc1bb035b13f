from __future__ import annotations

from math import inf, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.text_cases import IDFS, WORDS, Weights, documents, flat_queries, text_queries, word_weights
from tests.text_scores import CASES

from tocsin.text import TextQuery, judge, parse_query, threshold_warning
from tocsin.text.language.threshold_checks import score_range

queries = st.one_of(text_queries(), flat_queries())
something = st.sampled_from([idf for idf in IDFS if idf])
heavy_words = st.builds(Weights, st.fixed_dictionaries(dict.fromkeys(WORDS, something)), something)
ABOVE, BELOW = 1 + 1e-9, 1 - 1e-9


@pytest.mark.parametrize(
    ("text", "most", "usual_most", "usual_least"),
    [
        ("a", 1, 1, 1),
        ('"a b"~3', 1, 1, 1),
        ("a, b, c", sqrt(3), sqrt(3), 1),
        ("a, b, !c", sqrt(2), sqrt(2), 1),
        ("a | b | c", 1, 1, 1 / sqrt(3)),
        ("a & b", 1, 1 / sqrt(2), 0),
        ("a & !b", 1, 1 / sqrt(2), 0),
        ("a & !b & !c & !d", 1 / sqrt(3), 1 / sqrt(4), 0),
        ("(a | b), c", sqrt(2), sqrt(2), 1 / sqrt(2)),
        ("(a, b) | c", sqrt(2), sqrt(2), 1 / sqrt(2)),
        ("(a, b) & c", sqrt(2), sqrt(2 / 3), 0),
        ("(a & b), c", sqrt(2), sqrt(3 / 2), 0),
        ("(a, !b) | c", 1, 1, 0),
    ],
)
def test_range(text: str, most: float, usual_most: float, usual_least: float) -> None:
    assert score_range(parse_query(text)) == pytest.approx((most, usual_most, usual_least))


@given(queries, documents(), word_weights())
def test_no_score_is_above_the_range(query: TextQuery, texts: list[str], weights: Weights) -> None:
    assert judge(query, texts, weights).score <= score_range(query).most * ABOVE


@given(queries, documents(), heavy_words)
def test_scores_are_within_the_usual_range_where_all_words_weigh(
    query: TextQuery, texts: list[str], weights: Weights
) -> None:
    verdict = judge(query, texts, weights)
    found = score_range(query)
    if verdict.holds:
        assert found.usual_least * BELOW <= verdict.score <= found.usual_most * ABOVE


@given(queries, documents(), word_weights())
def test_a_score_that_is_reached_is_never_out_of_reach(
    query: TextQuery, texts: list[str], weights: Weights
) -> None:
    score = judge(query, texts, weights).score
    assert not (threshold_warning(query, score) or "").startswith("no text reaches")


def test_the_range_holds_for_what_was_worked_out_by_hand() -> None:
    for case in CASES:
        assert case.score <= score_range(parse_query(case.query, any_gap=case.tm)).most * ABOVE


@pytest.mark.parametrize(
    ("text", "threshold", "part"),
    [
        ("golf", 0, "same as boolean"),
        ("golf", 0.5, "fails only where"),
        ("golf", 1, "fails only where"),
        ("golf", 1.01, "no text reaches the threshold 1.01: this query scores at most 1"),
        ("golf, trophy", 1, "fails only where"),
        ("golf, trophy", 1.42, "no text reaches the threshold 1.42: this query scores at most 1.414"),
        ("golf | trophy", 0.7, "elsewhere this query scores at least 0.7071"),
        ("golf & trophy", 0.8, "reached only where some of the words weigh nothing"),
        ("golf & trophy", 1.1, "no text reaches"),
        ("golf", inf, "no text reaches"),
    ],
)
def test_warns(text: str, threshold: float, part: str) -> None:
    assert part in (threshold_warning(parse_query(text), threshold) or "")


@pytest.mark.parametrize(
    ("text", "threshold"),
    [
        ("golf, trophy", 1.3),
        ("golf, trophy", sqrt(2)),
        ("golf | trophy", 0.8),
        ("golf | trophy", 1),
        ("golf & trophy", 0.1),
        ("golf & trophy", 1 / sqrt(2)),
        ('"David Lee", golf, trophy', 1.3),
    ],
)
def test_is_silent_about_thresholds_that_mean_something(text: str, threshold: float) -> None:
    assert threshold_warning(parse_query(text), threshold) is None
