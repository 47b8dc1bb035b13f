from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from tests.text_cases import documents, text_queries

from tocsin.text import Leaf, PlacedDocument, TextQuery, parse_query, words_of
from tocsin.text.language.highlights import Occurrence
from tocsin.text.language.query import ANY_GAP
from tocsin.text.meaning import Document


def leaf_of(text: str) -> Leaf:
    return next(parse_query(text).leaves())


def test_a_word_is_found_wherever_it_stands() -> None:
    document = PlacedDocument(["Golf and golf", "", "golfers; GOLF"])
    assert document.occurrences(leaf_of("golf")) == [
        Occurrence(0, ((0, 4),)),
        Occurrence(0, ((9, 13),)),
        Occurrence(2, ((9, 13),)),
    ]
    assert len(document.ends(leaf_of("golf*"))) == 4
    assert document.occurrences(leaf_of("golf*"), most=1) == [Occurrence(0, ((0, 4),))]
    assert document.occurrences(leaf_of("tennis")) == []


def test_a_phrase_is_found_with_its_nearest_words() -> None:
    document = PlacedDocument(["a b b x c", "a", "b c"])
    assert document.occurrences(leaf_of('"a b c"~1')) == [Occurrence(0, ((0, 1), (4, 5), (8, 9)))]
    assert document.occurrences(leaf_of('"a b c"')) == []
    assert document.occurrences(leaf_of('"b c"~*')) == [
        Occurrence(0, ((4, 5), (8, 9))),
        Occurrence(2, ((0, 1), (2, 3))),
    ]


def test_adjacent_words_are_shown_as_one() -> None:
    document = PlacedDocument(["David Lee, who knew David the Lee"])
    adjacent, apart = leaf_of('"david lee"'), leaf_of('"david lee"~1')
    assert [each.shown(adjacent) for each in document.occurrences(adjacent)] == [((0, 9),)]
    assert document.occurrences(apart)[-1].shown(apart) == ((20, 25), (30, 33))


@given(text_queries(), documents())
def test_it_finds_what_occurs_and_nothing_else(query: TextQuery, texts: list[str]) -> None:
    document, placed = Document(texts), PlacedDocument(texts)
    for leaf in query.leaves():
        assert bool(placed.ends(leaf)) == document.occurs(leaf)


@given(text_queries(), documents())
def test_every_occurrence_is_one(query: TextQuery, texts: list[str]) -> None:
    placed = PlacedDocument(texts)
    for leaf in query.leaves():
        for element, spans in placed.occurrences(leaf):
            for (start, end), asked in zip(spans, leaf.words, strict=True):
                words = words_of(texts[element][start:end])
                assert any(word.startswith(asked.text) for word in words)
                assert asked.is_prefix or asked.text in words
            for (_, before), (after, _) in pairwise(spans):
                between = sum(before <= word.start and word.end <= after for word in placed.elements[element])
                assert leaf.gap == ANY_GAP or between <= leaf.gap
