"""Where conjunctions stand in trees: the annotations of the first paper, without their labels.

Every leaf of every tree is a *place*. Places are numbered rule by rule, and within a rule in the order in
which its labels are evaluated. So a number tells the rule, the label and what comes before what, and putting
annotations in order is putting numbers in order.

    rule 0: {a} and ({b} or {c})         rule 1: {b}        places 0 1 2 | 3
    conjunction {a}: 0     {b}: 1 3     {c}: 2

Places to which only first children of ANDs lead *open* their rule: 0 and 3. Unless one of them holds, the
rule does not, whatever else holds. So where they are few, the others are asked for only near those that hold,
64 places at a time, and what cannot matter is neither sorted nor evaluated.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.bits import ALL, count_bits, prefetch
from tocsin.arrays.dtypes import Flags, Ints, Longs, Words
from tocsin.arrays.jit import bare_kernel, inner_kernel, kernel
from tocsin.arrays.lists import Lists, with_room
from tocsin.arrays.radix_sort import bits_of, sort_numbers
from tocsin.engines.kernels.unfolded_trees import Trees

BLOCK_BITS = 6
"""Places are looked at in blocks of 64."""

_LISTS_AHEAD = 4
"""How many conjunctions ahead their places are asked for."""

_PLACES_AHEAD = 8
"""How many places ahead their rules are asked about; twice as many for which rules these are."""

_LINE = 16
"""Places that one line of memory holds."""

_ONE = np.uint64(1)


class Places(NamedTuple):
    """The places of C conjunctions in the trees of R rules. P places.

    opening_start   int64[C+1]   opening places of conjunction c, ascending:
    opening         int32[...]       opening[opening_start[c] : opening_start[c+1]]
    opening_last    int32[...]   the last place of the same rule
    other_start     int64[C+1]   its other places, likewise; none where opening places are not few
    other           int32[...]
    rule_start      int32[R+1]   places of rule r: rule_start[r] ... rule_start[r+1]; a constant rule has one,
                                 where no conjunction stands
    block           uint64[...]  for each 64 places how many rules begin before them, and at which ones
    always          int32[...]   rules that always hold, ascending
    """

    opening_start: Longs
    opening: Ints
    opening_last: Ints
    other_start: Longs
    other: Ints
    rule_start: Ints
    block: Words
    always: Ints


class TreeLeaves(NamedTuple):
    """Places as their trees are gone through: what of Places stands at each, in place of each by what stands.

    rule_start       as in Places
    conjunction_of   int32[P]   the conjunction of each place, or -1
    opens            bool[P]    whether it opens its rule
    """

    rule_start: Ints
    conjunction_of: Ints
    opens: Flags


class OrderingRoom(NamedTuple):
    """What putting places in order writes to; one for each thread.

    near    uint64[...]   a bit for each block: whether a rule lies there of which an opening place holds;
                          zero between events
    tally   see arrays/radix_sort.py
    """

    near: Words
    tally: Longs


@kernel
def count_places(trees: Trees) -> Longs:
    """How many places each rule has: as many as its tree has leaves, or one without a tree."""
    counts = np.zeros(trees.start.size - 1, np.int64)
    for rule in range(counts.size):
        for i in range(trees.start[rule], trees.start[rule + 1]):
            counts[rule] += trees.code[i] >= 0
        counts[rule] = max(counts[rule], 1)
    return counts


@kernel
def list_places(leaves: TreeLeaves, opening: bool, start: Longs, place: Ints) -> None:
    """Fill `start` and `place` with the opening or the other places of each conjunction."""
    _, conjunction_of, opens = leaves
    start[:] = 0
    for i in range(conjunction_of.size):
        if opens[i] == opening and conjunction_of[i] >= 0:
            start[conjunction_of[i] + 1] += 1
    for c in range(start.size - 1):
        start[c + 1] += start[c]
    for i in range(conjunction_of.size):
        if opens[i] == opening and conjunction_of[i] >= 0:
            conjunction = conjunction_of[i]
            place[start[conjunction]] = i
            start[conjunction] += 1
    for c in range(start.size - 1, 0, -1):
        start[c] = start[c - 1]
    start[0] = 0


@kernel
def blocks_of_rules(rule_start: Ints) -> Words:
    """block, given rule_start."""
    block = np.zeros(2 * ((rule_start[-1] >> BLOCK_BITS) + 1), np.uint64)
    for rule in range(rule_start.size - 1):
        first = rule_start[rule]
        block[2 * (first >> BLOCK_BITS) + 1] |= _ONE << np.uint64(first & 63)
    before = 0
    for i in range(0, block.size, 2):
        block[i] = np.uint64(before)
        before += count_bits(block[i + 1])
    return block


@inner_kernel
def rule_of_place(place: int, block: Words) -> int:
    """The rule of a place."""
    at = 2 * (place >> BLOCK_BITS)
    up_to_place = ALL >> np.uint64(63 - (place & 63))
    return np.int64(block[at]) + count_bits(block[at + 1] & up_to_place) - 1


@inner_kernel
def rule_at(place: Ints, i: int, end: int, block: Words, rule_start: Ints, label_start: Longs) -> int:
    """The rule of place[i]; what will be asked of the rules of those that follow, up to `end`, is fetched."""
    prefetch(block, 2 * (place[min(i + 2 * _PLACES_AHEAD, end - 1)] >> BLOCK_BITS))
    coming = rule_of_place(place[min(i + _PLACES_AHEAD, end - 1)], block)
    prefetch(rule_start, coming)
    prefetch(label_start, coming)
    return rule_of_place(place[i], block)


@kernel
def last_places(place: Ints, rule_start: Ints, block: Words) -> Ints:
    """The last place of the rule of each place."""
    last = np.empty(place.size, np.int32)
    for i in range(place.size):
        last[i] = rule_start[rule_of_place(place[i], block) + 1] - 1
    return last


@bare_kernel
def _find_lists(conjunction: Ints, start: Longs, first: Longs, last: Longs) -> int:
    """Where the list of each conjunction lies, first[i] ... last[i]; how many places they have together."""
    total = np.int64(0)
    for i in range(conjunction.size):
        first[i] = start[conjunction[i]]
        last[i] = start[conjunction[i] + 1]
        total += last[i] - first[i]
    return total


@bare_kernel
def _note(lists: int, first: Longs, last: Longs, place: Ints, last_place: Ints, near: Words) -> None:
    """Note the blocks in which the rules of opening places lie."""
    for i in range(lists):
        for j in range(first[i], last[i]):
            for block in range(place[j] >> BLOCK_BITS, (last_place[j] >> BLOCK_BITS) + 1):
                near[block >> 6] |= _ONE << np.uint64(block & 63)


@bare_kernel
def _take(
    lists: int, first: Longs, last: Longs, place: Ints, every: bool, near: Words, out: Ints, at: int
) -> int:
    """Write places to out[at:], every one or only those of blocks that were noted; where they end."""
    for i in range(lists):
        coming = min(i + _LISTS_AHEAD, lists - 1)
        for j in range(first[coming], last[coming], _LINE):
            prefetch(place, j)
        for j in range(first[i], last[i]):
            block = place[j] >> BLOCK_BITS
            out[at] = place[j]
            at += every or (near[block >> 6] >> np.uint64(block & 63)) & _ONE != 0
    return at


@kernel
def put_in_order(places: Places, conjunctions: Lists, room: OrderingRoom) -> Lists:
    """For each event the places of its conjunctions, ascending, without those that cannot matter."""
    opening, other, near = places.opening, places.other, room.near
    events = conjunctions.start.size - 1
    most_lists = 0
    for event in range(events):
        most_lists = max(most_lists, conjunctions.start[event + 1] - conjunctions.start[event])
    first = np.empty(most_lists, np.int64)
    last = np.empty(most_lists, np.int64)
    bits = bits_of(places.rule_start[-1])
    ordered_start = np.zeros(events + 1, np.int64)
    ordered = np.empty(0, np.int32)
    spare = np.empty(0, np.int32)
    at = 0
    for event in range(events):
        held = conjunctions.item[conjunctions.start[event] : conjunctions.start[event + 1]]
        begin = at
        total = _find_lists(held, places.opening_start, first, last)
        ordered = with_room(ordered, at, total)
        at = _take(held.size, first, last, opening, True, near, ordered, at)
        if other.size > 0 and total > 0:
            _note(held.size, first, last, opening, places.opening_last, near)
            total = _find_lists(held, places.other_start, first, last)
            # One more, because what is not wanted is written, too, and then written over.
            ordered = with_room(ordered, at, total + 1)
            at = _take(held.size, first, last, other, False, near, ordered, at)
            near[:] = 0
        spare = with_room(spare, 0, at - begin)
        sort_numbers(ordered[begin:at], spare[: at - begin], bits, room.tally)
        ordered_start[event + 1] = at
    return Lists(ordered_start, ordered[:at])


@bare_kernel
def merge_always(found: Ints, begin: int, end: int, always: Ints) -> int:
    """Put the rules that always hold between those of found[begin:end], ascending; where they end now."""
    i = end - 1
    to = end + always.size - 1
    for j in range(always.size - 1, -1, -1):
        while i >= begin and found[i] > always[j]:
            found[to] = found[i]
            i -= 1
            to -= 1
        found[to] = always[j]
        to -= 1
    return end + always.size
