"""Nodes of the shared graph become children of others that have all their children, and more.

    a and b and c        AND(a b c)                 AND(a b c)
    a and b and c and d  AND(a b c d)         ->    AND(AND(a b c) d)

Algorithms 2 and 3 of the A-Tree paper at once, for a whole rule set: what is part of what is settled before
any child is replaced, so it does not matter which rule came first. An OR is the negation of an AND, and
covered like one. A *cover* of a node is a node whose children are all among its children. Which of them to
use is the problem of set cover, solved greedily as in the paper: always the one that stands for most children
that nothing stands for yet, two at least.

Covers are listed under their *rarest* child, the one that the fewest nodes have. So a search looks at short
lists, and comes by a cover once. For each child of a node it takes LOOKS looks, and then makes do with what
it has: what it leaves out costs an edge and never a match.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.bits import HALF, LOWER_HALF, prefetch
from tocsin.arrays.dtypes import Bytes, Ints, Longs, Words
from tocsin.arrays.jit import inner_kernel, kernel
from tocsin.arrays.radix_sort import order_by
from tocsin.conditions.kernels.node_references import sort_refs
from tocsin.conditions.kernels.shared_nodes import NODES, SharedNodes

LOOKS = 16
LOOKS_AT_LEAST = 1024
"""Looks that the search for the covers of one node takes for each of its children, and at least."""

_LONG = 8
"""A list of more covers than so many times a node has children is looked through by their second child."""

_NARROWEST = 3
"""Children that a node needs to have for a cover to spare it an edge."""

_ENTRY = 0xFFFF_FFFF


class Covers(NamedTuple):
    """The nodes that may be covers, under the rarest of their children.

    sign      uint8[N]     how the roots need a node: 1 where it is true, 2 where it is false, 3 both; 0 for
                           one that is not needed, or is a leaf. A cover is needed in every way in which the
                           node that it covers is, so that no plane is added
    start     int32[2N+1]  entries of reference r: start[r] .. start[r+1], by ascending second
    node      int32[E]
    second    int32[E]     the second rarest child
    members   uint64[E]    a bit for each child, by hash
    """

    sign: Bytes
    start: Ints
    node: Ints
    second: Ints
    members: Words


class Search(NamedTuple):
    """Room for the covers of one node at a time.

    of       int32[2N]    the last node that this reference was looked at as a child of
    times    int32[2N]    for a child of that node how many chosen covers have it
    found    int64[...]   candidates, narrower ones first: width, and in the lower half an entry of Covers
    gain     int32[...]   how many children each would stand for, at most; 0: it is no cover, or of no use
    chosen   int32[W]     nodes
    """

    of: Ints
    times: Ints
    found: Longs
    gain: Ints
    chosen: Ints


@inner_kernel
def _bit(ref: int) -> np.uint64:
    return np.uint64(1) << (np.uint64(ref) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(58))


@kernel
def count_uses(nodes: SharedNodes, asked: Ints) -> Ints:
    """For each reference how many of the nodes that are asked about have it as a child."""
    uses = np.zeros(2 * nodes.size[NODES], np.int32)
    for at in range(asked.size):
        for i in range(nodes.child_start[asked[at]], nodes.child_start[asked[at] + 1]):
            uses[nodes.child[i]] += 1
    return uses


@kernel
def list_covers(nodes: SharedNodes, sign: Bytes, uses: Ints, least: int) -> Covers:
    """The needed nodes all of whose children have so many uses among the nodes that are asked about.

    Where these are all nodes, `least` is 2: what has a child to itself covers nothing.
    """
    child_start, child = nodes.child_start, nodes.child
    count = nodes.size[NODES]
    room = np.count_nonzero(sign)
    found = np.empty(room, np.int32)
    key = np.empty(room, np.uint64)
    word = np.empty(room, np.uint64)
    filled = 0
    for node in range(count):
        if sign[node] == 0:
            continue
        rarest = second = np.int64(-1)
        members = np.uint64(0)
        for i in range(child_start[node], child_start[node + 1]):
            ref = np.int64(child[i])
            if uses[ref] < least:
                rarest = -1
                break
            members |= _bit(ref)
            if rarest < 0 or uses[ref] < uses[rarest]:
                second = rarest
                rarest = ref
            elif second < 0 or uses[ref] < uses[second]:
                second = ref
        if rarest >= 0:
            found[filled] = node
            key[filled] = np.uint64(rarest) << HALF | np.uint64(second)
            word[filled] = members
            filled += 1
    order = order_by(key[:filled])
    start = np.zeros(2 * count + 1, np.int32)
    seconds = np.empty(filled, np.int32)
    for i in range(filled):
        start[np.int64(key[order[i]] >> HALF) + 1] += 1
        seconds[i] = np.int32(key[order[i]] & LOWER_HALF)
    for ref in range(2 * count):
        start[ref + 1] += start[ref]
    return Covers(sign, start, found[order], seconds, word[order])


@kernel
def _room_to_search(nodes: SharedNodes) -> Search:
    """Room for any node."""
    count = nodes.size[NODES]
    widest = 0
    for node in range(count):
        widest = max(widest, nodes.child_start[node + 1] - nodes.child_start[node])
    room = LOOKS * widest + LOOKS_AT_LEAST
    return Search(
        np.full(2 * count, -1, np.int32),
        np.empty(2 * count, np.int32),
        np.empty(room, np.int64),
        np.empty(room, np.int32),
        np.empty(widest, np.int32),
    )


@inner_kernel
def _first_from(second: Ints, begin: int, end: int, ref: int) -> int:
    """The first of the entries begin .. end whose second rarest child is not below ref."""
    while begin < end:
        middle = (begin + end) >> 1
        if second[middle] < ref:
            begin = middle + 1
        else:
            end = middle
    return begin


@inner_kernel
def _find(nodes: SharedNodes, covers: Covers, node: int, search: Search) -> int:
    """Collect nodes that look like covers of this one, the widest last; how many."""
    child_start, child = nodes.child_start, nodes.child
    begin, end = child_start[node], child_start[node + 1]
    width = end - begin
    others = ~np.uint64(0)
    for i in range(begin, end):
        prefetch(covers.start, np.int64(child[i]))
        others &= ~_bit(child[i])
    looks = LOOKS * width + LOOKS_AT_LEAST
    count = 0
    for i in range(begin, end):
        first, last = np.int64(covers.start[child[i]]), np.int64(covers.start[child[i] + 1])
        is_long = last - first > _LONG * width
        for j in range(begin, end if is_long else begin + 1):
            if looks <= 0:
                break
            at = _first_from(covers.second, first, last, child[j]) if is_long else first
            looks -= 1
            while at < last and looks > 0 and not (is_long and covers.second[at] != child[j]):
                looks -= 1
                if covers.members[at] & others == 0:
                    cover = covers.node[at]
                    size = child_start[cover + 1] - child_start[cover]
                    if size < width and covers.sign[node] & ~covers.sign[cover] == 0:
                        search.found[count] = size << 32 | at
                        count += 1
                at += 1
    sort_refs(search.found, 0, count)
    return count


@inner_kernel
def _gain_of(nodes: SharedNodes, node: int, cover: int, search: Search) -> int:
    """How many children of a node nothing but this cover would stand for; 0 when it is no cover."""
    gain = 0
    for i in range(nodes.child_start[cover], nodes.child_start[cover + 1]):
        ref = nodes.child[i]
        if search.of[ref] != node:
            return 0
        gain += search.times[ref] == 0
    return gain


@inner_kernel
def _choose_covers(nodes: SharedNodes, covers: Covers, node: int, search: Search) -> int:
    """Choose covers for a node; how many. Then search.times says how many of them have a child."""
    child_start, child = nodes.child_start, nodes.child
    left = child_start[node + 1] - child_start[node]
    if left < _NARROWEST or covers.sign[node] == 0:
        return 0
    found = _find(nodes, covers, node, search)
    if found == 0:
        return 0
    looks = LOOKS * left + LOOKS_AT_LEAST
    for i in range(child_start[node], child_start[node + 1]):
        search.of[child[i]] = node
        search.times[child[i]] = 0
    for i in range(found):
        search.gain[i] = search.found[i] >> 32
    count = 0
    while True:
        most = 1
        best = -1
        for i in range(found - 1, -1, -1):
            size = search.found[i] >> 32
            if min(size, left) <= most or looks <= 0:
                break
            if search.gain[i] > most:
                cover = covers.node[search.found[i] & _ENTRY]
                search.gain[i] = _gain_of(nodes, node, cover, search)
                looks -= size
                if search.gain[i] > most:
                    most = np.int64(search.gain[i])
                    best = i
        if best < 0:
            return _without_needless(nodes, search, count)
        cover = covers.node[search.found[best] & _ENTRY]
        for i in range(child_start[cover], child_start[cover + 1]):
            search.times[child[i]] += 1
        search.chosen[count] = cover
        count += 1
        left -= most


@inner_kernel
def _without_needless(nodes: SharedNodes, search: Search, count: int) -> int:
    """Leave out chosen covers all of whose children others cover; how many stay."""
    kept = 0
    for i in range(count):
        cover = search.chosen[i]
        begin, end = nodes.child_start[cover], nodes.child_start[cover + 1]
        needed = False
        for j in range(begin, end):
            needed |= search.times[nodes.child[j]] < 2
        if needed:
            search.chosen[kept] = cover
            kept += 1
        else:
            for j in range(begin, end):
                search.times[nodes.child[j]] -= 1
    return kept


@kernel
def cover_nodes(nodes: SharedNodes, covers: Covers, asked: Ints) -> tuple[Longs, Ints]:
    """The children of these nodes, with covers in place of what they stand for, as starts and references."""
    search = _room_to_search(nodes)
    start = np.zeros(asked.size + 1, np.int64)
    for at in range(asked.size):
        start[at + 1] = start[at] + nodes.child_start[asked[at] + 1] - nodes.child_start[asked[at]]
    child = np.empty(start[asked.size], np.int32)
    filled = 0
    for at in range(asked.size):
        node = np.int64(asked[at])
        chosen = _choose_covers(nodes, covers, node, search)
        for i in range(chosen):
            child[filled] = 2 * search.chosen[i]
            search.times[child[filled]] = 1  # it may be a child already: the AND within a xor
            filled += 1
        for i in range(nodes.child_start[node], nodes.child_start[node + 1]):
            if chosen == 0 or search.times[nodes.child[i]] == 0:
                child[filled] = nodes.child[i]
                filled += 1
        start[at + 1] = filled
    return start, child[:filled]


@kernel
def levels_of_nodes(child_start: Longs, child: Ints, leaves: int) -> Ints:
    """The level of every node: 0 of the constant and the leaves, else one more than the highest child's."""
    level = np.zeros(child_start.size - 1, np.int32)
    for node in range(leaves + 1, level.size):
        highest = 0
        for i in range(child_start[node], child_start[node + 1]):
            highest = max(highest, level[child[i] >> 1])
        level[node] = highest + 1
    return level


