"""The arrays of an activation index, and the table by which kernels reach them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.dtypes import Longs


class Memory:
    """Numbered slots with an array each; `table` is what datalog/kernels/memory_table.py describes."""

    def __init__(self) -> None:
        self.arrays: list[NDArray[Any]] = []
        self.table: Longs = np.zeros(2 * 64, np.int64)

    def add(self, array: NDArray[Any]) -> int:
        """A new slot."""
        slot = len(self.arrays)
        if 2 * slot == self.table.size:
            self.table = np.concatenate((self.table, np.zeros_like(self.table)))
        self.arrays.append(array)
        self.put(slot, array)
        return slot

    def put(self, slot: int, array: NDArray[Any]) -> None:
        """Have another array in a slot: contiguous, and of the slot's own kind.

        Nothing is called between the assignments, so that no interrupt leaves kernels an array that is gone.
        """
        address = array.ctypes.data
        self.table[2 * slot] = address
        self.table[2 * slot + 1] = array.size
        self.arrays[slot] = array

    def lengthen(self, slot: int, length: int) -> None:
        """The same array with room for more behind it; what is there is undefined."""
        old = self.arrays[slot]
        new = np.empty(length, old.dtype)
        new[: old.size] = old
        self.put(slot, new)

    @property
    def bytes(self) -> int:
        """What all arrays take."""
        return sum(array.nbytes for array in self.arrays)
