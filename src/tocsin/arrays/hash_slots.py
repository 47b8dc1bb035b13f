"""Open addressing: a thing stands in the first slot that was free at or behind its home, round the end.

    slots   [2^k]   0: free; some always are, so that every search ends

What a slot says of its thing, and how things are told apart, is for the tables to say: row_table.py and
text_table.py beside this.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.jit import inner_kernel, kernel


@kernel
def slots_for(things: int) -> int:
    """How many slots so many things fill at most to a half."""
    size = 2
    while size < 2 * things:
        size *= 2
    return size


@inner_kernel
def home(slots: NDArray[Any], value: np.uint64) -> np.uint64:
    """Where to look first for a thing with this hash, whose lower bits are good."""
    return value & np.uint64(slots.size - 1)


@inner_kernel
def behind(slots: NDArray[Any], at: np.uint64) -> np.uint64:
    """Where to look next."""
    return (at + np.uint64(1)) & np.uint64(slots.size - 1)


@inner_kernel
def free_slot(slots: NDArray[Any], value: np.uint64) -> np.uint64:
    """Where a thing with this hash that is not there yet goes."""
    at = home(slots, value)
    while slots[at] != 0:
        at = behind(slots, at)
    return at
