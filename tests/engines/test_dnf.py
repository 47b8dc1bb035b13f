"""Translation into conjunctions, and the trie that they are found in."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engines.paper_forms import conjunctions_of
from tests.expressions import (
    expected_matches,
    expressions,
    expressions_from,
    lists_of,
    matching_rules,
    plain_lists,
)

from tocsin.arrays.list_sort import dictionary_order
from tocsin.engines import Expressions, RefusedRules
from tocsin.engines.dnf import DnfEngine, translated
from tocsin.engines.kernels.conjunction_trie import grow_trie
from tocsin.engines.kernels.dnf_translation import NO_ROOM, TOO_MANY, translate


def every_event(literals: int) -> list[list[int]]:
    return [list(held) for size in range(literals + 1) for held in combinations(range(literals), size)]


def smallest_events(made: Expressions, rule: int) -> set[frozenset[int]]:
    """The events in which a rule holds, and in no part of them."""
    found: set[frozenset[int]] = set()
    for held in map(frozenset, every_event(made.literals)):
        if rule in matching_rules(made, held) and not any(part <= held for part in found):
            found.add(held)
    return found


@given(expressions(most_rules=3))
def test_conjunctions_are_the_smallest_events(made: Expressions) -> None:
    for rule in range(len(made.root)):
        conjunctions = conjunctions_of(made, rule)
        assert set(map(frozenset, conjunctions)) == smallest_events(made, rule)
        assert all(each == sorted(set(each)) for each in conjunctions)
        assert list(map(len, conjunctions)) == sorted(map(len, conjunctions))


@given(expressions())
def test_translations_of_all_rules_together(made: Expressions) -> None:
    conjunctions, translations, of_rule = translated(made)
    listed = plain_lists(conjunctions)
    assert sorted(set(translations.item.tolist())) == list(range(len(listed)))
    for rule in range(len(made.root)):
        mine = plain_lists(translations)[of_rule[rule]]
        assert len(mine) == len(smallest_events(made, rule))
        assert {frozenset(listed[each]) for each in mine} == smallest_events(made, rule)


@given(expressions())
def test_every_event(made: Expressions) -> None:
    events = lists_of(every_event(made.literals))
    assert plain_lists(DnfEngine.of(made).match(events)) == expected_matches(made, events)


# ---- The trie


@given(st.lists(st.frozensets(st.integers(0, 6)), max_size=30), st.permutations(range(7)))
def test_a_trie_has_every_conjunction_once(conjunctions: list[frozenset[int]], rank: list[int]) -> None:
    trie, distinct = grow_trie(lists_of([sorted(each) for each in conjunctions]), np.array(rank, np.int32))
    assert len(set(zip(conjunctions, distinct.tolist(), strict=True))) == len(set(conjunctions))
    assert sorted(set(distinct.tolist())) == list(range(len(set(conjunctions))))
    found: dict[int, frozenset[int]] = {}
    path: list[int] = []
    for node, end in enumerate(trie.ends.tolist()):
        while path and trie.behind[path[-1]] <= node:
            path.pop()
        path.append(node)
        if end >= 0:
            found[end] = frozenset(trie.literal[path].tolist())
            assert len(found[end]) == len(path)
        if len(path) == 1:
            assert trie.first[trie.literal[node]] == node
    assert found == {int(distinct[i]): each for i, each in enumerate(conjunctions) if each}


@given(st.lists(st.lists(st.integers(0, 5), max_size=6), max_size=60))
def test_lists_in_the_order_of_a_dictionary(lists: list[list[int]]) -> None:
    lists.sort(key=lambda numbers: numbers[:1])
    assert [lists[each] for each in dictionary_order(lists_of(lists))] == sorted(lists)


def test_many_lists_that_begin_alike():
    rng = np.random.default_rng(5)
    lists = [rng.integers(0, 3, rng.integers(0, 40)).tolist() for _ in range(5_000)]
    lists.sort(key=lambda numbers: numbers[:1])
    assert [lists[each] for each in dictionary_order(lists_of(lists))] == sorted(lists)


def test_a_trie_node_by_node():
    """{1 4 5} {1 4 6} {2 4} in another order, and two of them twice."""
    conjunctions = lists_of([[2, 4], [1, 4, 6], [1, 4, 5], [2, 4], [1, 4, 6]])
    trie, distinct = grow_trie(conjunctions, np.arange(7, dtype=np.int32))
    assert distinct.tolist() == [2, 1, 0, 2, 1]
    assert trie.literal.tolist() == [1, 4, 5, 6, 2, 4]
    assert trie.behind.tolist() == [4, 4, 3, 4, 6, 6]
    assert trie.ends.tolist() == [-1, -1, 0, 1, -1, 2]
    assert trie.first.tolist() == [-1, 0, 4, -1, -1, -1, -1]


def test_a_conjunction_that_begins_another():
    """Of two rules: {0 1} ends on the way to {0 1 2}."""
    made = expressions_from(3, [(True, [0, 1]), (True, [0, 1, 2]), (False, [3, 2])], [3, 4, 5, 3])
    held = lists_of([[0], [0, 1], [0, 1, 2], [2], []])
    engine = DnfEngine.of(made)
    assert plain_lists(engine.match(held)) == [[], [0, 2, 3], [0, 1, 2, 3], [2], []]


# ---- Limits


def all_of_pairs(pairs: int) -> list[tuple[bool, Sequence[int]]]:
    """(0 or 1) and (2 or 3) and ...: two to the power of that."""
    nodes: list[tuple[bool, Sequence[int]]] = [(False, [2 * each, 2 * each + 1]) for each in range(pairs)]
    return [*nodes, (True, range(2 * pairs, 3 * pairs))]


def test_an_explosion_is_refused_before_it_happens():
    """Rule 1 would have a million million conjunctions; the one above it has it as a part."""
    pairs = 40
    nodes = [*all_of_pairs(pairs), (False, [0, 3 * pairs]), (True, [0, 1])]
    made = expressions_from(2 * pairs, nodes, [3 * pairs + 2, 3 * pairs, 3 * pairs + 1, 2])
    with pytest.raises(RefusedRules) as refused:
        DnfEngine.of(made)
    reason = "it becomes more than 16,384 conjunctions"
    assert refused.value.reasons == {1: reason, 2: reason}


@pytest.mark.parametrize(("most", "refused"), [(63, True), (64, False)])
def test_as_many_conjunctions_as_there_may_be(most: int, refused: bool) -> None:
    made = expressions_from(12, all_of_pairs(6), [18])
    translation = translate(made, most, 1 << 20)
    assert translation.of_rule.tolist() == [TOO_MANY if refused else 0]
    assert len(translation.translations.item) == (0 if refused else 64)


def test_what_is_refused_takes_no_room():
    """However many rules are refused, there is as much room for the next."""
    pairs, large = 12, 50
    literals = 2 * pairs + large
    nodes: list[tuple[bool, Sequence[int]]] = [(False, [2 * each, 2 * each + 1]) for each in range(pairs)]
    ors = range(literals, literals + pairs)
    nodes += [(True, [own, *ors]) for own in range(2 * pairs, literals)]
    nodes += [(True, [0, 2])]
    made = expressions_from(literals, nodes, range(literals + pairs, literals + len(nodes)))
    translation = translate(made, 1_000, 30_000)
    assert translation.of_rule.tolist() == [TOO_MANY] * large + [0]
    assert plain_lists(translation.conjunctions) == [[0, 2]]


@given(expressions(), st.integers(1, 6), st.integers(4, 40))
def test_limits_refuse_and_never_mislead(made: Expressions, most: int, most_literals: int) -> None:
    """What is not refused is right."""
    conjunctions, translations, of_rule = translate(made, most, most_literals)
    listed = plain_lists(conjunctions)
    for rule in range(len(made.root)):
        if of_rule[rule] < 0:
            assert of_rule[rule] in (TOO_MANY, NO_ROOM)
        else:
            mine = plain_lists(translations)[of_rule[rule]]
            assert {frozenset(listed[each]) for each in mine} == smallest_events(made, rule)


def test_all_together_may_be_too_large():
    nodes: list[tuple[bool, Sequence[int]]] = [(True, range(each, each + 10)) for each in range(5)]
    made = expressions_from(14, nodes, [14, 15, 16, 17, 18])
    assert translate(made, 100, 35).of_rule.tolist() == [0, 1, 2, NO_ROOM, NO_ROOM]
    with pytest.raises(RefusedRules) as refused:
        DnfEngine.of(made, most_literals=35)
    reason = "with those of the rules before it there are more than 35 literals in conjunctions"
    assert refused.value.reasons == {3: reason, 4: reason}


def test_what_absorption_keeps_small():
    """Ten times (0 or 1) and (1 or 2) and (2 or 0): nothing is written out that is not needed."""
    pairs = [[0, 1], [1, 2], [2, 0]]
    nodes: list[tuple[bool, Sequence[int]]] = [(False, pairs[each % 3]) for each in range(30)]
    made = expressions_from(3, [*nodes, (True, range(3, 33))], [33])
    assert sorted(conjunctions_of(made, 0)) == [[0, 1], [0, 2], [1, 2]]


def test_a_hundred_thousand_levels():
    depth = 100_000
    nodes = [(level % 2 == 0, [level % 3, 1 + level]) for level in range(1, depth)]
    made = expressions_from(3, nodes, [depth + 1])
    held = lists_of([[0, 1], [0, 1, 2], [2], []])
    assert plain_lists(DnfEngine.of(made).match(held)) == expected_matches(made, held)


def test_long_conjunctions_are_refused_in_time() -> None:
    """0 and (1 or (2 and ...)): few conjunctions, but every part has them again, and longer."""
    depth = 20_000
    nodes = [(depth % 2 == 1, [depth - 1, depth])]
    nodes += [(level % 2 == 0, [level, 2 * depth - 1 - level]) for level in range(depth - 2, -1, -1)]
    with pytest.raises(RefusedRules) as refused:
        DnfEngine.of(expressions_from(depth + 1, nodes, [depth + len(nodes)]))
    assert "literals" in refused.value.reasons[0]
