"""The cells of a batch: collected group by group, then looked up all at once.

Scalars and texts are looked up by two kernel calls, however many fields there are; each lookup
writes straight to the cells it belongs to.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tocsin.events.cells import BooleanCells, DecimalCells, NumberCells, Rows, StringCells, TimestampCells
from tocsin.index.compiled import CompiledIndex
from tocsin.index.decimals import DecimalGroup
from tocsin.index.keys import Reader, double_keys
from tocsin.index.packing import joined, starts, text_arrays
from tocsin.index.patterns import PatternGroup
from tocsin.kernels.leaves import Cells
from tocsin.kernels.lookup import Segments, look_up_scalars, look_up_texts

Codes = NDArray[np.int32]


class _Part(NamedTuple):
    """Cells of one group from one source, ascending by event.

    Numbers have their doubles and rests, other scalars their keys, strings their texts and codes; a part
    with none of these is known (an empty list, a null test), or has only what was found for it.
    """

    group: int
    row: Rows
    high: NDArray[np.int64] | None = None
    low: NDArray[np.int64] | None = None
    double: NDArray[np.float64] | None = None
    texts: pa.LargeStringArray | None = None
    code: Codes | None = None
    found: Codes | None = None


class BatchCells:
    """What a batch holds for the groups, until everything is looked up."""

    def __init__(self) -> None:
        self.parts: list[_Part] = []
        self.found_start: list[NDArray[np.int64]] = []
        self.found_leaf: list[NDArray[np.int32]] = []
        self.found_rows = 0
        self.found_leaves = 0

    def known(self, group: int, row: Rows) -> None:
        """Events that the group knows and that satisfy nothing of it."""
        self.parts.append(_Part(group, row))

    def numbers(self, group: int, cells: NumberCells) -> None:
        """Integers and floats."""
        self.parts.append(_Part(group, cells.row, low=cells.low, double=cells.high))

    def booleans(self, group: int, cells: BooleanCells) -> None:
        """Booleans."""
        value = cells.value.astype(np.int64)
        self.parts.append(_Part(group, cells.row, value, np.zeros_like(value)))

    def timestamps(self, group: int, cells: TimestampCells) -> None:
        """Timestamps that are no strings."""
        self.parts.append(_Part(group, cells.row, cells.second, cells.nano))

    def decimals(self, group: int, cells: DecimalCells, leaves: DecimalGroup) -> None:
        """Decimals, which find their leaves themselves."""
        found = self._found(*leaves.find(cells.values))[cells.code]
        self.parts.append(_Part(group, cells.row, found=found))

    def strings(self, group: int, cells: StringCells, patterns: PatternGroup | None) -> None:
        """Strings, and the patterns to ask of them."""
        found = None if patterns is None else self._found(*patterns.find(cells.texts))[cells.code]
        self.parts.append(_Part(group, cells.row, texts=cells.texts, code=cells.code, found=found))

    def read_strings(self, group: int, cells: StringCells, read: Reader) -> None:
        """The strings that read as another kind, as values of that kind; the others are not known."""
        keys = [read(text) for text in cells.texts.to_pylist()]
        readable = np.array([key is not None for key in keys], np.bool_)
        high = np.array([0 if key is None else key[0] for key in keys], np.int64)
        low = np.array([0 if key is None else key[1] for key in keys], np.int64)
        chosen = readable[cells.code]
        code = cells.code[chosen]
        if len(code):
            self.parts.append(_Part(group, cells.row[chosen], high[code], low[code]))

    def _found(self, start: NDArray[np.int64], leaf: NDArray[np.int32]) -> Codes:
        """Keep found leaves; the rows of found_start for each value (-1: nothing found)."""
        row = np.arange(self.found_rows, self.found_rows + len(start) - 1, dtype=np.int32)
        self.found_start.append(start[:-1] + self.found_leaves)
        self.found_leaf.append(leaf)
        self.found_rows += len(start) - 1
        self.found_leaves += len(leaf)
        return np.where(np.diff(start) > 0, row, np.int32(-1))

    def cells(self, index: CompiledIndex) -> Cells:
        """Look everything up and put the cells in order of group and event."""
        parts = sorted(self.parts, key=lambda part: part.group)
        place = starts([len(part.row) for part in parts], np.int64)
        row = joined([part.row for part in parts], np.int32)
        posting = np.full(len(row), -1, np.int32)
        slot = np.full(len(row), -1, np.int32)
        found = np.full(len(row), -1, np.int32)
        _look_up_scalars(index, parts, place, posting, slot)
        _look_up_texts(index, parts, place, posting, slot)
        for part, begin in zip(parts, place.tolist(), strict=False):
            if part.found is not None:
                found[begin : begin + len(part.row)] = part.found
        group = np.array([part.group for part in parts], np.int64)
        group_start = starts(
            np.bincount(group, np.diff(place), len(index.group_path)).astype(np.int64), np.int64
        )
        for repeated in np.unique(group[1:][group[1:] == group[:-1]]).tolist():
            stretch = slice(group_start[repeated], group_start[repeated + 1])
            order = np.argsort(row[stretch], kind="stable")
            for column in (row, posting, slot, found):
                column[stretch] = column[stretch][order]
        found_start = joined([*self.found_start, np.array([self.found_leaves], np.int64)], np.int64)
        return Cells(group_start, row, posting, slot, found, found_start, joined(self.found_leaf, np.int32))


def _look_up_scalars(
    index: CompiledIndex, parts: list[_Part], place: NDArray[np.int64], posting: Codes, slot: Codes
) -> None:
    """Numbers, whose doubles become keys all at once; then the others."""
    numbers = [at for at, part in enumerate(parts) if part.double is not None]
    others = [at for at, part in enumerate(parts) if part.high is not None]
    doubles = joined([part.double for part in parts if part.double is not None], np.float64)
    highs = joined([part.high for part in parts if part.high is not None], np.int64)
    for chosen, high in ((numbers, double_keys(doubles)), (others, highs)):
        if chosen:
            segments = Segments(
                np.array([parts[at].group for at in chosen], np.int32),
                starts([len(parts[at].row) for at in chosen], np.int64),
                place[chosen],
            )
            low = np.concatenate([parts[at].low for at in chosen])
            look_up_scalars(index.literals, index.bounds, segments, high, low, posting, slot)


def _look_up_texts(
    index: CompiledIndex, parts: list[_Part], place: NDArray[np.int64], posting: Codes, slot: Codes
) -> None:
    group, first, offsets, texts, codes = [], [], [], [], []
    for part, begin in zip(parts, place.tolist(), strict=False):
        if part.texts is not None and part.code is not None:
            offset, data = text_arrays(part.texts)
            group.append(part.group)
            first.append(begin)
            offsets.append(np.diff(offset))
            texts.append(data)
            codes.append(part.code)
    if group:
        start = starts([len(sizes) for sizes in offsets], np.int64)
        look_up_texts(
            index.literals,
            index.bounds,
            Segments(np.array(group, np.int32), start, np.array(first, np.int64)),
            starts(joined(offsets, np.int64), np.int64),
            joined(texts, np.uint8),
            starts([len(code) for code in codes], np.int64),
            joined(codes, np.int32),
            posting,
            slot,
        )
