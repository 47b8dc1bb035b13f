"""Reduced ordered decision diagrams of all rules in one, as in the second paper's section 2.

Variables are literals: that a predicate is true and that it is false are two variables, so that unknown
is neither, and every function is monotone. A node asks one variable: `high` is the diagram to go on with
when it holds, `low` when it does not. Equal functions are equal nodes, whatever rule they come from: no
node has two equal branches, and no two nodes are alike.

    (1 or 2 or 3) and 4 and (5 or 6)        1 ──high──┐
                                            low       │
                                            2 ──high──┤
                                            low       │
                                            3 ──high──4 ──high──5 ──high──── true
                                            low       low       low           │
                                            false     false     6 ──high──────┘
                                                                low
                                                                false
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.expressions import Expressions
from tocsin.kernels.growing import enlarged
from tocsin.kernels.jit import inner_kernel, kernel

FALSE = 0
TRUE = 1
"""The nodes that ask nothing."""

TOO_LARGE = -1
"""In place of a root: the diagram took more steps than one may."""

NO_ROOM = -2
"""In place of a root: all diagrams together would have had more nodes than they may."""

_UNKNOWN = -3
"""The diagram of an expression that was not made yet."""

VARIABLE, LOW, HIGH = range(3)
"""Columns of a node."""

_NODES, _STEPS = range(2)
"""What is counted: the nodes that there are, the steps that the present expression may still take."""

_MIX = np.uint64(0x9E37_79B9_7F4A_7C15)
_HALF = np.uint64(32)


class Diagrams(NamedTuple):
    """Decision diagrams that share their nodes. N nodes, R rules.

    node   int32[N, 3]   variable, low, high: the branches are nodes before this one, and ask variables
                         behind this one's. Nodes 0 and 1 are false and true, which ask none
    root   int32[R]      the node of each rule; TOO_LARGE or NO_ROOM when it has none
    """

    node: NDArray[np.int32]
    root: NDArray[np.int32]


class Tables(NamedTuple):
    """Where nodes are found again, and results: a hash table that is exact, and one that forgets.

    slot     int32[2^k]    the nodes, at the place that their hash says, or behind it; -1: empty
    asked    uint64[2^m]   an operation and its operands, at the place that their hash says; 0: none
    result   int32[2^m]    its result
    """

    slot: NDArray[np.int32]
    asked: NDArray[np.uint64]
    result: NDArray[np.int32]


@inner_kernel
def _hash(first: np.uint64, second: np.uint64) -> np.uint64:
    mixed = (first ^ (second * _MIX)) * _MIX
    return mixed ^ (mixed >> np.uint64(31))


@inner_kernel
def _slot_of(variable: int, low: int, high: int, node: NDArray[np.int32], slot: NDArray[np.int32]) -> int:
    """Where a node with these branches is, or would be."""
    mask = np.uint64(slot.size - 1)
    at = _hash(np.uint64(variable), np.uint64(low) << _HALF | np.uint64(high)) & mask
    while slot[at] >= 0:
        known = slot[at]
        if node[known, LOW] == low and node[known, HIGH] == high and node[known, VARIABLE] == variable:
            break
        at = (at + np.uint64(1)) & mask
    return np.int64(at)


@inner_kernel
def _node_of(
    variable: int,
    low: int,
    high: int,
    count: NDArray[np.int64],
    node: NDArray[np.int32],
    slot: NDArray[np.int32],
) -> int:
    """The node with these branches, made if there is none; NO_ROOM when there is no room for it."""
    if low == high:
        return low
    at = _slot_of(variable, low, high, node, slot)
    if slot[at] >= 0:
        return np.int64(slot[at])
    made = count[_NODES]
    if made == node.shape[0]:
        return NO_ROOM
    node[made, VARIABLE] = variable
    node[made, LOW] = low
    node[made, HIGH] = high
    slot[at] = made
    count[_NODES] = made + 1
    return made


@kernel
def _combine(
    is_and: bool,
    first: int,
    second: int,
    count: NDArray[np.int64],
    node: NDArray[np.int32],
    slot: NDArray[np.int32],
    asked: NDArray[np.uint64],
    result: NDArray[np.int32],
    waiting: NDArray[np.int32],
) -> int:
    """The diagram of an AND or OR of two diagrams; TOO_LARGE or NO_ROOM when it cannot be made.

    `waiting` are the pairs on the way down, each with the low branch of its result once that is known.
    """
    decisive, neutral = (FALSE, TRUE) if is_and else (TRUE, FALSE)
    mask = np.uint64(asked.size - 1)
    height = 0
    while True:
        if first == decisive or second == decisive:
            made = decisive
        elif first == second or second == neutral:
            made = first
        elif first == neutral:
            made = second
        else:
            if first > second:
                first, second = second, first
            key = (np.uint64(first) << _HALF | np.uint64(second)) << np.uint64(1) | np.uint64(is_and)
            at = _hash(key, np.uint64(0)) & mask
            if asked[at] != key:
                if count[_STEPS] == 0:
                    return TOO_LARGE
                count[_STEPS] -= 1
                waiting[height, 0] = first
                waiting[height, 1] = second
                waiting[height, 2] = -1
                height += 1
                if node[first, VARIABLE] <= node[second, VARIABLE]:
                    if node[first, VARIABLE] == node[second, VARIABLE]:
                        second = np.int64(node[second, LOW])
                    first = np.int64(node[first, LOW])
                else:
                    second = np.int64(node[second, LOW])
                continue
            made = np.int64(result[at])
        while height > 0:
            first = np.int64(waiting[height - 1, 0])
            second = np.int64(waiting[height - 1, 1])
            variable = min(node[first, VARIABLE], node[second, VARIABLE])
            if waiting[height - 1, 2] < 0:
                waiting[height - 1, 2] = made
                if node[first, VARIABLE] == variable and node[second, VARIABLE] == variable:
                    first = np.int64(node[first, HIGH])
                    second = np.int64(node[second, HIGH])
                elif node[first, VARIABLE] == variable:
                    first = np.int64(node[first, HIGH])
                else:
                    second = np.int64(node[second, HIGH])
                break
            made = _node_of(variable, np.int64(waiting[height - 1, 2]), made, count, node, slot)
            if made < 0:
                return made
            key = (np.uint64(first) << _HALF | np.uint64(second)) << np.uint64(1) | np.uint64(is_and)
            at = _hash(key, np.uint64(0)) & mask
            asked[at] = key
            result[at] = made
            height -= 1
        else:
            return made


@kernel
def _diagram_of(
    is_and: bool,
    children: NDArray[np.int32],
    literals: int,
    variable: NDArray[np.int32],
    of_inner: NDArray[np.int32],
    few: NDArray[np.int32],
    count: NDArray[np.int64],
    node: NDArray[np.int32],
    tables: Tables,
    waiting: NDArray[np.int32],
) -> int:
    """The diagram of a node of expressions whose children have theirs; TOO_LARGE or NO_ROOM.

    The literals make a chain, which is written from its end; then one child after the other is added.
    """
    slot, asked, result = tables
    width = 0
    for child in children:
        if child < literals:
            few[width] = variable[child]
            width += 1
        elif of_inner[child - literals] < 0:
            return np.int64(of_inner[child - literals])
    few[:width].sort()
    made = TRUE if is_and else FALSE
    for i in range(width - 1, -1, -1):
        if i + 1 < width and few[i] == few[i + 1]:
            continue
        low, high = (FALSE, made) if is_and else (made, TRUE)
        made = _node_of(few[i], low, high, count, node, slot)
        if made < 0:
            return made
    for child in children:
        if child >= literals:
            other = np.int64(of_inner[child - literals])
            made = _combine(is_and, made, other, count, node, slot, asked, result, waiting)
            if made < 0:
                return made
    return made


@kernel
def _with_more_room(
    node: NDArray[np.int32], tables: Tables, most_nodes: int
) -> tuple[NDArray[np.int32], Tables]:
    """The same nodes, with room for twice as many; results so far are kept."""
    count = node.shape[0]
    room = min(enlarged(count, count + 1), most_nodes)
    larger = np.empty((room, 3), np.int32)
    larger[:count] = node
    size = tables.slot.size
    while size < 2 * room:
        size *= 2
    slot = np.full(size, -1, np.int32)
    for i in range(2, count):
        slot[_slot_of(node[i, VARIABLE], node[i, LOW], node[i, HIGH], larger, slot)] = i
    return larger, Tables(slot, tables.asked, tables.result)


@kernel
def build_diagrams(
    expressions: Expressions, variable: NDArray[np.int32], most_steps: int, most_nodes: int, remembered: int
) -> Diagrams:
    """The diagrams of all rules, one rule after the other; variable[l] is the variable of literal l.

    An expression may take so many steps, each of which makes a node at most; all diagrams together, with
    those of parts that are no rules, may have so many nodes. `remembered` results, a power of two, are
    kept at hand.
    """
    literals, is_and, child_start, child, root = expressions
    inner = is_and.size
    widest = 1
    for i in range(inner):
        widest = max(widest, child_start[i + 1] - child_start[i])
    few = np.empty(widest, np.int32)
    count = np.zeros(2, np.int64)
    node = np.zeros((16, 3), np.int32)
    node[:2, VARIABLE] = literals
    count[_NODES] = 2
    tables = Tables(
        np.full(32, -1, np.int32), np.zeros(remembered, np.uint64), np.empty(remembered, np.int32)
    )
    waiting = np.empty((literals + 1, 3), np.int32)
    of_inner = np.full(inner, _UNKNOWN, np.int32)
    open_node = np.empty(inner + 1, np.int32)
    next_child = np.empty(inner + 1, np.int32)
    made_root = np.empty(root.size, np.int32)
    for rule in range(root.size):
        top = np.int64(root[rule])
        if top >= literals + inner:
            made_root[rule] = TRUE if top == literals + inner else FALSE
            continue
        if top < literals:
            made = _node_of(np.int64(variable[top]), FALSE, TRUE, count, node, tables.slot)
            while made == NO_ROOM and node.shape[0] < most_nodes:
                node, tables = _with_more_room(node, tables, most_nodes)
                made = _node_of(np.int64(variable[top]), FALSE, TRUE, count, node, tables.slot)
            made_root[rule] = made
            continue
        height = 0
        if of_inner[top - literals] == _UNKNOWN:
            open_node[0] = top - literals
            next_child[0] = child_start[top - literals]
            height = 1
        while height > 0:
            here = np.int64(open_node[height - 1])
            at = np.int64(next_child[height - 1])
            end = child_start[here + 1]
            while at < end and (child[at] < literals or of_inner[child[at] - literals] != _UNKNOWN):
                at += 1
            if at < end:
                next_child[height - 1] = at
                open_node[height] = child[at] - literals
                next_child[height] = child_start[open_node[height]]
                height += 1
                continue
            children = child[child_start[here] : end]
            count[_STEPS] = most_steps
            made = _diagram_of(
                is_and[here], children, literals, variable, of_inner, few, count, node, tables, waiting
            )
            while made == NO_ROOM and node.shape[0] < most_nodes:
                node, tables = _with_more_room(node, tables, most_nodes)
                made = _diagram_of(
                    is_and[here], children, literals, variable, of_inner, few, count, node, tables, waiting
                )
            of_inner[here] = made
            height -= 1
        made_root[rule] = of_inner[top - literals]
    return Diagrams(node[: count[_NODES]].copy(), made_root)
