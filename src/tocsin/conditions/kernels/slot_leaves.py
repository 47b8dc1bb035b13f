"""Ranges where few slots are in use, as of hours or ages: a stepping stone for each slot, nothing sorted.

Stone k has the events of the first k slots that are in use or lie between such. Where every event has one
cell at most, the events of a range are those of the stone at its end without those of the stone at its begin:

    slots in use    3 .. 7        stones 0 .. 5: events of no slot, of slot 3, of slots 3 and 4, ...
    slots 4 .. 6                  stone 4 xor stone 1
    slots 5 .. 90                 stone 5 xor stone 2
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.jit import bare_kernel, inner_kernel
from tocsin.conditions.kernels.bitmap_store import LATER, WORDS, Draft, Planes, clear, store
from tocsin.conditions.kernels.leaves import Cells, Ranges
from tocsin.conditions.kernels.point_leaves import collect_events
from tocsin.conditions.kernels.range_leaves import assign

MOST_SLOTS = 192
"""Slots from the first that is in use to the last, at most."""

SLOT_STONES = MOST_SLOTS + 1

_FEWEST_CELLS = 8
"""Cells for each slot, at least: else there is more to do for stones than to sort."""


@bare_kernel
def lay_stones(
    cells: Cells,
    begin: int,
    end: int,
    base: int,
    least: np.int32,
    largest: np.int32,
    stones: NDArray[np.uint64],
) -> bool:
    """Lay the stones of the cells begin..end, whose slots are least..largest or none, if that is worth it."""
    row, slot = cells.row, cells.slot
    slots = np.int64(largest) - np.int64(least) + 1
    if slots > MOST_SLOTS or end - begin < _FEWEST_CELLS * slots:
        return False
    repeated = 0
    for each in range(begin + 1, end):
        repeated += row[each] == row[each - 1]
    if repeated != 0:
        return False
    collect_events(slot, row, begin, end, base, least, slots, stones)
    for w in range(WORDS):
        stones[w] = 0  # those without a slot
    for i in range(WORDS, (slots + 1) * WORDS):
        stones[i] |= stones[i - WORDS]
    return True


@bare_kernel
def mark_by_stones(
    ranges: Ranges,
    group: int,
    least: np.int32,
    largest: np.int32,
    stones: NDArray[np.uint64],
    draft: Draft,
    words: int,
    planes: Planes,
    used: np.uint64,
) -> np.uint64:
    """All ranges of a group; the new end of what is stored."""
    shared = LATER
    before = np.int64(0)
    for i in range(ranges.prefix_start[group], ranges.prefix_start[group + 1]):
        upto = _stone(ranges.prefix_to[i] + 1, least, largest)
        if upto != before:
            shared = LATER
        before = upto
        shared, used = _mark(ranges.prefix_leaf[i], 0, upto, shared, stones, draft, words, planes, used)
    every = _stone(largest + 1, least, largest)
    shared = LATER
    for i in range(ranges.suffix_start[group], ranges.suffix_start[group + 1]):
        start = _stone(ranges.suffix_from[i], least, largest)
        if start != before:
            shared = LATER
        before = start
        shared, used = _mark(ranges.suffix_leaf[i], start, every, shared, stones, draft, words, planes, used)
    for i in range(ranges.middle_start[group], ranges.middle_start[group + 1]):
        start = _stone(ranges.middle_from[i], least, largest)
        upto = _stone(ranges.middle_to[i] + 1, least, largest)
        _, used = _mark(ranges.middle_leaf[i], start, upto, LATER, stones, draft, words, planes, used)
    return used


@inner_kernel
def _stone(slot: int, least: np.int32, largest: np.int32) -> np.int64:
    """The stone of all slots before this one."""
    return np.int64(min(max(np.int64(slot), np.int64(least)), np.int64(largest) + 1) - least)


@bare_kernel
def _mark(
    leaf: int,
    start: int,
    upto: int,
    shared: np.uint32,
    stones: NDArray[np.uint64],
    draft: Draft,
    words: int,
    planes: Planes,
    used: np.uint64,
) -> tuple[np.uint32, np.uint64]:
    """Give a leaf the events between two stones; where they are stored, `shared` if that is not LATER.

    The draft is zero before and after.
    """
    if start >= upto:
        return LATER, used
    near = stones[start * WORDS : start * WORDS + WORDS]
    far = stones[upto * WORDS : upto * WORDS + WORDS]
    mask = np.uint64(0)
    for w in range(words):
        draft[w] = near[w] ^ far[w]
    for w in range(words):
        mask |= np.uint64(draft[w] != 0) << np.uint64(w)
    if mask == 0:
        return LATER, used
    if planes.mask[leaf] != 0:
        used = assign(planes, leaf, draft, mask, words, used)
    else:
        if shared == LATER:
            shared, used = store(draft, mask, words, planes.word, used)
        planes.mask[leaf] = mask
        planes.at[leaf] = shared
    clear(draft, mask)
    return shared, used
