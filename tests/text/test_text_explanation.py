from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.text_cases import IDFS, Weights, documents, text_queries, word_weights

from tocsin.text import TextExplanation, TextQuery, explain_text, judge, parse_query
from tocsin.text.settings import NoDictionary

TEXTS = [
    """The golfer David Lee lifted the golf trophy at last. It was a long day for Lee, who had played
tennis until he was twenty, and whose golf was a late love.""",
    "Golfers of the year",
]
IDF = Weights({"golf": 2.0, "david": 3.0, "lee": 0.5, "the": 0.0})


PHRASE = "The golfer [David Lee] lifted the golf ..."
FIRST = "The [golfer] David Lee lifted the ..."
WORD = "... Lee lifted the [golf] trophy at last. It ..."


def explained(query: str, threshold: float | None = None, **options: bool) -> TextExplanation:
    return explain_text(parse_query(query, **options), TEXTS, IDF, threshold, **options)


def test_shows_what_was_found_where_and_what_it_weighs() -> None:
    assert explained('"David Lee", golf*, cup, !chess', 1.2).lines() == [
        "score 1.2127 = 1.6667 / 1.3744, at least 1.2",
        "  holds    accrue          value 1.6667",
        f'  found      "david lee"   weight 0.3333 (david 1/3 x 3; lee 2/3 x 0.5)   once: {PHRASE}',
        f"  found      golf*         weight 1.3333 (golf* as golf 2/3 x 2)   4 times: {FIRST}",
        "  missing    cup",
        "  absent     !chess",
    ]


def test_shows_why_a_query_fails() -> None:
    explanation = explained('(golf | chess) & "tennis lee" & !trophy')
    assert explanation.missing == ('"tennis lee"',)
    assert explanation.forbidden == ("trophy",)
    assert explanation.lines() == [
        'score 0: the query does not hold; must not be there: trophy; missing: "tennis lee"',
        "  fails    and",
        "  holds      or             value 1.3333",
        f"  found        golf         weight 1.3333 (golf 2/3 x 2)   2 times: {WORD}",
        "  missing      chess",
        '  missing    "tennis lee"   in the text, but not so: tennis, lee',
        "  present    !trophy        once: ... Lee lifted the golf [trophy] at last. It was a ...",
    ]


def test_shows_why_a_score_is_too_low() -> None:
    below = explained("golf, cup, (lee & chess)", 1.5)
    assert not below.satisfied
    assert below.holds
    assert below.missing == ("cup", "chess")
    assert below.verdict().endswith("below 1.5; missing: cup, chess")
    assert explained("the", 0.5).verdict() == "score 0 (what was found weighs nothing), below 0.5"
    assert explained("the").verdict() == "score 0 (what was found weighs nothing)"
    assert explained("the").satisfied


def test_places_are_in_the_text_as_written() -> None:
    part = explained("golf*").parts[0]
    written = [TEXTS[place.element][start:end] for place in part.places for start, end in place.spans]
    assert written == ["golfer", "golf", "golf", "Golfers"]
    assert part.count == 4


def test_phrases_are_printed_as_they_are_written() -> None:
    assert explained('"the lee"', any_gap=True).parts[0].text == '"the lee"'
    assert explained('"the lee"~*').parts[0].text == '"the lee"~*'


@given(text_queries(), documents(), word_weights(), st.one_of(st.none(), st.sampled_from(IDFS)))
def test_says_what_the_evaluator_says(
    query: TextQuery, texts: list[str], weights: Weights, threshold: float | None
) -> None:
    explanation = explain_text(query, texts, weights, threshold)
    verdict = judge(query, texts, weights)
    assert (explanation.holds, explanation.score) == verdict
    assert explanation.satisfied == (verdict.holds and (threshold is None or verdict.score >= threshold))
    assert len(explanation.parts) == len(query.steps)
    assert len(explanation.lines()) == len(query.steps) + 1


@given(text_queries(), documents())
def test_a_query_that_fails_has_a_reason(query: TextQuery, texts: list[str]) -> None:
    explanation = explain_text(query, texts, NoDictionary())
    if not explanation.holds:
        assert explanation.missing or explanation.forbidden


def test_depth_is_no_limit() -> None:
    depth = 20_000
    query = parse_query("(" * depth + "a" + " & b) | c)" * (depth // 2))
    assert explain_text(query, ["a b"], NoDictionary()).holds
