"""Planes: which events of a block something holds for, stored so that empty stretches cost nothing.

A block is at most 2,048 events, 64 chunks of 32. Of a plane only the chunks are stored in which some
bit is set, one behind the other, and a mask says which these are:

    mask    ...0000 0010 0001       chunks 0 and 5
    chunk   [at] 0x00000100  [at+1] 0x80000001

A plane with many such chunks is stored whole, aligned as machine words, and its mask is full: every
chunk of the block. Most planes of most workloads are nearly empty: an AND is then dead by its masks
alone, and the whole graph's planes fit into the cache. Planes are never changed once they are stored,
so that planes with the same events share one place.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.bits import count_bits, lowest_bit
from tocsin.kernels.jit import kernel

CHUNK_BITS = 5
CHUNK = 1 << CHUNK_BITS
"""Events in a chunk."""

Chunk = np.uint32
ALL_OF_CHUNK = Chunk((1 << CHUNK) - 1)

PER_WORD_BITS = 6 - CHUNK_BITS
PER_WORD = 1 << PER_WORD_BITS
"""Chunks in a machine word."""

WORDS = CHUNK
"""Machine words of a whole plane, at most: 64 chunks."""

BLOCK = 64 * WORDS
"""Events in a block, at most."""

MOST_SPARSE = 32
"""Chunks of a plane that is not stored whole, at most."""


class Planes(NamedTuple):
    """The planes of a block. P of them, and two more: always and never.

    entry   uint64[2P+4]   two for each plane p, side by side because whoever needs one needs the other:
                           entry[2p]      the chunks that are stored; 0: nothing holds
                           entry[2p+1]    where in `chunk` the first of them is
    chunk   uint32[...]    room for all planes stored whole
    word    uint64[...]    the same memory as machine words
    """

    entry: NDArray[np.uint64]
    chunk: NDArray[Chunk]
    word: NDArray[np.uint64]


class Draft(NamedTuple):
    """A plane in the making, all its chunks in place; zero wherever its maker's mask has no bit.

    chunk   uint32[64]
    word    uint64[32]    the same memory
    """

    chunk: NDArray[Chunk]
    word: NDArray[np.uint64]


@kernel
def full_mask(words: int) -> np.uint64:
    """The mask of a plane that is stored whole."""
    if words == WORDS:
        return ~np.uint64(0)
    return (np.uint64(1) << np.uint64(PER_WORD * words)) - np.uint64(1)


@kernel
def aligned(used: int) -> int:
    """The first place from `used` on where a machine word begins."""
    return (used + PER_WORD - 1) & -PER_WORD


@kernel
def count_plane(mask: np.uint64, at: int, words: int, chunk: NDArray[Chunk]) -> int:
    """For how many events a plane holds."""
    size = PER_WORD * words if mask == full_mask(words) else count_bits(mask)
    total = 0
    for place in range(at, at + size):
        total += count_bits(np.uint64(chunk[place]))
    return total


@kernel
def place_of_chunk(mask: np.uint64, at: int, chunk: int, full: np.uint64) -> int:
    """Where a chunk that the mask has is stored."""
    if mask == full:
        return at + chunk
    return at + count_bits(mask & ((np.uint64(1) << np.uint64(chunk)) - np.uint64(1)))


@kernel
def store(
    draft: Draft, mask: np.uint64, words: int, chunk: NDArray[Chunk], word: NDArray[np.uint64], used: int
) -> tuple[np.uint64, int, int]:
    """Store a draft that has bits in the chunks of `mask` only: its mask, its place, the new end."""
    full = full_mask(words)
    if mask == full or count_bits(mask) > MOST_SPARSE:
        start = aligned(used)
        for w in range(words):
            word[(start >> PER_WORD_BITS) + w] = draft.word[w]
        return full, start, start + PER_WORD * words
    end = used
    bits = mask
    while bits != 0:
        chunk[end] = draft.chunk[lowest_bit(bits)]
        end += 1
        bits &= bits - np.uint64(1)
    return mask, used, end


@kernel
def clear(draft: Draft, mask: np.uint64) -> None:
    """Make the chunks of a mask zero again."""
    bits = mask
    while bits != 0:
        draft.chunk[lowest_bit(bits)] = 0
        bits &= bits - np.uint64(1)


@kernel
def add_plane(planes: Planes, plane: int, full: np.uint64, draft: Draft) -> np.uint64:
    """Add a plane's events to a draft; the plane's mask, which the draft now has bits in too."""
    mask = planes.entry[2 * plane]
    bits = mask
    at = np.int64(planes.entry[2 * plane + 1])
    if mask == full:
        while bits != 0:
            place = lowest_bit(bits)
            draft.chunk[place] |= planes.chunk[at + place]
            bits &= bits - np.uint64(1)
    else:
        while bits != 0:
            draft.chunk[lowest_bit(bits)] |= planes.chunk[at]
            at += 1
            bits &= bits - np.uint64(1)
    return mask


@kernel
def fill(draft: Draft, size: int) -> np.uint64:
    """Make a draft hold the first `size` events; its mask."""
    mask = np.uint64(0)
    for place in range((size + CHUNK - 1) // CHUNK):
        draft.chunk[place] = np.uint64(ALL_OF_CHUNK) >> np.uint64(CHUNK - min(CHUNK, size - CHUNK * place))
        mask |= np.uint64(1) << np.uint64(place)
    return mask
