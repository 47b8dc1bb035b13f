"""The truth of every leaf over a block of events.

Group by group: what the cells satisfy by literal, by what was found for them and by range, where fields
are null, and last where a leaf is false: known and not true.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.bits import lowest_bit
from tocsin.arrays.jit import bare_kernel, inner_kernel
from tocsin.conditions.kernels.bitmap_store import LATER, WORDS, Draft, Planes, add_event, clear, fill, store
from tocsin.conditions.kernels.cell_sort import sort_cells, spread_of
from tocsin.conditions.kernels.leaves import Cells, Leaves, Ranges
from tocsin.conditions.kernels.point_leaves import (
    MOST_TOGETHER,
    Keyed,
    Runs,
    count_hits,
    find_runs,
    mark_hits,
    settle_hits,
)
from tocsin.conditions.kernels.range_leaves import STONES, mark_middles, mark_rays
from tocsin.conditions.kernels.slot_leaves import SLOT_STONES, lay_stones, mark_by_stones

DRAFTS = max(STONES, SLOT_STONES, MOST_TOGETHER + 1) * WORDS
"""Words of the drafts that a group may need side by side."""


class Sorter(NamedTuple):
    """Room for the cells of one group and block, made for a batch.

    by_posting   Runs           cells that equal a literal, by literal
    by_found     Runs           cells for which something was found, by what
    by_slot      int32[c]       cells with a place among the bounds, ascending by place
    other        int32[c]       for sorting
    tally        int64[RADIX]   for sorting
    hits         uint8[L]       how many of the group's values satisfy a leaf: 0, 1, or 2 for more;
                                all zero between groups
    drafts       uint64[DRAFTS] planes in the making, side by side (point_, slot_ and range_leaves.py)
    """

    by_posting: Runs
    by_found: Runs
    by_slot: NDArray[np.int32]
    other: NDArray[np.int32]
    tally: NDArray[np.int64]
    hits: NDArray[np.uint8]
    drafts: NDArray[np.uint64]


@bare_kernel
def _mark_negated(
    leaves: Leaves,
    group: int,
    known: Draft,
    known_mask: np.uint64,
    words: int,
    planes: Planes,
    used: np.uint64,
) -> np.uint64:
    """Falsehood of the group's leaves: known and not true. Where nothing is true, all share one plane."""
    mask, at, word = planes
    start, used = store(known, known_mask, words, word, used)
    for i in range(leaves.negated_start[group], leaves.negated_start[group + 1]):
        plane = leaves.negated_plane[i]
        mask[plane] = known_mask
        at[plane] = start if mask[leaves.negated_leaf[i]] & known_mask == 0 else LATER | start
    return used


@bare_kernel
def mark_leaves(
    leaves: Leaves,
    ranges: Ranges,
    cells: Cells,
    cursor: NDArray[np.int64],
    base: int,
    size: int,
    sorter: Sorter,
    drafts: tuple[Draft, Draft],
    words: int,
    planes: Planes,
    used: np.uint64,
) -> np.uint64:
    """Set the planes of all leaves for the events base .. base + size; the new end of what is stored.

    cursor[g] is the first cell of group g not yet used, and moves on. The leaves' masks are zero
    before, and so are both drafts, before and after.
    """
    draft, known = drafts
    for group in range(leaves.null_leaf.size):
        begin = cursor[group]
        end = _first_from(cells.row, begin, cells.group_start[group + 1], base + size)
        cursor[group] = end
        null_leaf = leaves.null_leaf[group]
        if begin == end and null_leaf < 0:
            continue
        is_negated = leaves.negated_start[group + 1] > leaves.negated_start[group]
        known_mask = np.uint64(0)
        if is_negated or null_leaf >= 0:
            known_mask = _mark_known(cells.row, begin, end, base, size, known)
        if null_leaf >= 0:
            used = _mark_null(null_leaf, size, known, known_mask, draft, words, planes, used)
            known_mask = fill(known, size)
        else:
            used = _mark_values(
                leaves, ranges, cells, group, begin, end, base, sorter, draft, words, planes, used
            )
        if is_negated:
            used = _mark_negated(leaves, group, known, known_mask, words, planes, used)
        clear(known, known_mask)
    return used


