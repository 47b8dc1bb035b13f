"""Dewey labels: Algorithms 1 to 3 of the first paper.

The label of a leaf is the way to it from the top of an alternating tree: which child each node is, counted
from 1, with a mark when it is the last child of an AND.

    and(or(and(a, b), c, and(d, e, f)))
    a 1*.1.1    b 1*.1.2*    c 1*.2    d 1*.3.1    e 1*.3.2    f 1*.3.3*

A label is packed into 64 bits, its first number topmost, with 8, 16 or 32 bits a number: twice the number,
and 1 more when it is marked. Where labels do not fit, each number has an entry of its own.

The paper's algorithm goes down to each leaf that holds, and up again, by recursion. Here it only goes up: a
leaf makes an OR above it hold at once, and a child of an AND counts when it is the next one, all before it
having counted; when the marked one counts, the AND holds. How far the ANDs on the way have come is one word,
packed as labels are, of which the lower part is forgotten where the next label goes another way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.array_checks import SOUND
from tocsin.arrays.bits import ALL, leading_zeros, lowest_bit
from tocsin.arrays.dtypes import Bytes, Ints, Longs, Words
from tocsin.arrays.jit import bare_kernel, inner_kernel, kernel
from tocsin.arrays.lists import Lists, with_room
from tocsin.engines.kernels.tree_places import Places, TreeLeaves, merge_always, rule_at
from tocsin.engines.kernels.unfolded_trees import Trees, children_of_code, is_and_code

WIDE = 0
"""The form of labels that are not packed; of others it is how often 1 bit is doubled for a number."""

_ONE = np.uint64(1)
_TWO = np.uint64(2)
_WORD = np.uint64(64)


class DeweyLabels(NamedTuple):
    """The labels of all places, packed ones of trees of one shape stored once. R rules.

    form          uint8[R]      how labels are packed: 3, 4, 5 for 8, 16, 32 bits a number; WIDE
    start         int64[R]      rule r with M places: its labels, in the order of its places, are
                                packed[start[r] : start[r] + M]; if WIDE, i from start[r] to start[r] + M are
                                number[number_start[i] : number_start[i+1]]
    packed        uint64[...]
    number_start  int64[...]
    number        int32[...]    twice the number, plus 1 when it is marked
    """

    form: Bytes
    start: Longs
    packed: Words
    number_start: Longs
    number: Ints


class Measures(NamedTuple):
    """What decides how the labels of each rule are written.

    levels    int64[R]   the numbers of its longest label
    largest   int64[R]   its largest number
    numbers   int64[R]   the numbers of all its labels together
    """

    levels: Longs
    largest: Longs
    numbers: Longs


@kernel
def number_nodes(trees: Trees) -> tuple[Ints, Ints]:
    """Of every node of alternating trees its level, 0 at the top, and its number as labels have it."""
    start, code = trees
    level = np.empty(code.size, np.int32)
    number = np.empty(code.size, np.int32)
    largest = np.int64(1)
    for rule in range(start.size - 1):
        largest = max(largest, start[rule + 1] - start[rule])
    open_node = np.empty(largest, np.int64)
    child = np.empty(largest, np.int32)
    for rule in range(start.size - 1):
        height = 0
        for i in range(start[rule], start[rule + 1]):
            level[i] = 0
            number[i] = 0
            if height > 0:
                parent = open_node[height - 1]
                child[height - 1] += 1
                is_last = child[height - 1] == children_of_code(code[parent])
                level[i] = level[parent] + 1
                number[i] = 2 * child[height - 1] + (is_last and is_and_code(code[parent]))
                height -= is_last
            if code[i] < 0:
                open_node[height] = i
                child[height] = 0
                height += 1
    return level, number


@kernel
def measure(trees: Trees, level: Ints, number: Ints) -> Measures:
    """What number_nodes gave, rule by rule."""
    rules = trees.start.size - 1
    levels = np.zeros(rules, np.int64)
    largest = np.zeros(rules, np.int64)
    numbers = np.zeros(rules, np.int64)
    for rule in range(rules):
        for i in range(trees.start[rule], trees.start[rule + 1]):
            largest[rule] = max(largest[rule], number[i] >> 1)
            if trees.code[i] >= 0:
                levels[rule] = max(levels[rule], level[i])
                numbers[rule] += level[i]
    return Measures(levels, largest, numbers)


@kernel
def write_labels(trees: Trees, level: Ints, number: Ints, leaves: TreeLeaves, labels: DeweyLabels) -> None:
    """Write the conjunctions and labels of all places, and which of them open their rules.

    `labels.start` is where the packed labels of each rule are to be; wide ones are as they come.
    """
    start, code = trees
    rule_start, conjunction_of, opens = leaves
    form, packed_span, packed, wide_start, wide = labels
    deepest = 0
    for i in range(level.size):
        deepest = max(deepest, level[i])
    way = np.empty(deepest + 1, np.int32)
    wide_labels = 0
    for rule in range(start.size - 1):
        place = rule_start[rule]
        its_packed = packed_span[rule]
        for i in range(start[rule], start[rule + 1]):
            way[level[i]] = number[i]
            if code[i] < 0:
                continue
            conjunction_of[place] = code[i]
            opens[place] = True
            for each in range(1, level[i] + 1, 2):
                opens[place] &= way[each] >> 1 == 1
            place += 1
            if form[rule] == WIDE:
                begin = wide_start[wide_labels]
                wide_labels += 1
                wide_start[wide_labels] = begin + level[i]
                wide[begin : begin + level[i]] = way[1 : level[i] + 1]
                continue
            label = np.uint64(0)
            for each in range(1, level[i] + 1):
                label |= np.uint64(way[each]) << np.uint64(64 - (each << form[rule]))
            packed[its_packed] = label
            its_packed += 1


@kernel
def unsound_labels(rule_start: Ints, labels: DeweyLabels) -> int:
    """The first rule whose labels are not there, or packed and do not ascend; SOUND if there is none."""
    for rule in range(labels.start.size):
        places = np.int64(rule_start[rule + 1]) - rule_start[rule]
        first = labels.start[rule]
        is_wide = labels.form[rule] == WIDE
        stored = labels.number_start.size - 1 if is_wide else labels.packed.size
        if not 0 <= first <= stored - places:
            return rule
        before = np.uint64(0)
        for i in range(first, first if is_wide else first + places):
            if labels.packed[i] <= before:
                return rule
            before = labels.packed[i]
    return SOUND


@inner_kernel
def count_label(label: np.uint64, before: np.uint64, counted: np.uint64, form: int) -> tuple[np.uint64, bool]:
    """Go up from a leaf that holds: how far the ANDs on its way have come, and whether the top holds.

    `before` is the label that was counted last, 0 at first, and `counted` what that gave: at each level twice
    the number of children that counted.
    """
    width = _ONE << np.uint64(form)
    entry = ALL >> (_WORD - width)
    common = leading_zeros(label ^ before) >> form
    counted &= ALL << np.uint64(64 - ((common + 1) << form))
    behind = lowest_bit(label) >> form
    level = (64 >> form) - behind
    shift = np.uint64(behind << form)
    while level > 0:
        if level & 1:
            number = (label >> shift) & entry
            if number & ~_ONE != ((counted >> shift) & entry) + _TWO:
                return counted, False
            counted += _TWO << shift
            if number & _ONE == 0:
                return counted, False
        shift += width
        level -= 1
    return counted, True


@bare_kernel
def _holds_wide(
    place: Ints, first: int, start: int, number_start: Longs, number: Ints, counted: Ints
) -> bool:
    """Whether a rule with wide labels holds, given those of its places that hold; as count_label does it."""
    before = np.int64(0)
    shared = np.int64(0)
    counted[0] = 0
    for i in range(place.size):
        begin = number_start[start + place[i] - first]
        levels = number_start[start + place[i] - first + 1] - begin
        common = 0
        while common < min(shared, levels) and number[begin + common] == number[before + common]:
            common += 1
        before = begin
        shared = levels
        counted[common + 1 : levels] = 0
        level = levels - 1
        while level >= 0:
            if level & 1 == 0:
                if number[begin + level] >> 1 != counted[level] + 1:
                    break
                counted[level] += 1
                if number[begin + level] & 1 == 0:
                    break
            level -= 1
        if level < 0:
            return True
    return False


@kernel
def match_labels(places: Places, labels: DeweyLabels, held: Lists, counted: Ints) -> Lists:
    """For each event the rules that match, ascending, given the places that hold, ascending.

    `counted` has an entry for every level of the longest wide label.
    """
    rule_start, block, always = places.rule_start, places.block, places.always
    form, label_start, packed, number_start, number = labels
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
            its_form = np.int64(form[rule])
            its_first = i
            holds = False
            if its_form != WIDE:
                label_at = label_start[rule] - first
                label = np.uint64(0)
                done = np.uint64(0)
                while i < last and place[i] < end and not holds:
                    before = label
                    label = packed[label_at + place[i]]
                    done, holds = count_label(label, before, done, its_form)
                    i += 1
            while i < last and place[i] < end:
                i += 1
            if its_form == WIDE:
                holds = _holds_wide(
                    place[its_first:i], first, label_start[rule], number_start, number, counted
                )
            found[at] = rule
            at += holds
        at = merge_always(found, begin, at, always)
        found_start[event + 1] = at
    return Lists(found_start, found[:at])
