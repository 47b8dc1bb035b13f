"""A batch of events meets the index: every cell learns which literals and bounds it meets.

The cells of a batch lie side by side, group after group. Scalars and texts are collected first and
then looked up by two kernel calls, however many fields there are; each lookup writes straight to the
cells it belongs to.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tocsin.events.cells import Column, DecimalCells, EventBatch, NumberCells, StringCells
from tocsin.events.kinds import Kind
from tocsin.grammar.conditions import parse_predicate
from tocsin.grammar.patterns import parse_address, parse_timestamp
from tocsin.grammar.tree import Path, Predicate
from tocsin.index.compiled import CompiledIndex
from tocsin.index.decimals import DecimalGroup
from tocsin.index.families import NULLS
from tocsin.index.keys import address_key, double_keys, instant_key
from tocsin.index.packing import joined, starts, text_arrays
from tocsin.index.patterns import PatternGroup
from tocsin.kernels.leaves import Cells
from tocsin.kernels.lookup import Segments, look_up_scalars, look_up_texts

Rows = NDArray[np.int32]
Codes = NDArray[np.int32]

_Reader = Callable[[str], "tuple[int, int] | None"]


class Resolver:
    """Turns batches into the cells that kernels take. It keeps no state of a batch."""

    def __init__(self, index: CompiledIndex) -> None:
        self._index = index
        self._groups: dict[Path, list[tuple[int, int]]] = defaultdict(list)
        for group, path in enumerate(index.group_path):
            self._groups[path].append((group, int(index.group_kind[group])))
        self._patterns: dict[int, PatternGroup] = {}
        leaves_of: dict[int, list[int]] = defaultdict(list)
        for leaf in index.pattern_leaf.tolist():
            leaves_of[int(index.wakes.group_of[leaf])].append(leaf)
        for group, leaves in leaves_of.items():
            self._patterns[group] = PatternGroup(leaves, [self._predicate(leaf) for leaf in leaves])
        self._decimals: dict[int, DecimalGroup] = {}

    @property
    def fields(self) -> list[Path]:
        """The fields that the rules name."""
        return list(self._groups)

    def _predicate(self, leaf: int) -> Predicate:
        predicate, _ = parse_predicate(self._index.leaf_text.text(leaf))
        if not isinstance(predicate, Predicate):
            raise TypeError(f"leaf {leaf} is a constant")
        return predicate

    def _decimal_group(self, group: int) -> DecimalGroup:
        if group not in self._decimals:
            leaves = np.flatnonzero(self._index.wakes.group_of == group).tolist()
            self._decimals[group] = DecimalGroup(leaves, [self._predicate(leaf) for leaf in leaves])
        return self._decimals[group]

    def resolve(self, batch: EventBatch) -> Cells:
        """The cells of a batch, by group."""
        pending = _Pending()
        for path, column in batch.columns.items():
            for group, kind in self._groups.get(path, ()):
                self._collect(pending, group, kind, column)
        return pending.cells(self._index)

    def _collect(self, pending: _Pending, group: int, kind: int, column: Column) -> None:
        if kind == NULLS:
            pending.known(group, column.present)
            return
        if len(column.empty):
            pending.known(group, column.empty)
        if kind == Kind.NUMBER:
            if column.numbers is not None:
                pending.numbers(group, column.numbers)
            if column.decimals is not None:
                pending.decimals(group, column.decimals, self._decimal_group(group))
        elif kind == Kind.STRING and column.strings is not None:
            pending.strings(group, column.strings, self._patterns.get(group))
        elif kind == Kind.BOOLEAN and column.booleans is not None:
            value = column.booleans.value.astype(np.int64)
            pending.scalars(group, column.booleans.row, value, np.zeros_like(value))
        elif kind == Kind.TIMESTAMP:
            if column.timestamps is not None:
                pending.scalars(group, *column.timestamps)
            if column.strings is not None:
                pending.read_strings(group, column.strings, _instant_of_text)
        elif kind == Kind.ADDRESS and column.strings is not None:
            pending.read_strings(group, column.strings, _address_of_text)


def _instant_of_text(text: str) -> tuple[int, int] | None:
    nanos = parse_timestamp(text)
    return None if nanos is None else instant_key(nanos)


def _address_of_text(text: str) -> tuple[int, int] | None:
    address = parse_address(text)
    return None if address is None else address_key(address)


class _Part(NamedTuple):
    """Cells of one group from one source, ascending by event.

    Scalars have their keys, strings their texts and codes; a part with neither is known (an empty
    list, a null test), or has only what was found for it.
    """

    group: int
    row: Rows
    high: NDArray[np.int64] | None = None
    low: NDArray[np.int64] | None = None
    texts: pa.LargeStringArray | None = None
    code: Codes | None = None
    found: Codes | None = None


class _Pending:
    """What a batch holds for the groups, until all scalars and all texts are looked up at once."""

    def __init__(self) -> None:
        self.parts: list[_Part] = []
        self.found_start: list[NDArray[np.int64]] = []
        self.found_leaf: list[NDArray[np.int32]] = []
        self.found_rows = 0
        self.found_leaves = 0

    def known(self, group: int, row: Rows) -> None:
        self.parts.append(_Part(group, row))

    def scalars(self, group: int, row: Rows, high: NDArray[np.int64], low: NDArray[np.int64]) -> None:
        self.parts.append(_Part(group, row, high, low))

    def numbers(self, group: int, cells: NumberCells) -> None:
        self.scalars(group, cells.row, double_keys(cells.high), cells.low)

    def decimals(self, group: int, cells: DecimalCells, leaves: DecimalGroup) -> None:
        found = self._found(*leaves.find(cells.values))[cells.code]
        self.parts.append(_Part(group, cells.row, found=found))

    def strings(self, group: int, cells: StringCells, patterns: PatternGroup | None) -> None:
        found = None if patterns is None else self._found(*patterns.find(cells.texts))[cells.code]
        self.parts.append(_Part(group, cells.row, texts=cells.texts, code=cells.code, found=found))

    def read_strings(self, group: int, cells: StringCells, read: _Reader) -> None:
        """The strings that read as another kind, as values of that kind; the others are not known."""
        keys = [read(text) for text in cells.texts.to_pylist()]
        readable = np.array([key is not None for key in keys], np.bool_)
        high = np.array([0 if key is None else key[0] for key in keys], np.int64)
        low = np.array([0 if key is None else key[1] for key in keys], np.int64)
        chosen = readable[cells.code]
        code = cells.code[chosen]
        if len(code):
            self.scalars(group, cells.row[chosen], high[code], low[code])

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
    group, first, highs, lows = [], [], [], []
    for part, begin in zip(parts, place.tolist(), strict=False):
        if part.high is not None and part.low is not None:
            group.append(part.group)
            first.append(begin)
            highs.append(part.high)
            lows.append(part.low)
    if group:
        start = starts([len(high) for high in highs], np.int64)
        segments = Segments(np.array(group, np.int32), start, np.array(first, np.int64))
        keys = joined(highs, np.int64), joined(lows, np.int64)
        look_up_scalars(index.literals, index.bounds, segments, *keys, posting, slot)


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
