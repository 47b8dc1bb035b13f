"""Random expressions over literals, and the obvious evaluator that engines over them are held to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from hypothesis import strategies as st

from tocsin.arrays.lists import Lists
from tocsin.engines import Expressions

MOST_LITERALS = 9


def expressions_from(
    literals: int, nodes: Sequence[tuple[bool, Sequence[int]]], roots: Sequence[int]
) -> Expressions:
    """Expressions of inner nodes in order: for each whether it is an AND, and its children."""
    is_and, children = zip(*nodes, strict=True) if nodes else ((), ())
    start = np.concatenate([[0], np.cumsum([len(each) for each in children])])
    return Expressions(
        literals,
        np.array(is_and, np.bool_),
        start.astype(np.int32),
        np.array([child for each in children for child in each], np.int32),
        np.array(roots, np.int32),
    )


@st.composite
def expressions(draw: st.DrawFn, *, most_nodes: int = 14, most_rules: int = 6) -> Expressions:
    """Shared, repeated and single children, an AND below an AND, rules that always or never hold."""
    literals = draw(st.integers(1, MOST_LITERALS))
    nodes = []
    for number in range(draw(st.integers(0, most_nodes))):
        below = literals + number
        # A child of the last few nodes makes deep trees; any child makes shared ones.
        child = st.one_of(st.integers(0, below - 1), st.integers(max(0, below - 3), below - 1))
        nodes.append((draw(st.booleans()), draw(st.lists(child, min_size=1, max_size=4))))
    root = st.integers(0, literals + len(nodes) + 1)
    return expressions_from(literals, nodes, draw(st.lists(root, max_size=most_rules)))


@st.composite
def held_literals(draw: st.DrawFn, literals: int, most_events: int = 4) -> Lists:
    """For some events the literals that hold, ascending."""
    return lists_of(
        [sorted(each) for each in draw(st.lists(st.sets(st.integers(0, literals - 1)), max_size=most_events))]
    )


def lists_of(lists: Iterable[Iterable[int]]) -> Lists:
    """Lists as the kernels take them."""
    made = [list(each) for each in lists]
    start = np.concatenate([[0], np.cumsum([len(each) for each in made])]).astype(np.int64)
    return Lists(start, np.array([item for each in made for item in each], np.int32))


def plain_lists(lists: Lists) -> list[list[int]]:
    """Lists as Python has them."""
    return [lists.item[lists.start[i] : lists.start[i + 1]].tolist() for i in range(len(lists.start) - 1)]


def matching_rules(expressions: Expressions, held: Iterable[int]) -> list[int]:
    """The rules that hold when just these literals do."""
    truth = [False] * expressions.literals
    for literal in held:
        truth[literal] = True
    for number, is_and in enumerate(expressions.is_and):
        begin, end = expressions.child_start[number : number + 2]
        below = [truth[child] for child in expressions.child[begin:end]]
        truth.append(all(below) if is_and else any(below))
    truth += [True, False]
    return [rule for rule, root in enumerate(expressions.root) if truth[root]]


def expected_matches(expressions: Expressions, held: Lists) -> list[list[int]]:
    """The right answer for each event."""
    return [matching_rules(expressions, each) for each in plain_lists(held)]
