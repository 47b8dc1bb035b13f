"""Planes that are stored only when they are looked at.

A mask is often enough: an AND whose children have no word in common is dead whatever the words hold. So
two kinds of planes get their mask at once and their words on demand:

    a leaf is false     known and not true.   mask and place are those of what is known, with LATER
    an OR               that no rule stands for, and no OR asks for.   mask: of all children; LATER

A mask does not change when the plane is stored.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.bits import lowest_bit
from tocsin.arrays.dtypes import Bytes, Ints
from tocsin.arrays.jit import inner_kernel, kernel
from tocsin.conditions.kernels.bitmap_store import (
    LATER,
    Draft,
    Planes,
    add_plane,
    first_word,
    is_whole,
    lowest,
    place_of,
    store,
)
from tocsin.conditions.kernels.planes import PlaneGraph

OR = 0
AND = 1
DEFERRED_OR = 2


@kernel
def kinds_of(graph: PlaneGraph, first_inner: int) -> Bytes:
    """For each inner plane what it is: OR, AND, or an OR that only ANDs ask for."""
    kind = np.empty(graph.is_and.size, np.uint8)
    for i in range(kind.size):
        kind[i] = AND if graph.is_and[i] else DEFERRED_OR
    for i in range(kind.size):
        if not graph.is_and[i]:
            for j in range(graph.child_start[i], graph.child_start[i + 1]):
                inner = graph.child[j] - first_inner
                if inner >= 0 and kind[inner] == DEFERRED_OR:
                    kind[inner] = OR
    for i in range(graph.root.size):
        inner = graph.root[i] - first_inner
        if 0 <= inner < kind.size and kind[inner] == DEFERRED_OR:
            kind[inner] = OR
    return kind


class Edges(NamedTuple):
    """What is below every plane, as the loops over a block read it: places have no sign (bitmap_store.py).

    leaves        L
    false_leaf    int32[F]      the leaf whose falsehood plane L+i is
    child_start   uint32[I+1]   children of inner plane i: child[child_start[i] : child_start[i+1]]
    child         uint32[...]
    """

    leaves: int
    false_leaf: Ints
    child_start: NDArray[np.uint32]
    child: NDArray[np.uint32]


@kernel
def edges_of(graph: PlaneGraph, leaves: int) -> Edges:
    """The edges of a graph over so many leaves."""
    return Edges(leaves, graph.false_leaf, graph.child_start.view(np.uint32), graph.child.view(np.uint32))


@inner_kernel
def take_away(draft: Draft, kept: np.uint64, planes: Planes, plane: int, words: int) -> None:
    """Clear those bits of a draft, which has the words of `kept`, that a plane has."""
    mask, at, word = planes.mask[plane], planes.at[plane], planes.word
    if is_whole(mask) and is_whole(kept):
        taken = word[first_word(at) : first_word(at) + np.uint64(words)]
        for w in range(words):
            draft[w] &= ~taken[w]
        return
    rest = mask & kept
    while rest != 0:
        draft[lowest_bit(rest)] &= ~word[place_of(mask, at, lowest(rest))]
        rest &= rest - np.uint64(1)


@inner_kernel
def store_false(
    edges: Edges, plane: int, draft: Draft, words: int, planes: Planes, used: np.uint64
) -> np.uint64:
    """Store where a leaf is false; the new end of what is stored."""
    known = planes.mask[plane]
    draft[:words] = 0
    add_plane(draft, planes, plane, words)
    take_away(draft, known, planes, edges.false_leaf[plane - edges.leaves], words)
    planes.at[plane], used = store(draft, known, words, planes.word, used)
    return used


@inner_kernel
def store_or(
    edges: Edges, plane: int, inner: int, draft: Draft, words: int, planes: Planes, used: np.uint64
) -> np.uint64:
    """Store an OR, inner plane `inner`, whose mask is known and not 0; the new end of what is stored.

    With a single living child it shares that child's plane. None of its children is a deferred OR.
    """
    mask, at, child = planes.mask, planes.at, edges.child
    begin, end = np.uint64(edges.child_start[inner]), np.uint64(edges.child_start[inner + 1])
    living = 0
    last = np.int64(0)
    for j in range(begin, end):
        if mask[child[j]] != 0:
            living += 1
            last = np.int64(child[j])
            if at[last] & LATER:
                used = store_false(edges, last, draft, words, planes, used)
    if living == 1:
        at[plane] = at[last]
        return used
    draft[:words] = 0
    for j in range(begin, end):
        add_plane(draft, planes, child[j], words)
    at[plane], used = store(draft, mask[plane], words, planes.word, used)
    return used


@inner_kernel
def store_deferred(
    edges: Edges, plane: int, draft: Draft, words: int, planes: Planes, used: np.uint64
) -> np.uint64:
    """Store a plane that is marked LATER; the new end of what is stored."""
    inner = plane - edges.leaves - edges.false_leaf.size
    if inner < 0:
        return store_false(edges, plane, draft, words, planes, used)
    return store_or(edges, plane, inner, draft, words, planes, used)
