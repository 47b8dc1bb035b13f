"""Planes: which events of a block something holds for, stored so that empty stretches cost little.

A block is at most 4,096 events, 64 words of 64. A plane has a mask: the words that may have a bit set,
all others have none. How many these are decides how it is stored:

    up to _MOST_SPARSE    the words of the mask alone, one behind the other
                         mask ...0000 0010 0001     word[at] 0x00000100   word[at+1] 0x80000001
    more                 whole: all words of the block

Most planes of most workloads are nearly empty: an AND is then dead by its children's masks alone. Whole
planes take more memory and are quick to combine (loops over slices become vector instructions). Planes
are never changed once they are stored, so that planes with the same events share one place.

Places are unsigned: Numba would otherwise ask of each whether it counts from the end of the array.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.bits import count_bits, lowest_bit
from tocsin.arrays.dtypes import Words
from tocsin.arrays.jit import inner_kernel

WORDS = 64
"""Words of a whole plane, at most."""

BLOCK = 64 * WORDS
"""Events in a block, at most."""

_MOST_SPARSE = 20
"""Words of a plane that is not stored whole, at most."""

LATER = np.uint32(1 << 31)
"""Added to the place of a plane that is not stored yet; see conditions/kernels/deferred_planes.py."""

Draft = Words
"""A plane in the making, uint64[WORDS]: all its words, zero wherever its maker's mask has no bit."""


class Planes(NamedTuple):
    """The planes of a block. P of them, and two more: always and never.

    mask    uint64[P+2]    the words that may have a bit; 0: nothing holds
    at      uint32[P+2]    where in `word` it is stored; with LATER: not yet (deferred_planes.py)
    word    uint64[...]    room for all planes stored whole
    """

    mask: Words
    at: NDArray[np.uint32]
    word: Words


class Sheet(NamedTuple):
    """What the leaves of a block are written with: a draft that is zero between them, and the block's planes.

    The block has so many words.
    """

    draft: Draft
    words: int
    planes: Planes


@inner_kernel
def is_whole(mask: np.uint64) -> bool:
    """Whether a plane with this mask is stored whole."""
    return count_bits(mask) > _MOST_SPARSE


@inner_kernel
def lowest(mask: np.uint64) -> np.uint64:
    """The lowest bit of a mask, as a mask."""
    return mask & (~mask + np.uint64(1))


@inner_kernel
def first_word(at: np.uint32) -> np.uint64:
    """Where a plane begins, stored or not."""
    return np.uint64(at & ~LATER)


@inner_kernel
def place_of(mask: np.uint64, at: np.uint32, bit: np.uint64) -> np.uint64:
    """Where a word is stored that the mask has; it is given as that one bit of the mask."""
    below = bit - np.uint64(1)
    return first_word(at) + np.uint64(count_bits(below if is_whole(mask) else mask & below))


@inner_kernel
def add_event(draft: Draft, event: int) -> np.uint64:
    """Add an event to a draft; the mask of its word."""
    draft[event >> 6] |= np.uint64(1) << np.uint64(event & 63)
    return np.uint64(1) << np.uint64(event >> 6)


@inner_kernel
def add_plane(draft: Draft, planes: Planes, plane: int, words: int) -> None:
    """Add a plane's events to a draft."""
    one = np.uint64(1)
    mask, source = planes.mask[plane], first_word(planes.at[plane])
    if is_whole(mask):
        added = planes.word[source : source + np.uint64(words)]
        for w in range(words):
            draft[w] |= added[w]
        return
    while mask != 0:
        draft[lowest_bit(mask)] |= planes.word[source]
        source += one
        mask &= mask - one


@inner_kernel
def count_plane(planes: Planes, plane: int, words: int) -> int:
    """For how many events a plane holds."""
    mask, start = planes.mask[plane], np.uint64(planes.at[plane])
    size = words if is_whole(mask) else count_bits(mask)
    total = 0
    for each in planes.word[start : start + np.uint64(size)]:
        total += count_bits(each)
    return total


@inner_kernel
def store(
    draft: Draft, mask: np.uint64, words: int, word: Words, used: np.uint64
) -> tuple[np.uint32, np.uint64]:
    """Store a draft that has bits in the words of `mask` only: its place, and the new end."""
    one = np.uint64(1)
    at = np.uint32(used)
    if is_whole(mask):
        into = word[used : used + np.uint64(words)]
        for w in range(words):
            into[w] = draft[w]
        return at, used + np.uint64(words)
    while mask != 0:
        word[used] = draft[lowest_bit(mask)]
        used += one
        mask &= mask - one
    return at, used


@inner_kernel
def clear(draft: Draft, mask: np.uint64) -> None:
    """Make the words of a mask zero again."""
    if is_whole(mask):
        for w in range(WORDS):
            draft[w] = 0
        return
    while mask != 0:
        draft[lowest_bit(mask)] = 0
        mask &= mask - np.uint64(1)


@inner_kernel
def fill(draft: Draft, size: int) -> np.uint64:
    """Make a draft hold the first `size` events; its mask."""
    mask = np.uint64(0)
    for w in range((size + 63) // 64):
        draft[w] = ~np.uint64(0) >> np.uint64(64 - min(64, size - 64 * w))
        mask |= np.uint64(1) << np.uint64(w)
    return mask


@inner_kernel
def mask_of(draft: Draft, words: int) -> np.uint64:
    """The mask of a draft that may have bits in the first so many words."""
    mask = np.uint64(0)
    for w in range(words):
        mask |= np.uint64(draft[w] != 0) << np.uint64(w)
    return mask
