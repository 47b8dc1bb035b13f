"""Conditions as every engine but the A-Tree is given them: AND and OR over literals.

A *literal* is a predicate that is true, or one that is false: a plane of a leaf
(conditions/kernels/planes.py). Both are two-valued, and where a predicate is unknown neither holds. Negation
has ended at the leaves and xor is written out, so a condition is true exactly when its AND/OR expression is,
with no third value left.
"""

from __future__ import annotations

from typing import NamedTuple

from tocsin.arrays.dtypes import Flags, Ints
from tocsin.conditions.kernels.planes import PlaneGraph


class Expressions(NamedTuple):
    """Expressions with common parts stored once, children before parents. I inner nodes, R rules.

    literals      node numbers 0 .. literals-1 are literals
    is_and        bool[I]      node literals + i is an AND (all children) or an OR (any child)
    child_start   int32[I+1]   its children: child[child_start[i] : child_start[i+1]], one at least
    child         int32[...]   nodes, each lower than its parent
    root          int32[R]     the node of each rule; literals + I: always true, literals + I + 1: never

    A child of an AND may be an AND, a child of an OR an OR, and a node may have one child only.
    """

    literals: int
    is_and: Flags
    child_start: Ints
    child: Ints
    root: Ints


def expressions_of(graph: PlaneGraph, leaves: int) -> Expressions:
    """The expressions of a graph of planes."""
    return Expressions(
        leaves + len(graph.false_leaf), graph.is_and, graph.child_start, graph.child, graph.root
    )


def always_true(expressions: Expressions) -> Flags:
    """For each rule whether it holds in every event, whatever that is."""
    return expressions.root == expressions.literals + len(expressions.is_and)
