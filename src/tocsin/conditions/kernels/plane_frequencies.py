"""How often planes hold over a sample of events, and what follows for the order of an AND's children."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.jit import kernel
from tocsin.conditions.kernels.bitmap_store import LATER, WORDS, Planes, count_plane
from tocsin.conditions.kernels.deferred_planes import store_deferred
from tocsin.conditions.kernels.planes import PlaneGraph, sort_by_likelihood


@kernel
def add_frequencies(
    graph: PlaneGraph, leaves: int, words: int, planes: Planes, used: np.uint64, held: NDArray[np.float32]
) -> None:
    """Add to held[p] for how many events of the block plane p holds. Words are stored up to `used`."""
    mask, at, word = planes
    false_leaf = graph.false_leaf
    child_start, child = graph.child_start.view(np.uint32), graph.child.view(np.uint32)
    draft = np.zeros(WORDS, np.uint64)
    for plane in range(held.size):
        if mask[plane] == 0:
            continue
        if at[plane] & LATER:
            used = store_deferred(
                plane, false_leaf, leaves, child_start, child, draft, words, mask, at, word, used
            )
        held[plane] += count_plane(mask[plane], at[plane], words, word)


@kernel
def seldom_first(graph: PlaneGraph, held: NDArray[np.float32]) -> NDArray[np.int32]:
    """The children of all planes, those of an AND put in order: the one that held least often first."""
    child = graph.child.copy()
    for i in range(graph.is_and.size):
        if graph.is_and[i]:
            sort_by_likelihood(child, graph.child_start[i], graph.child_start[i + 1], held)
    return child
