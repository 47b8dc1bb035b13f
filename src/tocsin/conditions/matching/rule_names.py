"""The rules' ids by the rules' numbers: those that were there first in a column, younger ones in a list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
import pyarrow as pa

from tocsin.arrays.byte_copy import WORD
from tocsin.arrays.dtypes import Ints
from tocsin.arrays.packed import Texts, packed_bytes, text_arrays
from tocsin.conditions.kernels.id_column import NameColumns, copy_names, measure_names

_EVERYTHING = (1 << 31) - 1
"""Bytes that an Arrow string column can hold."""


class RuleNames(Protocol):
    """Ids by number, of rules that lie in one place or in several."""

    def name(self, number: int) -> str:
        """One id."""

    def column(self, numbers: Ints) -> pa.StringArray:
        """The ids of these numbers; ArrowCapacityError when they are too much for one Arrow column."""

    def batches(self, numbers: Ints, limit: int, extra: int) -> Iterator[tuple[slice, pa.StringArray]]:
        """The ids of these numbers a piece at a time, and which piece of the numbers it is.

        A piece has at most `limit` bytes, or one id; `extra` are counted for each id besides its own.
        """


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
        columns = [names for _, names in self.batches(numbers, _EVERYTHING, 0)]
        if len(columns) > 1:
            raise pa.ArrowCapacityError(f"{len(numbers):,} ids are too many for one column")
        return columns[0] if columns else pa.array([], pa.string())

    def batches(self, numbers: Ints, limit: int, extra: int) -> Iterator[tuple[slice, pa.StringArray]]:
        """The ids of these numbers a piece at a time: see RuleNames."""
        columns = self._up_to(int(numbers.max(initial=-1)) + 1)
        first = 0
        while first < len(numbers):
            room = min(len(numbers) - first, limit // max(1, extra) + 1)
            offset = np.empty(room + 1, np.int32)
            last = measure_names(
                numbers[: first + room], first, min(limit, _EVERYTHING), extra, columns, offset
            )
            some = slice(first, last)
            data = np.empty(offset[last - first] + WORD, np.uint8)
            copy_names(numbers[some], columns, data)
            yield (some, pa.StringArray.from_buffers(last - first, pa.py_buffer(offset), pa.py_buffer(data)))
            first = last

    def _up_to(self, count: int) -> NameColumns:
        """Columns with at least the first `count` ids."""
        columns = self._columns
        if count > len(columns.old_start) + len(columns.young_start) - 2:
            start, data = packed_bytes([name.encode() for name in self._younger])
            columns = columns._replace(young_start=start, young_data=data)
            self._columns = columns
        return columns
