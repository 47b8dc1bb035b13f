"""Searching from the filter and from the document."""

from __future__ import annotations

import random

import pytest
from tests.text.kernels.planted import Planted
from tests.text.kernels.trie_shape import Hung, is_table

from tocsin.text.kernels.trie import TO_TABLE

WORDS = [f"w{number}" for number in range(3 * TO_TABLE)]


def subsets(queries: list[str], present: set[str]) -> set[Hung]:
    """The ANDs of words that are all there."""
    return {
        Hung(number, to_check=False)
        for number, query in enumerate(queries)
        if set(query.split(" & ")) <= present
    }


@pytest.mark.parametrize("present", [0, 1, 5, TO_TABLE, 2 * TO_TABLE, 3 * TO_TABLE])
def test_both_ways_find_the_same(present: int):
    """Below `top` there are more children than words in a short document, and fewer than in a long one."""
    choices = random.Random(present)
    queries = [f"top & {word}" for word in WORDS[: 2 * TO_TABLE]]
    queries += [" & ".join(["top", *choices.sample(WORDS, 3)]) for _ in range(100)]
    queries += [" & ".join(choices.sample(WORDS, 2)) for _ in range(100)]
    some = Planted(queries, {"top": 9.0, **{word: 1 + number / 100 for number, word in enumerate(WORDS)}})
    some.insert(*range(len(queries)))
    assert is_table(some.trie, int(some.trie.root_child[0]))
    for _ in range(20):
        document = {"top", *choices.sample(WORDS, present)}
        assert some.search(" ".join(document))[1] == subsets(queries, document)
        document = set(choices.sample(WORDS, present))
        assert some.search(" ".join(document))[1] == subsets(queries, document)


def test_a_query_found_by_several_words_is_hit_once():
    some = Planted(["a | b | c", "a, b, !d", "(a & !d) | b"])
    some.insert(0, 1, 2)
    assert some.search("a b c")[1] == {Hung(0, False), Hung(1, True), Hung(2, False)}
    assert some.search("a c")[1] == {Hung(0, False), Hung(1, True), Hung(2, True)}


def test_a_path_of_very_many_words():
    words = [f"w{number}" for number in range(1500)]
    some = Planted([" & ".join(words), "w7 & w8"])
    some.insert(0, 1)
    assert some.search(" ".join(words))[1] == {Hung(0, False), Hung(1, False)}
    assert some.search(" ".join(words[:-1]))[1] == {Hung(1, False)}
