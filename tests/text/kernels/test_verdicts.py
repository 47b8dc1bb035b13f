"""Queries judged by kernels, against the grammar's evaluator: truth, and scores to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.text_cases import Weights, documents, flat_queries, text_queries, word_weights

from tocsin.arrays.packed import packed_bytes
from tocsin.arrays.text_table import table_of_texts
from tocsin.text import (
    DictionaryWords,
    TextQuery,
    document_queries,
    documents_of_texts,
    judge,
    parse_query,
    query_code,
    words_of,
)


def dictionary_of(weights: Weights, group: int = 0) -> DictionaryWords:
    """The weights of a text group; the groups before it know no word."""
    start, data = packed_bytes([word.encode() for word in weights.known])
    groups = np.full(len(weights.known), group, np.int32)
    table = table_of_texts(groups, start, data)
    unknown = np.full(group + 1, weights.unknown)
    return DictionaryWords(groups, start, data, np.array(list(weights.known.values())), table, unknown)


def check(queries: list[TextQuery], batch: list[list[str]], weights: Weights, group: int = 0) -> None:
    dictionary = dictionary_of(weights, group)
    code, terms = query_code(queries, [group] * len(queries), [np.nan] * len(queries), dictionary)
    texts = documents_of_texts(batch)
    document = np.repeat(np.arange(len(batch), dtype=np.int32), len(queries))
    query = np.tile(np.arange(len(queries), dtype=np.int32), len(batch))
    asked = document_queries.DocumentQueries(code, terms, dictionary)
    holds, score = asked.ask(texts, document, query)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(document_queries, "_WORK_AT_ONCE", 7)
        cut = asked.ask(texts, document, query)
    assert [each.tolist() for each in cut] == [holds.tolist(), score.tolist()]
    wanted = [judge(each, document, weights) for document in batch for each in queries]
    assert holds.tolist() == [verdict.holds for verdict in wanted]
    assert score.tolist() == [verdict.score for verdict in wanted]


@given(
    st.lists(st.one_of(text_queries(), flat_queries()), min_size=1, max_size=6),
    st.lists(documents(), max_size=4),
    word_weights(),
    st.integers(0, 2),
)
def test_random_queries_and_documents(
    queries: list[TextQuery], batch: list[list[str]], weights: Weights, group: int
) -> None:
    check(queries, batch, weights, group)


WORD = st.sampled_from(["a", "b", "ab", "a*", "b*"])
GAP = st.sampled_from(["", "~1", "~2", "~3", "~*"])


@given(
    st.lists(st.tuples(st.lists(WORD, min_size=2, max_size=5), GAP), min_size=1, max_size=6),
    st.lists(
        st.lists(st.lists(st.sampled_from(["a", "b", "ab", "abc", "x"]), max_size=14), max_size=3), max_size=4
    ),
)
def test_phrases_that_overlap_themselves(
    phrases: list[tuple[list[str], str]], batch: list[list[list[str]]]
) -> None:
    queries = [parse_query(f'"{" ".join(words)}"{gap}') for words, gap in phrases]
    check(queries, [[" ".join(words) for words in texts] for texts in batch], Weights({"a": 0.3, "b": 1.7}))


def test_a_gap_is_not_filled_greedily() -> None:
    """The first `a` is too far from any `b`, the second is not; the first `b` is too far from `c`."""
    check([parse_query('"a b c"~1')], [["a x a x b b x c"], ["a b x x c"]], Weights({}))


def test_no_phrase_crosses_from_one_element_to_the_next() -> None:
    batch = [["a", "b"], ["x a", "b x"], ["a x", "", "b"], ["a b"], ["b", "a b"]]
    check([parse_query(text) for text in ('"a b"', '"a b"~5', '"a b"~*', "a & b")], batch, Weights({}))


def test_largest_count_is_of_any_word_named_or_not() -> None:
    """Words that no query names find each other by their bytes, long ones too."""
    batch = [
        ["other Other OTHER golf golf"],
        ["w" * 9 + "a " + "w" * 9 + "b " + "w" * 9 + "a golf"],
        [" ".join(f"word{number % 700}" for number in range(2_000)) + " golf"],
        ["golf é É e\u0301"],
    ]
    check([parse_query("golf"), parse_query("golf, tennis, é*")], batch, Weights({"golf": 2.0}))


def test_a_prefix_weighs_the_most_that_a_word_it_covers_does() -> None:
    """Some of those words are named by queries, some only by the dictionary, some by neither."""
    weights = Weights({"golf": 0.25, "golfer": 3.0, "golfing": 1.5}, unknown=2.5)
    texts = ["golf golf golf golfer", "golfish golf", "golfing golfing golf", "gold", "golf"]
    check(
        [parse_query(text) for text in ("golf*", "golf* & golfer", '"golf* golf"~*, x', "go*, golf*")],
        [[text] for text in texts],
        weights,
    )


def test_words_that_weigh_nothing() -> None:
    """Alone they score 0 and hold; in a phrase they keep their place and do not count."""
    weights = Weights({"the": 0.0, "of": 0.0}, unknown=1.5)
    queries = [parse_query(text) for text in ("the", '"the sea"', '"the of"', "the, sea", "the & sea & !of")]
    check(queries, [["the sea"], ["the of sea"], ["of the"], ["the"]], weights)


def test_pairs_in_any_order_of_documents() -> None:
    dictionary = dictionary_of(Weights({}))
    code, terms = query_code([parse_query("a"), parse_query("b")], [0, 0], [np.nan] * 2, dictionary)
    texts = documents_of_texts([["a"], ["b"], ["a b"], []])
    document = np.array([2, 0, 0, 3, 1, 2, 1], np.int32)
    query = np.array([0, 0, 1, 0, 1, 1, 0], np.int32)
    holds, _ = document_queries.DocumentQueries(code, terms, dictionary).ask(texts, document, query)
    assert holds.tolist() == [True, True, False, False, True, True, False]


@pytest.mark.parametrize("operator", [" & ", " | ", ", "])
def test_long_and_deep_queries(operator: str) -> None:
    flat = operator.join(f"w{number}" for number in range(10_000))
    other = " | " if operator != " | " else " & "
    deep = "(" * 20_000 + "w0" + "".join(f"{(operator, other)[n % 2]}w{n})" for n in range(20_000))
    text = " ".join(f"w{number}" for number in range(10_000))
    assert len(words_of(text)) == 10_000
    check([parse_query(flat), parse_query(deep)], [[text], ["w0 w3"]], Weights({}))
