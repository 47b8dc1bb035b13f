"""The order of a data index's keys, for constraints with < and >: a skip list over its entries.

Such an index has keys of one column. The words of a key are put in order first: a number is as it is, of an
unsigned the upper bit is turned, of a negative float all others. Each level of the list is a linked list that
skips over some of the level below:

    level 2   head ------------------> 30
    level 1   head ------> 10 -------> 30
    level 0   head -> 5 -> 10 -> 20 -> 30 -> 40

The level of a key comes from its hash: lists of the same keys look the same, in whatever order these came.

The search-invariant property: the search for a key goes past every entry at or below it, in order, the upper
levels only make the way shorter; it ends at the greatest of them. So an entry where a search ended stays
on the way of that search for as long as it exists, and what waits there has to move only when an entry is
put right behind it. A node of level 0 keeps its number for as long as its key is in the list.

No array grows here: before an insertion there must be ROOM_FOR_ONE unused or free nodes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.bits import lowest_bit
from tocsin.arrays.dtypes import Ints, Longs
from tocsin.arrays.jit import bare_kernel, inner_kernel
from tocsin.arrays.row_table import hash_word
from tocsin.datalog.kernels import layout
from tocsin.datalog.kernels.arithmetic import AT_LEAST, AT_MOST, FLOAT, GREATER, LESS, UNSIGNED
from tocsin.datalog.kernels.memory_table import index_record, numbers, words

LEVELS = 14
"""One key in four goes up one level: enough for 4^14 keys."""

ROOM_FOR_ONE = 2 * LEVELS
"""Nodes that one insertion may take: one of the key and one more head on every level."""

USED, FREE, TOP, HEIGHT = range(4)

_SIGN = np.int64(-(2**63))
_OTHERS = np.int64(2**63 - 1)


class SkipList(NamedTuple):
    """Keys in order, and the entry of each.

    key     int64[room]   undefined in a head
    right   int32[room]   the next node of the level, -1 at its end; in a free node the next free one
    down    int32[room]   the node one level below; at level 0 the entry e, as ~e, and -1 in a head
    left    int32[room]   at level 0 the node before, which may be the head; -1 in the head
    state   int64[4]      USED: nodes ever used, from the front; FREE: the first free one, or -1
                          TOP: the uppermost head, -1 in an empty list, which has no nodes; HEIGHT: levels
    """

    key: Longs
    right: Ints
    down: Ints
    left: Ints
    state: Longs


@inner_kernel
def _keys_of(table: Longs, record: Longs) -> SkipList:
    """The keys of a data index, by its record."""
    base = record[layout.I_BASE]
    return SkipList(
        words(table, base + layout.NODE_KEYS),
        numbers(table, base + layout.NODE_RIGHT),
        numbers(table, base + layout.NODE_DOWN),
        numbers(table, base + layout.NODE_LEFT),
        words(table, base + layout.NODE_STATE),
    )


@bare_kernel
def in_order(word: int, order: int) -> int:
    """A number that compares as the value of a word does. `order` is 1 + the kind of its type."""
    if order == 1 + UNSIGNED:
        return word ^ _SIGN
    if order == 1 + FLOAT and word < 0:
        return word ^ _OTHERS
    return word


@bare_kernel
def has_nodes(table: Longs, index: int) -> bool:
    """Whether one more key can be put in order."""
    base = index_record(table, index)[layout.I_BASE]
    used, room = words(table, base + layout.NODE_STATE)[USED], words(table, base + layout.NODE_KEYS).size
    return used + ROOM_FOR_ONE <= room


@bare_kernel
def enter_order(table: Longs, index: int, entry: int) -> None:
    """Put the key of a new entry in its place among the others."""
    record = index_record(table, index)
    word = words(table, record[layout.I_BASE] + layout.KEYS)[entry]
    insert_key(_keys_of(table, record), in_order(word, record[layout.I_ORDER]), entry)


@bare_kernel
def leave_order(table: Longs, index: int, entry: int) -> None:
    """Take the key of an entry out of the order."""
    record = index_record(table, index)
    word = words(table, record[layout.I_BASE] + layout.KEYS)[entry]
    delete_key(_keys_of(table, record), in_order(word, record[layout.I_ORDER]))


@bare_kernel
def first_in_range(table: Longs, index: int, operator: int, bound: int) -> int:
    """The node of the key next to a bound among those with `key operator bound`, or -1."""
    record = index_record(table, index)
    wanted, keys = in_order(bound, record[layout.I_ORDER]), _keys_of(table, record)
    if operator == GREATER or operator == AT_LEAST:
        node = at_or_above(keys, wanted)
    else:
        node = at_or_below(keys, wanted)
    if node >= 0 and keys.key[node] == wanted and (operator == GREATER or operator == LESS):
        return next_in_range(table, index, operator, node)
    return node


@bare_kernel
def next_in_range(table: Longs, index: int, operator: int, node: int) -> int:
    """The node one further from the bound, or -1."""
    base = index_record(table, index)[layout.I_BASE]
    if operator == LESS or operator == AT_MOST:
        return previous(node, numbers(table, base + layout.NODE_LEFT))
    return np.int64(numbers(table, base + layout.NODE_RIGHT)[node])


@bare_kernel
def entry_of_node(table: Longs, index: int, node: int) -> int:
    """The entry whose key a node has."""
    base = index_record(table, index)[layout.I_BASE]
    return ~np.int64(numbers(table, base + layout.NODE_DOWN)[node])


@bare_kernel
def level_of(key: int) -> int:
    """The uppermost level that a key stands on."""
    mixed = hash_word(hash_word(np.uint64(0), key), key)
    return min(lowest_bit(mixed) >> 1, LEVELS - 1)


@bare_kernel
def _taken(keys: SkipList) -> int:
    """A node that nobody uses."""
    node = keys.state[FREE]
    if node >= 0:
        keys.state[FREE] = keys.right[node]
        return node
    keys.state[USED] += 1
    return keys.state[USED] - 1


@bare_kernel
def _give_back(keys: SkipList, node: int) -> None:
    keys.right[node] = keys.state[FREE]
    keys.state[FREE] = node


@inner_kernel
def _last_below(keys: SkipList, node: int, wanted: int) -> int:
    """From a node to the right, the last one of its level with a key below `wanted`, or the node itself."""
    following = np.int64(keys.right[node])
    while following >= 0 and keys.key[following] < wanted:
        node = following
        following = np.int64(keys.right[node])
    return node


@bare_kernel
def at_or_above(keys: SkipList, wanted: int) -> int:
    """The node of the least key that is not below `wanted`, or -1. From there `right` leads upwards."""
    node = keys.state[TOP]
    following = np.int64(-1)
    for _ in range(keys.state[HEIGHT]):
        node = _last_below(keys, node, wanted)
        following = np.int64(keys.right[node])
        node = np.int64(keys.down[node])
    return following


@bare_kernel
def at_or_below(keys: SkipList, wanted: int) -> int:
    """The node of the greatest key that is not above `wanted`, or -1: where the search for `wanted` ends."""
    node = keys.state[TOP]
    for level in range(keys.state[HEIGHT], 0, -1):
        following = np.int64(keys.right[node])
        while following >= 0 and keys.key[following] <= wanted:
            node = following
            following = np.int64(keys.right[node])
        if level > 1:
            node = np.int64(keys.down[node])
    return node if node >= 0 and keys.left[node] >= 0 else -1


@bare_kernel
def previous(node: int, left: Ints) -> int:
    """The node before, or -1."""
    before = np.int64(left[node])
    return before if left[before] >= 0 else -1


@bare_kernel
def insert_key(keys: SkipList, new: int, entry: int) -> int:
    """Put a key into the list. Its node at level 0; nothing changes when it is there already."""
    key, right, down, left, state = keys
    highest = level_of(new)
    while state[HEIGHT] <= highest:
        head = _taken(keys)
        right[head] = -1
        down[head] = state[TOP]
        left[head] = -1
        state[TOP] = head
        state[HEIGHT] += 1
    node = state[TOP]
    above = np.int64(-1)  # the new node one level up
    for level in range(state[HEIGHT] - 1, -1, -1):
        node = _last_below(keys, node, new)
        following = np.int64(right[node])
        if level <= highest:
            if following >= 0 and key[following] == new:
                for _ in range(level):
                    following = np.int64(down[following])
                return following
            made = _taken(keys)
            key[made] = new
            right[made] = following
            right[node] = made
            if above >= 0:
                down[above] = made
            above = made
            if level == 0:
                down[made] = ~entry
                left[made] = node
                if following >= 0:
                    left[following] = made
        if level > 0:
            node = np.int64(down[node])
    return above


@bare_kernel
def delete_key(keys: SkipList, old: int) -> int:
    """Take a key out of the list. Its entry, or -1 when it is not there."""
    key, right, down, left, state = keys
    node = state[TOP]
    entry = np.int64(-1)
    for level in range(state[HEIGHT] - 1, -1, -1):
        node = _last_below(keys, node, old)
        following = np.int64(right[node])
        if following >= 0 and key[following] == old:
            right[node] = right[following]
            if level == 0:
                entry = ~np.int64(down[following])
                if right[node] >= 0:
                    left[right[node]] = node
            _give_back(keys, following)
        if level > 0:
            node = np.int64(down[node])
    if entry >= 0 and left[node] < 0 and right[node] < 0:  # what has become empty holds no nodes
        for _ in range(state[HEIGHT]):
            head = state[TOP]
            state[TOP] = np.int64(down[head])
            _give_back(keys, head)
        state[HEIGHT] = 0
    return entry
