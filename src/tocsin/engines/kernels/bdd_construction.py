"""From expressions to decision diagrams: rule after rule, each part once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Ints, Longs
from tocsin.arrays.jit import kernel
from tocsin.arrays.radix_sort import bits_of, no_tally, sort_numbers
from tocsin.engines.kernels.bdd_nodes import (
    FALSE,
    NO_ROOM,
    NODES,
    STEPS,
    TOO_LARGE,
    TRUE,
    VARIABLE,
    Diagrams,
    Tables,
    combine,
    forget,
    no_tables,
    node_of,
    with_more_room,
)
from tocsin.engines.kernels.expressions import Expressions
from tocsin.engines.kernels.rule_parts import postorder, with_inner_roots


class _Workbench(NamedTuple):
    """What making diagrams needs beside the nodes. L literals, I inner nodes of expressions.

    variable   int32[L]       of each literal
    diagram    int32[I]       of each inner node of expressions, or why there is none
    few        int32[2, ...]  room for the variables of one of them, and for sorting them
    tally      int64[...]     see arrays/radix_sort.py
    waiting    int32[L+1, 3]  see combine
    count      int64[2]       NODES and STEPS
    """

    variable: Ints
    diagram: Ints
    few: Ints
    tally: Longs
    waiting: Ints
    count: Longs


@kernel
def _combine_children(is_and: bool, children: Ints, bench: _Workbench, node: Ints, tables: Tables) -> int:
    """The diagram of a node of expressions whose children have theirs; TOO_LARGE or NO_ROOM.

    The literals make a chain, which is written from its end; then one child after the other is added.
    """
    variable, diagram, room, tally, waiting, count = bench
    slot, asked, result = tables
    literals = variable.size
    few = room[0]
    width = 0
    for child in children:
        if child < literals:
            few[width] = variable[child]
            width += 1
        elif diagram[child - literals] < 0:
            return np.int64(diagram[child - literals])
    sort_numbers(few[:width], room[1, :width], bits_of(literals), tally)
    made = TRUE if is_and else FALSE
    for i in range(width - 1, -1, -1):
        if i + 1 < width and few[i] == few[i + 1]:
            continue
        low, high = (FALSE, made) if is_and else (made, TRUE)
        made = node_of(few[i], low, high, count, node, slot)
        if made < 0:
            return made
    for child in children:
        if child >= literals:
            other = np.int64(diagram[child - literals])
            made = combine(is_and, made, other, count, node, slot, asked, result, waiting)
            if made < 0:
                return made
    return made


@kernel
def _make(
    is_and: bool,
    children: Ints,
    bench: _Workbench,
    node: Ints,
    tables: Tables,
    most_steps: int,
    most_nodes: int,
) -> tuple[int, Ints, Tables]:
    """As _combine_children, but room is made when there is none: so there may be new arrays."""
    count = bench.count
    kept = count[NODES]
    while True:
        count[STEPS] = most_steps
        made = _combine_children(is_and, children, bench, node, tables)
        if made != NO_ROOM or node.shape[0] >= most_nodes:
            break
        node, tables = with_more_room(node, tables, most_nodes)
    if made == TOO_LARGE:
        forget(kept, count, node, tables)
    return made, node, tables


def build_diagrams(expressions: Expressions, variable: Ints, most_steps: int, most_nodes: int) -> Diagrams:
    """The diagrams of all rules; variable[l] is the variable of literal l.

    An expression may take so many steps, each of which makes a node at most; all diagrams together, with
    those of parts that are no rules, may have so many nodes, and MOST_NODES at the very most.
    """
    return _build(with_inner_roots(expressions), variable, most_steps, most_nodes, no_tally())


@kernel
def _build(
    expressions: Expressions, variable: Ints, most_steps: int, most_nodes: int, tally: Longs
) -> Diagrams:
    literals, is_and, child_start, child, root = expressions
    widest = 1
    for i in range(is_and.size):
        widest = max(widest, child_start[i + 1] - child_start[i])
    count = np.zeros(2, np.int64)
    count[NODES] = 2
    diagram = np.empty(is_and.size, np.int32)
    bench = _Workbench(
        variable,
        diagram,
        np.empty((2, widest), np.int32),
        tally,
        np.empty((literals + 1, 3), np.int32),
        count,
    )
    node = np.zeros((2, 3), np.int32)
    node[:, VARIABLE] = literals
    tables = no_tables()
    for i in postorder(expressions):
        children = child[child_start[i] : child_start[i + 1]]
        diagram[i], node, tables = _make(is_and[i], children, bench, node, tables, most_steps, most_nodes)
    return Diagrams(node[: count[NODES]].copy(), diagram[root - literals])
