"""How often text queries hold, by sketches: exact for seldom words, within the known error for others."""

from __future__ import annotations

import math
import random
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin import Dictionary
from tocsin.events import batch_of_table
from tocsin.history.statistics import WordCounter
from tocsin.history.statistics.resemblance import prefix_sketch, text_selectivities, text_selectivity
from tocsin.history.statistics.sketch_hashes import row_hashes
from tocsin.history.statistics.word_sketches import WordSketches, sketches_of_words
from tocsin.text import judge, parse_query, query_code, words_for_kernels
from tocsin.text.settings import NoDictionary

SIZE = 64
DOCUMENTS = 3_000
LETTERS = "abcdefgh"


def sketches_of(texts: list[str], size: int = SIZE) -> WordSketches:
    counter = WordCounter(size)
    column = batch_of_table(pa.table({"t": texts}), [("t",)]).columns[("t",)]
    counter.add(column, row_hashes(1, 0, 0, len(texts)))
    return sketches_of_words(counter.count(), len(texts), size)


def share(query: str, texts: list[str]) -> float:
    """The truth; equal texts are judged once."""
    asked = parse_query(query)
    weights = NoDictionary()
    counts = Counter(texts)
    held = sum(count for text, count in counts.items() if judge(asked, [text], weights).holds)
    return held / len(texts)


def error(true: float, largest: float) -> float:
    """How far an estimate is off: of the documents of the query's most frequent word, a share of
    `largest`, there are SIZE in the sample, and of those that satisfy the query as many as fall into it."""
    return math.sqrt(max(true, largest / SIZE) * (largest + true) / SIZE)


def largest_share(query: str) -> float:
    words = {word.text + "*" * word.is_prefix for leaf in parse_query(query).leaves() for word in leaf.words}
    return max(share(word, TEXTS) for word in words)


def corpus(documents: int) -> list[str]:
    """Words of all sorts of frequencies, some of which go together."""
    chosen = random.Random(5)
    texts = []
    for _ in range(documents):
        words = [letter for place, letter in enumerate(LETTERS) if chosen.random() < 0.6 / (1 + place)]
        if "a" in words and chosen.random() < 0.5:
            words.append("friend")
        if chosen.random() < 0.004:
            words.append("rare")
        texts.append(" ".join(words))
    return texts


TEXTS = corpus(DOCUMENTS)
SKETCHES = sketches_of(TEXTS)
SMALL_TEXTS = corpus(SIZE)
SMALL = sketches_of(SMALL_TEXTS)

QUERIES = [
    "a",
    "a & b",
    "a & friend",
    "a & !friend",
    "a | b | c",
    "friend, b, c",
    "a, b, !c",
    "(a | b) & (c | d)",
    "(a & b) | (c & d & e)",
    "fri* | b",
    "f* & a",
    "rare",
    "rare | a",
    "rare & !a",
    "b & !c & !d",
]


@pytest.mark.parametrize("query", QUERIES)
def test_exact_when_sketches_are_whole(query: str) -> None:
    """In a corpus with no more documents than a sketch has hashes nothing is left to chance."""
    least = 0.5 / (len(SMALL_TEXTS) + 1)
    assert text_selectivity(parse_query(query), SMALL) == pytest.approx(max(least, share(query, SMALL_TEXTS)))


@pytest.mark.parametrize("query", QUERIES)
def test_within_the_error_of_so_many_hashes(query: str) -> None:
    true = share(query, TEXTS)
    allowed = 3 * error(true, largest_share(query))
    assert text_selectivity(parse_query(query), SKETCHES) == pytest.approx(true, abs=allowed)


@pytest.mark.parametrize("word", [*LETTERS, "friend", "rare"])
def test_single_words_are_exact(word: str) -> None:
    assert text_selectivity(parse_query(word), SKETCHES) == pytest.approx(share(word, TEXTS))


