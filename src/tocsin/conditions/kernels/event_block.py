"""All rules for a block of events at once: one pass over the planes, children before parents."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.bits import lowest_bit, prefetch
from tocsin.arrays.jit import bare_kernel, inner_kernel, kernel
from tocsin.conditions.kernels.bitmap_store import (
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
from tocsin.conditions.kernels.deferred_planes import (
    AND,
    DEFERRED_OR,
    store_deferred,
    store_false,
    store_or,
    take_away,
)
from tocsin.conditions.kernels.leaf_planes import Sorter, mark_leaves
from tocsin.conditions.kernels.leaves import Cells, Leaves, Ranges
from tocsin.conditions.kernels.planes import PlaneGraph
from tocsin.conditions.kernels.prefetch import ask_for_words

_EDGES_AHEAD = 32
"""How many edges ahead masks are asked for."""

_TOGETHER = 32
"""Planes of a level whose masks are found before the words of those that live are looked at."""


@inner_kernel
def _store_and(
    plane: int,
    begin: np.uint64,
    end: np.uint64,
    false_leaf: NDArray[np.int32],
    leaves: int,
    child_start: NDArray[np.uint32],
    child: NDArray[np.uint32],
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
        each = np.int64(child[j])
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


@inner_kernel
def _find_masks(
    first: int,
    last: int,
    kind: NDArray[np.uint8],
    first_inner: int,
    child_start: NDArray[np.uint32],
    child: NDArray[np.uint32],
    mask: NDArray[np.uint64],
    at: NDArray[np.uint32],
    waiting: NDArray[np.int64],
) -> int:
    """Set the masks of inner planes first .. last, none stored yet; list those to be stored now: how many.

    An AND whose children's masks have no word in common is dead without a look at the planes. The masks
    lie all over the memory, so they are asked for _EDGES_AHEAD edges before they are needed.
    """
    one = np.uint64(1)
    ahead = np.uint64(_EDGES_AHEAD)
    last_edge = np.uint64(child.size - 1)
    count = 0
    for i in range(first, last):
        begin = np.uint64(child_start[i])
        end = np.uint64(child_start[i + 1])
        for j in range(begin, end):
            prefetch(mask, np.int64(child[min(j + ahead, last_edge)]))
        held = mask[child[begin]]
        if kind[i] == AND:
            j = begin + one
            while held != 0 and j < end:
                held &= mask[child[j]]
                j += one
        else:
            for j in range(begin + one, end):
                held |= mask[child[j]]
        mask[first_inner + i] = held
        at[first_inner + i] = LATER
        if held != 0 and kind[i] != DEFERRED_OR:
            waiting[count] = i
            count += 1
            for j in range(begin, end):
                prefetch(at, np.int64(child[j]))
    return count


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

    The two lists are room for _TOGETHER planes that wait, and for deferred children of theirs.
    """
    mask, at, word = planes
    false_leaf = graph.false_leaf
    child, child_start = graph.child.view(np.uint32), graph.child_start.view(np.uint32)
    draft, other = drafts
    waiting, deferred = lists
    first_inner = leaves + false_leaf.size
    for level in range(graph.level_start.size - 1):
        for first in range(graph.level_start[level], graph.level_start[level + 1], _TOGETHER):
            last = min(first + _TOGETHER, graph.level_start[level + 1])
            count = _find_masks(first, last, kind, first_inner, child_start, child, mask, at, waiting)
            ask_for_words(
                waiting,
                count,
                deferred,
                leaves,
                false_leaf,
                child_start,
                child,
                words,
                mask,
                at,
                word,
            )
            for k in range(count):
                i = waiting[k]
                plane = first_inner + i
                begin = np.uint64(child_start[i])
                end = np.uint64(child_start[i + 1])
                if kind[i] == AND:
                    used = _store_and(
                        plane,
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
                        plane, begin, end, false_leaf, leaves, child, draft, words, mask, at, word, used
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
    size: int,
    planes: Planes,
    sorter: Sorter,
) -> np.uint64:
    """Find where every plane holds for the events base .. base + size, a block of them at most.

    cursor[g] is the first cell of group g that belongs to this block or a later one, and moves on. What
    is returned is the end of what is stored.
    """
    words = (size + 63) // 64
    first_inner = sorter.hits.size + graph.false_leaf.size
    always = first_inner + graph.is_and.size
    mask, at, word = planes
    drafts = (np.zeros(WORDS, np.uint64), np.zeros(WORDS, np.uint64))
    lists = (np.empty(_TOGETHER, np.int64), np.empty(4 * _TOGETHER, np.int64))
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
