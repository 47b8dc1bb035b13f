"""Which conjunctions hold, given the keys that are held.

    key 0   │ size 1: 0   │ size 2: 3 5     │ size 3: 9           conjunctions 0 and 2 hold by one key,
    key 4   │ size 1:     │ size 2: 3       │ size 3: 8 9             3 by two
    key 7   │ size 1: 2   │ size 2:         │ size 3: 8

For each key there is a list of the conjunctions that have it, ascending and parted by size, as in "Indexing
Boolean Expressions" (Whang et al., 2009), which the first paper builds on. There, cursors go through the
lists of a size side by side and skip (conjunction_cursors.py). Where that would take longer, or there are
very many lists, the lists are gone through one after the other, and counted is how many keys each conjunction
has. What a negated key rejects is left out at the end, whichever way it was found.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.bits import prefetch
from tocsin.arrays.dtypes import Bytes, Ints, Longs
from tocsin.arrays.jit import bare_kernel, kernel
from tocsin.arrays.lists import Lists, with_room
from tocsin.arrays.radix_sort import bits_of, sort_numbers
from tocsin.engines.kernels.conjunction_cursors import (
    MOST_LISTS,
    Cursors,
    first_from,
    skip_through,
    skipping_pays,
)

_AHEAD = 8
"""How many keys ahead a posting list is asked for; twice as many for where it begins."""

_FEW = 512
"""Postings that are counted without asking whether to skip were quicker."""


class Postings(NamedTuple):
    """Conjunctions by key. They are numbered anew, by size, which is how many keys they have.

    C conjunctions, K keys, S the largest size.

    size_start       int32[S+2]    conjunctions of size s: size_start[s] ... size_start[s+1]; S is 1 at least
    size             uint[C]       of each; of the least type that holds S
    number           int32[C]      what the caller calls each; empty when that is the same
    start            int64[K+1]    conjunctions that have key k: item[start[k] : start[k+1]], ascending
    item             int32[...]
    negative_start   int64[K+1]    conjunctions that key k rejects, likewise
    negative_item    int32[...]
    """

    size_start: Ints
    size: Bytes
    number: Ints
    start: Longs
    item: Ints
    negative_start: Longs
    negative_item: Ints


class SearchRoom(NamedTuple):
    """What a search writes to; one for each thread.

    missing     uint[C]    how many keys each conjunction lacks: between events its size
    rejected    uint8[C]   whether a negated key is held: between events none is
    cursors     see conjunction_cursors.py
    tally       see arrays/radix_sort.py
    """

    missing: Bytes
    rejected: Bytes
    cursors: Cursors
    tally: Longs


@kernel
def distinct_counts(lists: Lists, items: int) -> Longs:
    """How many different items each list has, all below `items`."""
    last = np.full(items, -1, np.int32)
    counts = np.zeros(lists.start.size - 1, np.int64)
    for i in range(counts.size):
        for j in range(lists.start[i], lists.start[i + 1]):
            counts[i] += last[lists.item[j]] != i
            last[lists.item[j]] = i
    return counts


@kernel
def turned_over(lists: Lists, order: Ints, items: int) -> Lists:
    """For every item below `items` which lists hold it, by their places in `order`, ascending, each once."""
    last = np.full(items, -1, np.int32)
    start = np.zeros(items + 1, np.int64)
    for i in range(order.size):
        for j in range(lists.start[order[i]], lists.start[order[i] + 1]):
            item = lists.item[j]
            if last[item] != i:
                last[item] = i
                start[item + 1] += 1
    for item in range(items):
        start[item + 1] += start[item]
    holding = np.empty(start[-1], np.int32)
    place = start[:-1].copy()
    last[:] = -1
    for i in range(order.size):
        for j in range(lists.start[order[i]], lists.start[order[i] + 1]):
            item = lists.item[j]
            if last[item] != i:
                last[item] = i
                holding[place[item]] = i
                place[item] += 1
    return Lists(start, holding)


@bare_kernel
def _take_singles(
    key: Ints, start: Longs, item: Ints, larger: int, first: Longs, last: Longs, found: Ints, at: int
) -> tuple[int, int]:
    """The conjunctions of one key, those below `larger`, hold: where they end in `found`.

    And how many keys have others: those of the i-th lie from first[i] to last[i].
    """
    lists = 0
    for i in range(key.size):
        prefetch(start, np.int64(key[min(i + 2 * _AHEAD, key.size - 1)]))
        prefetch(item, start[key[min(i + _AHEAD, key.size - 1)]])
        j = start[key[i]]
        end = start[key[i] + 1]
        while j < end and item[j] < larger:
            found[at] = item[j]
            at += 1
            j += 1
        first[lists] = j
        last[lists] = end
        lists += j < end
    return at, lists


@bare_kernel
def _count(
    first: Longs, last: Longs, lists: int, item: Ints, size: Bytes, missing: Bytes, found: Ints, at: int
) -> int:
    """Go through all lists: what lacks no key any more is found. Where that ends."""
    for i in range(lists):
        for j in range(first[i], last[i]):
            conjunction = item[j]
            missing[conjunction] -= 1
            if missing[conjunction] == 0:
                found[at] = conjunction
                at += 1
    for i in range(lists):
        for j in range(first[i], last[i]):
            missing[item[j]] = size[item[j]]
    return at


@bare_kernel
def _search_by_size(
    postings: Postings, first: Longs, last: Longs, lists: int, room: SearchRoom, found: Ints, at: int
) -> int:
    """As _count, but size by size, with a choice for each. `first` is overwritten, and so are the cursors."""
    size_start, item = postings.size_start, postings.item
    at_conjunction, place, end = room.cursors
    for one_size in range(2, min(lists, size_start.size - 2) + 1):
        parts = 0
        for i in range(lists):
            part_end = first_from(item, first[i], last[i], size_start[one_size + 1])
            place[parts] = first[i]
            end[parts] = part_end
            parts += first[i] < part_end
            first[i] = part_end
        if parts < one_size:
            continue
        if skipping_pays(one_size, parts, at_conjunction, place, end):
            at = skip_through(one_size, parts, item, at_conjunction, place, end, found, at)
        else:
            at = _count(place, end, parts, item, postings.size, room.missing, found, at)
    return at


@bare_kernel
def _mark(key: Ints, start: Longs, item: Ints, rejected: Bytes, mark: int) -> None:
    """Write a mark at all conjunctions of the lists of all keys."""
    for i in range(key.size):
        for j in range(start[key[i]], start[key[i] + 1]):
            rejected[item[j]] = mark


@bare_kernel
def _leave_out_rejected(found: Ints, begin: int, end: int, rejected: Bytes) -> int:
    """Keep the conjunctions of found[begin:end] that are not rejected; where they end."""
    kept = begin
    for i in range(begin, end):
        found[kept] = found[i]
        kept += rejected[found[i]] == 0
    return kept


@kernel
def search_postings(postings: Postings, held: Lists, room: SearchRoom) -> Lists:
    """For each list of keys, all different, the conjunctions that hold, ascending by the caller's numbers."""
    size_start, size, number, start, item, negative_start, negative_item = postings
    missing, rejected, _, tally = room
    events = held.start.size - 1
    most_keys = 0
    for event in range(events):
        most_keys = max(most_keys, held.start[event + 1] - held.start[event])
    key = np.empty(most_keys, np.int32)
    first = np.empty(most_keys + 1, np.int64)
    last = np.empty(most_keys + 1, np.int64)
    found_start = np.zeros(events + 1, np.int64)
    found = np.empty(0, np.int32)
    other = np.empty(0, np.int32)
    bits = bits_of(size.size)
    end = 0
    for event in range(events):
        keys = 0
        entries = np.int64(size_start[1])
        for i in range(held.start[event], held.start[event + 1]):
            if held.item[i] < start.size - 1:
                key[keys] = held.item[i]
                keys += 1
                entries += start[held.item[i] + 1] - start[held.item[i]]
        begin = end
        found = with_room(found, begin, entries)
        for conjunction in range(size_start[1]):
            found[end] = conjunction
            end += 1
        end, lists = _take_singles(key[:keys], start, item, size_start[2], first, last, found, end)
        if lists > MOST_LISTS or entries < _FEW:
            end = _count(first, last, lists, item, size, missing, found, end)
        else:
            end = _search_by_size(postings, first, last, lists, room, found, end)
        if negative_item.size > 0:
            _mark(key[:keys], negative_start, negative_item, rejected, 1)
            end = _leave_out_rejected(found, begin, end, rejected)
            _mark(key[:keys], negative_start, negative_item, rejected, 0)
        if number.size > 0:
            for i in range(begin, end):
                found[i] = number[found[i]]
        other = with_room(other, 0, end - begin)
        sort_numbers(found[begin:end], other[: end - begin], bits, tally)
        found_start[event + 1] = end
    return Lists(found_start, found[:end])
