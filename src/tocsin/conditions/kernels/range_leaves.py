"""Leaves that a value satisfies by where it lies among the bounds: intervals of slots.

Where few slots are in use, as of hours or ages, there is a stepping stone for each, and nothing is sorted.
Stone k has the events of the first k slots that are in use or lie between such. Where every event has one
cell at most, the events of a range are those of the stone at its end without those of the stone at its begin:

    slots in use    3 .. 7        stones 0 .. 5: events of no slot, of slot 3, of slots 3 and 4, ...
    slots 4 .. 6                  stone 4 xor stone 1
    slots 5 .. 90                 stone 5 xor stone 2

Else the cells of a block are sorted by slot, so that ranges that are open on one side grow by the cells
between one bound and the next, and one with two ends is a run of cells. A long run is not walked but
crossed, again on stones: stone k has the events of the first k * STRIDE cells.

    cells     0 ........ 64 ........ 128 ........ 192 ...
    stones    none       64 events   128 events   192 events
    run 50 .. 200        cells 50 .. 64, stone 3 xor stone 1, cells 192 .. 200
"""

from __future__ import annotations

import numpy as np

from tocsin.arrays.dtypes import Ints, Words
from tocsin.arrays.jit import bare_kernel, inner_kernel
from tocsin.conditions.kernels.bitmap_store import (
    BLOCK,
    LATER,
    WORDS,
    Draft,
    Sheet,
    add_event,
    clear,
    lowest,
    mask_of,
    place_of,
    store,
)
from tocsin.conditions.kernels.cell_sort import Sorter, sort_cells, spread_of
from tocsin.conditions.kernels.leaves import Ranges, Span
from tocsin.conditions.kernels.point_leaves import FEWEST_CELLS, collect_events

STRIDE = 64
"""Cells from one stepping stone to the next, where there is none for each slot."""

_MOST_SLOTS = 192
"""Slots with a stone each, at most, from the first that is in use to the last."""

