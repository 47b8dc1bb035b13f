"""The rules' ids by the rules' numbers: those that were there first in a column, younger ones in a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import pyarrow as pa

from tocsin.arrays.byte_copy import WORD
from tocsin.arrays.dtypes import Ints
from tocsin.arrays.packed import Texts, packed_bytes, text_arrays
from tocsin.conditions.kernels.id_column import NameColumns, copy_names, measure_names


class RuleNames(Protocol):
    """Ids by number, of rules that lie in one place or in several."""

    def name(self, number: int) -> str:
        """One id."""

    def column(self, numbers: Ints) -> pa.StringArray:
        """The ids of these numbers; ArrowCapacityError when they are too much for one Arrow column."""


class Names:
    """Ids by number. `younger` may grow while it is in use; nothing that is there ever changes."""

    __slots__ = ("_columns", "_old", "_younger")

    def __init__(self, old: Texts, younger: Sequence[str] = ()) -> None:
        self._old = old
        self._younger = younger
        self._columns = NameColumns(*old, *packed_bytes([]))

    @staticmethod
    def of(ids: pa.LargeStringArray) -> Names:
        """The ids of a column."""
        return Names(Texts(*text_arrays(ids)))

    def name(self, number: int) -> str:
        """One id."""
        old = len(self._old.start) - 1
        return self._old.text(number) if number < old else self._younger[number - old]

    def column(self, numbers: Ints) -> pa.StringArray:
        """The ids of these numbers; ArrowCapacityError when they are too much for one Arrow column."""
        columns = self._up_to(int(numbers.max(initial=-1)) + 1)
        offset = np.empty(len(numbers) + 1, np.int32)
        if not measure_names(numbers, columns, offset):
            raise pa.ArrowCapacityError(f"{len(numbers):,} ids are too many for one column")
        data = np.empty(offset[-1] + WORD, np.uint8)
        copy_names(numbers, columns, data)
        return pa.StringArray.from_buffers(len(numbers), pa.py_buffer(offset), pa.py_buffer(data))

    def _up_to(self, count: int) -> NameColumns:
        """Columns with at least the first `count` ids."""
        columns = self._columns
        if count > len(columns.old_start) + len(columns.young_start) - 2:
            start, data = packed_bytes([name.encode() for name in self._younger])
            columns = columns._replace(young_start=start, young_data=data)
            self._columns = columns
        return columns