@kernel
def with_children(
    nodes: SharedNodes, leaves: int, child_start: Longs, child: Ints
) -> tuple[SharedNodes, Ints]:
    """The graph with these children, numbered anew so that they come before their parents; the new numbers.

    A cover has fewer children than what it covers, and stood no level higher. Nothing can be added to this
    graph: its slots are empty.
    """
    count = nodes.size[NODES]
    level = levels_of_nodes(nodes.child_start[: count + 1], nodes.child, leaves)
    key = np.empty(count, np.uint64)
    for node in range(count):
        width = nodes.child_start[node + 1] - nodes.child_start[node]
        key[node] = np.uint64(level[node]) << HALF | np.uint64(width)
    order = order_by(key)
    number = np.empty(count, np.int32)
    for i in range(count):
        number[order[i]] = i
    start = np.zeros(count + 1, np.int64)
    moved = np.empty(child.size, np.int32)
    mate = np.full(count, -1, np.int32)
    filled = 0
    for i in range(count):
        node = order[i]
        for j in range(child_start[node], child_start[node + 1]):
            moved[filled] = 2 * number[child[j] >> 1] + (child[j] & 1)
            filled += 1
        start[i + 1] = filled
        sort_refs(moved, start[i], filled)
        other = nodes.mate[node]
        if other >= 0:
            mate[i] = 2 * number[other >> 1] + (other & 1)
    size = np.array([count, filled], np.int64)
    return SharedNodes(size, start, moved, mate, np.zeros(2, np.uint64)), number
