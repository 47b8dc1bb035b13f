from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise

from hypothesis import given
from tests.text_cases import Weights, documents, flat_queries, text_queries, word_weights

from tocsin.text import Group, Leaf, Operation, TextQuery, judge, words_of
from tocsin.text.language.query import ANY_GAP, Word
from tocsin.text.meaning import Document


def stands_somewhere(leaf: Leaf, elements: Sequence[list[str]]) -> bool:
    """Whether any choice of places, one for each word in order, suits the phrase."""
    for words in elements:
        for places in combinations(range(len(words)), len(leaf.words)):
            steps = [after - before - 1 for before, after in pairwise(places)]
            near = leaf.gap == ANY_GAP or all(between <= leaf.gap for between in steps)
            if near and all(map(covers, leaf.words, (words[place] for place in places))):
                return True
    return False


def covers(asked: Word, word: str) -> bool:
    return word.startswith(asked.text) if asked.is_prefix else word == asked.text


@given(text_queries(), documents(longest=8))
def test_phrase_occurs_where_some_choice_of_places_suits_it(query: TextQuery, texts: list[str]) -> None:
    document = Document(texts)
    elements = [words_of(text) for text in texts]
    for leaf in query.leaves():
        assert document.occurs(leaf) == stands_somewhere(leaf, elements)


@given(text_queries(), documents(), word_weights())
def test_score_is_not_negative_and_0_where_the_query_fails(
    query: TextQuery, texts: list[str], weights: Weights
) -> None:
    verdict = judge(query, texts, weights)
    assert verdict.score >= 0
    assert verdict.holds or verdict.score == 0


@given(flat_queries(), documents())
def test_flat_groups_keep_to_their_ranges(query: TextQuery, texts: list[str]) -> None:
    verdict = judge(query, texts, Weights({}, 1.0))
    plain = sum(not leaf.negated for leaf in query.leaves())
    count = len(list(query.leaves()))
    operation = next(step.operation for step in query.steps if isinstance(step, Group))
    if not verdict.holds:
        return
    rounding = 1 + 1e-12
    if operation is Operation.ACCRUE:
        assert 1 / rounding <= verdict.score <= plain**0.5 * rounding
    elif operation is Operation.OR:
        assert plain**-0.5 / rounding <= verdict.score <= rounding
    else:
        assert 0 < verdict.score <= count**-0.5 * rounding


@given(text_queries(), documents(), word_weights())
def test_verdict_is_of_the_words_and_not_of_how_they_are_written(
    query: TextQuery, texts: list[str], weights: Weights
) -> None:
    rewritten = [" ".join(words_of(text)) for text in texts]
    assert judge(query, rewritten, weights) == judge(query, texts, weights)
