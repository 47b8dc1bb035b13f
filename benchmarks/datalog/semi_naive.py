"""Semi-naive evaluation of a closure, as fast as it gets: what the implicit closure is measured against."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray


@numba.njit(nogil=True)  # type: ignore[untyped-decorator]
def semi_naive(tails: NDArray[np.int32], heads: NDArray[np.int32], vertices: int) -> Any:
    """All pairs of path(x, y) :- arc(x, y). path(x, y) :- arc(x, z), path(z, y). Columns of int32.

    Each pair, when it is new, is joined once with the arcs that end where it starts. What is known already is
    told by one bit for each possible pair, which no general engine could afford, and no faster way is known.
    """
    start = np.zeros(vertices + 1, np.int32)
    for head in heads:
        start[head + 1] += 1
    for vertex in range(vertices):
        start[vertex + 1] += start[vertex]
    into = np.empty(heads.size, np.int32)
    room = start.copy()
    for arc in range(heads.size):
        into[room[heads[arc]]] = tails[arc]
        room[heads[arc]] += 1
    known = np.zeros((vertices, (vertices + 63) // 64), np.uint64)
    sources = np.empty(vertices * vertices, np.int32)
    targets = np.empty(vertices * vertices, np.int32)
    used = 0
    for arc in range(heads.size):
        sources[used] = tails[arc]
        targets[used] = heads[arc]
        known[tails[arc], heads[arc] >> 6] |= np.uint64(1) << np.uint64(heads[arc] & 63)
        used += 1
    done = 0
    while done < used:
        middle, target = sources[done], targets[done]
        done += 1
        bit = np.uint64(1) << np.uint64(target & 63)
        for place in range(start[middle], start[middle + 1]):
            source = into[place]
            if known[source, target >> 6] & bit == np.uint64(0):
                known[source, target >> 6] |= bit
                sources[used] = source
                targets[used] = target
                used += 1
    return sources[:used], targets[:used]
