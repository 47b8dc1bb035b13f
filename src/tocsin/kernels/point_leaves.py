"""Leaves that a value satisfies by what it equals, or by what was found for it in the batch.

Events of equal value are taken together, and leaves that only one value satisfies share its plane.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.bits import lowest_bit
from tocsin.kernels.jit import bare_kernel
from tocsin.kernels.rows import LATER, Draft, Planes, add_event, clear, first_word, store


class Keyed(NamedTuple):
    """Cells of a group in the order of their keys, and the leaves that each key satisfies.

    key          int32[C]     of every cell of the batch
    cell         int32[...]   the cells that have a key, by key; as many as `size` says where this is taken
    leaf_start   int64[Q+1]   leaves of a key: leaf[leaf_start[q] : leaf_start[q+1]]
    leaf         int32[...]
    """

    key: NDArray[np.int32]
    cell: NDArray[np.int32]
    leaf_start: NDArray[np.int64]
    leaf: NDArray[np.int32]


@bare_kernel
def count_hits(
    keyed: Keyed,
    size: int,
    hits: NDArray[np.uint8],
) -> int:
    """For each distinct key of the sorted cells, count it for the leaves that it satisfies; how many."""
    key, cell, leaf_start, leaf = keyed
    last = -1
    distinct = 0
    for i in range(size):
        value = key[cell[i]]
        if value != last:
            last = value
            distinct += 1
            for j in range(leaf_start[value], leaf_start[value + 1]):
                if hits[leaf[j]] < 2:
                    hits[leaf[j]] += 1
    return distinct


@bare_kernel
def mark_hits(
    keyed: Keyed,
    size: int,
    row: NDArray[np.int32],
    base: int,
    hits: NDArray[np.uint8],
    draft: Draft,
    words: int,
    planes: Planes,
    used: np.uint64,
    behind: np.uint64,
) -> tuple[np.uint64, np.uint64]:
    """Give the leaves of each distinct key its events; the new ends of what is stored.

    A leaf that only one key satisfies shares that key's plane, stored from `used` on. One that several
    satisfy gets all words of the block, from `behind` on, until settle_hits stores it.
    """
    key, cell, leaf_start, leaf = keyed
    plane_mask, plane_at, word = planes
    one = np.uint64(1)
    i = 0
    while i < size:
        value = key[cell[i]]
        mask = np.uint64(0)
        while i < size and key[cell[i]] == value:
            mask |= add_event(draft, row[cell[i]] - base)
            i += 1
        shared = LATER
        for j in range(leaf_start[value], leaf_start[value + 1]):
            each = leaf[j]
            if hits[each] == 1:
                if shared == LATER:
                    shared, used = store(draft, mask, words, word, used)
                plane_mask[each] = mask
                plane_at[each] = shared
                continue
            if plane_mask[each] == 0:
                word[behind : behind + np.uint64(words)] = 0
                plane_at[each] = behind
                behind += np.uint64(words)
            start = np.uint64(plane_at[each])
            bits = mask
            while bits != 0:
                place = np.uint64(lowest_bit(bits))
                word[start + place] |= draft[place]
                bits &= bits - one
            plane_mask[each] |= mask
        clear(draft, mask)
    return used, behind


@bare_kernel
def settle_hits(
    keyed: Keyed,
    size: int,
    hits: NDArray[np.uint8],
    words: int,
    planes: Planes,
    used: np.uint64,
) -> np.uint64:
    """Store the planes that several keys were added to, and forget the hits; the new end.

    They are met in the order in which they got their words, so that none is written over unread.
    """
    key, cell, leaf_start, leaf = keyed
    mask, at, word = planes
    last = -1
    for i in range(size):
        value = key[cell[i]]
        if value == last:
            continue
        last = value
        for j in range(leaf_start[value], leaf_start[value + 1]):
            each = leaf[j]
            if hits[each] == 2:
                draft = word[first_word(at[each]) : first_word(at[each]) + np.uint64(words)]
                at[each], used = store(draft, mask[each], words, word, used)
            hits[each] = 0
    return used
