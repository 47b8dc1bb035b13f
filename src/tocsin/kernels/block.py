"""All rules for a block of events at once: one pass over the planes, children before parents."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.bits import count_bits, lowest_bit, prefetch
from tocsin.kernels.jit import kernel
from tocsin.kernels.leaves import Cells, Leaves, Ranges
from tocsin.kernels.marking import Sorter, mark_leaves
from tocsin.kernels.planes import PlaneGraph
from tocsin.kernels.rows import (
    ALL_OF_CHUNK,
    MOST_SPARSE,
    PER_WORD,
    PER_WORD_BITS,
    WORDS,
    Chunk,
    Draft,
    Planes,
    aligned,
    clear,
    fill,
    full_mask,
    store,
)

AHEAD = 24
"""How many edges ahead planes are asked for; their entries twice as many."""


@kernel
def evaluate_planes(graph: PlaneGraph, first_inner: int, words: int, planes: Planes, used: int) -> int:
    """Set every inner plane from its children; the new end of what is stored.

    An AND whose children's masks have no chunk in common is dead without a look at the planes. An OR
    with a single living child shares that child's plane. The children's entries lie all over the
    memory, so they are asked for AHEAD edges before they are needed.
    """
    entry, chunk, word = planes
    full = full_mask(words)
    one = np.uint64(1)
    last_edge = graph.child.size - 1
    for i in range(graph.is_and.size):
        begin = graph.child_start[i]
        end = graph.child_start[i + 1]
        for j in range(begin, end):
            prefetch(entry, 2 * np.int64(graph.child[min(j + 2 * AHEAD, last_edge)]))
            prefetch(chunk, np.int64(entry[2 * graph.child[min(j + AHEAD, last_edge)] + 1]))
        plane = first_inner + i
        if graph.is_and[i]:
            common = entry[2 * graph.child[begin]]
            j = begin + 1
            while common != 0 and j < end:
                common &= entry[2 * graph.child[j]]
                j += 1
            kept = np.uint64(0)
            if common == full:
                start = aligned(used)
                target = start >> PER_WORD_BITS
                any_bit = np.uint64(0)
                source = np.int64(entry[2 * graph.child[begin] + 1]) >> PER_WORD_BITS
                other = np.int64(entry[2 * graph.child[begin + 1] + 1]) >> PER_WORD_BITS
                for w in range(words):
                    both = word[source + w] & word[other + w]
                    word[target + w] = both
                    any_bit |= both
                for j in range(begin + 2, end):
                    if any_bit == 0:
                        break
                    other = np.int64(entry[2 * graph.child[j] + 1]) >> PER_WORD_BITS
                    any_bit = np.uint64(0)
                    for w in range(words):
                        both = word[target + w] & word[other + w]
                        word[target + w] = both
                        any_bit |= both
                if any_bit != 0:
                    kept = full
                    entry[2 * plane + 1] = start
                    used = start + PER_WORD * words
            elif common != 0:
                entry[2 * plane + 1] = used
                while common != 0:
                    place = lowest_bit(common)
                    bit = one << np.uint64(place)
                    common ^= bit
                    value = ALL_OF_CHUNK
                    for j in range(begin, end):
                        child = graph.child[j]
                        its = entry[2 * child]
                        where = place if its == full else count_bits(its & (bit - one))
                        value &= chunk[np.int64(entry[2 * child + 1]) + where]
                        if value == 0:
                            break
                    if value != 0:
                        chunk[used] = value
                        used += 1
                        kept |= bit
            entry[2 * plane] = kept
        else:
            union = np.uint64(0)
            living = 0
            last = graph.child[begin]
            for j in range(begin, end):
                its = entry[2 * graph.child[j]]
                if its != 0:
                    union |= its
                    living += 1
                    last = graph.child[j]
            if living <= 1:
                entry[2 * plane] = union
                entry[2 * plane + 1] = entry[2 * last + 1]
                continue
            size = count_bits(union)
            whole = union == full or size > MOST_SPARSE
            if whole:
                start = aligned(used)
                used = start + PER_WORD * words
                target = start >> PER_WORD_BITS
                for w in range(words):
                    word[target + w] = 0
                for j in range(begin, end):
                    child = graph.child[j]
                    its = entry[2 * child]
                    source = np.int64(entry[2 * child + 1])
                    if its == full:
                        for w in range(words):
                            word[target + w] |= word[(source >> PER_WORD_BITS) + w]
                    else:
                        while its != 0:
                            chunk[start + lowest_bit(its)] |= chunk[source]
                            source += 1
                            its &= its - one
                entry[2 * plane] = full
                entry[2 * plane + 1] = start
            else:
                entry[2 * plane] = union
                entry[2 * plane + 1] = used
                for place in range(used, used + size):
                    chunk[place] = 0
                for j in range(begin, end):
                    child = graph.child[j]
                    its = entry[2 * child]
                    source = np.int64(entry[2 * child + 1])
                    while its != 0:
                        below = (its & (~its + one)) - one
                        chunk[used + count_bits(union & below)] |= chunk[source]
                        source += 1
                        its &= its - one
                used += size
    return used


@kernel
def evaluate_block(
    leaves: Leaves,
    ranges: Ranges,
    graph: PlaneGraph,
    cells: Cells,
    cursor: NDArray[np.int64],
    base: int,
    words: int,
    planes: Planes,
    sorter: Sorter,
    size: int,
) -> None:
    """Find where every plane holds for the events base .. base + size, 64 * words of them at most.

    cursor[g] is the first cell of group g that belongs to this block or a later one, and moves on.
    """
    first_inner = sorter.hits.size + graph.false_leaf.size
    always = first_inner + graph.is_and.size
    first_word = np.zeros(WORDS, np.uint64)
    second_word = np.zeros(WORDS, np.uint64)
    drafts = (
        Draft(first_word.view(Chunk), first_word),
        Draft(second_word.view(Chunk), second_word),
    )
    planes.entry[: 2 * first_inner] = 0
    planes.entry[2 * (always + 1)] = 0
    valid = fill(drafts[0], size)
    stored, start, used = store(drafts[0], valid, words, planes.chunk, planes.word, 0)
    planes.entry[2 * always] = stored
    planes.entry[2 * always + 1] = start
    clear(drafts[0], valid)
    used = mark_leaves(leaves, ranges, cells, cursor, base, size, sorter, drafts, words, planes, used)
    evaluate_planes(graph, first_inner, words, planes, used)
