"""Which conjunctions hold, given the keys that are held: counting over posting lists."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.growing import enlarged
from tocsin.kernels.jit import kernel
from tocsin.kernels.lists import Lists


class Postings(NamedTuple):
    """Conjunctions by key. K keys, C conjunctions.

    wanted              int32[C]     how many keys each has
    start               int64[K+1]   conjunctions that have key k: item[start[k] : start[k+1]], ascending
    item                int32[...]
    negative_start      int64[K+1]   conjunctions that key k rejects
    negative_item       int32[...]
    """

    wanted: NDArray[np.int32]
    start: NDArray[np.int64]
    item: NDArray[np.int32]
    negative_start: NDArray[np.int64]
    negative_item: NDArray[np.int32]


@kernel
def turned_over(lists: Lists, items: int) -> Lists:
    """For every item from 0 to items-1 the lists that hold it, ascending, each once."""
    last = np.full(items, -1, np.int32)
    start = np.zeros(items + 1, np.int64)
    for i in range(lists.start.size - 1):
        for j in range(lists.start[i], lists.start[i + 1]):
            if last[lists.item[j]] != i:
                last[lists.item[j]] = i
                start[lists.item[j] + 1] += 1
    for item in range(items):
        start[item + 1] += start[item]
    out = np.empty(start[-1], np.int32)
    last[:] = -1
    place = start[:-1].copy()
    for i in range(lists.start.size - 1):
        for j in range(lists.start[i], lists.start[i + 1]):
            item = lists.item[j]
            if last[item] != i:
                last[item] = i
                out[place[item]] = i
                place[item] += 1
    return Lists(start, out)


@kernel
def search_postings(postings: Postings, held: Lists, count: NDArray[np.int32]) -> Lists:
    """The conjunctions that hold for each list of keys, ascending; `count` is zero before and after."""
    wanted, start, item, negative_start, negative_item = postings
    events = held.start.size - 1
    found_start = np.zeros(events + 1, np.int64)
    found = np.empty(1024, np.int32)
    at = 0
    for event in range(events):
        for i in range(held.start[event], held.start[event + 1]):
            key = held.item[i]
            for j in range(start[key], start[key + 1]):
                count[item[j]] += 1
            for j in range(negative_start[key], negative_start[key + 1]):
                count[negative_item[j]] -= 1 << 30
        for conjunction in range(wanted.size):
            if count[conjunction] == wanted[conjunction]:
                if at == found.size:
                    larger = np.empty(enlarged(found.size, at + 1), np.int32)
                    larger[:at] = found
                    found = larger
                found[at] = conjunction
                at += 1
            count[conjunction] = 0
        found_start[event + 1] = at
    return Lists(found_start, found[:at].copy())
