"""What the components of a graph reach: as rows of bits where these fit in memory, else by searching.

Rows are made for all vertices at once, or, to count what does not fit, for a window of them after another.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.bits import count_bits, lowest_bit
from tocsin.arrays.dtypes import Flags, Ints, Longs, Words
from tocsin.arrays.jit import bare_kernel, kernel
from tocsin.datalog.kernels.graph_components import Condensation


class Closure(NamedTuple):
    """What each of the C components of a graph reaches.

    row_of    int32[C]             the row of a component, -1 for one that reaches nothing; empty: no rows
    bits      uint64[rows, width]  bit v - low of its row: vertex v is reached, for low <= v < low + 64 width
    """

    graph: Condensation
    row_of: Ints
    bits: Words


@kernel
def number_rows(cyclic: Flags, next_start: Ints) -> tuple[Ints, int]:
    """`row_of`, and how many rows there are."""
    row_of = np.full(cyclic.size, -1, np.int32)
    rows = 0
    for one in range(cyclic.size):
        if cyclic[one] or next_start[one] < next_start[one + 1]:
            row_of[one] = rows
            rows += 1
    return row_of, rows


@bare_kernel
def _set_members(bits: Words, row: int, member: Ints, first: int, last: int, low: int) -> None:
    """The members first ... last - 1 of some component are reached, those that lie in the window."""
    upto = low + 64 * bits.shape[1]
    for place in range(first, last):
        vertex = np.int64(member[place])
        if low <= vertex < upto:
            bits[row, (vertex - low) >> 6] |= np.uint64(1) << np.uint64((vertex - low) & 63)


@bare_kernel
def fill_rows(closure: Closure, low: int) -> None:
    """Make the rows, all zero before: a component reaches its next ones and what they reach."""
    (_, member_start, member, cyclic, next_start, next_one), row_of, bits = closure
    for one in range(row_of.size):
        row = row_of[one]
        if row < 0:
            continue
        if cyclic[one]:
            _set_members(bits, row, member, member_start[one], member_start[one + 1], low)
        for place in range(next_start[one], next_start[one + 1]):
            other = next_one[place]
            from_row = row_of[other]
            if from_row >= 0:
                for i in range(bits.shape[1]):
                    bits[row, i] |= bits[from_row, i]
            if from_row < 0 or not cyclic[other]:
                _set_members(bits, row, member, member_start[other], member_start[other + 1], low)


@bare_kernel
def count_in_rows(closure: Closure) -> int:
    """How many pairs the rows stand for."""
    (_, member_start, _, _, _, _), row_of, bits = closure
    total = 0
    for one in range(row_of.size):
        row = row_of[one]
        if row >= 0:
            reached = 0
            for i in range(bits.shape[1]):
                reached += count_bits(bits[row, i])
            total += reached * np.int64(member_start[one + 1] - member_start[one])
    return total


@bare_kernel
def targets_of(one: int, closure: Closure, seen: Ints, mark: int, waiting: Ints, targets: Ints) -> int:
    """Write the vertices that a component reaches into `targets`; how many there are.

    seen      int32[C]   holds no `mark` before; only looked at without rows, as is `waiting`
    waiting   int32[C]
    targets   int32[n]
    """
    (_, member_start, member, cyclic, next_start, next_one), row_of, bits = closure
    found = 0
    if row_of.size:
        row = row_of[one]
        if row >= 0:
            for i in range(bits.shape[1]):
                word = bits[row, i]
                while word != np.uint64(0):
                    targets[found] = 64 * i + lowest_bit(word)
                    found += 1
                    word &= word - np.uint64(1)
        return found
    waiting[0] = one
    used = 1
    done = 0
    while done < used:
        other = waiting[done]
        done += 1
        if other != one or cyclic[one]:
            for place in range(member_start[other], member_start[other + 1]):
                targets[found] = member[place]
                found += 1
        for place in range(next_start[other], next_start[other + 1]):
            after = next_one[place]
            if seen[after] != mark:
                seen[after] = mark
                waiting[used] = after
                used += 1
    return found


@kernel
def write_share(
    closure: Closure, words: Longs, start: int, step: int, sources: Longs, reached: Longs
) -> tuple[int, int]:
    """Write the pairs of the sources member[start], member[start + step], ..., as many as there is room for.

    They are written as the words of their vertices. There must be room for those of one source. Returns how
    many were written, and where to go on.
    """
    component, _, member, cyclic, _, _ = closure.graph
    seen = np.full(cyclic.size, -1, np.int32)
    waiting = np.empty(cyclic.size, np.int32)
    targets = np.empty(member.size, np.int32)
    target_words = np.empty(member.size, np.int64)
    used = found = 0
    last = -1
    place = start
    while place < member.size:
        one = component[member[place]]
        if one != last:
            found = targets_of(one, closure, seen, one, waiting, targets)
            for i in range(found):
                target_words[i] = words[targets[i]]
            last = one
        if used + found > sources.size:
            return used, place
        source = words[member[place]]
        for i in range(found):
            sources[used + i] = source
            reached[used + i] = target_words[i]
        used += found
        place += step
    return used, place


@kernel
def count_by_search(condensation: Condensation, steps: int) -> int:
    """How many pairs there are, or -1 when that takes more than so many steps."""
    _, member_start, _, cyclic, next_start, next_one = condensation
    components = member_start.size - 1
    seen = np.full(components, -1, np.int32)
    waiting = np.empty(components, np.int32)
    total = 0
    for one in range(components):
        own = np.int64(member_start[one + 1] - member_start[one])
        reached = own if cyclic[one] else np.int64(0)
        waiting[0] = one
        used = 1
        done = 0
        while done < used:
            other = waiting[done]
            done += 1
            steps -= 1 + next_start[other + 1] - next_start[other]
            if steps < 0:
                return -1
            for place in range(next_start[other], next_start[other + 1]):
                after = next_one[place]
                if seen[after] != one:
                    seen[after] = one
                    reached += np.int64(member_start[after + 1] - member_start[after])
                    waiting[used] = after
                    used += 1
        total += reached * own
    return total


@bare_kernel
def search_graph(start: Ints, target: Ints, came_from: Ints, waiting: Ints, used: int, wanted: int) -> int:
    """List what the first `used` vertices of `waiting` lead to by some arcs, behind them, nearest first.

    Stops when `wanted` has been reached. How many vertices are listed then; one of the first ones is listed
    again when it is reached too.

    came_from   int32[n]          the vertex before it on a shortest path; -1, as all are before: not reached
    waiting     int32[used + n]
    """
    done = 0
    while done < used:
        vertex = waiting[done]
        done += 1
        for arc in range(start[vertex], start[vertex + 1]):
            other = target[arc]
            if came_from[other] < 0:
                came_from[other] = vertex
                waiting[used] = other
                used += 1
                if other == wanted:
                    return used
    return used
