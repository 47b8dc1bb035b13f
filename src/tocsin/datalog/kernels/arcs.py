"""A set of arcs between numbered vertices.

(tail, head)  --hashed-->  place among the ends       arcs, close together: the last one fills a gap
vertex  --first, links-->  places                     the arcs out of it, and those into it: two lists

ends    int32[2 arcs]        tail, head, tail, head ...: rows of two, found as arrays/row_table.py says
first   int32[2, vertices]   a vertex's first arc out (OUT) and its first arc in (IN), or -1
links   int32[4, arcs]       of an arc, in the list of its tail and in that of its head: the next arc, and
                             the one before it, or -1; without columns as long as nobody wants the lists
"""

from __future__ import annotations

import numpy as np

from tocsin.arrays.dtypes import Flags, Ints
from tocsin.arrays.jit import bare_kernel
from tocsin.arrays.row_table import find_row, forget_row, slot_of_row

OUT, IN = 0, 1


@bare_kernel
def link_arcs(ends: Ints, start: int, used: int, first: Ints, links: Ints) -> None:
    """Put the arcs at start ... used - 1 into the lists of their ends."""
    for place in range(start, used):
        for side in range(2):
            vertex = ends[2 * place + side]
            following = first[side, vertex]
            links[2 * side, place] = following
            links[2 * side + 1, place] = -1
            if following >= 0:
                links[2 * side + 1, following] = place
            first[side, vertex] = place


@bare_kernel
def _unlink_arc(ends: Ints, place: int, first: Ints, links: Ints) -> None:
    for side in range(2):
        following, last = links[2 * side, place], links[2 * side + 1, place]
        if following >= 0:
            links[2 * side + 1, following] = last
        if last >= 0:
            links[2 * side, last] = following
        else:
            first[side, ends[2 * place + side]] = following


@bare_kernel
def drop_arcs(
    fewer: Ints, was_there: Flags, ends: Ints, used: int, hashed: Ints, first: Ints, links: Ints
) -> int:
    """Take out the arcs fewer[2 i] -> fewer[2 i + 1], and say of each if it was there. How many remain."""
    for i in range(was_there.size):
        place = find_row(ends, 2, fewer, 2 * i, hashed)
        was_there[i] = place >= 0
        if place < 0:
            continue
        forget_row(ends, 2, place, hashed)
        used -= 1
        if links.size:
            _unlink_arc(ends, place, first, links)
        if place != used:
            if links.size:
                _unlink_arc(ends, used, first, links)
            hashed[slot_of_row(ends, 2, used, hashed)] = np.int32(place + 1)
            ends[2 * place] = ends[2 * used]
            ends[2 * place + 1] = ends[2 * used + 1]
            if links.size:
                link_arcs(ends, place, place + 1, first, links)
    return used


@bare_kernel
def by_tail(tails: Ints, heads: Ints, start: Ints, target: Ints) -> None:
    """Sort arcs by their tails: those of v end at target[start[v] : start[v + 1]].

    start    int32[n + 1], all zero before
    target   int32[arcs]
    """
    for i in range(tails.size):
        start[tails[i]] += 1
    end = np.int32(0)
    for vertex in range(start.size):
        end += start[vertex]
        start[vertex] = end
    for i in range(tails.size - 1, -1, -1):
        start[tails[i]] -= 1
        target[start[tails[i]]] = heads[i]