def test_most_random_queries_are_near() -> None:
    chosen = random.Random(17)
    near = 0
    rounds = 100
    for _ in range(rounds):
        words = chosen.sample([*LETTERS, "friend", "rare"], chosen.randint(2, 4))
        query = chosen.choice([" & ", " | ", ", "]).join(words)
        true = share(query, TEXTS)
        off = abs(text_selectivity(parse_query(query), SKETCHES) - true)
        near += off <= 2 * error(true, largest_share(query))
    assert near >= 0.95 * rounds


def test_phrases_count_as_all_their_words() -> None:
    assert text_selectivity(parse_query('"a friend"'), SKETCHES) == text_selectivity(
        parse_query("a & friend"), SKETCHES
    )


def test_unknown_words_are_unlikely_but_possible() -> None:
    for query in ("tennis", "tennis & a", '"tennis a"', "tenn*"):
        assert 0 < text_selectivity(parse_query(query), SKETCHES) <= 1 / DOCUMENTS
    assert text_selectivity(parse_query("a & !tennis"), SKETCHES) == pytest.approx(share("a", TEXTS))


def test_threshold_asks_for_several_words_at_once() -> None:
    query = parse_query("a, b, c")
    shares = [text_selectivity(query, SKETCHES, threshold) for threshold in (0.0, 1.0, 1.4, 1.7)]
    assert shares[0] == shares[1] > shares[2] > shares[3]
    together = text_selectivity(parse_query("a & b & c"), SKETCHES)
    assert shares[3] == pytest.approx(together, rel=0.5)
    assert text_selectivity(parse_query("a | b"), SKETCHES, 0.9) == text_selectivity(
        parse_query("a | b"), SKETCHES
    )


def test_words_that_never_meet_in_the_sample_are_taken_to_be_independent() -> None:
    texts = ["often"] * 1999 + ["seldom often"]
    found = text_selectivity(parse_query("often & seldom"), sketches_of(texts, 8))
    assert 0 < found <= 1 / 2000 + 1e-12


def test_prefix_of_very_many_words() -> None:
    texts = [f"w{number} w{number + 1} other" for number in range(1_000)] + ["other"] * 1_000
    sketches = sketches_of(texts)
    found = prefix_sketch("w", sketches)
    assert 600 < found.documents <= 2_000
    assert text_selectivity(parse_query("w*"), sketches) == pytest.approx(0.5, abs=0.5)
    assert text_selectivity(parse_query("w10*"), sketches) == pytest.approx(share("w10*", texts), abs=0.01)


@given(
    st.lists(st.lists(st.sampled_from("abcd"), max_size=4).map(" ".join), min_size=1, max_size=30),
    st.sampled_from(QUERIES),
)
def test_never_out_of_bounds_and_exact_for_few(texts: list[str], query: str) -> None:
    sketches = sketches_of(texts, 32)
    least = 0.5 / (len(texts) + 1)
    assert text_selectivity(parse_query(query), sketches) == pytest.approx(max(least, share(query, texts)))


def test_many_queries_at_once_and_fields_apart() -> None:
    queries = [parse_query(query) for query in QUERIES]
    twice = [*queries, *queries]
    groups = [0] * len(queries) + [1] * len(queries)
    code, terms = query_code(twice, groups, [0.0] * len(twice), words_for_kernels([Dictionary()] * 2))
    for group, sketches in enumerate((SKETCHES, SMALL)):
        chosen = np.flatnonzero(code.group == group).astype(np.int32)
        assert text_selectivities(code, terms, chosen, sketches).tolist() == [
            text_selectivity(query, sketches) for query in queries
        ]
    assert len(text_selectivities(code, terms, np.empty(0, np.int32), SMALL)) == 0


def test_long_and_deep_queries() -> None:
    long = " | ".join(f"x{number} & a" for number in range(5_000))
    assert 0 < text_selectivity(parse_query(long), SKETCHES) <= 1
    deep = "(" * 2_000 + "a" + " & b | c)" * 2_000
    assert 0 < text_selectivity(parse_query(deep), SKETCHES) <= 1
