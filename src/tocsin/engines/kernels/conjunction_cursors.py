"""Conjunctions found by cursors that skip, as in "Indexing Boolean Expressions" (Whang et al., 2009).

The cursors stand in order of where they are. A conjunction of size k holds when k cursors are on it, so
nothing before the k-th cursor can hold any more, unless the first is there too: all cursors before the
k-th skip to it, by steps that double.

    size 3    first cursor    4 [9] 17 30       nothing before 17 can have three:
              second          9 [12] 17         the first two skip to 17
              third           3 [17] 21

A conjunction of size k that holds is in k of n lists, so it is in one of the n - k + 1 shortest. That tells
how often cursors skip, at most: often, when n is much larger than k. Then to count is quicker.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Ints, Longs
from tocsin.arrays.jit import bare_kernel

MOST_LISTS = 64
"""Lists that are worth skipping through, at most: cursors are kept in order by insertion."""

_SKIP = 8
"""To move one cursor takes so many times as long as to count one entry of a list."""

_END = np.int64(2**31 - 1)
"""Where a cursor stands at the end of its list: behind all conjunctions."""


class Cursors(NamedTuple):
    """Cursors in lists of conjunctions, ascending; what skipping writes to.

    conjunction   int64[MOST_LISTS]   where each stands, or _END
    place         int64[MOST_LISTS]   ... in the list
    end           int64[MOST_LISTS]   where the list ends
    """

    conjunction: Longs
    place: Longs
    end: Longs


def no_cursors() -> Cursors:
    """Room for cursors."""
    return Cursors(*(np.empty(MOST_LISTS, np.int64) for _ in range(3)))


@bare_kernel
def first_from(item: Ints, place: int, end: int, wanted: int) -> int:
    """The first place from `place` on whose item is at least `wanted`, or `end`."""
    step = 1
    while place + step < end and item[place + step] < wanted:
        place += step
        step *= 2
    last = min(place + step, end)
    while place < last:
        middle = (place + last) >> 1
        if item[middle] < wanted:
            place = middle + 1
        else:
            last = middle
    return place


@bare_kernel
def _skip_to(wanted: int, lists: int, item: Ints, conjunction: Longs, place: Longs, end: Longs) -> None:
    """Move all cursors that stand before a conjunction to it, or behind, and put them in order again."""
    moved = 0
    while moved < lists and conjunction[moved] < wanted:
        at = first_from(item, place[moved], end[moved], wanted)
        place[moved] = at
        conjunction[moved] = item[at] if at < end[moved] else _END
        moved += 1
    for i in range(moved - 1, -1, -1):
        its_conjunction, its_place, its_end = conjunction[i], place[i], end[i]
        j = i + 1
        while j < lists and conjunction[j] < its_conjunction:
            conjunction[j - 1], place[j - 1], end[j - 1] = conjunction[j], place[j], end[j]
            j += 1
        conjunction[j - 1], place[j - 1], end[j - 1] = its_conjunction, its_place, its_end


@bare_kernel
def skipping_pays(size: int, lists: int, length: Longs, place: Longs, end: Longs) -> bool:
    """Whether to skip is likely quicker than to count, given where the lists of a size begin and end.

    `length` is written to.
    """
    total = np.int64(0)
    for i in range(lists):
        its_length = end[i] - place[i]
        total += its_length
        j = i
        while j > 0 and length[j - 1] < its_length:
            length[j] = length[j - 1]
            j -= 1
        length[j] = its_length
    candidates = total
    for i in range(size - 1):
        candidates -= length[i]
    return _SKIP * size * candidates < total


@bare_kernel
def skip_through(
    size: int, lists: int, item: Ints, conjunction: Longs, place: Longs, end: Longs, found: Ints, at: int
) -> int:
    """Write the conjunctions that `size` of the lists have, ascending, to found[at:]; where they end."""
    conjunction[:lists] = -1
    wanted = np.int64(0)
    while wanted < _END:
        _skip_to(wanted, lists, item, conjunction, place, end)
        wanted = conjunction[size - 1]
        if conjunction[0] == wanted and wanted < _END:
            found[at] = wanted
            at += 1
            wanted += 1
    return at
