"""The truth of every leaf over a block of events.

Group by group: what the cells satisfy by literal, by what was found for them and by range, where fields
are null, and last where a leaf is false: known and not true.
"""

from __future__ import annotations

import numpy as np

from tocsin.arrays.bits import lowest_bit
from tocsin.arrays.dtypes import Ints, Longs
from tocsin.arrays.jit import bare_kernel, inner_kernel
from tocsin.conditions.kernels.bitmap_store import LATER, WORDS, Draft, Sheet, add_event, clear, fill, store
from tocsin.conditions.kernels.cell_sort import Sorter
from tocsin.conditions.kernels.leaves import Cells, Leaves, Ranges, Span
from tocsin.conditions.kernels.point_leaves import (
    MOST_TOGETHER,
    Keyed,
    count_hits,
    find_runs,
    mark_hits,
    settle_hits,
)
from tocsin.conditions.kernels.range_leaves import STONES, mark_ranges

DRAFTS = max(STONES, MOST_TOGETHER + 1) * WORDS
"""Words of the drafts that a group may need side by side."""


@bare_kernel
def _mark_negated(
    leaves: Leaves, group: int, known: Draft, known_mask: np.uint64, sheet: Sheet, used: np.uint64
) -> np.uint64:
    """Falsehood of the group's leaves: known and not true. Where nothing is true, all share one plane."""
    mask, at, word = sheet.planes
    start, used = store(known, known_mask, sheet.words, word, used)
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
    cursor: Longs,
    base: int,
    size: int,
    sorter: Sorter,
    known: Draft,
    sheet: Sheet,
    used: np.uint64,
) -> np.uint64:
    """Set the planes of all leaves for the events base .. base + size; the new end of what is stored.

    cursor[g] is the first cell of group g not yet used, and moves on. The leaves' masks are zero
    before, and so are `known` and the sheet's draft, before and after.
    """
    for group in range(leaves.null_leaf.size):
        begin = cursor[group]
        end = _first_from(cells.row, begin, cells.group_start[group + 1], base + size)
        cursor[group] = end
        null_leaf = leaves.null_leaf[group]
        if begin == end and null_leaf < 0:
            continue
        span = Span(cells.row, begin, end, base)
        is_negated = leaves.negated_start[group + 1] > leaves.negated_start[group]
        known_mask = np.uint64(0)
        if is_negated or null_leaf >= 0:
            known_mask = _mark_known(span, size, known)
        if null_leaf >= 0:
            used = _mark_null(null_leaf, size, known, known_mask, sheet, used)
            known_mask = fill(known, size)
        else:
            used = _mark_points(leaves, cells, span, sorter, sheet, used)
            used = mark_ranges(ranges, group, cells.slot, span, sorter, sheet, used)
        if is_negated:
            used = _mark_negated(leaves, group, known, known_mask, sheet, used)
        clear(known, known_mask)
    return used


@inner_kernel
def _first_from(row: Ints, first: int, last: int, event: int) -> int:
    """The first cell of first..last, whose events ascend, that belongs to this event or a later one."""
    while first < last:
        middle = (first + last) >> 1
        if row[middle] < event:
            first = middle + 1
        else:
            last = middle
    return first


@inner_kernel
def _mark_known(span: Span, size: int, known: Draft) -> np.uint64:
    """Add the events that have a cell in a span; mostly these are all, one cell each."""
    row, begin, end, base = span
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
    leaf: int, size: int, known: Draft, known_mask: np.uint64, sheet: Sheet, used: np.uint64
) -> np.uint64:
    """`is null`: the events of the block that the field is not known for."""
    draft, words, planes = sheet
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
def _mark_points(
    leaves: Leaves, cells: Cells, span: Span, sorter: Sorter, sheet: Sheet, used: np.uint64
) -> np.uint64:
    """The leaves that a group's values satisfy by literal, and by what was found."""
    equal, together = find_runs(cells.posting, span, True, sorter.by_posting, sorter)
    found = 0
    if cells.found_start.size > 1:
        found, _ = find_runs(cells.found, span, False, sorter.by_found, sorter)
    by_posting = Keyed(sorter.by_posting, equal, together, leaves.posting_start, leaves.posting_leaf)
    by_found = Keyed(sorter.by_found, found, False, cells.found_start, cells.found_leaf)
    count_hits(by_posting, sorter.hits)
    count_hits(by_found, sorter.hits)
    behind = used + np.uint64(sheet.words * (equal + found))
    used, behind = mark_hits(by_posting, span, sorter, sheet, used, behind)
    used, behind = mark_hits(by_found, span, sorter, sheet, used, behind)
    used = settle_hits(by_posting, sorter.hits, sheet.words, sheet.planes, used)
    return settle_hits(by_found, sorter.hits, sheet.words, sheet.planes, used)
