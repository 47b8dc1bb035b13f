"""The trie filter of the TriggerMan paper: Figures 4 and 5, the algorithms of Figures 6 to 8."""

from __future__ import annotations

import numpy as np
from tests.text.kernels.planted import Planted
from tests.text.kernels.trie_shape import Hung, check_invariants

from tocsin import Dictionary
from tocsin.text import TextFilter, documents_of_texts, judge, parse_query, words_for_kernels
from tocsin.text.kernels.query_code import PLAIN
from tocsin.text.settings import NoDictionary

IDFS = {"a": 7.0, "b": 6.0, "c": 5.0, "d": 4.0, "e": 3.0, "f": 2.0, "g": 1.0}
"""a > b > d > e > f, as the paper's drawing must have had it."""

ANDS = ["a & b & !c", "a & d", 'a & "d e"', "b & f & !g", "a & b"]
P1, P2, P3, P4, P5 = range(5)
ORS = ["a | b", "a | c"]


def planted(queries: list[str]) -> Planted:
    some = Planted(queries, IDFS)
    some.insert(*range(len(queries)))
    check_invariants(some.trie, some.rarity)
    return some


def found(queries: list[str], text: str, thresholds: list[float] | None = None) -> list[int]:
    """The queries that MatchDocument finds in a document."""
    some = Planted(queries, IDFS, thresholds)
    words = words_for_kernels([Dictionary().with_idf(IDFS)])
    text_filter = TextFilter.of(some.code, some.terms, words, np.ones(len(queries), np.bool_))
    start, query = text_filter.find(documents_of_texts([[text]]), 0)[:2]
    assert start.tolist() == [0, len(query)]
    return [int(number) for number in query]


def test_figure_4():
    """One path for each AND, rarest word first; beginnings shared; the predicate below the last word."""
    assert planted(ANDS).shape() == {
        "a": set(),
        "a b": {Hung(P1, to_check=True), Hung(P5, to_check=False)},
        "a d": {Hung(P2, to_check=False)},
        "a d e": {Hung(P3, to_check=True)},
        "b": set(),
        "b f": {Hung(P4, to_check=True)},
    }


def test_the_order_of_writing_leaves_no_trace():
    backwards = ["!c & b & a", "d & a", '"d e" & a', "!g & f & b", "b & a"]
    assert planted(backwards).shape() == planted(ANDS).shape()
    some = Planted(ANDS, IDFS)
    for query in (P4, P1, P5, P3, P2):
        some.insert(query)
    assert some.shape() == planted(ANDS).shape()


def test_predicate_nodes_know_their_negated_words_and_phrases():
    """Figure 4's lists: the words that must not be there, and the ids of words that are one phrase."""
    some = planted(ANDS)
    code = some.code

    def words_of_leaves(query: int, *, negated: bool) -> list[list[str]]:
        return [
            [some.word(term) for term in code.term[code.term_start[leaf] : code.term_start[leaf + 1]]]
            for leaf in range(code.leaf_start[query], code.leaf_start[query + 1])
            if (code.negated[leaf] != PLAIN) == negated
        ]

    negated = [words_of_leaves(query, negated=True) for query in range(5)]
    assert negated == [[["c"]], [], [], [["g"]], []]
    phrases = [
        [words for words in words_of_leaves(query, negated=False) if len(words) > 1] for query in range(5)
    ]
    assert phrases == [[], [], [["d", "e"]], [], []]
    path = ["a", "d", "e"]
    assert [path.index(word) + 1 for word in phrases[P3][0]] == [2, 3]


def test_figure_5():
    """An OR stands below each of its words."""
    assert planted(ORS).shape() == {
        "a": {Hung(0, to_check=False), Hung(1, to_check=False)},
        "b": {Hung(0, to_check=False)},
        "c": {Hung(1, to_check=False)},
    }


def test_case_3_an_accrue_stands_below_each_word_that_is_not_negated():
    assert planted(["a, b, !c"]).shape() == {
        "a": {Hung(0, to_check=True)},
        "b": {Hung(0, to_check=True)},
    }


def test_normal_form_connects_the_words_of_a_phrase_by_and():
    """p = a AND "b c" AND NOT "d e"."""
    assert planted(['a & "b c" & !"d e"']).shape() == {
        "a": set(),
        "a b": set(),
        "a b c": {Hung(0, to_check=True)},
    }


def test_figure_8_visits_the_children_that_appear_in_the_document():
    some = planted(ANDS)
    assert some.search("a d e") == (
        {"a", "a d", "a d e"},
        {Hung(P2, to_check=False), Hung(P3, to_check=True)},
    )
    assert some.search("a b c") == (
        {"a", "a b", "b"},
        {Hung(P1, to_check=True), Hung(P5, to_check=False)},
    )
    assert some.search("b d e f") == ({"b", "b f"}, {Hung(P4, to_check=True)})
    assert some.search("d e f g") == (set(), set())
    assert some.search("") == (set(), set())


def test_figure_8_checks_phrases_by_positions():
    assert found(ANDS, "e a d e") == [P2, P3]
    assert found(ANDS, "a e d") == [P2]
    anywhere = [parse_query(query, any_gap=True) for query in ANDS]
    assert judge(anywhere[P3], ["d x a y e"], NoDictionary()).holds
    assert found(['a & "d e"~*'], "d x a y e") == [0]


def test_figure_7_removes_what_has_a_negated_word():
    assert found(ANDS, "a b") == [P1, P5]
    assert found(ANDS, "a b c") == [P5]
    assert found(ANDS, "b f") == [P4]
    assert found(ANDS, "b f g") == []
    assert found(["a, b, !c"], "x b") == [0]
    assert found(["a, b, !c"], "b c") == []


def test_figure_7_scores_with_the_words_under_which_nothing_was_indexed():
    """A match of `a, b, f` with 1.3 has two of the words; under f, of least idf, it need not stand."""
    some = Planted(["a, b, f"], IDFS, [1.3])
    some.insert(0)
    assert set(some.shape()) == {"a", "b"}
    assert found(["a, b, f"], "b f", [1.3]) == []
    assert found(["a, b, f"], "b f f f", [1.3]) == [0]


def test_figure_6_evaluates_a_composite_query_from_its_basic_sub_queries():
    """q = q1 AND (q2 OR q3), with the paper's q1, q2 and q3; what is found least often leads to it."""
    composite = "(a & b & !c) & ((a | b | c) | (a, b, !c))"
    some = planted([composite])
    assert some.shape() == {"a": set(), "a b": {Hung(0, to_check=True)}}
    for text in ("a b", "b a x", "a", "a b c", "c", "b", ""):
        expected = judge(parse_query(composite), [text], NoDictionary()).holds
        assert found([composite], text) == [0] * expected, text
    assert planted(["(f | g) & (a | c)"]).shape() == {
        "a": {Hung(0, to_check=True)},
        "c": {Hung(0, to_check=True)},
    }
