"""The text filter finds just the queries that hold, whatever else was asked of it before."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.text.filters import filter_of, holds, kernel_words
from tests.text_cases import Weights, documents, flat_queries, text_queries, word_weights

from tocsin.text import TextFilter, TextQuery, documents_of_texts, parse_query, query_code
from tocsin.text.kernels.trie_matches import CANDIDATES, HIT
from tocsin.text.meaning import Document, judge_document

thresholds = st.sampled_from([math.nan, math.nan, 0.0, 0.3, 0.7, 1.0, 1.1, math.sqrt(2), 1.5, 1.9, 2.0])
queries = st.lists(st.tuples(st.one_of(text_queries(), flat_queries()), thresholds), max_size=8)


def found_by(text_filter: TextFilter, texts: list[list[str]], group: int = 0) -> list[list[int]]:
    start, found = text_filter.find(documents_of_texts(texts), group)[:2]
    assert start[0] == 0
    assert start[-1] == len(found)
    return [found[start[i] : start[i + 1]].tolist() for i in range(len(texts))]


def counted(text_filter: TextFilter, texts: list[list[str]]) -> list[int]:
    """Branch nodes visited, queries hit, candidates, queries found."""
    counts: list[int] = text_filter.find(documents_of_texts(texts), 0).count.tolist()
    return counts


def written(*queries: str) -> list[TextQuery]:
    return [parse_query(query) for query in queries]


@given(
    queries=queries,
    texts=st.lists(documents(), max_size=4),
    weights=word_weights(),
    selective=st.booleans(),
)
def test_it_finds_what_the_obvious_evaluator_says(
    queries: list[tuple[TextQuery, float]], texts: list[list[str]], weights: Weights, selective: bool
):
    text_filter = filter_of(
        [query for query, _ in queries], [threshold for _, threshold in queries], weights, selective=selective
    )
    assert found_by(text_filter, texts) == [
        [
            number
            for number, (query, threshold) in enumerate(queries)
            if holds(query, threshold, text, weights)
        ]
        for text in texts
    ]


@given(queries=queries, texts=documents(), weights=word_weights())
def test_scores_come_with_what_is_found(
    queries: list[tuple[TextQuery, float]], texts: list[str], weights: Weights
):
    text_filter = filter_of([query for query, _ in queries], [limit for _, limit in queries], weights)
    start, found, score, _ = text_filter.find(documents_of_texts([["a b"], texts, []]), 0, with_scores=True)
    assert found_by(text_filter, [["a b"], texts, []]) == [
        found[start[i] : start[i + 1]].tolist() for i in range(3)
    ]
    for document, text in enumerate((["a b"], texts)):
        for i in range(start[document], start[document + 1]):
            query = queries[found[i]][0]
            assert score[i] == judge_document(query, Document(text), weights).score


@given(queries=queries, texts=documents(), weights=word_weights())
def test_asking_of_one_query_gives_what_finding_does(
    queries: list[tuple[TextQuery, float]], texts: list[str], weights: Weights
):
    text_filter = filter_of([query for query, _ in queries], [limit for _, limit in queries], weights)
    numbers = np.arange(len(queries), dtype=np.int32)
    truth, score = text_filter.ask(documents_of_texts([texts]), np.zeros_like(numbers), numbers)
    reached = truth & ~(score < text_filter.code.threshold)
    assert found_by(text_filter, [texts]) == [np.flatnonzero(reached).tolist()]


def test_fields_are_searched_apart():
    words = kernel_words([Weights({}), Weights({})])
    code, terms = query_code(written("a & b", "a & b", "b"), [0, 1, 1], [math.nan] * 3, words)
    text_filter = TextFilter.of(code, terms, words, np.ones(3, np.bool_))
    assert found_by(text_filter, [["a b"], ["b"]], 0) == [[0], []]
    assert found_by(text_filter, [["a b"], ["b"]], 1) == [[1, 2], [2]]


def test_what_is_not_indexed_is_only_asked():
    words = kernel_words([Weights({})])
    code, terms = query_code(written("a", "a | b", "b"), [0] * 3, [math.nan] * 3, words)
    text_filter = TextFilter.of(code, terms, words, np.array([True, False, True]))
    assert found_by(text_filter, [["a b"]]) == [[0, 2]]
    asked = np.array([1, 2], np.int32)
    assert text_filter.ask(documents_of_texts([["b"]]), np.zeros_like(asked), asked)[0].tolist() == [True] * 2


def test_no_queries_and_no_documents():
    assert found_by(filter_of([], [], Weights({})), [["a"], []]) == [[], []]
    assert found_by(filter_of(written("a"), [math.nan], Weights({})), []) == []


def test_more_is_found_than_there_was_room_for():
    some = [parse_query("a")] * 500
    text_filter = filter_of(some, [math.nan] * 500, Weights({}))
    texts = [["a"], ["b"], ["a"]]
    assert found_by(text_filter, texts) == [list(range(500)), [], list(range(500))]
    assert text_filter.find(documents_of_texts(texts), 0, with_scores=True).score.tolist() == [1.0] * 1000


def test_candidates_are_what_is_left_to_check():
    queries = written("a", "a & b", '"a b"', "a & !c", "(a | x) & (b | y)", "a, b")
    text_filter = filter_of(queries, [math.nan] * 5 + [0.5], Weights({}))
    assert found_by(text_filter, [["b a"], ["c"]]) == [[0, 1, 3, 4, 5], []]
    assert counted(text_filter, [["b a"], ["c"]]) == [3, 5, 2, 5]
    assert counted(text_filter, [["a"]]) == [1, 4, 2, 3]


def test_a_phrase_is_a_candidate_only_where_its_words_may_be_neighbours():
    queries = written('"a b c"', '"a b"~1', '"a* b"', '"a b" | "b a"', '"a b" & "c d"')
    text_filter = filter_of(queries, [math.nan] * 5, Weights({}))
    for text, found, candidates in (
        (["a x b c d"], [1], 3),
        (["b", "a"], [], 3),
        (["b a b c"], [0, 1, 2, 3], 4),
    ):
        assert found_by(text_filter, [text]) == [found]
        assert counted(text_filter, [text])[CANDIDATES] == candidates


def test_threads_share_a_filter():
    queries = written(*(f'"w{n} w{n + 1}" | w{n} & w{n + 2}' for n in range(200)))
    text_filter = filter_of(queries, [math.nan] * 200, Weights({}))
    texts = [[" ".join(f"w{(i * step) % 203}" for i in range(60))] for step in range(1, 40)]
    expected = found_by(text_filter, texts)
    with ThreadPoolExecutor(4) as pool:
        assert all(found == expected for found in pool.map(lambda _: found_by(text_filter, texts), range(40)))


# ---- Selective indexing


def test_what_selective_indexing_saves():
    """Documents with one word of three are never looked at, as none can reach the threshold."""
    weights = Weights({"rare": 5.0, "usual": 2.0, "common": 1.0})
    queries = written("rare, usual, common")
    texts = [["common"]] * 10 + [["usual"]] * 5 + [["usual common"]] * 2 + [["rare usual common"]]
    everything = filter_of(queries, [1.2], weights, selective=False)
    some = filter_of(queries, [1.2], weights)
    assert found_by(some, texts) == found_by(everything, texts) == [[]] * 15 + [[0]] * 3
    assert counted(everything, texts)[HIT] == 18
    assert counted(some, texts)[HIT] == 8


def test_the_papers_criterion_for_or_would_lose_matches():
    """It leaves out words whose idf is below the threshold; but a score is not a weight."""
    weights = Weights({"rare": 5.0, "common": 0.5})
    query, threshold = parse_query("rare | common"), 0.9
    insignificant = [word for word, idf in weights.known.items() if idf < threshold]
    assert insignificant == ["common"]
    assert holds(query, threshold, insignificant, weights)
    assert found_by(filter_of([query], [threshold], weights), [insignificant]) == [[0]]


def test_the_papers_criterion_for_accrue_would_lose_matches():
    """The most insignificant sub-vector: the most words whose vector, as a share of the query's, is
    shorter than the threshold. It bounds a cosine of document and query, and not the paper's score."""
    weights = Weights({"rare": 5.0, "usual": 1.0, "common": 0.5})
    query, threshold = parse_query("rare, usual, common"), 0.5
    length = math.hypot(*weights.known.values())
    insignificant = ["usual", "common"]
    assert math.hypot(*(weights.idf(word) for word in insignificant)) / length < threshold
    assert holds(query, threshold, insignificant, weights)
    assert found_by(filter_of([query], [threshold], weights), [insignificant]) == [[0]]