@inner_kernel
def _first_from(row: NDArray[np.int32], first: int, last: int, event: int) -> int:
    """The first cell of first..last, whose events ascend, that belongs to this event or a later one."""
    while first < last:
        middle = (first + last) >> 1
        if row[middle] < event:
            first = middle + 1
        else:
            last = middle
    return first


@inner_kernel
def _mark_known(
    row: NDArray[np.int32], begin: int, end: int, base: int, size: int, known: Draft
) -> np.uint64:
    """Add the events that have a cell among begin..end; mostly these are all, one cell each."""
    if end - begin == size:
        others = 0
        for place in range(size):
            others += row[begin + place] != base + place
        if others == 0:
            return fill(known, size)
    mask = np.uint64(0)
    for cell in range(begin, end):
        mask |= add_event(known, row[cell] - base)
    return mask


@bare_kernel
def _mark_null(
    leaf: int,
    size: int,
    known: Draft,
    known_mask: np.uint64,
    draft: Draft,
    words: int,
    planes: Planes,
    used: np.uint64,
) -> np.uint64:
    """`is null`: the events of the block that the field is not known for."""
    mask = fill(draft, size)
    bits = known_mask
    while bits != 0:
        place = lowest_bit(bits)
        draft[place] &= ~known[place]
        if draft[place] == 0:
            mask ^= np.uint64(1) << np.uint64(place)
        bits &= bits - np.uint64(1)
    if mask != 0:
        planes.at[leaf], used = store(draft, mask, words, planes.word, used)
        planes.mask[leaf] = mask
    clear(draft, mask)
    return used


@bare_kernel
def _mark_values(
    leaves: Leaves,
    ranges: Ranges,
    cells: Cells,
    group: int,
    begin: int,
    end: int,
    base: int,
    sorter: Sorter,
    draft: Draft,
    words: int,
    planes: Planes,
    used: np.uint64,
) -> np.uint64:
    """The leaves that a group's values satisfy: by literal, by what was found, by range."""
    row, hits, drafts = cells.row, sorter.hits, sorter.drafts
    other, tally = sorter.other, sorter.tally
    equal, together = find_runs(
        cells.posting, row, begin, end, base, True, sorter.by_posting, other, tally, drafts
    )
    found = 0
    if cells.found_start.size > 1:
        found, _ = find_runs(cells.found, row, begin, end, base, False, sorter.by_found, other, tally, drafts)
    by_posting = Keyed(sorter.by_posting, equal, together, leaves.posting_start, leaves.posting_leaf)
    by_found = Keyed(sorter.by_found, found, False, cells.found_start, cells.found_leaf)
    count_hits(by_posting, hits)
    count_hits(by_found, hits)
    behind = used + np.uint64(words * (equal + found))
    used, behind = mark_hits(by_posting, row, base, hits, draft, drafts, words, planes, used, behind)
    used, behind = mark_hits(by_found, row, base, hits, draft, drafts, words, planes, used, behind)
    used = settle_hits(by_posting, hits, words, planes, used)
    used = settle_hits(by_found, hits, words, planes, used)
    least, largest = spread_of(cells.slot, begin, end)
    if largest < 0:
        return used
    if lay_stones(cells, begin, end, base, least, largest, drafts):
        return mark_by_stones(ranges, group, least, largest, drafts, draft, words, planes, used)
    by_slot = sorter.by_slot
    size = sort_cells(cells.slot, begin, end, least, largest, by_slot, other, tally)
    first, last = ranges.prefix_start[group], ranges.prefix_start[group + 1]
    used = mark_rays(
        ranges.prefix_leaf,
        ranges.prefix_to,
        first,
        last,
        True,
        cells,
        by_slot,
        size,
        base,
        draft,
        words,
        planes,
        used,
    )
    first, last = ranges.suffix_start[group], ranges.suffix_start[group + 1]
    used = mark_rays(
        ranges.suffix_leaf,
        ranges.suffix_from,
        first,
        last,
        False,
        cells,
        by_slot,
        size,
        base,
        draft,
        words,
        planes,
        used,
    )
    return mark_middles(ranges, group, cells, by_slot, size, base, sorter.drafts, draft, words, planes, used)
