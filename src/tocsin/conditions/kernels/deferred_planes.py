"""Planes that are stored only when they are looked at.

A mask is often enough: an AND whose children have no word in common is dead whatever the words hold. So
two kinds of planes get their mask at once and their words on demand:

    a leaf is false     known and not true.   mask and place are those of what is known, with LATER
    an OR               that no rule stands for, and no OR asks for.   mask: of all children; LATER

A mask does not change when the plane is stored.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.bits import lowest_bit
from tocsin.arrays.jit import inner_kernel, kernel
from tocsin.conditions.kernels.bitmap_store import (
    LATER,
    Draft,
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
def kinds_of(graph: PlaneGraph, first_inner: int) -> NDArray[np.uint8]:
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


@inner_kernel
def take_away(
    draft: Draft,
    kept: np.uint64,
    mask: np.uint64,
    at: np.uint32,
    words: int,
    word: NDArray[np.uint64],
) -> None:
    """Clear those bits of a draft, which has the words of `kept`, that a plane has."""
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
    plane: int,
    leaf: int,
    draft: Draft,
    words: int,
    mask: NDArray[np.uint64],
    at: NDArray[np.uint32],
    word: NDArray[np.uint64],
    used: np.uint64,
) -> np.uint64:
    """Store where a leaf is false; the new end of what is stored."""
    known = mask[plane]
    draft[:words] = 0
    add_plane(draft, known, at[plane], words, word)
    take_away(draft, known, mask[leaf], at[leaf], words, word)
    at[plane], used = store(draft, known, words, word, used)
    return used


@inner_kernel
def store_or(
    plane: int,
    begin: np.uint64,
    end: np.uint64,
    false_leaf: NDArray[np.int32],
    leaves: int,
    child: NDArray[np.uint32],
    draft: Draft,
    words: int,
    mask: NDArray[np.uint64],
    at: NDArray[np.uint32],
    word: NDArray[np.uint64],
    used: np.uint64,
) -> np.uint64:
    """Store an OR whose mask is known and not 0; the new end of what is stored.

    With a single living child it shares that child's plane. None of its children is a deferred OR.
    """
    living = 0
    last = np.int64(0)
    for j in range(begin, end):
        if mask[child[j]] != 0:
            living += 1
            last = np.int64(child[j])
            if at[last] & LATER:
                used = store_false(last, false_leaf[last - leaves], draft, words, mask, at, word, used)
    if living == 1:
        at[plane] = at[last]
        return used
    draft[:words] = 0
    for j in range(begin, end):
        add_plane(draft, mask[child[j]], at[child[j]], words, word)
    at[plane], used = store(draft, mask[plane], words, word, used)
    return used


@inner_kernel
def store_deferred(
    plane: int,
    false_leaf: NDArray[np.int32],
    leaves: int,
    child_start: NDArray[np.uint32],
    child: NDArray[np.uint32],
    draft: Draft,
    words: int,
    mask: NDArray[np.uint64],
    at: NDArray[np.uint32],
    word: NDArray[np.uint64],
    used: np.uint64,
) -> np.uint64:
    """Store a plane that is marked LATER; the new end of what is stored."""
    inner = plane - leaves - false_leaf.size
    if inner < 0:
        return store_false(plane, false_leaf[plane - leaves], draft, words, mask, at, word, used)
    begin, end = np.uint64(child_start[inner]), np.uint64(child_start[inner + 1])
    return store_or(plane, begin, end, false_leaf, leaves, child, draft, words, mask, at, word, used)
