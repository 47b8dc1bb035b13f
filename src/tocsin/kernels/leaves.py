"""The truth of every leaf over a block of events: one bit per event.

Leaves are grouped by field and kind. The cells of a group reach here resolved: which literals a
value equals (a row of postings), where it lies among the group's sorted bounds (a slot), and what
else was found for it in this batch (patterns, decimals). Setting bits is all that is left.

    slots of a group with bounds 10 < 20:     0 | 1 | 2 | 3 | 4
                                            <10  10  ..  20  >20
    x <= 10   slots 0..1   prefix            x > 10   slots 2..4   suffix
    x between 10 and 20    slots 1..3   middle
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.jit import kernel

WORDS = 16
"""Machine words in a plane: a block is 64 * WORDS events."""

BLOCK = 64 * WORDS

RADIX_BITS = 11
RADIX = 1 << RADIX_BITS


class Leaves(NamedTuple):
    """The leaves of all groups but the ranges; part of the saved index. G groups.

    null_leaf        int32[G]     the `is null` leaf of a null group, -1 for a group of values
    posting_start    int64[Q+1]   leaves that a literal satisfies (=, in):
    posting_leaf     int32[...]       posting_leaf[posting_start[q] : posting_start[q+1]]
    negated_start    int32[G+1]   leaves of a group whose falsehood some rule asks for, and the plane
    negated_leaf     int32[...]       that holds it
    negated_plane    int32[...]
    """

    null_leaf: NDArray[np.int32]
    posting_start: NDArray[np.int64]
    posting_leaf: NDArray[np.int32]
    negated_start: NDArray[np.int32]
    negated_leaf: NDArray[np.int32]
    negated_plane: NDArray[np.int32]


class Ranges(NamedTuple):
    """The leaves of all groups that are intervals of slots; part of the saved index. G groups.

    prefix_start     int32[G+1]   <, <= of a group: leaves with the last slot that satisfies them,
    prefix_leaf      int32[...]       ascending by that slot
    prefix_to        int32[...]
    suffix_start     int32[G+1]   >, >= of a group: leaves with the first slot that satisfies them,
    suffix_leaf      int32[...]       descending by that slot
    suffix_from      int32[...]
    middle_start     int32[G+1]   between, cidr: first and last slot, ascending by first
    middle_leaf      int32[...]
    middle_from      int32[...]
    middle_to        int32[...]
    """

    prefix_start: NDArray[np.int32]
    prefix_leaf: NDArray[np.int32]
    prefix_to: NDArray[np.int32]
    suffix_start: NDArray[np.int32]
    suffix_leaf: NDArray[np.int32]
    suffix_from: NDArray[np.int32]
    middle_start: NDArray[np.int32]
    middle_leaf: NDArray[np.int32]
    middle_from: NDArray[np.int32]
    middle_to: NDArray[np.int32]


class Cells(NamedTuple):
    """A batch of events, resolved against the index.

    group_start   int64[G+1]   cells of group g: group_start[g] ... group_start[g+1]
    row           int32[C]     the event, ascending within a group
    posting       int32[C]     the literal it equals: a row of postings, or -1
    slot          int32[C]     its place among the group's bounds, or -1
    found         int32[C]     a row of found_start, or -1
    found_start   int64[F+1]   leaves found for a value in this batch:
    found_leaf    int32[...]       found_leaf[found_start[f] : found_start[f+1]]

    An empty list is a cell without posting, slot and found: known, satisfying nothing. A null
    group has one cell for every event where the field is present.
    """

    group_start: NDArray[np.int64]
    row: NDArray[np.int32]
    posting: NDArray[np.int32]
    slot: NDArray[np.int32]
    found: NDArray[np.int32]
    found_start: NDArray[np.int64]
    found_leaf: NDArray[np.int32]


class Sorter(NamedTuple):
    """Room for sorting a block's cells by slot, made for a batch.

    cell, other   int32[max cells of a group in a block]
    tally         int64[RADIX]
    """

    cell: NDArray[np.int32]
    other: NDArray[np.int32]
    tally: NDArray[np.int64]


@kernel
def _set_bit(
    planes: NDArray[np.uint64], alive: NDArray[np.uint8], plane: int, word: int, bit: np.uint64
) -> None:
    if alive[plane] == 0:
        alive[plane] = 1
        for w in range(WORDS):
            planes[plane, w] = 0
    planes[plane, word] |= bit


@kernel
def _add_words(
    planes: NDArray[np.uint64], alive: NDArray[np.uint8], plane: int, words: NDArray[np.uint64]
) -> None:
    if alive[plane] == 0:
        alive[plane] = 1
        for w in range(WORDS):
            planes[plane, w] = words[w]
    else:
        for w in range(WORDS):
            planes[plane, w] |= words[w]


@kernel
def _sort_by_slot(slot: NDArray[np.int32], begin: int, end: int, sorter: Sorter) -> int:
    """Put the cells of begin..end that have a slot into sorter.cell, ascending by slot; how many."""
    size = 0
    largest = 0
    for cell in range(begin, end):
        if slot[cell] >= 0:
            sorter.cell[size] = cell
            size += 1
            largest = max(largest, slot[cell])
    shift = 0
    while size > 1 and largest >> shift > 0:
        sorter.tally[:] = 0
        for i in range(size):
            sorter.tally[(slot[sorter.cell[i]] >> shift) & (RADIX - 1)] += 1
        total = 0
        for digit in range(RADIX):
            here = sorter.tally[digit]
            sorter.tally[digit] = total
            total += here
        for i in range(size):
            digit = (slot[sorter.cell[i]] >> shift) & (RADIX - 1)
            sorter.other[sorter.tally[digit]] = sorter.cell[i]
            sorter.tally[digit] += 1
        for i in range(size):
            sorter.cell[i] = sorter.other[i]
        shift += RADIX_BITS
    return size


@kernel
def _mark_ranges(
    ranges: Ranges,
    cells: Cells,
    group: int,
    size: int,
    sorter: Sorter,
    base: int,
    planes: NDArray[np.uint64],
    alive: NDArray[np.uint8],
) -> None:
    """Set the range leaves of a group, the block's `size` cells being sorted by slot."""
    running = np.zeros(WORDS, np.uint64)
    at = 0
    for i in range(ranges.prefix_start[group], ranges.prefix_start[group + 1]):
        while at < size and cells.slot[sorter.cell[at]] <= ranges.prefix_to[i]:
            row = cells.row[sorter.cell[at]] - base
            running[row >> 6] |= np.uint64(1) << np.uint64(row & 63)
            at += 1
        if at > 0:
            _add_words(planes, alive, ranges.prefix_leaf[i], running)
    running[:] = 0
    at = size
    for i in range(ranges.suffix_start[group], ranges.suffix_start[group + 1]):
        while at > 0 and cells.slot[sorter.cell[at - 1]] >= ranges.suffix_from[i]:
            at -= 1
            row = cells.row[sorter.cell[at]] - base
            running[row >> 6] |= np.uint64(1) << np.uint64(row & 63)
        if at < size:
            _add_words(planes, alive, ranges.suffix_leaf[i], running)
    at = 0
    for i in range(ranges.middle_start[group], ranges.middle_start[group + 1]):
        while at < size and cells.slot[sorter.cell[at]] < ranges.middle_from[i]:
            at += 1
        inside = at
        while inside < size and cells.slot[sorter.cell[inside]] <= ranges.middle_to[i]:
            row = cells.row[sorter.cell[inside]] - base
            bit = np.uint64(1) << np.uint64(row & 63)
            _set_bit(planes, alive, ranges.middle_leaf[i], row >> 6, bit)
            inside += 1


