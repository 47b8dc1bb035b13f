"""How the trie filter grows: sharing, both forms of children, rows side by side."""

from __future__ import annotations

import random

import numpy as np
import pytest
from tests.text.kernels.planted import Planted
from tests.text.kernels.trie_shape import Hung, check_invariants, find_child, is_table, shape_of

from tocsin.text.kernels.term_order import drift
from tocsin.text.kernels.trie import TO_TABLE

MANY = TO_TABLE + 2
UNDER_ONE = [f"top & w{number}" for number in range(MANY)]
IDFS = {"top": 9.0}


def node_of(some: Planted, *words: str) -> int:
    """The branch node at the end of these words."""
    numbers = {some.word(term): term for term in range(len(some.terms.group))}
    node = 0
    for word in words:
        node = find_child(some.trie, node, numbers[word])
    return node


def checked(some: Planted) -> Planted:
    check_invariants(some.trie, some.rarity)
    return some


def test_children_become_a_table_above_the_threshold():
    some = Planted(UNDER_ONE, IDFS)
    forms = []
    for query in range(MANY):
        some.insert(query)
        forms.append(is_table(checked(some).trie, node_of(some, "top")))
    assert forms == [False] * TO_TABLE + [True] * (MANY - TO_TABLE)
    assert np.count_nonzero(some.trie.table) == MANY


def test_several_tables_share_their_entries_with_no_confusion():
    tops = [f"top{number}" for number in range(4)]
    queries = [f"{top} & w{number}" for top in tops for number in range(MANY)]
    some = Planted(queries, dict.fromkeys(tops, 9.0))
    order = list(range(len(queries)))
    random.Random(5).shuffle(order)
    some.insert(*order)
    assert np.count_nonzero(checked(some).trie.table) == len(queries)
    fresh = Planted(queries, dict.fromkeys(tops, 9.0))
    fresh.insert(*range(len(queries)))
    assert some.shape() == fresh.shape()


def test_what_is_not_put_in_leaves_no_trace():
    some = Planted(["a & b", "a & b & c", "a", "a & d"], {"a": 4.0, "b": 3.0, "c": 2.0})
    assert checked(some).shape() == {}
    assert not some.trie.is_indexed.any()
    some.insert(2)
    assert checked(some).shape() == {"a": {Hung(2, to_check=False)}}
    some.insert(3)
    assert set(checked(some).shape()) == {"a", "a d"}
    some.insert(0, 1)
    assert set(checked(some).shape()) == {"a", "a b", "a b c", "a d"}
    assert some.trie.is_indexed.all()


def test_two_ways_of_a_query_to_one_node_are_one_predicate_node():
    some = Planted(["a | a", "a | (a & !b)", "(a & !b) | a", "a & !b | a & !c"])
    some.insert(0, 1, 2, 3)
    assert checked(some).shape() == {"a": {Hung(0, False), Hung(1, False), Hung(2, False), Hung(3, True)}}


@pytest.mark.parametrize("queries", [0, 1, 30, 400])
def test_the_order_of_queries_changes_nothing_but_places(queries: int):
    choices = random.Random(queries)
    words = [f"w{number}" for number in range(30)]
    written = [" & ".join(choices.sample(words, choices.randint(1, 5))) for _ in range(queries)]
    written += [" | ".join(choices.sample(words, choices.randint(2, 5))) for _ in range(queries)]
    some, other = (
        Planted(written, {word: 1.0 + number / 7 for number, word in enumerate(words)}) for _ in range(2)
    )
    some.insert(*range(len(written)))
    order = list(range(len(written)))
    choices.shuffle(order)
    other.insert(*order)
    assert shape_of(checked(some).trie) == shape_of(checked(other).trie)


def test_children_lie_beside_each_other_once_laid_out():
    some = Planted(["a & b", "c & d", "a & e", "c & f", "a & g"], {"a": 9.0, "c": 8.0})
    some.insert(0, 1, 2, 3, 4)
    places = sorted(node_of(some, "a", word) for word in "beg")
    assert places == list(range(places[0], places[0] + 3))


def test_drift_is_the_share_of_nodes_below_a_more_common_word():
    some = Planted(["a & b & c", "a & d"], {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0})
    some.insert(0, 1)
    assert drift(some.trie, some.rarity) == 0
    rarity = some.rarity.copy()
    numbers = {some.word(term): term for term in range(len(some.terms.group))}
    rarity[numbers["c"]] = 3.5
    assert drift(some.trie, rarity) == pytest.approx(1 / 3)
    rarity[numbers["a"]] = 0.0
    assert drift(some.trie, rarity) == 1.0
    alone = Planted(["a"])
    alone.insert(0)
    assert drift(alone.trie, np.array([5.0])) == 0
