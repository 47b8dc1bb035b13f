"""Documents cut and looked up by kernels, against the grammar's words."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from tests.text.kernels.readable_words import Found, found_in, read, term_texts
from tests.text_cases import documents as document_texts

from tocsin.arrays.packed import packed_bytes
from tocsin.text import Terms, documents_of_texts, words_of
from tocsin.text.kernels import document_words
from tocsin.text.kernels.document_words import STAMP, no_document_words, room_for
from tocsin.text.kernels.terms import number_terms

Named = tuple[int, str, bool]
"""A word of a query: its text group, its text, whether it is a prefix."""


def terms_of(named: list[Named]) -> tuple[list[int], Terms]:
    start, data = packed_bytes([text.encode() for _, text, _ in named])
    term, terms = number_terms(
        np.array([group for group, _, _ in named], np.int32),
        np.array([is_prefix for _, _, is_prefix in named], np.uint8),
        start,
        data,
    )
    return term.tolist(), terms


def expected(texts: list[str], terms: Terms, group: int) -> Found:
    words = [
        (word, (element, place))
        for element, text in enumerate(texts)
        for place, word in enumerate(words_of(text))
    ]
    found: dict[int, list[tuple[int, int]]] = {}
    for number, (its_group, asked, is_prefix) in enumerate(term_texts(terms)):
        places = [place for word, place in words if word == asked or (is_prefix and word.startswith(asked))]
        if places and its_group == group:
            found[number] = places
    return Found(words, found)


def check(batch: list[list[str]], terms: Terms, group: int) -> None:
    documents = documents_of_texts(batch)
    words = no_document_words(len(terms.group), room_for(documents))
    for number, texts in enumerate(batch):
        read(documents, number, terms, group, words)
        found, wanted = found_in(words), expected(texts, terms, group)
        assert found.words == wanted.words
        assert found.terms == wanted.terms
        assert all(places == sorted(places) for places in found.terms.values())


ANY_TEXT = st.one_of(
    st.text(max_size=80),
    st.text(st.characters(codec="ascii"), max_size=200),
    st.text("ab_Z9 -\0é日ß", max_size=200),
)
SOME_WORDS = st.one_of(st.text("ab", min_size=1, max_size=12), st.sampled_from(["é", "日", "aé", "b" * 70]))


@given(
    st.lists(st.one_of(document_texts(), st.lists(ANY_TEXT, max_size=3)), max_size=4),
    st.lists(st.tuples(st.integers(0, 2), SOME_WORDS, st.booleans()), max_size=12),
    st.integers(0, 2),
)
@example([["a" * 7, "a" * 8, "a" * 9, "a" * 63, "a" * 64, "a" * 65, "A" * 129]], [(0, "a" * 64, True)], 0)
@example([["x" * 60 + " ab cd", "x" * 63 + " ab", "x" * 64, "", " " * 64 + "a"]], [(0, "ab", False)], 0)
def test_words_and_terms_of_random_documents(batch: list[list[str]], named: list[Named], group: int) -> None:
    check(batch, terms_of(named)[1], group)


def test_prefixes_of_every_length_and_of_each_other() -> None:
    """Also of words that are terms themselves, whose prefixes are found beforehand."""
    long = "abcdefghij" * 20
    prefixes = [(0, long[:size], True) for size in range(1, len(long) + 1)]
    _, terms = terms_of([*prefixes, (0, long, False), (0, long[:70], False), (0, long[:3], False)])
    check([[long], [long[:70]], [long + "x"], [long[:50] + "-" + long[:3]], ["b" + long]], terms, 0)


def test_prefixes_that_come_later_cover_words_that_were_there() -> None:
    named = [(0, "golf", False), (1, "golf", False), (0, "gol", True), (0, "golf", False)]
    numbers, terms = terms_of([*named, (0, "g", True), (0, "golf", False), (0, "golf", True)])
    assert numbers == [0, 1, 2, 0, 3, 0, 4]
    check([["Golf golfer g"], ["go"]], terms, 0)
    check([["Golf golfer g"]], terms, 1)


@given(st.lists(st.tuples(st.integers(0, 3), SOME_WORDS, st.booleans()), max_size=60))
def test_each_different_term_is_numbered_once_as_they_come(named: list[Named]) -> None:
    numbers, terms = terms_of(named)
    different = list(dict.fromkeys(named))
    assert numbers == [different.index(each) for each in named]
    assert term_texts(terms) == different


def test_stamps_begin_anew_before_they_run_out() -> None:
    _, terms = terms_of([(0, "a", False), (0, "b", False)])
    documents = documents_of_texts([["a a"], ["b"]])
    words = no_document_words(len(terms.group), room_for(documents))
    read(documents, 0, terms, 0, words)
    words.state[STAMP] = document_words._LAST_STAMP - 1
    for number, holds in ((1, 1), (0, 0), (1, 1), (0, 0)):
        read(documents, number, terms, 0, words)
        assert list(found_in(words).terms) == [holds]
    assert words.state[STAMP] < 5


def test_a_long_document() -> None:
    _, terms = terms_of([(0, "w7", False), (0, "w1", True), (0, "é", False)])
    check([[" ".join(f"w{number % 1000}" for number in range(50_000))], ["é " * 20_000]], terms, 0)