@kernel
def _mark_negated(
    leaves: Leaves,
    group: int,
    known: NDArray[np.uint64],
    planes: NDArray[np.uint64],
    alive: NDArray[np.uint8],
) -> None:
    """Falsehood of the group's leaves: known and not true."""
    for i in range(leaves.negated_start[group], leaves.negated_start[group + 1]):
        leaf = leaves.negated_leaf[i]
        plane = leaves.negated_plane[i]
        any_bit = np.uint64(0)
        for w in range(WORDS):
            word = known[w]
            if alive[leaf]:
                word &= ~planes[leaf, w]
            planes[plane, w] = word
            any_bit |= word
        alive[plane] = any_bit != 0


@kernel
def mark_leaves(
    leaves: Leaves,
    ranges: Ranges,
    cells: Cells,
    cursor: NDArray[np.int64],
    base: int,
    valid: NDArray[np.uint64],
    sorter: Sorter,
    planes: NDArray[np.uint64],
    alive: NDArray[np.uint8],
) -> None:
    """Set the planes of all leaves for the block whose first event is `base`.

    cursor[g] is the first cell of group g not yet used, and moves on; valid has a bit for every
    event of the block. Planes that stay dead are not touched.
    """
    known = np.zeros(WORDS, np.uint64)
    for group in range(leaves.null_leaf.size):
        begin = cursor[group]
        end = begin
        limit = cells.group_start[group + 1]
        while end < limit and cells.row[end] < base + BLOCK:
            end += 1
        cursor[group] = end
        null_leaf = leaves.null_leaf[group]
        if begin == end and null_leaf < 0:
            continue
        known[:] = 0
        for cell in range(begin, end):
            row = cells.row[cell] - base
            word = row >> 6
            bit = np.uint64(1) << np.uint64(row & 63)
            known[word] |= bit
            if cells.posting[cell] >= 0:
                q = cells.posting[cell]
                for i in range(leaves.posting_start[q], leaves.posting_start[q + 1]):
                    _set_bit(planes, alive, leaves.posting_leaf[i], word, bit)
            if cells.found[cell] >= 0:
                f = cells.found[cell]
                for i in range(cells.found_start[f], cells.found_start[f + 1]):
                    _set_bit(planes, alive, cells.found_leaf[i], word, bit)
        if null_leaf >= 0:
            any_bit = np.uint64(0)
            for w in range(WORDS):
                planes[null_leaf, w] = valid[w] & ~known[w]
                any_bit |= planes[null_leaf, w]
                known[w] = valid[w]
            alive[null_leaf] = any_bit != 0
        else:
            size = _sort_by_slot(cells.slot, begin, end, sorter)
            if size > 0:
                _mark_ranges(ranges, cells, group, size, sorter, base, planes, alive)
        _mark_negated(leaves, group, known, planes, alive)
