"""Trees written out in preorder, and literals gathered into conjunctions, keep their meaning."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.expressions import expressions, expressions_from, held_literals, matching_rules, plain_lists

from tocsin.arrays.lists import Lists
from tocsin.engines import Expressions, RefusedRules
from tocsin.engines.kernels.conjunction_leaves import with_conjunction_leaves
from tocsin.engines.kernels.unfolded_trees import Trees, children_of_code, is_and_code, tree_sizes
from tocsin.engines.unfolded_rules import trees_of


@st.composite
def cases(draw: st.DrawFn) -> tuple[Expressions, Lists]:
    made = draw(expressions())
    return made, draw(held_literals(made.literals))


def holds(trees: Trees, rule: int, held: set[int]) -> bool:
    """Read a tree backwards, so that the subtrees of a node are there when it comes."""
    below: list[bool] = []
    for code in reversed(trees.code[trees.start[rule] : trees.start[rule + 1]].tolist()):
        if code >= 0:
            below.append(code in held)
        else:
            width = children_of_code(code)
            last, below = below[-width:], below[:-width]
            assert len(last) == width
            below.append(all(last) if is_and_code(code) else any(last))
    (truth,) = below
    return truth


@given(cases())
def test_trees_mean_what_expressions_do(case: tuple[Expressions, Lists]) -> None:
    made, held = case
    trees = trees_of(made)
    constants = made.literals + len(made.is_and)
    for each in plain_lists(held):
        found = [
            rule for rule, root in enumerate(made.root) if root < constants and holds(trees, rule, set(each))
        ]
        always = [rule for rule, root in enumerate(made.root) if root == constants]
        assert sorted(found + always) == matching_rules(made, each)


@given(cases())
def test_conjunction_leaves_mean_what_literals_did(case: tuple[Expressions, Lists]) -> None:
    made, held = case
    over, conjunctions = with_conjunction_leaves(made)
    plain = plain_lists(conjunctions)
    assert over.literals == len(plain)
    assert len({tuple(each) for each in plain}) == len(plain)
    assert all(each == sorted(set(each)) and each for each in plain)
    assert [len(each) for each in plain] == sorted(len(each) for each in plain)
    for each in plain_lists(held):
        found = [number for number, literals in enumerate(plain) if set(literals) <= set(each)]
        assert matching_rules(over, found) == matching_rules(made, each)


def test_the_example_of_conjunction_leaves() -> None:
    """and(1, 2, or(3, and(4, 5), and(6, or(7, 8)))) of engines/kernels/conjunction_leaves.py."""
    nodes = [(True, [4, 5]), (False, [7, 8]), (True, [6, 10]), (False, [3, 9, 11]), (True, [1, 2, 12])]
    over, conjunctions = with_conjunction_leaves(expressions_from(9, nodes, [13]))
    names = plain_lists(conjunctions)
    trees = trees_of(over)
    shown = [names[code] if code >= 0 else code for code in trees.code.tolist()]
    assert shown == [-4, [1, 2], -7, [3], [4, 5], -4, [6], -5, [7], [8]]


def test_the_example_of_trees() -> None:
    nodes = [(False, [1, 2, 3]), (False, [5, 6]), (True, [7, 4, 8])]
    trees = trees_of(expressions_from(7, nodes, [9]))
    assert trees.code.tolist() == [-6, -7, 1, 2, 3, 4, -5, 5, 6]


def test_sizes_that_no_tree_could_have() -> None:
    """Seventy levels, each twice the one below."""
    nodes = [(level % 2 == 0, [max(0, level), max(0, level)]) for level in range(70)]
    made = expressions_from(1, nodes, [0, 70, 3])
    leaves, _ = tree_sizes(made)
    assert leaves[3] == 8
    with pytest.raises(RefusedRules) as refused:
        trees_of(made)
    assert list(refused.value.reasons) == [1]
    assert "more than 1,048,576 parts" in refused.value.reasons[1]
