"""Lists of numbers put in the order of words in a dictionary, by Bentley and Sedgewick's quicksort."""

from __future__ import annotations

import numpy as np

from tocsin.arrays.dtypes import Ints, Longs
from tocsin.arrays.jit import inner_kernel, kernel
from tocsin.arrays.lists import Lists

_FEW = 12
"""Lists that are sorted by insertion."""


@inner_kernel
def _number_at(which: int, depth: int, start: Longs, item: Ints) -> int:
    """A number of a list; -1 behind its end."""
    at = start[which] + depth
    return np.int64(item[at]) if at < start[which + 1] else np.int64(-1)


@inner_kernel
def _is_before(one: int, other: int, depth: int, start: Longs, item: Ints) -> bool:
    """Whether a list stands before another that begins with the same `depth` numbers."""
    while True:
        mine = _number_at(one, depth, start, item)
        its = _number_at(other, depth, start, item)
        if mine != its:
            return mine < its
        if mine < 0:
            return False
        depth += 1


@kernel
def dictionary_order(lists: Lists) -> Ints:
    """Lists that stand by their first numbers already, empty ones first, in order.

    A list stands before those that it begins. Lists with the same first number are sorted one such group
    after the other: whoever put them next to each other in memory has done most of the work.
    """
    start, item = lists
    order = np.arange(start.size - 1).astype(np.int32)
    waiting = np.empty((64, 3), np.int64)
    begin = 0
    for i in range(1, order.size + 1):
        if i == order.size or _number_at(i, 0, start, item) != _number_at(begin, 0, start, item):
            waiting = _sort_group(order, begin, i, start, item, waiting)
            begin = i
    return order


@kernel
def _sort_group(order: Ints, begin: int, end: int, start: Longs, item: Ints, waiting: Longs) -> Longs:
    """Sort the lists order[begin:end], which have the same first number.

    `waiting` is room for groups that are still to be sorted, each with how many numbers all of it has in
    common; the same room is given back, or a larger one.
    """
    waiting[0, 0] = begin
    waiting[0, 1] = end
    waiting[0, 2] = 1
    height = 1
    while height > 0:
        height -= 1
        first, last, depth = waiting[height]
        if last - first <= _FEW:
            for i in range(first + 1, last):
                moved = order[i]
                j = i
                while j > first and _is_before(moved, np.int64(order[j - 1]), depth, start, item):
                    order[j] = order[j - 1]
                    j -= 1
                order[j] = moved
            continue
        one = _number_at(order[first], depth, start, item)
        middle = _number_at(order[(first + last) >> 1], depth, start, item)
        other = _number_at(order[last - 1], depth, start, item)
        pivot = max(min(one, middle), min(max(one, middle), other))
        below = first
        above = last
        i = first
        while i < above:
            here = _number_at(order[i], depth, start, item)
            if here < pivot:
                order[i], order[below] = order[below], order[i]
                below += 1
                i += 1
            elif here > pivot:
                above -= 1
                order[i], order[above] = order[above], order[i]
            else:
                i += 1
        if height + 3 > waiting.shape[0]:
            longer = np.empty((2 * waiting.shape[0], 3), np.int64)
            longer[:height] = waiting[:height]
            waiting = longer
        waiting[height, 0] = first
        waiting[height, 1] = below
        waiting[height, 2] = depth
        waiting[height + 1, 0] = above
        waiting[height + 1, 1] = last
        waiting[height + 1, 2] = depth
        height += 2
        if pivot >= 0:
            waiting[height, 0] = below
            waiting[height, 1] = above
            waiting[height, 2] = depth + 1
            height += 1
    return waiting
