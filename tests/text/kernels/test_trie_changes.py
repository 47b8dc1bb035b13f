"""How the trie filter grows and shrinks: sharing, both forms of children, rows used again."""

from __future__ import annotations

import random

import numpy as np
import pytest
from tests.text.kernels.planted import Planted
from tests.text.kernels.trie_shape import Hung, check_invariants, is_table, shape_of

from tocsin.text.kernels.term_order import drift
from tocsin.text.kernels.trie import (
    ABSENT,
    BRANCHES_LIVE,
    BRANCHES_MADE,
    IN_TABLE,
    PREDICATES_LIVE,
    PREDICATES_MADE,
    TO_LIST,
    TO_TABLE,
    find_child,
)
from tocsin.text.kernels.trie_layout import compact

MANY = TO_TABLE + 2
UNDER_ONE = [f"top & w{number}" for number in range(MANY)]
IDFS = {"top": 9.0}


def node_of(some: Planted, *words: str) -> int:
    """The branch node at the end of these words."""
    numbers = {some.word(term): term for term in range(len(some.terms.group))}
    node = int(some.trie.root[0])
    for word in words:
        node = int(find_child(some.trie, node, numbers[word]))
    return node


def checked(some: Planted) -> Planted:
    check_invariants(some.trie, some.rarity)
    return some


def test_children_become_a_table_above_the_upper_threshold_and_a_list_below_the_lower():
    some = Planted(UNDER_ONE, IDFS)
    forms = []
    for query in range(MANY):
        some.insert(query)
        forms.append(is_table(checked(some).trie, node_of(some, "top")))
    assert forms == [False] * TO_TABLE + [True] * (MANY - TO_TABLE)
    assert some.trie.state[IN_TABLE] == MANY
    forms = []
    for query in range(MANY - 1):
        some.delete(query)
        forms.append(is_table(checked(some).trie, node_of(some, "top")))
    assert forms == [True] * (MANY - TO_LIST) + [False] * (TO_LIST - 1)
    assert some.trie.state[IN_TABLE] == 0
    forms = []
    for query in range(MANY - 1):
        some.insert(query)
        forms.append(is_table(checked(some).trie, node_of(some, "top")))
    assert forms == [False] * (TO_TABLE - 1) + [True] * (MANY - TO_TABLE)


def test_one_query_that_comes_and_goes_changes_no_form():
    some = Planted(UNDER_ONE, IDFS)
    some.insert(*range(TO_TABLE + 1))
    for _ in range(3):
        some.delete(TO_TABLE)
        assert is_table(some.trie, node_of(some, "top"))
        some.insert(TO_TABLE)
        assert is_table(some.trie, node_of(some, "top"))
    some.delete(*range(TO_LIST - 1, TO_TABLE + 1))
    for _ in range(3):
        assert not is_table(some.trie, node_of(some, "top"))
        some.insert(TO_LIST)
        some.delete(TO_LIST)
    checked(some)


def test_several_tables_share_their_entries_with_no_confusion():
    tops = [f"top{number}" for number in range(4)]
    queries = [f"{top} & w{number}" for top in tops for number in range(MANY)]
    some = Planted(queries, dict.fromkeys(tops, 9.0))
    order = list(range(len(queries)))
    random.Random(5).shuffle(order)
    some.insert(*order)
    assert checked(some).trie.state[IN_TABLE] == len(queries)
    for query in order[: len(order) // 2]:
        some.delete(query)
        checked(some)
    left = sorted(order[len(order) // 2 :])
    fresh = Planted(queries, dict.fromkeys(tops, 9.0))
    fresh.insert(*left)
    assert some.shape() == fresh.shape()


def test_what_leaves_takes_only_what_nothing_else_needs():
    some = Planted(["a & b", "a & b & c", "a", "a & d"], {"a": 4.0, "b": 3.0, "c": 2.0})
    some.insert(0, 1, 2, 3)
    assert set(some.shape()) == {"a", "a b", "a b c", "a d"}
    some.delete(1)
    assert set(checked(some).shape()) == {"a", "a b", "a d"}
    some.delete(0)
    assert set(checked(some).shape()) == {"a", "a d"}
    some.delete(3)
    assert checked(some).shape() == {"a": {Hung(2, to_check=False)}}
    some.delete(2)
    assert checked(some).shape() == {}
    assert some.trie.first_of_query.tolist() == [ABSENT] * 4


def test_a_query_that_is_not_there_leaves_as_if_it_were():
    some = Planted(["a", "b"])
    some.insert(0)
    some.delete(1)
    some.delete(0, 0)
    assert checked(some).shape() == {}


def test_freed_rows_are_used_again():
    some = Planted([f"a{number} & b{number} & c{number}" for number in range(40)])
    some.insert(*range(20))
    made = some.trie.state[[BRANCHES_MADE, PREDICATES_MADE]].tolist()
    for query in range(20):
        some.delete(query)
        some.insert(20 + query)
        checked(some)
    assert some.trie.state[[BRANCHES_MADE, PREDICATES_MADE]].tolist() == made
    assert some.trie.state[[BRANCHES_LIVE, PREDICATES_LIVE]].tolist() == [61, 20]


def test_two_ways_of_a_query_to_one_node_are_one_predicate_node():
    some = Planted(["a | a", "a | (a & !b)", "(a & !b) | a", "a & !b | a & !c"])
    some.insert(0, 1, 2, 3)
    assert checked(some).shape() == {"a": {Hung(0, False), Hung(1, False), Hung(2, False), Hung(3, True)}}


@pytest.mark.parametrize("queries", [0, 1, 30, 400])
def test_laying_out_anew_changes_nothing_but_places(queries: int):
    choices = random.Random(queries)
    words = [f"w{number}" for number in range(30)]
    written = [" & ".join(choices.sample(words, choices.randint(1, 5))) for _ in range(queries)]
    written += [" | ".join(choices.sample(words, choices.randint(2, 5))) for _ in range(queries)]
    some = Planted(written, {word: 1.0 + number / 7 for number, word in enumerate(words)})
    some.insert(*range(len(written)))
    some.delete(*range(0, len(written), 3))
    some.trie = compact(before := some.trie)
    assert shape_of(checked(some).trie) == shape_of(before)
    live = some.trie.state[[BRANCHES_LIVE, PREDICATES_LIVE]].tolist()
    assert some.trie.state[[BRANCHES_MADE, PREDICATES_MADE]].tolist() == [live[0], live[1] + 1]
    assert len(some.trie.branch) == 4 * live[0]
    some.insert(*range(0, len(written), 3))
    whole = Planted(written, {word: 1.0 + number / 7 for number, word in enumerate(words)})
    whole.insert(*range(len(written)))
    assert checked(some).shape() == whole.shape()


def test_children_lie_beside_each_other_once_laid_out():
    some = Planted(["a & b", "c & d", "a & e", "c & f", "a & g"], {"a": 9.0, "c": 8.0})
    some.insert(0, 1, 2, 3, 4)
    some.trie = compact(some.trie)
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
