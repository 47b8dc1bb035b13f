"""All rules for a block of events at once: one pass over the planes, children before parents."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.bits import lowest_bit, prefetch
from tocsin.kernels.deferred import AND, DEFERRED_OR, store_deferred, store_false, store_or, take_away
from tocsin.kernels.jit import bare_kernel, kernel
from tocsin.kernels.leaves import Cells, Leaves, Ranges
from tocsin.kernels.marking import Sorter, mark_leaves
from tocsin.kernels.planes import PlaneGraph
from tocsin.kernels.rows import (
    LATER,
    WORDS,
    Draft,
    Planes,
    clear,
    fill,
    first_word,
    is_whole,
    lowest,
    place_of,
    store,
)

LINE = 8
"""Words of a cache line."""

AHEAD = 32
"""How many edges ahead masks are asked for."""

TOGETHER = 32
"""Planes of a level whose masks are found before the words of those that live are looked at."""


@bare_kernel
def _store_and(
    plane: int,
    begin: int,
    end: int,
    false_leaf: NDArray[np.int32],
    leaves: int,
    child_start: NDArray[np.int32],
    child: NDArray[np.int32],
    draft: Draft,
    other: Draft,
    words: int,
    mask: NDArray[np.uint64],
    at: NDArray[np.uint32],
    word: NDArray[np.uint64],
    used: np.uint64,
) -> np.uint64:
    """Store an AND whose mask is what its children's masks have in common; the new end.

    The first child's words are copied, and then fewer and fewer are left. A deferred OR is stored if
    something is left when its turn comes; the falsehood of a leaf is taken as what is known, without
    what is true.
    """
    one = np.uint64(1)
    first_inner = leaves + false_leaf.size
    kept = mask[plane]
    for j in range(begin, end):
        each = child[j]
        if each >= first_inner and at[each] & LATER:
            used = store_deferred(
                each, false_leaf, leaves, child_start, child, other, words, mask, at, word, used
            )
        its = mask[each]
        place = at[each]
        if is_whole(kept):
            added = word[first_word(place) : first_word(place) + np.uint64(words)]
            if j == begin:
                for w in range(words):
                    draft[w] = added[w]
            else:
                for w in range(words):
                    draft[w] &= added[w]
        elif j == begin:
            rest = kept
            while rest != 0:
                draft[lowest_bit(rest)] = word[place_of(its, place, lowest(rest))]
                rest &= rest - one
        else:
            rest = kept
            while rest != 0:
                bit = lowest(rest)
                w = lowest_bit(rest)
                rest ^= bit
                draft[w] &= word[place_of(its, place, bit)]
                if draft[w] == 0:
                    kept ^= bit
            if kept == 0:
                break
        if place & LATER:
            leaf = false_leaf[each - leaves]
            take_away(draft, kept, mask[leaf], at[leaf], words, word)
    if is_whole(kept):
        for w in range(words):
            if draft[w] == 0:
                kept &= ~(one << np.uint64(w))
    mask[plane] = kept
    at[plane], used = store(draft, kept, words, word, used)
    return used


@bare_kernel
def evaluate_planes(
    graph: PlaneGraph,
    kind: NDArray[np.uint8],
    leaves: int,
    drafts: tuple[Draft, Draft],
    lists: tuple[NDArray[np.int64], NDArray[np.int64]],
    words: int,
    planes: Planes,
    used: np.uint64,
) -> np.uint64:
    """Set every inner plane from its children; the new end of what is stored.

    An AND whose children's masks have no word in common is dead without a look at the planes. The
    masks lie all over the memory, so they are asked for AHEAD edges before they are needed.
    """
    mask, at, word = planes
    false_leaf, child, child_start = graph.false_leaf, graph.child, graph.child_start
    draft, other = drafts
    last_edge = child.size - 1
    first_inner = leaves + false_leaf.size
    waiting, wanted = lists
    for level in range(graph.level_start.size - 1):
        for first in range(graph.level_start[level], graph.level_start[level + 1], TOGETHER):
            count = 0
            for i in range(first, min(first + TOGETHER, graph.level_start[level + 1])):
                begin = child_start[i]
                end = child_start[i + 1]
                for j in range(begin, end):
                    prefetch(mask, np.int64(child[min(j + AHEAD, last_edge)]))
                plane = first_inner + i
                held = mask[child[begin]]
                if kind[i] == AND:
                    j = begin + 1
                    while held != 0 and j < end:
                        held &= mask[child[j]]
                        j += 1
                else:
                    for j in range(begin + 1, end):
                        held |= mask[child[j]]
                mask[plane] = held
                at[plane] = LATER
                if held != 0 and kind[i] != DEFERRED_OR:
                    waiting[count] = i
                    count += 1
                    for j in range(begin, end):
                        prefetch(at, np.int64(child[j]))
            asked = 0
            for k in range(count):
                for j in range(child_start[waiting[k]], child_start[waiting[k] + 1]):
                    c = np.int64(child[j])
                    if mask[c] == 0:
                        continue
                    if at[c] & LATER == 0:
                        prefetch(word, np.int64(at[c]))
                        if is_whole(mask[c]):
                            for line in range(1, words // LINE):
                                prefetch(word, np.int64(at[c]) + LINE * line)
                    elif asked < wanted.size:
                        wanted[asked] = c
                        asked += 1
                        if c < first_inner:
                            prefetch(false_leaf, c - leaves)
                            prefetch(word, np.int64(at[c] & ~LATER))
                        else:
                            prefetch(child_start, c - first_inner)
            for k in range(asked):
                c = wanted[k]
                if c < first_inner:
                    prefetch(mask, np.int64(false_leaf[c - leaves]))
                    prefetch(at, np.int64(false_leaf[c - leaves]))
                else:
                    prefetch(child, np.int64(child_start[c - first_inner]))
            for k in range(asked):
                c = wanted[k]
                if c < first_inner:
                    prefetch(word, np.int64(at[false_leaf[c - leaves]]))
                else:
                    for j in range(child_start[c - first_inner], child_start[c - first_inner + 1]):
                        prefetch(mask, np.int64(child[j]))
                        prefetch(at, np.int64(child[j]))
            for k in range(asked):
                c = wanted[k]
                if c >= first_inner:
                    for j in range(child_start[c - first_inner], child_start[c - first_inner + 1]):
                        prefetch(word, np.int64(at[child[j]] & ~LATER))
            for k in range(count):
                i = waiting[k]
                begin = child_start[i]
                end = child_start[i + 1]
                if kind[i] == AND:
                    used = _store_and(
                        first_inner + i,
                        begin,
                        end,
                        false_leaf,
                        leaves,
                        child_start,
                        child,
                        draft,
                        other,
                        words,
                        mask,
                        at,
                        word,
                        used,
                    )
                else:
                    used = store_or(
                        first_inner + i,
                        begin,
                        end,
                        false_leaf,
                        leaves,
                        child,
                        draft,
                        words,
                        mask,
                        at,
                        word,
                        used,
                    )
    return used


@kernel
def evaluate_block(
    leaves: Leaves,
    ranges: Ranges,
    graph: PlaneGraph,
    kind: NDArray[np.uint8],
    cells: Cells,
    cursor: NDArray[np.int64],
    base: int,
    words: int,
    planes: Planes,
    sorter: Sorter,
    size: int,
) -> np.uint64:
    """Find where every plane holds for the events base .. base + size, 64 * words of them at most.

    What is returned is the end of what is stored.

    cursor[g] is the first cell of group g that belongs to this block or a later one, and moves on.
    """
    first_inner = sorter.hits.size + graph.false_leaf.size
    always = first_inner + graph.is_and.size
    mask, at, word = planes
    drafts = (np.zeros(WORDS, np.uint64), np.zeros(WORDS, np.uint64))
    lists = (np.empty(TOGETHER, np.int64), np.empty(4 * TOGETHER, np.int64))
    mask[:first_inner] = 0
    mask[always] = fill(drafts[0], size)
    mask[always + 1] = 0
    at[always], used = store(drafts[0], mask[always], words, word, np.uint64(0))
    clear(drafts[0], mask[always])
    used = mark_leaves(leaves, ranges, cells, cursor, base, size, sorter, drafts, words, planes, used)
    used = evaluate_planes(graph, kind, sorter.hits.size, drafts, lists, words, planes, used)
    for i in range(graph.root.size):
        root = graph.root[i]
        if root < first_inner and at[root] & LATER:
            leaf = graph.false_leaf[root - sorter.hits.size]
            used = store_false(root, leaf, drafts[0], words, mask, at, word, used)
    return used
