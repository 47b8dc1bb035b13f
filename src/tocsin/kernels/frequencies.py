"""How often planes hold over a sample of events, and what follows for the order of an AND's children."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.bits import count_bits
from tocsin.kernels.jit import kernel
from tocsin.kernels.planes import PlaneGraph, sort_by_likelihood
from tocsin.kernels.rows import PER_WORD, Planes, full_mask


@kernel
def add_frequencies(words: int, planes: Planes, held: NDArray[np.float32]) -> None:
    """Add to held[p] for how many events of the block plane p holds."""
    entry, chunk, _word = planes
    full = full_mask(words)
    for plane in range(held.size):
        mask = entry[2 * plane]
        source = np.int64(entry[2 * plane + 1])
        size = PER_WORD * words if mask == full else count_bits(mask)
        total = 0
        for place in range(source, source + size):
            total += count_bits(np.uint64(chunk[place]))
        held[plane] += total


@kernel
def seldom_first(graph: PlaneGraph, held: NDArray[np.float32]) -> NDArray[np.int32]:
    """The children of all planes, those of an AND put in order: the one that held least often first."""
    child = graph.child.copy()
    for i in range(graph.is_and.size):
        if graph.is_and[i]:
            sort_by_likelihood(child, graph.child_start[i], graph.child_start[i + 1], held)
    return child
