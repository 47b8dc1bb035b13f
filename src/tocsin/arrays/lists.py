"""Several lists of numbers in one array: what the steps of an engine hand to each other.

    literals that hold ──> conjunctions that hold ──> places in trees ──> rules that match

A step takes one list for each event and gives one for each event, so that the same kernel serves a
single event and a batch, and steps can be timed apart.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Ints, Longs
from tocsin.arrays.jit import kernel


class Lists(NamedTuple):
    """List i is item[start[i] : start[i + 1]].

    start   int64[n+1]
    item    int32[...]
    """

    start: Longs
    item: Ints


@kernel
def enlarged(room: int, needed: int) -> int:
    """The room there is when it is enough, else at least twice as much: so copying costs little."""
    return room if needed <= room else max(needed, 2 * room)


@kernel
def with_room(numbers: Ints, used: int, more: int) -> Ints:
    """The same array when there is room for `more` numbers behind the first `used`, else a longer copy."""
    if used + more <= numbers.size:
        return numbers
    longer = np.empty(enlarged(numbers.size, used + more), np.int32)
    for i in range(used):
        longer[i] = numbers[i]
    return longer
