"""Ordered maps from int64 keys to entries: what inequality constraints search. Many maps share these arrays.

A map is a skip list, each level a linked list that skips over some of the level below:

    level 2   head ------------------> 30
    level 1   head ------> 10 -------> 30
    level 0   head -> 5 -> 10 -> 20 -> 30 -> 40

    nodes     key     int64[room]   undefined in a head
              right   int32[room]   the next node of the level, -1 at its end; in a free node the next free
              down    int32[room]   the node one level below; at level 0 the entry e, as ~e, and -1 in a head
              left    int32[room]   at level 0 the node before, which may be the head; -1 in the head
    maps      top     int32[maps]   the uppermost head; -1 in an empty map, which has no nodes
              levels  int32[maps]   how many levels there are
    supply    int64[2]              nodes ever used (from the front), and the first free one, or -1

The level of a key comes from its hash: maps of the same keys look the same, in whatever order these came.
The search-invariant property: the search for a key goes past every entry at or below it, in order, the upper
levels only make the way shorter; it ends at the greatest of them. So an entry where a search ended stays
on the way of that search for as long as it exists, and what waits there has to move only when an entry is
put right behind it. A node of level 0 keeps its number for as long as its key is in the map.

No array grows here: before an insertion there must be ROOM_FOR_ONE unused or free nodes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.bits import lowest_bit
from tocsin.arrays.jit import bare_kernel
from tocsin.arrays.row_table import hash_word

Keys = NDArray[np.int64]
Links = NDArray[np.int32]
Supply = NDArray[np.int64]

LEVELS = 14
"""One key in four goes up one level: enough for 4^14 keys."""

ROOM_FOR_ONE = 2 * LEVELS
"""Nodes that one insertion may take: one of the key and one more head on every level."""


@bare_kernel
def level_of(key: int) -> int:
    """The uppermost level that a key stands on."""
    mixed = hash_word(hash_word(np.uint64(0), key), key)
    return min(lowest_bit(mixed) >> 1, LEVELS - 1)


@bare_kernel
def _taken(right: Links, supply: Supply) -> int:
    """A node that nobody uses."""
    node = supply[1]
    if node >= 0:
        supply[1] = right[node]
        return node
    supply[0] += 1
    return supply[0] - 1


@bare_kernel
def _give_back(node: int, right: Links, supply: Supply) -> None:
    right[node] = supply[1]
    supply[1] = node


@bare_kernel
def at_or_above(
    one: int, wanted: int, key: Keys, right: Links, down: Links, top: Links, levels: Links
) -> int:
    """The node of the least key that is not below `wanted`, or -1. From there `right` leads upwards."""
    node = np.int64(top[one])
    following = np.int64(-1)
    for _ in range(levels[one]):
        following = np.int64(right[node])
        while following >= 0 and key[following] < wanted:
            node = following
            following = np.int64(right[node])
        node = np.int64(down[node])
    return following


@bare_kernel
def at_or_below(
    one: int, wanted: int, key: Keys, right: Links, down: Links, left: Links, top: Links, levels: Links
) -> int:
    """The node of the greatest key that is not above `wanted`, or -1: where the search for `wanted` ends."""
    node = np.int64(top[one])
    for level in range(levels[one], 0, -1):
        following = np.int64(right[node])
        while following >= 0 and key[following] <= wanted:
            node = following
            following = np.int64(right[node])
        if level > 1:
            node = np.int64(down[node])
    return node if node >= 0 and left[node] >= 0 else -1


@bare_kernel
def previous(node: int, left: Links) -> int:
    """The node before, or -1."""
    before = np.int64(left[node])
    return before if left[before] >= 0 else -1


@bare_kernel
def insert_key(
    one: int,
    new: int,
    entry: int,
    key: Keys,
    right: Links,
    down: Links,
    left: Links,
    top: Links,
    levels: Links,
    supply: Supply,
) -> int:
    """Put a key into a map. Its node at level 0; nothing changes when it is there already."""
    highest = level_of(new)
    while levels[one] <= highest:
        head = _taken(right, supply)
        right[head] = -1
        down[head] = top[one]
        left[head] = -1
        top[one] = head
        levels[one] += 1
    node = np.int64(top[one])
    above = np.int64(-1)  # the new node one level up
    for level in range(levels[one] - 1, -1, -1):
        following = np.int64(right[node])
        while following >= 0 and key[following] < new:
            node = following
            following = np.int64(right[node])
        if level <= highest:
            if following >= 0 and key[following] == new:
                for _ in range(level):
                    following = np.int64(down[following])
                return following
            made = _taken(right, supply)
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
def delete_key(
    one: int,
    old: int,
    key: Keys,
    right: Links,
    down: Links,
    left: Links,
    top: Links,
    levels: Links,
    supply: Supply,
) -> int:
    """Take a key out of a map. Its entry, or -1 when it is not there."""
    node = np.int64(top[one])
    entry = np.int64(-1)
    for level in range(levels[one] - 1, -1, -1):
        following = np.int64(right[node])
        while following >= 0 and key[following] < old:
            node = following
            following = np.int64(right[node])
        if following >= 0 and key[following] == old:
            right[node] = right[following]
            if level == 0:
                entry = ~np.int64(down[following])
                if right[node] >= 0:
                    left[right[node]] = node
            _give_back(following, right, supply)
        if level > 0:
            node = np.int64(down[node])
    if entry >= 0 and left[node] < 0 and right[node] < 0:
        _forget_heads(one, right, down, top, levels, supply)
    return entry


@bare_kernel
def _forget_heads(one: int, right: Links, down: Links, top: Links, levels: Links, supply: Supply) -> None:
    """A map that has become empty holds no nodes."""
    head = np.int64(top[one])
    for _ in range(levels[one]):
        below = np.int64(down[head])
        _give_back(head, right, supply)
        head = below
    top[one] = -1
    levels[one] = 0
