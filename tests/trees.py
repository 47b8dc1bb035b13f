"""Trees written as nested tuples, for engines that label their leaves: ("and", 0, ("or", 1, 2))."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from hypothesis import strategies as st
from tests.expressions import lists_of

from tocsin.engines.conjunction_index import ConjunctionIndex
from tocsin.engines.kernels.unfolded_trees import Trees, children_of_code, is_and_code
from tocsin.engines.labelled_trees import AnnotatedTrees

Tree = int | tuple["str | Tree", ...]

E = TypeVar("E", bound=AnnotatedTrees)

LEAVES = 12

trees: st.SearchStrategy[Tree] = st.recursive(
    st.integers(0, LEAVES - 1),
    lambda below: st.tuples(st.sampled_from(["and", "or"]), st.lists(below, min_size=1, max_size=4)).map(
        lambda node: (node[0], *node[1])
    ),
    max_leaves=20,
)
"""Trees of any shape: nodes of one kind below each other, single children, repeated leaves."""


def packed(*some: Tree) -> Trees:
    """Trees as the kernels take them."""
    codes = [_preorder(tree) for tree in some]
    start = np.concatenate([[0], np.cumsum([len(code) for code in codes])]).astype(np.int64)
    return Trees(start, np.array([each for code in codes for each in code], np.int32))


def _preorder(tree: Tree) -> list[int]:
    if isinstance(tree, int):
        return [tree]
    kind, *below = tree
    code = -2 * len(below) - (kind == "or")
    return [code, *(each for child in below for each in _preorder(child))]  # type: ignore[arg-type]


def plain(trees: Trees, rule: int = 0) -> Tree:
    """A tree as nested tuples again."""
    below: list[Tree] = []
    for code in reversed(trees.code[trees.start[rule] : trees.start[rule + 1]].tolist()):
        if code >= 0:
            below.append(code)
        else:
            children = [below.pop() for _ in range(children_of_code(code))]
            below.append(("and" if is_and_code(code) else "or", *children))
    (tree,) = below
    return tree


def holds(tree: Tree, held: set[int]) -> bool:
    """The truth of a tree when these leaves hold."""
    if isinstance(tree, int):
        return tree in held
    kind, *below = tree
    truths = [holds(child, held) for child in below]  # type: ignore[arg-type]
    return all(truths) if kind == "and" else any(truths)


def engine_of(engine: type[E], *some: Tree) -> E:
    """An engine of trees, one rule each, whose leaf n is the conjunction of key n."""
    code = packed(*some)
    leaves = int(code.code.max(initial=0)) + 1
    index = ConjunctionIndex.of(lists_of([[leaf] for leaf in range(leaves)]), leaves)
    return engine.of_trees(code, index, np.zeros(len(some), np.bool_))
