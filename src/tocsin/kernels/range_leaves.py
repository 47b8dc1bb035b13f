"""Leaves that a value satisfies by where it lies among the bounds: intervals of slots.

The cells of a block come sorted by slot, so that ranges that are open on one side grow by the cells
between one bound and the next.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.jit import bare_kernel
from tocsin.kernels.leaves import Cells, Ranges
from tocsin.kernels.rows import LATER, Draft, Planes, add_event, clear, lowest, place_of, store


@bare_kernel
def _assign(
    planes: Planes, leaf: int, draft: Draft, mask: np.uint64, words: int, used: np.uint64
) -> np.uint64:
    """Give a leaf the events of a draft, besides those it has already; the new end."""
    plane_mask, plane_at, word = planes
    before = plane_mask[leaf]
    before_at = plane_at[leaf]
    union = mask | before
    plane_mask[leaf] = union
    plane_at[leaf], used = store(draft, union, words, word, used)
    rest = before
    while rest != 0:
        bit = lowest(rest)
        rest ^= bit
        word[place_of(union, plane_at[leaf], bit)] |= word[place_of(before, before_at, bit)]
    return used


@bare_kernel
def mark_rays(
    leaf: NDArray[np.int32],
    limit: NDArray[np.int32],
    first: int,
    last: int,
    upward: bool,
    cells: Cells,
    by_slot: NDArray[np.int32],
    size: int,
    base: int,
    draft: Draft,
    words: int,
    planes: Planes,
    used: np.uint64,
) -> np.uint64:
    """Ranges that are open on one side, each a superset of the one before: one growing draft.

    upward: from the lowest slot, limit the last slot of each range; else from the highest, limit the
    first. A range that adds no event shares the plane of the one before.
    """
    plane_mask, plane_at, word = planes
    row, slot = cells.row, cells.slot
    mask = np.uint64(0)
    at = 0 if upward else size
    shared = LATER
    for i in range(first, last):
        while at < size if upward else at > 0:
            cell = by_slot[at if upward else at - 1]
            if slot[cell] > limit[i] if upward else slot[cell] < limit[i]:
                break
            mask |= add_event(draft, row[cell] - base)
            shared = LATER
            at += 1 if upward else -1
        if mask == 0:
            continue
        if plane_mask[leaf[i]] != 0:
            used = _assign(planes, leaf[i], draft, mask, words, used)
            continue
        if shared == LATER:
            shared, used = store(draft, mask, words, word, used)
        plane_mask[leaf[i]] = mask
        plane_at[leaf[i]] = shared
    clear(draft, mask)
    return used


@bare_kernel
def mark_middles(
    ranges: Ranges,
    group: int,
    cells: Cells,
    by_slot: NDArray[np.int32],
    size: int,
    base: int,
    draft: Draft,
    words: int,
    planes: Planes,
    used: np.uint64,
) -> np.uint64:
    """Ranges with two ends."""
    row, slot = cells.row, cells.slot
    at = 0
    for i in range(ranges.middle_start[group], ranges.middle_start[group + 1]):
        while at < size and slot[by_slot[at]] < ranges.middle_from[i]:
            at += 1
        inside = at
        mask = np.uint64(0)
        while inside < size and slot[by_slot[inside]] <= ranges.middle_to[i]:
            mask |= add_event(draft, row[by_slot[inside]] - base)
            inside += 1
        if mask != 0:
            used = _assign(planes, ranges.middle_leaf[i], draft, mask, words, used)
            clear(draft, mask)
    return used
