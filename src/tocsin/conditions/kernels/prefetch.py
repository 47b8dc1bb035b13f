"""Asking memory for what is about to be combined, long before it is needed.

Planes lie all over the memory. Those that live, of some nodes of one level, are known before the first
of them is looked at: so all that will be read is asked for, one step along each chain of references
after the other, and the waiting is done once for all of them.

    child -> at -> word                                     a plane that is stored
    child -> leaf that is false -> mask, at -> word         the falsehood of a leaf
    child -> its children -> mask, at -> word               an OR that is not stored
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.bits import prefetch
from tocsin.arrays.jit import inner_kernel
from tocsin.conditions.kernels.bitmap_store import LATER, is_whole

_LINE = 8
"""Words of a cache line."""


@inner_kernel
def ask_for_words(
    waiting: NDArray[np.int64],
    count: int,
    deferred: NDArray[np.int64],
    leaves: int,
    false_leaf: NDArray[np.int32],
    child_start: NDArray[np.uint32],
    child: NDArray[np.uint32],
    words: int,
    mask: NDArray[np.uint64],
    at: NDArray[np.uint32],
    word: NDArray[np.uint64],
) -> None:
    """Ask for the words of the children of the first `count` planes that wait.

    `deferred` is room for the children that are not stored; if it does not do, the rest must do without.
    """
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
