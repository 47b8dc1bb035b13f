"""The truth of every leaf over a block of events.

Group by group: what the cells satisfy by literal, by what was found for them and by range, where fields
are null, and last where a leaf is false: known and not true.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.bits import lowest_bit
from tocsin.kernels.jit import bare_kernel
from tocsin.kernels.leaves import Cells, Leaves, Ranges
from tocsin.kernels.point_leaves import Keyed, count_hits, mark_hits, settle_hits
from tocsin.kernels.range_leaves import mark_middles, mark_rays
from tocsin.kernels.rows import LATER, Draft, Planes, add_event, clear, fill, store
from tocsin.kernels.sorting import sort_cells


class Sorter(NamedTuple):
    """Room for the cells of one group and block, made for a batch.

    by_posting   int32[c]       cells that equal a literal, by literal
    by_found     int32[c]       cells for which something was found, by what
    by_slot      int32[c]       cells with a place among the bounds, ascending by place
    other        int32[c]       for sorting
    tally        int64[RADIX]   for sorting
    hits         uint8[L]       how many of the group's values satisfy a leaf: 0, 1, or 2 for more;
                                all zero between groups
    """

    by_posting: NDArray[np.int32]
    by_found: NDArray[np.int32]
    by_slot: NDArray[np.int32]
    other: NDArray[np.int32]
    tally: NDArray[np.int64]
    hits: NDArray[np.uint8]


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
        end = begin
        limit = cells.group_start[group + 1]
        while end < limit and cells.row[end] < base + size:
            end += 1
        cursor[group] = end
        null_leaf = leaves.null_leaf[group]
        if begin == end and null_leaf < 0:
            continue
        known_mask = np.uint64(0)
        for cell in range(begin, end):
            known_mask |= add_event(known, cells.row[cell] - base)
        if null_leaf >= 0:
            used = _mark_null(null_leaf, size, known, known_mask, draft, words, planes, used)
            known_mask = fill(known, size)
        else:
            used = _mark_values(
                leaves, ranges, cells, group, begin, end, base, sorter, draft, words, planes, used
            )
        if leaves.negated_start[group + 1] > leaves.negated_start[group]:
            used = _mark_negated(leaves, group, known, known_mask, words, planes, used)
        clear(known, known_mask)
    return used


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
    row, hits = cells.row, sorter.hits
    equal = sort_cells(cells.posting, begin, end, sorter.by_posting, sorter.other, sorter.tally)
    found = sort_cells(cells.found, begin, end, sorter.by_found, sorter.other, sorter.tally)
    by_posting = Keyed(cells.posting, sorter.by_posting, leaves.posting_start, leaves.posting_leaf)
    by_found = Keyed(cells.found, sorter.by_found, cells.found_start, cells.found_leaf)
    keys = count_hits(by_posting, equal, hits) + count_hits(by_found, found, hits)
    behind = used + np.uint64(words * keys)
    used, behind = mark_hits(by_posting, equal, row, base, hits, draft, words, planes, used, behind)
    used, behind = mark_hits(by_found, found, row, base, hits, draft, words, planes, used, behind)
    used = settle_hits(by_posting, equal, hits, words, planes, used)
    used = settle_hits(by_found, found, hits, words, planes, used)
    by_slot = sorter.by_slot
    size = sort_cells(cells.slot, begin, end, by_slot, sorter.other, sorter.tally)
    if size == 0:
        return used
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
    return mark_middles(ranges, group, cells, by_slot, size, base, draft, words, planes, used)
