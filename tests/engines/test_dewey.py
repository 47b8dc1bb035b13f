"""The engine `dewey`: alternating trees, their labels, and matches as the obvious evaluator gives them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engines.paper_forms import labels_of
from tests.expressions import (
    expected_matches,
    expressions,
    expressions_from,
    held_literals,
    lists_of,
    plain_lists,
)
from tests.trees import LEAVES, Tree, engine_of, holds, packed, plain, trees

from tocsin.engines import RefusedRules
from tocsin.engines.dewey import MOST_NUMBERS, DeweyEngine
from tocsin.engines.kernels.alternating_trees import alternating


def leaves_of(tree: Tree) -> list[int]:
    return [code for code in packed(tree).code.tolist() if code >= 0]


def alternates(tree: Tree, kind: str, *, top: bool = False) -> bool:
    if isinstance(tree, int):
        return not top
    its_kind, *below = tree
    other = "or" if kind == "and" else "and"
    return (
        its_kind == kind and (top or len(below) > 1) and all(alternates(child, other) for child in below)  # type: ignore[arg-type]
    )


@given(trees, st.lists(st.sets(st.integers(0, LEAVES - 1)), max_size=5))
def test_alternating_trees_mean_the_same(tree: Tree, events: list[set[int]]) -> None:
    made = plain(alternating(packed(tree)))
    assert alternates(made, "and", top=True)
    assert leaves_of(made) == leaves_of(tree)
    assert [holds(made, held) for held in events] == [holds(tree, held) for held in events]


def test_several_alternating_trees() -> None:
    some: list[Tree] = [3, ("and", ("and", 1, ("or", 2)), 3), ("or", 1, 2)]
    made = alternating(packed(*some))
    assert [plain(made, rule) for rule in range(3)] == [("and", 3), ("and", 1, 2, 3), ("and", ("or", 1, 2))]


def expected_labels(tree: Tree) -> list[str]:
    """The ways to the leaves of an alternating tree."""
    if isinstance(tree, int):
        return [""]
    kind, *below = tree
    labels = []
    for number, child in enumerate(below, 1):
        step = f"{number}*" if kind == "and" and number == len(below) else f"{number}"
        labels += [f"{step}.{rest}".rstrip(".") for rest in expected_labels(child)]  # type: ignore[arg-type]
    return labels


@given(trees)
def test_labels(tree: Tree) -> None:
    made = engine_of(DeweyEngine, tree)
    assert labels_of(made, 0) == expected_labels(plain(alternating(packed(tree))))


@given(st.lists(trees, min_size=1, max_size=5), st.lists(st.sets(st.integers(0, LEAVES - 1)), max_size=5))
def test_any_trees(some: list[Tree], events: list[set[int]]) -> None:
    held = [sorted(event | {LEAVES}) for event in events]
    engine = engine_of(DeweyEngine, *some, LEAVES)
    expected = [[rule for rule, tree in enumerate([*some, LEAVES]) if holds(tree, set(e))] for e in held]
    assert plain_lists(engine.match(lists_of(held))) == expected


@given(st.data())
def test_any_expressions(data: st.DataObject) -> None:
    made = data.draw(expressions(most_nodes=20))
    held = data.draw(held_literals(made.literals))
    assert plain_lists(DeweyEngine.of(made).match(held)) == expected_matches(made, held)


def chain(levels: int, first: int = 0) -> Tree:
    """0 and (1 or (2 and (3 or ...))), so many levels."""
    tree: Tree = first + levels
    for level in range(levels - 1, -1, -1):
        tree = ("or" if level % 2 else "and", first + level, tree)
    return tree


@pytest.mark.parametrize("width", [2, 127, 128, 32_767, 32_768])
@pytest.mark.parametrize("levels", [0, 1, 2, 3, 4, 7, 8, 9, 40])
def test_wide_and_deep_trees(width: int, levels: int) -> None:
    """As many numbers, and as large ones, as labels of each form can have, and more."""
    last = width + levels
    tree = ("and", *range(width - 1), chain(levels, width - 1))
    engine = engine_of(DeweyEngine, 0, tree, ("or", *range(1, width), last))
    every = list(range(last + 1))
    held = [every, every[:-1], every[1:], [*every[:3], *every[4:]], []]
    sets = [set(some) for some in held]
    ored = [bool(some & {*range(1, width), last}) for some in sets]
    expected = [
        [rule for rule, truth in enumerate((0 in some, holds(tree, some), either)) if truth]
        for some, either in zip(sets, ored, strict=True)
    ]
    assert plain_lists(engine.match(lists_of(held))) == expected
    assert labels_of(engine, 0) == ["1*"]
    assert labels_of(engine, 2)[-1] == f"1*.{width}"


def deep(depth: int):
    nodes = [(bool(depth % 2), [depth - 1, depth])]
    for level in range(depth - 2, -1, -1):
        nodes.append((level % 2 == 0, [level, depth + len(nodes)]))
    return expressions_from(depth + 1, nodes, [0, depth + len(nodes)])


def test_labels_that_would_be_too_long_are_refused() -> None:
    """The labels of a tree of n levels have about n * n / 2 numbers."""
    with pytest.raises(RefusedRules) as refused:
        DeweyEngine.of(deep(100_000))
    assert refused.value.reasons == {
        1: f"nested too deep: its Dewey labels have more than {MOST_NUMBERS:,} numbers"
    }


def test_a_thousand_levels() -> None:
    engine = DeweyEngine.of(deep(1_000))
    even = list(range(0, 1_001, 2))
    held = [even, even[1:], [0, 1], [1], even[:-1]]
    assert plain_lists(engine.match(lists_of(held))) == [[0, 1], [], [0, 1], [], [0]]
