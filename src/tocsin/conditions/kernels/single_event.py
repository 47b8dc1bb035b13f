"""One event with the least latency: only what holds is looked at.

What holds wakes the planes above it, and nothing that is false is ever passed on. An OR that is woken
holds. An AND is woken by one child only, its *access* child, the one least likely to hold; when all
lower levels are done it asks the other children, and goes to sleep again unless all of them hold. The
falsehood of a leaf is worked out when asked for (known, and not true), unless it has to wake something.

To wake is to set a bit (literal_bitmap.py): of a plane, or of a rule, so that rules come out in order and an
OR that is nothing but the condition of one rule needs no plane here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.bits import prefetch
from tocsin.arrays.dtypes import Ints, Longs
from tocsin.arrays.jit import inner_kernel, kernel
from tocsin.arrays.lookup import Bounds, Literals
from tocsin.arrays.pinned import pinned
from tocsin.conditions.kernels.leaves import Leaves, OneEvent, Ranges
from tocsin.conditions.kernels.literal_bitmap import (
    AHEAD,
    SPARE,
    Marks,
    clear,
    hold_absences,
    hold_leaves,
    is_marked,
    mark,
    take,
)
from tocsin.conditions.kernels.plane_links import Links, first_rule
from tocsin.conditions.kernels.planes import PlaneGraph

_ONE = np.uint64(1)
_IN_WORD = np.uint64(63)
_WORD = np.uint64(6)
_LINE = np.uint64(9)


@inner_kernel
def _ask(held: Ints, count: int, graph: PlaneGraph, group_of: Ints, marks: Marks) -> int:
    """Of the ANDs held[:count], keep those whose children all hold and put the others to sleep; how many."""
    bit, known = marks.bit, marks.known
    false_leaf, child_start, child = graph.false_leaf, graph.child_start, graph.child
    leaf_count = group_of.size
    first_inner = leaf_count + false_leaf.size
    kept = 0
    for at in range(count):
        prefetch(child_start, np.int64(held[at + SPARE] - first_inner))
        prefetch(child, np.int64(child_start[held[at + AHEAD] - first_inner]))
        plane = np.int64(held[at])
        inner = plane - first_inner
        holds = True
        for i in range(child_start[inner] + 1, child_start[inner + 1]):
            asked = np.int64(child[i])
            if leaf_count <= asked < first_inner:
                leaf = false_leaf[asked - leaf_count]
                holds = known[group_of[leaf]] != 0 and not is_marked(bit, leaf)
            else:
                holds = is_marked(bit, asked)
            if not holds:
                bit[plane >> 6] ^= _ONE << np.uint64(plane & 63)
                break
        held[kept] = plane
        kept += holds
    return kept


@inner_kernel
def _follow(held: Ints, first: int, last: int, links: Links, nothing: int, marks: Marks) -> None:
    """Wake what follows from held[first:last].

    Mostly that is one thing, if any: `nothing`, a bit that nobody reads, is marked where there is none.
    """
    link_start, link = links.link_start, links.link
    bit, line = marks.bit, marks.line
    for at in range(first, last):
        prefetch(link_start, np.int64(held[at + SPARE]))
        prefetch(link, np.int64(link_start[held[at + AHEAD]]))
        plane = np.int64(held[at])
        begin = link_start[plane]
        end = link_start[plane + 1]
        only = np.int64(link[begin])
        if begin == end:
            only = np.int64(nothing)
        target = np.uint64(only)
        bit[target >> _WORD] |= _ONE << (target & _IN_WORD)
        line[target >> _LINE] = 1
        mark(link, begin + 1, end, bit, line)


class SingleTables(NamedTuple):
    """What one event is matched against, and what a thread writes to."""

    literals: Literals
    bounds: Bounds
    leaves: Leaves
    ranges: Ranges
    graph: PlaneGraph
    links: Links
    marks: Marks


@kernel
def match_single(event: OneEvent, block: Longs) -> int:
    """Match one event: the number of matches, whose rules are marks.rule[:n], ascending.

    `block` has SingleTables (arrays/pinned.py).
    """
    literals, bounds, leaves, ranges, graph, links, marks = pinned(block, SingleTables)
    bit, line, held = marks.bit, marks.line, marks.held
    first_inner = links.group_of.size + graph.false_leaf.size
    planes = first_inner + graph.is_and.size
    marks.known[:] = 0
    mark(links.link, links.link_start[planes], links.link_start[planes + 1], bit, line)
    hold_leaves(event, literals, bounds, leaves, ranges, links.link_start, links.link, marks)
    hold_absences(leaves.null_leaf, links, marks)
    for level in range(graph.level_start.size - 1):
        begin = first_inner + graph.level_start[level]
        count = take(bit, line, begin, first_inner + graph.level_start[level + 1], 0, held)
        held[count : count + SPARE] = begin
        ands = 0
        ors = count
        while ands < ors:
            middle = (ands + ors) >> 1
            if graph.is_and[held[middle] - first_inner]:
                ands = middle + 1
            else:
                ors = middle
        kept = _ask(held, ands, graph, links.group_of, marks)
        _follow(held, 0, kept, links, planes + 1, marks)
        _follow(held, ands, count, links, planes + 1, marks)
    zero = first_rule(planes)
    found = take(bit, line, zero, zero + graph.root.size, zero, marks.rule)
    clear(bit, line)
    return found
