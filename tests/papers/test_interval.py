"""Section 4 of the first paper: the labels of figure 5, the invalid ones of figure 6, and Table 1.

The labels of figure 6 are lost in our copy of the paper: ours fit what is said of them. B and E begin at the
same number, and B and D together cover everything without overlap.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from tests.engines.interval_invariants import broken_invariants
from tests.engines.paper_forms import intervals_of
from tests.expressions import lists_of, plain_lists
from tests.trees import Tree, engine_of, packed

from tocsin.engines.interval import IntervalEngine
from tocsin.engines.kernels.interval_labels import Intervals, extended, label_trees, match_intervals
from tocsin.engines.kernels.tree_places import TreeLeaves
from tocsin.engines.labelled_trees import lay_out_places

M = 10
A, B, C, D, E, F = range(6)
TREE = ("or", ("and", A, B), C, ("and", D, E, F))
Labels = Mapping[int, tuple[int, int]]
FIGURE_5: Labels = {A: (1, 1), B: (2, 10), C: (1, 10), D: (1, 4), E: (5, 5), F: (6, 10)}
FIGURE_6: Labels = {A: (1, 4), B: (5, 10), C: (1, 10), D: (1, 4), E: (5, 5), F: (6, 10)}


def test_figure_5() -> None:
    assert leaf_labels(TREE) == FIGURE_5


def test_as_many_numbers_as_leaves_are_enough() -> None:
    """Six instead of the ten in the figure, which are the most leaves that a tree may have there."""
    by_begin = [(1, 1), (1, 6), (1, 4), (2, 6), (5, 5), (6, 6)]
    assert intervals_of(engine_of(IntervalEngine, TREE), 0) == by_begin


def leaf_labels(tree: Tree) -> Labels:
    """Begin and end of each leaf by Algorithm 4, with M = 10."""
    trees = packed(tree)
    begin, end = label_trees(trees, M)
    each = zip(trees.code.tolist(), begin.tolist(), end.tolist(), strict=True)
    return {code: (first, last) for code, first, last in each if code >= 0}


def test_figure_1_of_the_a_tree_paper() -> None:
    """It prints <1,4>, <5,5> and <6,10> for (P1 or P2 or P3) and P4 and (P5 or P6): valid, but no outcome of
    Algorithm 4."""
    labels = leaf_labels(("and", ("or", A, B, C), D, ("or", E, F)))
    assert labels == {A: (1, 3), B: (1, 3), C: (1, 3), D: (4, 4), E: (5, 10), F: (5, 10)}
    printed = {A: (1, 4), B: (1, 4), C: (1, 4), D: (5, 5), E: (6, 10), F: (6, 10)}
    for held in ({A, D, F}, {B, D, E}, {A, B, C}, {D, E, F}, {A, E}):
        assert matches(labels, held) is matches(printed, held) is (held in ({A, D, F}, {B, D, E}))


def test_algorithm_4_an_only_child() -> None:
    """As printed, the only child of an AND is its first, and ends where the leaves up to it do."""
    assert leaf_labels(("and", A)) == {A: (1, M)}
    assert leaf_labels(("or", ("and", A), ("and", B, ("and", C)))) == {A: (1, M), B: (1, 2), C: (3, M)}


def matches(labels: Labels, held: set[int]) -> bool:
    """MATCH on any labels. There are M places, of which only those with a label can hold."""
    by_begin = sorted(labels, key=lambda leaf: labels[leaf][0])
    conjunction_of = np.full(M, -1, np.int32)
    conjunction_of[: len(labels)] = by_begin
    leaves = TreeLeaves(np.array([0, M], np.int32), conjunction_of, np.ones(M, np.bool_))
    places = lay_out_places(leaves, len(labels), np.zeros(1, np.bool_))
    narrow = np.zeros(M, np.uint32)
    narrow[: len(labels)] = [labels[leaf][0] << 16 | labels[leaf][1] for leaf in by_begin]
    intervals = Intervals(np.zeros(1, np.int64), narrow, np.empty(0, np.uint64))
    holding = lists_of([[place for place, leaf in enumerate(by_begin) if leaf in held]])
    return plain_lists(match_intervals(places, intervals, holding, np.empty(1, np.uint64))) == [[0]]


@pytest.mark.parametrize("held", [{A, B}, {C}, {D, E, F}, {A, D, E, F}])
def test_what_holds_matches(held: set[int]) -> None:
    assert matches(FIGURE_5, held)


@pytest.mark.parametrize("held", [{B, D}, {A, D}, {A, E, F}, {B, E, F}, {D, F}, set()])
def test_what_does_not_hold_does_not_match(held: set[int]) -> None:
    assert not matches(FIGURE_5, held)


def test_figure_6() -> None:
    """The labels break the third invariant alone, and B and D match by mistake."""
    assert matches(FIGURE_6, {B, D})
    # Inner nodes come before their children: the OR, the AND of A and B, and that of D, E and F.
    whole = (1, M)
    nodes = [
        whole,
        whole,
        FIGURE_6[A],
        FIGURE_6[B],
        FIGURE_6[C],
        whole,
        FIGURE_6[D],
        FIGURE_6[E],
        FIGURE_6[F],
    ]
    assert broken_invariants(TREE, nodes) == {3}


def test_table_1() -> None:
    rows = [bits(np.uint64(1))]
    matched = np.uint64(1)
    for leaf in (A, D, E, F):
        matched = extended(matched, *FIGURE_5[leaf])
        rows.append(bits(matched))
    assert rows == [
        "1 0 0 0 0 0 0 0 0 0 0",
        "1 1 0 0 0 0 0 0 0 0 0",
        "1 1 0 0 1 0 0 0 0 0 0",
        "1 1 0 0 1 1 0 0 0 0 0",
        "1 1 0 0 1 1 0 0 0 0 1",
    ]


def bits(matched: np.uint64) -> str:
    return " ".join(str(int(matched) >> i & 1) for i in range(M + 1))
