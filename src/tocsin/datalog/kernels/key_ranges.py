"""The order of a data index's keys, for constraints with < and >.

Such an index has keys of one column, and a skip list (ordered_maps.py) over its entries. The words of a key
are put in order first: a number is as it is, of an unsigned the upper bit is turned, of a negative float all
others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.jit import bare_kernel
from tocsin.datalog.kernels.arithmetic import AT_LEAST, AT_MOST, FLOAT, GREATER, LESS, UNSIGNED
from tocsin.datalog.kernels.layout import (
    I_BASE,
    I_ORDER,
    INDEX,
    INDEXES,
    KEYS,
    NODE_DOWN,
    NODE_KEYS,
    NODE_LEFT,
    NODE_RIGHT,
    NODE_SUPPLY,
    TOP_LEVELS,
    TOP_NODE,
)
from tocsin.datalog.kernels.memory_table import numbers, words
from tocsin.datalog.kernels.ordered_maps import (
    ROOM_FOR_ONE,
    at_or_above,
    at_or_below,
    delete_key,
    insert_key,
    previous,
)

_SIGN = np.int64(-(2**63))
_OTHERS = np.int64(2**63 - 1)


@bare_kernel
def in_order(word: int, order: int) -> int:
    """A number that compares as the value of a word does. `order` is 1 + the kind of its type."""
    if order == 1 + UNSIGNED:
        return word ^ _SIGN
    if order == 1 + FLOAT and word < 0:
        return word ^ _OTHERS
    return word


@bare_kernel
def has_nodes(table: NDArray[np.int64], index: int) -> bool:
    """Whether one more key can be put in order."""
    base = words(table, INDEXES)[index * INDEX + I_BASE]
    return words(table, base + NODE_SUPPLY)[0] + ROOM_FOR_ONE <= words(table, base + NODE_KEYS).size


@bare_kernel
def enter_order(table: NDArray[np.int64], index: int, entry: int) -> None:
    """Put the key of a new entry in its place among the others."""
    indexes = words(table, INDEXES)
    base, order = indexes[index * INDEX + I_BASE], indexes[index * INDEX + I_ORDER]
    insert_key(
        0,
        in_order(words(table, base + KEYS)[entry], order),
        entry,
        words(table, base + NODE_KEYS),
        numbers(table, base + NODE_RIGHT),
        numbers(table, base + NODE_DOWN),
        numbers(table, base + NODE_LEFT),
        numbers(table, base + TOP_NODE),
        numbers(table, base + TOP_LEVELS),
        words(table, base + NODE_SUPPLY),
    )


@bare_kernel
def leave_order(table: NDArray[np.int64], index: int, entry: int) -> None:
    """Take the key of an entry out of the order."""
    indexes = words(table, INDEXES)
    base, order = indexes[index * INDEX + I_BASE], indexes[index * INDEX + I_ORDER]
    delete_key(
        0,
        in_order(words(table, base + KEYS)[entry], order),
        words(table, base + NODE_KEYS),
        numbers(table, base + NODE_RIGHT),
        numbers(table, base + NODE_DOWN),
        numbers(table, base + NODE_LEFT),
        numbers(table, base + TOP_NODE),
        numbers(table, base + TOP_LEVELS),
        words(table, base + NODE_SUPPLY),
    )


@bare_kernel
def first_in_range(table: NDArray[np.int64], index: int, operator: int, bound: int) -> int:
    """The node of the key next to a bound among those with `key operator bound`, or -1."""
    indexes = words(table, INDEXES)
    base = indexes[index * INDEX + I_BASE]
    wanted = in_order(bound, indexes[index * INDEX + I_ORDER])
    key, right, down = (
        words(table, base + NODE_KEYS),
        numbers(table, base + NODE_RIGHT),
        numbers(table, base + NODE_DOWN),
    )
    top, levels = numbers(table, base + TOP_NODE), numbers(table, base + TOP_LEVELS)
    if operator == GREATER or operator == AT_LEAST:
        node = at_or_above(0, wanted, key, right, down, top, levels)
    else:
        node = at_or_below(0, wanted, key, right, down, numbers(table, base + NODE_LEFT), top, levels)
    if node >= 0 and key[node] == wanted and (operator == GREATER or operator == LESS):
        return next_in_range(table, index, operator, node)
    return node


@bare_kernel
def next_in_range(table: NDArray[np.int64], index: int, operator: int, node: int) -> int:
    """The node one further from the bound, or -1."""
    base = words(table, INDEXES)[index * INDEX + I_BASE]
    if operator == LESS or operator == AT_MOST:
        return previous(node, numbers(table, base + NODE_LEFT))
    return np.int64(numbers(table, base + NODE_RIGHT)[node])


@bare_kernel
def entry_of_node(table: NDArray[np.int64], index: int, node: int) -> int:
    """The entry whose key a node has."""
    base = words(table, INDEXES)[index * INDEX + I_BASE]
    return ~np.int64(numbers(table, base + NODE_DOWN)[node])
