"""Leaves that a value satisfies by where it lies among the bounds: intervals of slots.

The cells of a block come sorted by slot, so that ranges that are open on one side grow by the cells
between one bound and the next.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.jit import kernel
from tocsin.kernels.leaves import Cells, Ranges
from tocsin.kernels.rows import CHUNK, CHUNK_BITS, Chunk, Draft, Planes, add_plane, clear, full_mask, store


@kernel
def _assign(planes: Planes, leaf: int, draft: Draft, mask: np.uint64, words: int, used: int) -> int:
    """Give a leaf the events of a draft, besides those it has already; the new end."""
    entry, chunk, word = planes
    draft_chunk = draft.chunk
    if entry[2 * leaf] == 0:
        stored, at, used = store(draft, mask, words, chunk, word, used)
    else:
        own = draft_chunk.copy()
        both = Draft(own, own.view(np.uint64))
        mask |= add_plane(planes, leaf, full_mask(words), both)
        stored, at, used = store(both, mask, words, chunk, word, used)
    entry[2 * leaf] = stored
    entry[2 * leaf + 1] = at
    return used


@kernel
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
    used: int,
) -> int:
    """Ranges that are open on one side, each a superset of the one before: one growing draft.

    upward: from the lowest slot, limit the last slot of each range; else from the highest, limit the
    first. A range that adds no event shares the plane of the one before.
    """
    entry, chunk, word = planes
    draft_chunk = draft.chunk
    row, slot = cells.row, cells.slot
    mask = np.uint64(0)
    at = 0 if upward else size
    shared = -1
    stored = np.uint64(0)
    for i in range(first, last):
        while at < size if upward else at > 0:
            cell = by_slot[at if upward else at - 1]
            if slot[cell] > limit[i] if upward else slot[cell] < limit[i]:
                break
            event = row[cell] - base
            draft_chunk[event >> CHUNK_BITS] |= Chunk(np.uint64(1) << np.uint64(event & (CHUNK - 1)))
            mask |= np.uint64(1) << np.uint64(event >> CHUNK_BITS)
            shared = -1
            at += 1 if upward else -1
        if mask == 0:
            continue
        if entry[2 * leaf[i]] != 0:
            used = _assign(planes, leaf[i], draft, mask, words, used)
            continue
        if shared < 0:
            stored, shared, used = store(draft, mask, words, chunk, word, used)
        entry[2 * leaf[i]] = stored
        entry[2 * leaf[i] + 1] = shared
    clear(draft, mask)
    return used


@kernel
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
    used: int,
) -> int:
    """Ranges with two ends."""
    draft_chunk = draft.chunk
    row, slot = cells.row, cells.slot
    at = 0
    for i in range(ranges.middle_start[group], ranges.middle_start[group + 1]):
        while at < size and slot[by_slot[at]] < ranges.middle_from[i]:
            at += 1
        inside = at
        mask = np.uint64(0)
        while inside < size and slot[by_slot[inside]] <= ranges.middle_to[i]:
            event = row[by_slot[inside]] - base
            draft_chunk[event >> CHUNK_BITS] |= Chunk(np.uint64(1) << np.uint64(event & (CHUNK - 1)))
            mask |= np.uint64(1) << np.uint64(event >> CHUNK_BITS)
            inside += 1
        if mask != 0:
            used = _assign(planes, ranges.middle_leaf[i], draft, mask, words, used)
            clear(draft, mask)
    return used
