"""Which literals an event makes hold, and what follows from them: bits that are set.

Values are looked up, and every leaf that they satisfy holds. Then the fields that are null, and last the
falsehoods of leaves: known, and not true. Whatever holds sets its bit and the bits that its links lead to;
so the A-Tree's planes are woken on the way (single_event.py), and an engine that only wants to know which
literals hold gives no links but those from a falsehood to itself (engines/kernels/held_literals.py).

A bit is set twice as easily as once, so nothing is asked before and no branch is taken; and bits are few
enough to stay in the nearest memory. What stands in an array for all planes does not, so it is asked for
in advance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.bits import ALL, lowest_bit, prefetch
from tocsin.arrays.dtypes import Bytes, Ints, Words
from tocsin.arrays.jit import inner_kernel, kernel
from tocsin.arrays.lookup import Bounds, Literals, scalar_posting, scalar_slot, text_posting, text_slot
from tocsin.conditions.kernels.leaves import Leaves, OneEvent, Ranges
from tocsin.conditions.kernels.plane_links import Links, first_rule

AHEAD = 12
"""How many planes ahead links and children are asked for; twice as many for where they begin."""

SPARE = 2 * AHEAD
"""Entries that are read or written behind the end of a list of planes or rules."""

_ONE = np.uint64(1)
_TOP = np.uint64(1 << 63)
_IN_WORD = np.uint64(63)
_WORD = np.uint64(6)
_LINE = np.uint64(9)
_MAGNITUDE = np.int64(0x7FFF_FFFF_FFFF_FFFF)


class Marks(NamedTuple):
    """What matching one event writes to; one for each thread. Bits and lines are zero between events.

    bit      uint64[8 * n]   leaf p is true; inner plane p is woken and, once its level is done, holds;
                             rule r matches: bit first_rule(P) + r
    line     uint8[n]        whether any of 512 bits may be set
    known    uint8[G]        whether a group is known
    held     int32[I+SPARE]  the planes of a level that are woken
    rule     int32[R+SPARE]  the rules that match
    """

    bit: Words
    line: Bytes
    known: Bytes
    held: Ints
    rule: Ints


def no_marks(planes: int, inner: int, rules: int, groups: int) -> Marks:
    """Room for the events of one thread."""
    lines = (first_rule(planes) + rules >> 9) + 1
    return Marks(
        np.zeros(8 * lines, np.uint64),
        np.zeros(lines, np.uint8),
        np.zeros(groups, np.uint8),
        np.zeros(inner + SPARE, np.int32),
        np.zeros(rules + SPARE, np.int32),
    )


@inner_kernel
def mark(link: Ints, first: int, last: int, bit: Words, line: Bytes) -> None:
    """Wake what link[first:last] lead to."""
    for i in range(first, last):
        target = np.uint64(link[i])
        bit[target >> _WORD] |= _ONE << (target & _IN_WORD)
        line[target >> _LINE] = 1


@inner_kernel
def is_marked(bit: Words, plane: int) -> bool:
    """Whether the bit of a plane is set."""
    at = np.uint64(plane)
    return (bit[at >> _WORD] >> (at & _IN_WORD)) & _ONE != 0


@kernel
def hold(leaf: Ints, first: int, last: int, link_start: Ints, link: Ints, bit: Words, line: Bytes) -> None:
    """The leaves leaf[first:last] hold: mark each, and wake what follows."""
    for i in range(first, last):
        prefetch(link_start, np.int64(leaf[min(i + SPARE, last - 1)]))
        prefetch(link, np.int64(link_start[leaf[min(i + AHEAD, last - 1)]]))
        plane = np.int64(leaf[i])
        mark(leaf, i, i + 1, bit, line)
        mark(link, link_start[plane], link_start[plane + 1], bit, line)


@kernel
def _hold_run(first: int, last: int, link_start: Ints, link: Ints, bit: Words, line: Bytes) -> None:
    """The leaves from `first` to `last` hold, both included: what follows from them lies in a row, too."""
    first_word = first >> 6
    last_word = last >> 6
    from_first = ALL << np.uint64(first & 63)
    to_last = ALL >> np.uint64(63 - (last & 63))
    if first_word == last_word:
        bit[first_word] |= from_first & to_last
    else:
        bit[first_word] |= from_first
        for word in range(first_word + 1, last_word):
            bit[word] = ALL
        bit[last_word] |= to_last
    for i in range(first >> 9, (last >> 9) + 1):
        line[i] = 1
    mark(link, link_start[first], link_start[last + 1], bit, line)


@inner_kernel
def _first_at_least(bound: Ints, first: int, last: int, slot: int, sign: int) -> int:
    """The first place from `first` to `last` where sign * bound, which ascends, is at least sign * slot."""
    while first < last:
        middle = (first + last) >> 1
        if sign * bound[middle] >= sign * slot:
            last = middle
        else:
            first = middle + 1
    return first


@kernel
def hold_ranges(
    group: int, slot: int, ranges: Ranges, link_start: Ints, link: Ints, bit: Words, line: Bytes
) -> None:
    """Every range of a group that holds a slot.

    Each family is sorted so that those which do stand at its end, where leaves are numbered in a row
    (conditions/graph/leaf_families.py).
    """
    last = ranges.prefix_start[group + 1]
    first = _first_at_least(ranges.prefix_to, ranges.prefix_start[group], last, slot, 1)
    if first < last:
        _hold_run(ranges.prefix_leaf[first], ranges.prefix_leaf[last - 1], link_start, link, bit, line)
    last = ranges.suffix_start[group + 1]
    first = _first_at_least(ranges.suffix_from, ranges.suffix_start[group], last, slot, -1)
    if first < last:
        _hold_run(ranges.suffix_leaf[first], ranges.suffix_leaf[last - 1], link_start, link, bit, line)
    for i in range(ranges.middle_start[group], ranges.middle_start[group + 1]):
        if ranges.middle_from[i] > slot:
            break
        if ranges.middle_to[i] >= slot:
            hold(ranges.middle_leaf, i, i + 1, link_start, link, bit, line)


@inner_kernel
def _key_of_double(value: float) -> int:
    """See conditions/graph/value_keys.py; the rest of a double is 0."""
    bits = np.float64(value + 0.0).view(np.int64)
    return bits ^ (bits >> 63 & _MAGNITUDE)


@kernel
def _hold_scalar(
    group: int,
    high: int,
    low: int,
    literals: Literals,
    bounds: Bounds,
    leaves: Leaves,
    ranges: Ranges,
    link_start: Ints,
    link: Ints,
    marks: Marks,
) -> None:
    bit, line = marks.bit, marks.line
    start = leaves.posting_start
    marks.known[group] = 1
    q = scalar_posting(literals, group, high, low)
    if q >= 0:
        hold(leaves.posting_leaf, start[q], start[q + 1], link_start, link, bit, line)
    if bounds.scalar_start[group + 1] > bounds.scalar_start[group]:
        hold_ranges(group, scalar_slot(bounds, group, high, low), ranges, link_start, link, bit, line)


@kernel
def hold_leaves(
    event: OneEvent,
    literals: Literals,
    bounds: Bounds,
    leaves: Leaves,
    ranges: Ranges,
    link_start: Ints,
    link: Ints,
    marks: Marks,
) -> None:
    """Look the event's values up: every leaf that they satisfy holds."""
    bit, line, known = marks.bit, marks.line, marks.known
    values, start = event.values, leaves.posting_start
    zero = np.int64(0)
    hold(event.found_leaf, 0, event.found_leaf.size, link_start, link, bit, line)
    floats = 4 + 2 * values[0]
    scalars = floats + 2 * values[1]
    texts = scalars + 3 * values[2]
    others = texts + 2 * values[3]
    for i in range(4, floats, 2):
        key = _key_of_double(np.float64(values[i + 1]))
        _hold_scalar(values[i], key, zero, literals, bounds, leaves, ranges, link_start, link, marks)
    for i in range(floats, floats + values[1]):
        key = _key_of_double(np.int64(values[i + values[1]]).view(np.float64))
        _hold_scalar(values[i], key, zero, literals, bounds, leaves, ranges, link_start, link, marks)
    for i in range(scalars, texts, 3):
        high, low = values[i + 1], values[i + 2]
        _hold_scalar(values[i], high, low, literals, bounds, leaves, ranges, link_start, link, marks)
    begin = np.int64(0)
    for i in range(texts, others, 2):
        group = values[i]
        end = values[i + 1]
        known[group] = 1
        q = text_posting(literals, group, event.text_bytes, begin, end)
        if q >= 0:
            hold(leaves.posting_leaf, start[q], start[q + 1], link_start, link, bit, line)
        if bounds.text_start[group + 1] > bounds.text_start[group]:
            slot = text_slot(bounds, group, event.text_bytes, begin, end)
            hold_ranges(group, slot, ranges, link_start, link, bit, line)
        begin = end
    for i in range(others, values.size):
        known[values[i]] = 1


