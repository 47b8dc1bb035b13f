"""How often planes hold over a sample of events, and what follows for the order of an AND's children."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.jit import kernel
from tocsin.kernels.planes import PlaneGraph, sort_by_likelihood
from tocsin.kernels.rows import Planes, count_plane


@kernel
def add_frequencies(words: int, planes: Planes, held: NDArray[np.float32]) -> None:
    """Add to held[p] for how many events of the block plane p holds."""
    entry, chunk, _word = planes
    for plane in range(held.size):
        held[plane] += count_plane(entry[2 * plane], np.int64(entry[2 * plane + 1]), words, chunk)


@kernel
def seldom_first(graph: PlaneGraph, held: NDArray[np.float32]) -> NDArray[np.int32]:
    """The children of all planes, those of an AND put in order: the one that held least often first."""
    child = graph.child.copy()
    for i in range(graph.is_and.size):
        if graph.is_and[i]:
            sort_by_likelihood(child, graph.child_start[i], graph.child_start[i + 1], held)
    return child
