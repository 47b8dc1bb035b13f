"""Leaves that a value satisfies by what it equals, or by what was found for it in the batch.

Events of equal value are taken together, and leaves that only one value satisfies share its plane.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.bits import lowest_bit
from tocsin.kernels.jit import kernel
from tocsin.kernels.rows import (
    CHUNK,
    CHUNK_BITS,
    MOST_SPARSE,
    PER_WORD,
    PER_WORD_BITS,
    Chunk,
    Draft,
    Planes,
    aligned,
    clear,
    full_mask,
    store,
)


@kernel
def count_hits(
    key: NDArray[np.int32],
    cell: NDArray[np.int32],
    size: int,
    leaf_start: NDArray[np.int64],
    leaf: NDArray[np.int32],
    hits: NDArray[np.uint8],
) -> None:
    """For each distinct key of the sorted cells, count it for the leaves that it satisfies."""
    last = -1
    for i in range(size):
        value = key[cell[i]]
        if value != last:
            last = value
            for j in range(leaf_start[value], leaf_start[value + 1]):
                if hits[leaf[j]] < 2:
                    hits[leaf[j]] += 1


@kernel
def mark_hits(
    key: NDArray[np.int32],
    cell: NDArray[np.int32],
    size: int,
    row: NDArray[np.int32],
    base: int,
    leaf_start: NDArray[np.int64],
    leaf: NDArray[np.int32],
    hits: NDArray[np.uint8],
    draft: Draft,
    words: int,
    planes: Planes,
    used: int,
) -> int:
    """Give the leaves of each distinct key its events; the new end of what is stored.

    A leaf that only one key satisfies shares that key's plane. One that several satisfy gets a whole
    plane of its own, which is still changed here and settled by settle_hits.
    """
    entry, chunk, word = planes
    draft_chunk = draft.chunk
    full = full_mask(words)
    i = 0
    while i < size:
        value = key[cell[i]]
        mask = np.uint64(0)
        while i < size and key[cell[i]] == value:
            event = row[cell[i]] - base
            draft_chunk[event >> CHUNK_BITS] |= Chunk(np.uint64(1) << np.uint64(event & (CHUNK - 1)))
            mask |= np.uint64(1) << np.uint64(event >> CHUNK_BITS)
            i += 1
        shared = -1
        stored = np.uint64(0)
        for j in range(leaf_start[value], leaf_start[value + 1]):
            each = leaf[j]
            if hits[each] == 1:
                if shared < 0:
                    stored, shared, used = store(draft, mask, words, chunk, word, used)
                entry[2 * each] = stored
                entry[2 * each + 1] = shared
                continue
            if entry[2 * each] == 0:
                start = aligned(used)
                used = start + PER_WORD * words
                for w in range(words):
                    word[(start >> PER_WORD_BITS) + w] = 0
                entry[2 * each] = full
                entry[2 * each + 1] = start
            bits = mask
            while bits != 0:
                place = lowest_bit(bits)
                chunk[np.int64(entry[2 * each + 1]) + place] |= draft_chunk[place]
                bits &= bits - np.uint64(1)
        clear(draft, mask)
    return used


@kernel
def settle_hits(
    key: NDArray[np.int32],
    cell: NDArray[np.int32],
    size: int,
    leaf_start: NDArray[np.int64],
    leaf: NDArray[np.int32],
    hits: NDArray[np.uint8],
    words: int,
    planes: Planes,
) -> None:
    """Close up the planes that several keys were added to, and forget the hits."""
    last = -1
    for i in range(size):
        value = key[cell[i]]
        if value == last:
            continue
        last = value
        for j in range(leaf_start[value], leaf_start[value + 1]):
            each = leaf[j]
            if hits[each] == 2:
                _close_up(planes, each, words)
            hits[each] = 0


@kernel
def _close_up(planes: Planes, plane: int, words: int) -> None:
    """Store a plane that is whole, and is nobody else's, by its chunks if these are few."""
    entry, chunk, _word = planes
    at = np.int64(entry[2 * plane + 1])
    mask = np.uint64(0)
    filled = 0
    for place in range(PER_WORD * words):
        if chunk[at + place] != 0:
            mask |= np.uint64(1) << np.uint64(place)
            filled += 1
    if filled > MOST_SPARSE or mask == entry[2 * plane]:
        return
    entry[2 * plane] = mask
    source = at
    while mask != 0:
        chunk[at] = chunk[source + lowest_bit(mask)]
        at += 1
        mask &= mask - np.uint64(1)