STONES = max(BLOCK // STRIDE, _MOST_SLOTS) + 1
"""Stones of a block, at most."""

_LONG = 3 * STRIDE
"""Cells of a run that is not walked, at least."""

_NOT_YET, _LAID, _CANNOT_BE = 0, 1, 2
"""Of the stones of a group."""


@bare_kernel
def mark_ranges(
    ranges: Ranges, group: int, slot: Ints, span: Span, sorter: Sorter, sheet: Sheet, used: np.uint64
) -> np.uint64:
    """Give all ranges of a group their events, where the cells of a span have these slots; the new end."""
    least, largest = spread_of(slot, span)
    if largest < 0:
        return used
    if _lay_for_slots(slot, span, least, largest, sorter.drafts):
        return _mark_by_stones(ranges, group, least, largest, sorter.drafts, sheet, used)
    by_slot = sorter.by_slot[: sort_cells(slot, span, least, largest, sorter.by_slot, sorter)]
    used = _mark_rays(ranges, group, True, slot, span, by_slot, sheet, used)
    used = _mark_rays(ranges, group, False, slot, span, by_slot, sheet, used)
    return _mark_middles(ranges, group, slot, span, by_slot, sorter.drafts, sheet, used)


@inner_kernel
def _give(
    leaf: int, mask: np.uint64, shared: np.uint32, sheet: Sheet, used: np.uint64
) -> tuple[np.uint32, np.uint64]:
    """Give a leaf the events of the draft, besides those it has; where they are stored, and the new end.

    `shared` is where the draft is stored already, or LATER.
    """
    mask_of_leaf, at_of_leaf, word = sheet.planes
    before, before_at = mask_of_leaf[leaf], at_of_leaf[leaf]
    if before != 0:
        union = mask | before
        mask_of_leaf[leaf] = union
        at_of_leaf[leaf], used = store(sheet.draft, union, sheet.words, word, used)
        rest = before
        while rest != 0:
            bit = lowest(rest)
            rest ^= bit
            word[place_of(union, at_of_leaf[leaf], bit)] |= word[place_of(before, before_at, bit)]
        return shared, used
    if shared == LATER:
        shared, used = store(sheet.draft, mask, sheet.words, word, used)
    mask_of_leaf[leaf] = mask
    at_of_leaf[leaf] = shared
    return shared, used


# ---- A stone for each slot


@bare_kernel
def _lay_for_slots(slot: Ints, span: Span, least: np.int32, largest: np.int32, stones: Words) -> bool:
    """Lay the stones of a span's cells, whose slots are least..largest or none, if that is worth it."""
    slots = np.int64(largest) - np.int64(least) + 1
    if slots > _MOST_SLOTS or span.end - span.begin < FEWEST_CELLS * slots:
        return False
    repeated = 0
    for each in range(span.begin + 1, span.end):
        repeated += span.row[each] == span.row[each - 1]
    if repeated != 0:
        return False
    collect_events(slot, span, least, slots, stones)
    for w in range(WORDS):
        stones[w] = 0  # those without a slot
    for i in range(WORDS, (slots + 1) * WORDS):
        stones[i] |= stones[i - WORDS]
    return True


@bare_kernel
def _mark_by_stones(
    ranges: Ranges,
    group: int,
    least: np.int32,
    largest: np.int32,
    stones: Words,
    sheet: Sheet,
    used: np.uint64,
) -> np.uint64:
    """All ranges of a group; the new end of what is stored."""
    shared = LATER
    before = np.int64(0)
    for i in range(ranges.prefix_start[group], ranges.prefix_start[group + 1]):
        upto = _stone_before(ranges.prefix_to[i] + 1, least, largest)
        if upto != before:
            shared = LATER
        before = upto
        shared, used = _mark_between(ranges.prefix_leaf[i], 0, upto, shared, stones, sheet, used)
    every = _stone_before(largest + 1, least, largest)
    shared = LATER
    for i in range(ranges.suffix_start[group], ranges.suffix_start[group + 1]):
        start = _stone_before(ranges.suffix_from[i], least, largest)
        if start != before:
            shared = LATER
        before = start
        shared, used = _mark_between(ranges.suffix_leaf[i], start, every, shared, stones, sheet, used)
    for i in range(ranges.middle_start[group], ranges.middle_start[group + 1]):
        start = _stone_before(ranges.middle_from[i], least, largest)
        upto = _stone_before(ranges.middle_to[i] + 1, least, largest)
        _, used = _mark_between(ranges.middle_leaf[i], start, upto, LATER, stones, sheet, used)
    return used


@inner_kernel
def _stone_before(slot: int, least: np.int32, largest: np.int32) -> np.int64:
    """The stone of all slots before this one."""
    return np.int64(min(max(np.int64(slot), np.int64(least)), np.int64(largest) + 1) - least)


@bare_kernel
def _mark_between(
    leaf: int, start: int, upto: int, shared: np.uint32, stones: Words, sheet: Sheet, used: np.uint64
) -> tuple[np.uint32, np.uint64]:
    """Give a leaf the events between two stones; where they are stored, `shared` if that is not LATER.

    The draft is zero before and after.
    """
    if start >= upto:
        return LATER, used
    draft = sheet.draft
    near = stones[start * WORDS : start * WORDS + WORDS]
    far = stones[upto * WORDS : upto * WORDS + WORDS]
    for w in range(sheet.words):
        draft[w] = near[w] ^ far[w]
    mask = mask_of(draft, sheet.words)
    if mask == 0:
        return LATER, used
    shared, used = _give(leaf, mask, shared, sheet, used)
    clear(draft, mask)
    return shared, used


# ---- Cells sorted by slot


@bare_kernel
def _mark_rays(
    ranges: Ranges,
    group: int,
    upward: bool,
    slot: Ints,
    span: Span,
    by_slot: Ints,
    sheet: Sheet,
    used: np.uint64,
) -> np.uint64:
    """Ranges that are open on one side, each a superset of the one before: one growing draft.

    upward: from the lowest slot, limit the last slot of each range; else from the highest, limit the
    first. A range that adds no event shares the plane of the one before.
    """
    start = ranges.prefix_start if upward else ranges.suffix_start
    leaf = ranges.prefix_leaf if upward else ranges.suffix_leaf
    limit = ranges.prefix_to if upward else ranges.suffix_from
    mask = np.uint64(0)
    at = 0 if upward else by_slot.size
    shared = LATER
    for i in range(start[group], start[group + 1]):
        while at < by_slot.size if upward else at > 0:
            cell = by_slot[at if upward else at - 1]
            if slot[cell] > limit[i] if upward else slot[cell] < limit[i]:
                break
            mask |= add_event(sheet.draft, span.row[cell] - span.base)
            shared = LATER
            at += 1 if upward else -1
        if mask != 0:
            shared, used = _give(leaf[i], mask, shared, sheet, used)
    clear(sheet.draft, mask)
    return used


@bare_kernel
def _mark_middles(
    ranges: Ranges,
    group: int,
    slot: Ints,
    span: Span,
    by_slot: Ints,
    stones: Words,
    sheet: Sheet,
    used: np.uint64,
) -> np.uint64:
    """Ranges with two ends. The stones are laid when as many cells have been walked as there are."""
    draft, size = sheet.draft, by_slot.size
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
            laid = _LAID if _lay(by_slot, span, draft, stones) else _CANNOT_BE
        if laid == _LAID and end - at >= _LONG:
            mask = _cross(by_slot, at, end, span, sheet, stones)
        else:
            mask = _walk(by_slot, at, end, span, draft)
            walked += end - at
        _, used = _give(ranges.middle_leaf[i], mask, LATER, sheet, used)
        clear(draft, mask)
    return used


@inner_kernel
def _first_above(slot: Ints, by_slot: Ints, first: int, last: int, limit: int) -> int:
    """The first of the sorted cells first..last whose slot is above the limit."""
    while first < last:
        middle = (first + last) >> 1
        if slot[by_slot[middle]] <= limit:
            first = middle + 1
        else:
            last = middle
    return first


@inner_kernel
def _walk(by_slot: Ints, first: int, last: int, span: Span, draft: Draft) -> np.uint64:
    """Add the events of a run of cells to a draft; its mask."""
    mask = np.uint64(0)
    for i in range(first, last):
        mask |= add_event(draft, span.row[by_slot[i]] - span.base)
    return mask


@bare_kernel
def _lay(by_slot: Ints, span: Span, draft: Draft, stones: Words) -> bool:
    """Lay the stones; not when an event has two cells. The draft is zero before and after."""
    one = np.uint64(1)
    again = np.uint64(0)
    size = by_slot.size
    if size <= BLOCK:
        for i in range(size):
            if i % STRIDE == 0:
                _lay_one(draft, stones, i // STRIDE)
            event = span.row[by_slot[i]] - span.base
            bit = one << np.uint64(event & 63)
            again |= draft[event >> 6] & bit
            draft[event >> 6] |= bit
        if size % STRIDE == 0:
            _lay_one(draft, stones, size // STRIDE)
        for w in range(WORDS):
            draft[w] = 0
    return size <= BLOCK and again == 0


@inner_kernel
def _lay_one(draft: Draft, stones: Words, place: int) -> None:
    stone = stones[place * WORDS : place * WORDS + WORDS]
    for w in range(WORDS):
        stone[w] = draft[w]


@inner_kernel
def _cross(by_slot: Ints, first: int, last: int, span: Span, sheet: Sheet, stones: Words) -> np.uint64:
    """Make a draft that is zero hold the events of a long run of cells; its mask."""
    ahead = (first + STRIDE - 1) // STRIDE
    behind = last // STRIDE
    draft = sheet.draft
    near = stones[ahead * WORDS : ahead * WORDS + WORDS]
    far = stones[behind * WORDS : behind * WORDS + WORDS]
    for w in range(sheet.words):
        draft[w] = near[w] ^ far[w]
    mask = _walk(by_slot, first, ahead * STRIDE, span, draft)
    mask |= _walk(by_slot, behind * STRIDE, last, span, draft)
    return mask | mask_of(draft, sheet.words)
