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

from tocsin.arrays.bits import HALF, LOWER_HALF, prefetch
from tocsin.arrays.dtypes import Ints, Longs, Words
from tocsin.arrays.jit import inner_kernel, kernel
from tocsin.arrays.lists import enlarged

FALSE = 0
TRUE = 1
"""The nodes that ask nothing."""

TOO_LARGE = -1
"""In place of a root: the diagram took more steps than one may."""

NO_ROOM = -2
"""In place of a root: all diagrams together would have had more nodes than they may."""

VARIABLE, LOW, HIGH = range(3)
"""Columns of a node."""

NODES, STEPS = range(2)
"""What is counted: the nodes that there are, the steps that the present expression may still take."""

_NUMBER_BITS = 27
_NUMBER = np.uint32((1 << _NUMBER_BITS) - 1)
_TAG = np.uint32(0xFFFF_FFFF ^ ((1 << _NUMBER_BITS) - 1))

MOST_NODES = 1 << _NUMBER_BITS
"""Nodes that there can be."""

_REMEMBERED = 1 << 18
"""Results that are kept at hand: few enough for near memory, and most of use to the same expression."""

_AHEAD = 16
"""How many nodes ahead slots are asked for."""

_MIX = np.uint64(0x9E37_79B9_7F4A_7C15)


class Diagrams(NamedTuple):
    """Decision diagrams that share their nodes. N nodes, R rules.

    node   int32[N, 3]   variable, low, high: the branches are nodes before this one, and ask variables
                         behind this one's. Nodes 0 and 1 are false and true, which ask none
    root   int32[R]      the node of each rule; TOO_LARGE or NO_ROOM when it has none
    """

    node: Ints
    root: Ints


class Tables(NamedTuple):
    """Where nodes are found again, and results: a hash table that is exact, and one that forgets.

    slot     uint32[2^k]   the nodes, at the place that their hash says, or behind it, each with five more
                           bits of its hash on top, so that few others are compared with it; 0: empty
    asked    uint64[2^m]   an operation and its operands, at the place that their hash says; 0: none
    result   int32[2^m]    its result
    """

    slot: NDArray[np.uint32]
    asked: Words
    result: Ints


@kernel
def no_tables() -> Tables:
    """Tables of no nodes and no results."""
    return Tables(np.zeros(4, np.uint32), np.zeros(_REMEMBERED, np.uint64), np.empty(_REMEMBERED, np.int32))


@inner_kernel
def _hash(first: np.uint64, second: np.uint64) -> np.uint64:
    mixed = (first ^ (second * _MIX)) * _MIX
    return mixed ^ (mixed >> np.uint64(31))


@inner_kernel
def _hash_of_node(variable: int, low: int, high: int) -> np.uint64:
    return _hash(np.uint64(variable), np.uint64(low) << HALF | np.uint64(high))


@inner_kernel
def _tag(hashed: np.uint64) -> np.uint32:
    """The bits of a hash that stand on top of a node in its slot."""
    return np.uint32(hashed >> np.uint64(59) << np.uint64(_NUMBER_BITS))


@inner_kernel
def _slot_of(
    hashed: np.uint64, variable: int, low: int, high: int, node: Ints, slot: NDArray[np.uint32]
) -> np.uint64:
    """Where a node with these branches is, or would be."""
    mask = np.uint64(slot.size - 1)
    tag = _tag(hashed)
    at = hashed & mask
    while slot[at] != 0:
        if slot[at] & _TAG == tag:
            known = np.int64(slot[at] & _NUMBER)
            if node[known, LOW] == low and node[known, HIGH] == high and node[known, VARIABLE] == variable:
                break
        at = (at + np.uint64(1)) & mask
    return at


@inner_kernel
def node_of(variable: int, low: int, high: int, count: Longs, node: Ints, slot: NDArray[np.uint32]) -> int:
    """The node with these branches, made if there is none; NO_ROOM when there is no room for it."""
    if low == high:
        return low
    hashed = _hash_of_node(variable, low, high)
    at = _slot_of(hashed, variable, low, high, node, slot)
    if slot[at] != 0:
        return np.int64(slot[at] & _NUMBER)
    made = count[NODES]
    if made == node.shape[0]:
        return NO_ROOM
    node[made, VARIABLE] = variable
    node[made, LOW] = low
    node[made, HIGH] = high
    slot[at] = _tag(hashed) | np.uint32(made)
    count[NODES] = made + 1
    return made


@kernel
def combine(
    is_and: bool,
    first: int,
    second: int,
    count: Longs,
    node: Ints,
    slot: NDArray[np.uint32],
    asked: Words,
    result: Ints,
    waiting: Ints,
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
            key = (np.uint64(first) << HALF | np.uint64(second)) << np.uint64(1) | np.uint64(is_and)
            at = _hash(key, np.uint64(0)) & mask
            if asked[at] != key:
                if count[STEPS] == 0:
                    return TOO_LARGE
                count[STEPS] -= 1
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
            made = node_of(variable, np.int64(waiting[height - 1, 2]), made, count, node, slot)
            if made < 0:
                return made
            key = (np.uint64(first) << HALF | np.uint64(second)) << np.uint64(1) | np.uint64(is_and)
            at = _hash(key, np.uint64(0)) & mask
            asked[at] = key
            result[at] = made
            height -= 1
        else:
            return made


@kernel
def with_more_room(node: Ints, tables: Tables, most_nodes: int) -> tuple[Ints, Tables]:
    """The same nodes, with room for twice as many; results so far are kept."""
    count = node.shape[0]
    room = min(enlarged(count, count + 1), most_nodes)
    larger = np.empty((room, 3), np.int32)
    larger[:count] = node
    size = tables.slot.size
    while size < 2 * room:
        size *= 2
    slot = np.zeros(size, np.uint32)
    mask = np.uint64(size - 1)
    for i in range(TRUE + 1, count):
        soon = min(i + _AHEAD, count - 1)
        prefetch(slot, _hash_of_node(node[soon, VARIABLE], node[soon, LOW], node[soon, HIGH]) & mask)
        hashed = _hash_of_node(node[i, VARIABLE], node[i, LOW], node[i, HIGH])
        at = hashed & mask
        while slot[at] != 0:
            at = (at + np.uint64(1)) & mask
        slot[at] = _tag(hashed) | np.uint32(i)
    return larger, Tables(slot, tables.asked, tables.result)


@kernel
def forget(kept: int, count: Longs, node: Ints, tables: Tables) -> None:
    """Take the nodes from `kept` on away, the last one first, and all results that name them."""
    if count[NODES] == kept:
        return
    slot, asked, result = tables
    for i in range(count[NODES] - 1, kept - 1, -1):
        variable, low, high = node[i]
        slot[_slot_of(_hash_of_node(variable, low, high), variable, low, high, node, slot)] = 0
    count[NODES] = kept
    for at in range(asked.size):
        larger = np.int64(asked[at] >> np.uint64(1) & LOWER_HALF)
        if larger >= kept or (asked[at] != 0 and result[at] >= kept):
            asked[at] = 0
