"""Intervals as labels of leaves: Algorithms 4 and 5 of the first paper.

The tree of a rule with M leaves is the segment from 1 to M. All children of an OR have its interval, and
those of an AND share it among them. The rule holds when intervals of leaves that hold cover the segment, each
beginning right behind the end of another.

    (a and b) or c or (d and e and f)         a 1..1   b 2..6   c 1..6   d 1..4   e 5..5   f 6..6

No interval goes on where one of another AND ended: children of ANDs, first ones aside, begin right behind the
number of leaves to the left of them, and so no two at the same number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.array_checks import SOUND
from tocsin.arrays.dtypes import Ints, Longs, Words
from tocsin.arrays.jit import bare_kernel, inner_kernel, kernel
from tocsin.arrays.lists import Lists, with_room
from tocsin.engines.kernels.tree_places import Places, TreeLeaves, merge_always, rule_at
from tocsin.engines.kernels.unfolded_trees import Trees, children_of_code, count_leaves, is_and_code

NARROW = 65_535
"""TreeLeaves of a tree whose begins and ends fit into 16 bits."""

ALONE = np.uint32(1 << 16 | 1)
"""The narrow label of the only place of a rule."""

_IN_REGISTER = 63
"""TreeLeaves of a tree for which `matched` fits into a machine word."""

_HALF_NARROW = np.uint32(16)
_END_NARROW = np.uint32(0xFFFF)
_HALF_WIDE = np.uint64(32)
_END_WIDE = np.uint64(0xFFFF_FFFF)
_ONE = np.uint64(1)
_IN_WORD = np.uint64(63)
_WORD = np.uint64(6)


class Intervals(NamedTuple):
    """The labels of all places, those of trees of one shape stored once. R rules.

    start    int64[R]      rule r with M places: its labels, in the order of its places, are
                           narrow[start[r] : start[r] + M] up to M = NARROW, and wide[...] beyond
    narrow   uint32[...]   begin, 16 bits, and end, 16 bits
    wide     uint64[...]   begin, 32 bits, and end, 32 bits
    """

    start: Longs
    narrow: NDArray[np.uint32]
    wide: Words


@kernel
def label_trees(trees: Trees, least: int = 0) -> tuple[Ints, Ints]:
    """LABEL (Algorithm 4): begin and end of every node of all trees, in preorder.

    M is the number of a tree's leaves, or `least` if that is more. The size of a node is the number of its
    leaves, and the only child of an AND has the AND's interval.
    """
    start, code = trees
    begin = np.empty(code.size, np.int32)
    end = np.empty(code.size, np.int32)
    largest = np.int64(1)
    for rule in range(start.size - 1):
        largest = max(largest, start[rule + 1] - start[rule])
    leaves = np.empty(largest, np.int32)
    open_node = np.empty(largest, np.int32)
    next_child = np.empty(largest, np.int32)
    next_begin = np.empty(largest, np.int32)
    to_the_left = np.empty(largest, np.int32)
    for rule in range(start.size - 1):
        its_code = code[start[rule] : start[rule + 1]]
        its_begin = begin[start[rule] : start[rule + 1]]
        its_end = end[start[rule] : start[rule + 1]]
        count_leaves(its_code, leaves, open_node)
        left_leaves = 0
        height = 0
        for i in range(its_code.size):
            if i == 0:
                its_begin[i] = 1
                its_end[i] = max(leaves[0], least)
            else:
                parent = open_node[height - 1]
                its_begin[i] = next_begin[height - 1]
                its_end[i] = its_end[parent]
                child = next_child[height - 1]
                next_child[height - 1] += 1
                last = child == children_of_code(its_code[parent]) - 1
                if is_and_code(its_code[parent]) and not last:
                    if child == 0:
                        its_end[i] = to_the_left[height - 1] + leaves[i]
                    else:
                        its_end[i] = its_begin[i] + leaves[i] - 1
                    next_begin[height - 1] = its_end[i] + 1
                if last:
                    height -= 1
            if its_code[i] >= 0:
                left_leaves += 1
                continue
            open_node[height] = i
            next_child[height] = 0
            next_begin[height] = its_begin[i]
            to_the_left[height] = left_leaves
            height += 1
    return begin, end


@kernel
def lay_out_intervals(
    trees: Trees,
    begin: Ints,
    end: Ints,
    leaves: TreeLeaves,
    narrow_span: Longs,
    wide_span: Longs,
    narrow: NDArray[np.uint32],
    wide: Words,
) -> None:
    """Put the leaves of each tree in order of begin: the conjunctions and labels of all places, and
    which of them open their rules."""
    start, code = trees
    rule_start, conjunction_of, opens = leaves
    largest = 0
    for rule in range(start.size - 1):
        largest = max(largest, rule_start[rule + 1] - rule_start[rule])
    place = np.empty(largest + 2, np.int32)
    for rule in range(start.size - 1):
        first = rule_start[rule]
        count = rule_start[rule + 1] - first
        place[: count + 2] = 0
        for i in range(start[rule], start[rule + 1]):
            if code[i] >= 0:
                place[begin[i] + 1] += 1
        for number in range(count + 1):
            place[number + 1] += place[number]
        for i in range(start[rule], start[rule + 1]):
            if code[i] < 0:
                continue
            at = place[begin[i]]
            place[begin[i]] += 1
            conjunction_of[first + at] = code[i]
            opens[first + at] = begin[i] == 1
            if count <= NARROW:
                narrow[narrow_span[rule] + at] = (np.uint32(begin[i]) << _HALF_NARROW) | np.uint32(end[i])
            else:
                wide[wide_span[rule] + at] = (np.uint64(begin[i]) << _HALF_WIDE) | np.uint64(end[i])


@kernel
def unsound_intervals(rule_start: Ints, intervals: Intervals) -> int:
    """The first rule whose labels are not there, or not between 1 and M; SOUND if there is none."""
    for rule in range(intervals.start.size):
        leaves = np.int64(rule_start[rule + 1]) - rule_start[rule]
        first = intervals.start[rule]
        stored = intervals.narrow.size if leaves <= NARROW else intervals.wide.size
        if not 0 <= first <= stored - leaves:
            return rule
        for i in range(first, first + leaves):
            if leaves <= NARROW:
                begin = np.int64(intervals.narrow[i] >> _HALF_NARROW)
                end = np.int64(intervals.narrow[i] & _END_NARROW)
            else:
                begin = np.int64(intervals.wide[i] >> _HALF_WIDE)
                end = np.int64(intervals.wide[i] & _END_WIDE)
            if not 1 <= begin <= end <= leaves:
                return rule
    return SOUND


@inner_kernel
def extended(matched: np.uint64, begin: int, end: int) -> np.uint64:
    """A step of MATCH (Algorithm 5): bit i of `matched` tells that intervals cover 1 ... i."""
    return matched | (((matched >> np.uint64(begin - 1)) & _ONE) << np.uint64(end))


@inner_kernel
def _extend(matched: Words, begin: int, end: int) -> None:
    """The same step for a tree that needs several words."""
    before = np.uint64(begin - 1)
    to = np.uint64(end)
    matched[to >> _WORD] |= ((matched[before >> _WORD] >> (before & _IN_WORD)) & _ONE) << (to & _IN_WORD)


@bare_kernel
def _match_large(
    place: Ints,
    first: int,
    leaves: int,
    label_start: int,
    narrow: NDArray[np.uint32],
    wide: Words,
    matched: Words,
) -> bool:
    """MATCH for a tree of more than _IN_REGISTER leaves, given those of its places that hold."""
    matched[: (leaves >> 6) + 1] = 0
    matched[0] = 1
    for i in range(place.size):
        at = label_start + place[i] - first
        if leaves <= NARROW:
            _extend(matched, np.int64(narrow[at] >> _HALF_NARROW), np.int64(narrow[at] & _END_NARROW))
        else:
            _extend(matched, np.int64(wide[at] >> _HALF_WIDE), np.int64(wide[at] & _END_WIDE))
    return (matched[leaves >> 6] >> np.uint64(leaves & 63)) & _ONE != 0


@kernel
def match_intervals(places: Places, intervals: Intervals, held: Lists, matched: Words) -> Lists:
    """For each event the rules that match, ascending, given the places that hold, ascending.

    `matched` has room for a bit of every leaf of the largest tree, and one more.
    """
    rule_start, block, always = places.rule_start, places.block, places.always
    label_start, narrow, wide = intervals
    place = held.item
    events = held.start.size - 1
    found_start = np.zeros(events + 1, np.int64)
    found = np.empty(0, np.int32)
    at = 0
    for event in range(events):
        i = held.start[event]
        last = held.start[event + 1]
        found = with_room(found, at, last - i + always.size + 1)
        begin = at
        while i < last:
            rule = rule_at(place, i, last, block, rule_start, label_start)
            first = np.int64(rule_start[rule])
            end = np.int64(rule_start[rule + 1])
            leaves = end - first
            found[at] = rule
            if leaves <= _IN_REGISTER:
                label = label_start[rule] - first
                covered = _ONE
                while i < last and place[i] < end:
                    both = narrow[label + place[i]]
                    covered = extended(covered, both >> _HALF_NARROW, both & _END_NARROW)
                    i += 1
                at += covered >> np.uint64(leaves) != 0
            else:
                its_first = i
                while i < last and place[i] < end:
                    i += 1
                at += _match_large(
                    place[its_first:i], first, leaves, label_start[rule], narrow, wide, matched
                )
        at = merge_always(found, begin, at, always)
        found_start[event + 1] = at
    return Lists(found_start, found[:at])
