"""The engine `interval`: valid labels, and matches as the obvious evaluator gives them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engines.interval_invariants import broken_invariants
from tests.engines.paper_forms import intervals_of
from tests.expressions import (
    expected_matches,
    expressions,
    expressions_from,
    held_literals,
    lists_of,
    plain_lists,
)
from tests.trees import LEAVES, Tree, engine_of, holds, packed, trees

from tocsin.engines.interval import IntervalEngine
from tocsin.engines.kernels.interval_labels import NARROW, label_trees


@given(trees, st.integers(0, 30))
def test_labels_are_valid(tree: Tree, least: int) -> None:
    begin, end = label_trees(packed(tree), least)
    labels = list(zip(begin.tolist(), end.tolist(), strict=True))
    code = packed(tree).code
    leaves = int(np.count_nonzero(code >= 0))
    assert labels[0] == (1, max(leaves, least))
    assert broken_invariants(tree, labels) == set()


@given(st.lists(trees, min_size=1, max_size=5), st.lists(st.sets(st.integers(0, LEAVES - 1)), max_size=5))
def test_any_trees(some: list[Tree], events: list[set[int]]) -> None:
    held = [sorted(event | {LEAVES}) for event in events]
    engine = engine_of(IntervalEngine, *some, LEAVES)
    expected = [[rule for rule, tree in enumerate([*some, LEAVES]) if holds(tree, set(e))] for e in held]
    assert plain_lists(engine.match(lists_of(held))) == expected


@given(st.data())
def test_any_expressions(data: st.DataObject) -> None:
    made = data.draw(expressions())
    held = data.draw(held_literals(made.literals))
    assert plain_lists(IntervalEngine.of(made).match(held)) == expected_matches(made, held)


def large_tree(leaves: int) -> Tree:
    """(0 or 1) and (2 or 3) and ..., with a single leaf at the end if that makes up the number."""
    pairs = [("or", leaf, leaf + 1) for leaf in range(0, leaves - 1, 2)]
    return ("and", *pairs, *([leaves - 1] if leaves % 2 else []))


@pytest.mark.parametrize("leaves", [62, 63, 64, 65, 200, NARROW - 1, NARROW, NARROW + 1])
def test_large_trees(leaves: int) -> None:
    """As many leaves as a word, and as 16 bits, can count, and more; small trees before and behind."""
    engine = engine_of(IntervalEngine, 0, large_tree(leaves), ("and", 1, 2))
    every = range(0, leaves, 2)
    held = [every, every[:-1], every[1:], [1, *every[1:]], range(leaves)]
    assert plain_lists(engine.match(lists_of(held))) == [[0, 1], [0], [], [1, 2], [0, 1, 2]]
    first, *_, last = intervals_of(engine, 1)
    assert first == (1, 2)
    assert last == (every[-1] + 1, leaves)


def test_a_hundred_thousand_levels() -> None:
    """0 and (1 or (2 and (3 or ...)))."""
    depth = 100_000
    nodes = [(bool(depth % 2), [depth - 1, depth])]
    for level in range(depth - 2, -1, -1):
        nodes.append((level % 2 == 0, [level, depth + len(nodes)]))
    made = expressions_from(depth + 1, nodes, [depth + len(nodes)])
    even = list(range(0, depth + 1, 2))
    held = [even, even[1:], [0, 1], [1], [*even[:500], 999], even[:500]]
    assert plain_lists(IntervalEngine.of(made).match(lists_of(held))) == [[0], [], [0], [], [0], []]


def test_trees_of_one_shape_share_labels() -> None:
    def tree(first: int) -> Tree:
        return ("and", first, ("or", first + 1, first + 2))

    alike = engine_of(IntervalEngine, *(tree(rule) for rule in range(50)))
    one = engine_of(IntervalEngine, tree(0))
    per_rule = 8  # where its labels begin
    assert alike.bytes_of_parts()["labels"] == one.bytes_of_parts()["labels"] + 49 * per_rule
    assert all(intervals_of(alike, rule) == [(1, 1), (2, 3), (2, 3)] for rule in range(50))
