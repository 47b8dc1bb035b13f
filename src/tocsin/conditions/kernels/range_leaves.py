"""Leaves that a value satisfies by where it lies among the bounds: intervals of slots.

The cells of a block come sorted by slot, so that ranges that are open on one side grow by the cells
between one bound and the next, and one with two ends is a run of cells. A long run is not walked but
crossed on stepping stones: stone k has the events of the first k * STRIDE cells, and where every event has
one cell, the events between two stones are those of the one without those of the other.

    cells     0 ........ 64 ........ 128 ........ 192 ...
    stones    none       64 events   128 events   192 events
    run 50 .. 200        cells 50 .. 64, stone 3 xor stone 1, cells 192 .. 200
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.jit import bare_kernel, inner_kernel
from tocsin.conditions.kernels.bitmap_store import (
    BLOCK,
    LATER,
    WORDS,
    Draft,
    Planes,
    add_event,
    clear,
    lowest,
    place_of,
    store,
)
from tocsin.conditions.kernels.leaves import Cells, Ranges

STRIDE = 64
"""Cells from one stepping stone to the next."""

STONES = BLOCK // STRIDE + 1
"""Stones of a block, at most."""

_LONG = 3 * STRIDE
"""Cells of a run that is not walked, at least."""

_NOT_YET, _LAID, _CANNOT_BE = 0, 1, 2
"""Of the stones of a group."""


@bare_kernel
def assign(
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
            used = assign(planes, leaf[i], draft, mask, words, used)
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
    stones: NDArray[np.uint64],
    draft: Draft,
    words: int,
    planes: Planes,
    used: np.uint64,
) -> np.uint64:
    """Ranges with two ends. The stones are laid when as many cells have been walked as there are."""
    row, slot = cells.row, cells.slot
    at = 0
    walked = 0
    laid = _NOT_YET
    for i in range(ranges.middle_start[group], ranges.middle_start[group + 1]):
        while at < size and slot[by_slot[at]] < ranges.middle_from[i]:
            at += 1
        end = _first_above(slot, by_slot, at, size, ranges.middle_to[i])
        if end == at:
            continue
        if laid == _NOT_YET and walked > size:
            laid = _LAID if _lay(by_slot, size, row, base, draft, stones) else _CANNOT_BE
        if laid == _LAID and end - at >= _LONG:
            mask = _cross(by_slot, at, end, row, base, words, stones, draft)
        else:
            mask = _walk(by_slot, at, end, row, base, draft)
            walked += end - at
        used = assign(planes, ranges.middle_leaf[i], draft, mask, words, used)
        clear(draft, mask)
    return used


@inner_kernel
def _first_above(
    slot: NDArray[np.int32], by_slot: NDArray[np.int32], first: int, last: int, limit: int
) -> int:
    """The first of the sorted cells first..last whose slot is above the limit."""
    while first < last:
        middle = (first + last) >> 1
        if slot[by_slot[middle]] <= limit:
            first = middle + 1
        else:
            last = middle
    return first


@inner_kernel
def _walk(
    by_slot: NDArray[np.int32], first: int, last: int, row: NDArray[np.int32], base: int, draft: Draft
) -> np.uint64:
    """Add the events of a run of cells to a draft; its mask."""
    mask = np.uint64(0)
    for i in range(first, last):
        mask |= add_event(draft, row[by_slot[i]] - base)
    return mask


@bare_kernel
def _lay(
    by_slot: NDArray[np.int32],
    size: int,
    row: NDArray[np.int32],
    base: int,
    draft: Draft,
    stones: NDArray[np.uint64],
) -> bool:
    """Lay the stones; not when an event has two cells. The draft is zero before and after."""
    one = np.uint64(1)
    again = np.uint64(0)
    if size <= BLOCK:
        for i in range(size):
            if i % STRIDE == 0:
                _lay_one(draft, stones, i // STRIDE)
            event = row[by_slot[i]] - base
            bit = one << np.uint64(event & 63)
            again |= draft[event >> 6] & bit
            draft[event >> 6] |= bit
        if size % STRIDE == 0:
            _lay_one(draft, stones, size // STRIDE)
        for w in range(WORDS):
            draft[w] = 0
    return size <= BLOCK and again == 0


@inner_kernel
def _lay_one(draft: Draft, stones: NDArray[np.uint64], place: int) -> None:
    stone = stones[place * WORDS : place * WORDS + WORDS]
    for w in range(WORDS):
        stone[w] = draft[w]


@inner_kernel
def _cross(
    by_slot: NDArray[np.int32],
    first: int,
    last: int,
    row: NDArray[np.int32],
    base: int,
    words: int,
    stones: NDArray[np.uint64],
    draft: Draft,
) -> np.uint64:
    """Make a draft that is zero hold the events of a long run of cells; its mask."""
    ahead = (first + STRIDE - 1) // STRIDE
    behind = last // STRIDE
    near = stones[ahead * WORDS : ahead * WORDS + WORDS]
    far = stones[behind * WORDS : behind * WORDS + WORDS]
    for w in range(words):
        draft[w] = near[w] ^ far[w]
    mask = _walk(by_slot, first, ahead * STRIDE, row, base, draft)
    mask |= _walk(by_slot, behind * STRIDE, last, row, base, draft)
    for w in range(words):
        mask |= np.uint64(draft[w] != 0) << np.uint64(w)
    return mask
