"""Matches of several layers of rules as one: the dead left out, events in order.

A rule's number is its place among all rules that were ever written; `dead_at` says which change
took it away. A reader at change v takes a rule as dead when dead_at[number] <= v: whoever deletes rules
writes there in place, and a reader of an earlier version does not notice.
"""

from __future__ import annotations

from tocsin.arrays.dtypes import Ints, Longs
from tocsin.arrays.jit import kernel


@kernel
def keep_alive(rule: Ints, per_event: Longs, dead_at: Longs, change: int) -> int:
    """Leave the dead out, in place: rules move up, counts are lessened. How many are left."""
    read = 0
    kept = 0
    for event in range(per_event.size):
        before = kept
        for _ in range(per_event[event]):
            if dead_at[rule[read]] > change:
                rule[kept] = rule[read]
                kept += 1
            read += 1
        per_event[event] = kept - before
    return kept


@kernel
def interleave(
    older: Ints, older_per_event: Longs, younger: Ints, younger_per_event: Longs, rule: Ints
) -> None:
    """Fill `rule` with each event's older matches and behind them its younger ones."""
    place = 0
    first = 0
    second = 0
    for event in range(older_per_event.size):
        for _ in range(older_per_event[event]):
            rule[place] = older[first]
            place += 1
            first += 1
        for _ in range(younger_per_event[event]):
            rule[place] = younger[second]
            place += 1
            second += 1
