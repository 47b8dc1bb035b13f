"""From expressions to decision diagrams: rule after rule, each part once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.bdd import (
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
from tocsin.kernels.expressions import Expressions
from tocsin.kernels.jit import kernel
from tocsin.kernels.postorder import postorder


class _Workbench(NamedTuple):
    """What making diagrams needs beside the nodes. L literals, I inner nodes of expressions.

    variable   int32[L]       of each literal
    diagram    int32[I]       of each inner node of expressions, or why there is none
    few        int32[...]     room for the variables of one of them
    waiting    int32[L+1, 3]  see combine
    count      int64[2]       NODES and STEPS
    """

    variable: NDArray[np.int32]
    diagram: NDArray[np.int32]
    few: NDArray[np.int32]
    waiting: NDArray[np.int32]
    count: NDArray[np.int64]


@kernel
def _combine_children(
    is_and: bool,
    children: NDArray[np.int32],
    bench: _Workbench,
    node: NDArray[np.int32],
    tables: Tables,
) -> int:
    """The diagram of a node of expressions whose children have theirs; TOO_LARGE or NO_ROOM.

    The literals make a chain, which is written from its end; then one child after the other is added.
    """
    variable, diagram, few, waiting, count = bench
    slot, asked, result = tables
    literals = variable.size
    width = 0
    for child in children:
        if child < literals:
            few[width] = variable[child]
            width += 1
        elif diagram[child - literals] < 0:
            return np.int64(diagram[child - literals])
    few[:width].sort()
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
    children: NDArray[np.int32],
    bench: _Workbench,
    node: NDArray[np.int32],
    tables: Tables,
    most_steps: int,
    most_nodes: int,
) -> tuple[int, NDArray[np.int32], Tables]:
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


@kernel
def build_diagrams(
    expressions: Expressions, variable: NDArray[np.int32], most_steps: int, most_nodes: int
) -> Diagrams:
    """The diagrams of all rules; variable[l] is the variable of literal l.

    An expression may take so many steps, each of which makes a node at most; all diagrams together, with
    those of parts that are no rules, may have so many nodes, and MOST_NODES at the very most.
    """
    literals, is_and, child_start, child, root = expressions
    inner = is_and.size
    widest = 1
    for i in range(inner):
        widest = max(widest, child_start[i + 1] - child_start[i])
    count = np.zeros(2, np.int64)
    count[NODES] = 2
    diagram = np.empty(inner, np.int32)
    bench = _Workbench(
        variable, diagram, np.empty(widest, np.int32), np.empty((literals + 1, 3), np.int32), count
    )
    node = np.zeros((2, 3), np.int32)
    node[:, VARIABLE] = literals
    tables = no_tables()
    for i in postorder(expressions):
        children = child[child_start[i] : child_start[i + 1]]
        diagram[i], node, tables = _make(is_and[i], children, bench, node, tables, most_steps, most_nodes)
    made = np.empty(root.size, np.int32)
    for rule in range(root.size):
        top = np.int64(root[rule]) - literals
        if top < 0:
            alone = root[rule : rule + 1]
            made[rule], node, tables = _make(False, alone, bench, node, tables, most_steps, most_nodes)
        elif top < inner:
            made[rule] = diagram[top]
        else:
            made[rule] = TRUE if top == inner else FALSE
    return Diagrams(node[: count[NODES]].copy(), made)
