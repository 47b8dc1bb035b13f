"""A few conjunctions beside the many that are indexed, found as soon as they are added.

For each key there is a chain of entries, the newest first.

    newest         2   3  -1          key 0 leads to entry 2, then 0; key 1 to 3, then 1; key 2 to none
    before        -1  -1   0   1
    conjunction    0   0   1  ~1      conjunction 0 has the keys 0 and 1; 1 has key 0, and key 1 rejects it
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Bytes, Ints
from tocsin.arrays.jit import kernel
from tocsin.arrays.lists import Lists, with_room

_REJECTED = np.int32(-(1 << 30))
"""The count of what a negated key rejects: however many keys are held, it stays below zero."""


class Chains(NamedTuple):
    """n conjunctions with m entries, and room for more. K keys.

    wanted        int32[n...]   how many keys a conjunction has
    newest        int32[K]      the newest entry of a key, or -1
    before        int32[m...]   the entry of the same key before this one, or -1
    conjunction   int32[m...]   the conjunction c that has the key; ~c: the key rejects it
    """

    wanted: Ints
    newest: Ints
    before: Ints
    conjunction: Ints


@kernel
def search_chains(chains: Chains, conjunctions: int, held: Lists, first: int) -> Lists:
    """For each list of keys those of the first so many conjunctions that hold, ascending from `first` on."""
    wanted, newest, before, conjunction = chains
    events = held.start.size - 1
    count = np.zeros(conjunctions, np.int32)
    found_start = np.zeros(events + 1, np.int64)
    found = np.empty(0, np.int32)
    at = 0
    for event in range(events):
        for i in range(held.start[event], held.start[event + 1]):
            key = held.item[i]
            entry = newest[key] if key < newest.size else np.int32(-1)
            while entry >= 0:
                if conjunction[entry] >= 0:
                    count[conjunction[entry]] += 1
                else:
                    count[~conjunction[entry]] = _REJECTED
                entry = before[entry]
        found = with_room(found, at, conjunctions)
        for i in range(conjunctions):
            found[at] = first + i
            at += count[i] == wanted[i]
            count[i] = 0
        found_start[event + 1] = at
    return Lists(found_start, found[:at])


@kernel
def joined_living(some: Lists, others: Lists, dead: Bytes) -> Lists:
    """For each event both lists, one behind the other, without what is dead."""
    events = some.start.size - 1
    start = np.zeros(events + 1, np.int64)
    item = np.empty(some.item.size + others.item.size, np.int32)
    at = 0
    for event in range(events):
        for i in range(some.start[event], some.start[event + 1]):
            item[at] = some.item[i]
            at += dead[some.item[i]] == 0
        for i in range(others.start[event], others.start[event + 1]):
            item[at] = others.item[i]
            at += dead[others.item[i]] == 0
        start[event + 1] = at
    return Lists(start, item[:at])