# ---- Words that come to weigh otherwise


def reweighed(text_filter: TextFilter, weights: Weights, limit: float = 0.1) -> TextFilter:
    words = kernel_words([weights])
    terms = text_filter.terms
    idf = [
        weights.idf(terms.data[a:b].tobytes().decode())
        for a, b in zip(terms.start, terms.start[1:], strict=False)
    ]
    return text_filter.reweighed(terms._replace(idf=np.array(idf)), words, limit)


def test_paths_are_made_anew_when_the_dictionary_has_drifted():
    queries = written("a & b", "a & c", "a & d")
    text_filter = filter_of(queries, [math.nan] * 3, Weights({"a": 5.0}))
    a_little = reweighed(text_filter, Weights({"a": 3.0, "b": 4.0}), limit=0.4)
    assert a_little.trie is text_filter.trie
    assert a_little.drift(a_little.terms) == pytest.approx(1 / 3)
    much = reweighed(text_filter, Weights({"a": 0.5}), limit=0.4)
    assert much.trie is not text_filter.trie
    assert much.drift(much.terms) == 0
    for each in (text_filter, a_little, much):
        assert found_by(each, [["a b"], ["d a"], ["c"]]) == [[0], [2], []]


def test_what_weighed_nothing_is_indexed_once_it_weighs_something():
    queries = written("a | b", "b", "a, b, c")
    without = Weights({"b": 0.0})
    text_filter = filter_of(queries, [0.5, 0.5, 1.5], without)
    assert found_by(text_filter, [["b"], ["a"], ["a b c"]]) == [[], [0], [0]]
    after = reweighed(text_filter, Weights({}), limit=1.0)
    assert found_by(after, [["b"], ["a"], ["a b c"]]) == [[0, 1], [0], [0, 1, 2]]
