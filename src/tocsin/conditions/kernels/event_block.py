"""All rules for a block of events at once: one pass over the planes, children before parents."""

from __future__ import annotations

import numpy as np

from tocsin.arrays.bits import lowest_bit, prefetch
from tocsin.arrays.dtypes import Bytes, Ints, Longs
from tocsin.arrays.jit import bare_kernel, inner_kernel, kernel
from tocsin.conditions.kernels.bitmap_store import (
    LATER,
    WORDS,
    Draft,
    Planes,
    Sheet,
    clear,
    fill,
    first_word,
    is_whole,
    lowest,
    place_of,
    store,
)
from tocsin.conditions.kernels.cell_sort import Sorter
from tocsin.conditions.kernels.deferred_planes import (
    AND,
    DEFERRED_OR,
    Edges,
    edges_of,
    store_deferred,
    store_false,
    store_or,
    take_away,
)
from tocsin.conditions.kernels.leaf_planes import mark_leaves
from tocsin.conditions.kernels.leaves import Cells, Leaves, Ranges
from tocsin.conditions.kernels.planes import PlaneGraph

_EDGES_AHEAD = 32
"""How many edges ahead masks are asked for."""

_TOGETHER = 32
"""Planes of a level whose masks are found before the words of those that live are looked at."""

_LINE = 8
"""Words of a cache line."""


@inner_kernel
def _store_and(
    edges: Edges,
    plane: int,
    inner: int,
    drafts: tuple[Draft, Draft],
    words: int,
    planes: Planes,
    used: np.uint64,
) -> np.uint64:
    """Store an AND whose mask is what its children's masks have in common; the new end.

    The first child's words are copied, and then fewer and fewer are left. A deferred OR is stored if
    something is left when its turn comes; the falsehood of a leaf is taken as what is known, without
    what is true.
    """
    mask, at, word = planes
    draft, other = drafts
    one = np.uint64(1)
    first_inner = edges.leaves + edges.false_leaf.size
    kept = mask[plane]
    begin, end = np.uint64(edges.child_start[inner]), np.uint64(edges.child_start[inner + 1])
    for j in range(begin, end):
        each = np.int64(edges.child[j])
        if each >= first_inner and at[each] & LATER:
            used = store_deferred(edges, each, other, words, planes, used)
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
            take_away(draft, kept, planes, edges.false_leaf[each - edges.leaves], words)
    if is_whole(kept):
        for w in range(words):
            if draft[w] == 0:
                kept &= ~(one << np.uint64(w))
    mask[plane] = kept
    at[plane], used = store(draft, kept, words, word, used)
    return used


@inner_kernel
def _find_masks(edges: Edges, kind: Bytes, first: int, last: int, planes: Planes, waiting: Longs) -> int:
    """Set the masks of inner planes first .. last, none stored yet; list those to be stored now: how many.

    An AND whose children's masks have no word in common is dead without a look at the planes. The masks
    lie all over the memory, so they are asked for _EDGES_AHEAD edges before they are needed.
    """
    mask, at, child = planes.mask, planes.at, edges.child
    first_inner = edges.leaves + edges.false_leaf.size
    one = np.uint64(1)
    ahead = np.uint64(_EDGES_AHEAD)
    last_edge = np.uint64(child.size - 1)
    count = 0
    for i in range(first, last):
        begin = np.uint64(edges.child_start[i])
        end = np.uint64(edges.child_start[i + 1])
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


@inner_kernel
def _ask_for_words(
    edges: Edges, waiting: Longs, count: int, deferred: Longs, words: int, planes: Planes
) -> None:
    """Ask for the words of the children of the first `count` planes that wait, long before they are needed.

    All that will be read is asked for, one step along each chain of references after the other, so that
    the waiting is done once for all of them:

        child -> at -> word                                     a plane that is stored
        child -> leaf that is false -> mask, at -> word         the falsehood of a leaf
        child -> its children -> mask, at -> word               an OR that is not stored

    `deferred` is room for the children that are not stored; if it does not do, the rest must do without.
    """
    mask, at, word = planes
    leaves, false_leaf, child_start, child = edges
    first_inner = leaves + false_leaf.size
    asked = 0
    for k in range(count):
        for j in range(child_start[waiting[k]], child_start[waiting[k] + 1]):
            each = np.int64(child[j])
            if mask[each] == 0:
                continue
            place = np.int64(at[each] & ~LATER)
            if at[each] & LATER == 0:
                prefetch(word, place)
                if is_whole(mask[each]):
                    for line in range(1, words // _LINE):
                        prefetch(word, place + _LINE * line)
            elif asked < deferred.size:
                deferred[asked] = each
                asked += 1
                if each < first_inner:
                    prefetch(false_leaf, each - leaves)
                    prefetch(word, place)
                else:
                    prefetch(child_start, each - first_inner)
    for k in range(asked):
        inner = deferred[k] - first_inner
        if inner < 0:
            leaf = np.int64(false_leaf[deferred[k] - leaves])
            prefetch(mask, leaf)
            prefetch(at, leaf)
        else:
            prefetch(child, np.int64(child_start[inner]))
    for k in range(asked):
        inner = deferred[k] - first_inner
        if inner < 0:
            prefetch(word, np.int64(at[false_leaf[deferred[k] - leaves]]))
        else:
            for j in range(child_start[inner], child_start[inner + 1]):
                prefetch(mask, np.int64(child[j]))
                prefetch(at, np.int64(child[j]))
    for k in range(asked):
        inner = deferred[k] - first_inner
        if inner >= 0:
            for j in range(child_start[inner], child_start[inner + 1]):
                prefetch(word, np.int64(at[child[j]] & ~LATER))


@bare_kernel
def _evaluate_planes(
    edges: Edges,
    level_start: Ints,
    kind: Bytes,
    drafts: tuple[Draft, Draft],
    lists: tuple[Longs, Longs],
    words: int,
    planes: Planes,
    used: np.uint64,
) -> np.uint64:
    """Set every inner plane from its children; the new end of what is stored.

    The two lists are room for _TOGETHER planes that wait, and for deferred children of theirs.
    """
    waiting, deferred = lists
    first_inner = edges.leaves + edges.false_leaf.size
    for level in range(level_start.size - 1):
        for first in range(level_start[level], level_start[level + 1], _TOGETHER):
            last = min(first + _TOGETHER, level_start[level + 1])
            count = _find_masks(edges, kind, first, last, planes, waiting)
            _ask_for_words(edges, waiting, count, deferred, words, planes)
            for k in range(count):
                i = waiting[k]
                if kind[i] == AND:
                    used = _store_and(edges, first_inner + i, i, drafts, words, planes, used)
                else:
                    used = store_or(edges, first_inner + i, i, drafts[0], words, planes, used)
    return used


@kernel
def evaluate_block(
    leaves: Leaves,
    ranges: Ranges,
    graph: PlaneGraph,
    kind: Bytes,
    cells: Cells,
    cursor: Longs,
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
    sheet = Sheet(drafts[0], words, planes)
    used = mark_leaves(leaves, ranges, cells, cursor, base, size, sorter, drafts[1], sheet, used)
    edges = edges_of(graph, sorter.hits.size)
    used = _evaluate_planes(edges, graph.level_start, kind, drafts, lists, words, planes, used)
    for i in range(graph.root.size):
        root = graph.root[i]
        if root < first_inner and at[root] & LATER:
            used = store_false(edges, root, drafts[0], words, planes, used)
    return used