@kernel
def hold_absences(null_leaf: Ints, links: Links, marks: Marks) -> None:
    """The fields that are null hold, and then the falsehoods from which something follows.

    Of falsehoods side by side, what follows is side by side: between them there are at most some from
    which nothing does.
    """
    bit, line, known = marks.bit, marks.line, marks.known
    link_start, link = links.link_start, links.link
    for group in range(null_leaf.size):
        if null_leaf[group] >= 0 and known[group] == 0:
            known[group] = 1
            hold(null_leaf, group, group + 1, link_start, link, bit, line)
    for group in range(null_leaf.size):
        if known[group] == 0:
            continue
        first = links.pushed_start[group]
        last = links.pushed_start[group + 1]
        while first < last:
            while first < last and is_marked(bit, links.pushed_leaf[first]):
                first += 1
            end = first
            while end < last and not is_marked(bit, links.pushed_leaf[end]):
                end += 1
            if first < end:
                from_link = link_start[links.pushed_plane[first]]
                mark(link, from_link, link_start[links.pushed_plane[end - 1] + 1], bit, line)
            first = end


@kernel
def take(bit: Words, line: Bytes, begin: int, end: int, zero: int, out: Ints) -> int:
    """Write which bits from `begin` to `end` are set, counted from bit `zero`; how many.

    Most words have two at most, and these are written without asking whether they are there.
    """
    found = 0
    first = begin >> 6
    last = (end - 1) >> 6
    word = first
    while word <= last:
        if line[word >> 3] == 0:
            word = (word | 7) + 1
            continue
        bits = bit[word]
        if word == first:
            bits &= ALL << np.uint64(begin & 63)
        if word == last:
            bits &= ALL >> np.uint64(63 - ((end - 1) & 63))
        base = (word << 6) - zero
        for _ in range(2):
            lowest = lowest_bit(bits | _TOP)
            out[found] = base + lowest
            found += bits != 0
            bits &= ~(_ONE << np.uint64(lowest))
        while bits != 0:
            out[found] = base + lowest_bit(bits)
            found += 1
            bits &= bits - _ONE
        word += 1
    return found


@kernel
def clear(bit: Words, line: Bytes) -> None:
    """Leave no bit set."""
    for i in range(line.size):
        if line[i] != 0:
            line[i] = 0
            bit[8 * i : 8 * i + 8] = 0
