"""The cells of a batch: collected group by group, then looked up all at once.

Collecting a group is an entry in a list and no more, since there may be a thousand groups with a few
cells each: what is done with cells is done for all groups of a kind together, by one array operation
or kernel call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from tocsin.arrays.dtypes import Bytes, Ints, Longs
from tocsin.arrays.packed import joined, starts, text_arrays
from tocsin.conditions.graph.compiled_index import CompiledIndex
from tocsin.conditions.graph.value_keys import Reader, double_keys
from tocsin.conditions.kernels.batch_lookup import GroupTraits, Parts, arrange, look_up_scalars, look_up_texts
from tocsin.conditions.kernels.leaves import Cells
from tocsin.conditions.matching.pattern_finder import PatternFinder
from tocsin.events import BooleanCells, NumberCells, Rows, StringCells, TimestampCells

Codes = Ints


class _Other(NamedTuple):
    """Cells with nothing to look up: known (an empty list, a null test), and what was found for them."""

    row: Rows
    found: Codes | None = None


class _HasRow(Protocol):
    """Cells of any kind."""

    @property
    def row(self) -> Rows: ...


class BatchCells:
    """What a batch holds for the groups, until everything is looked up.

    Each list has a pair for each group and source: the group, and the cells.
    """

    def __init__(self, patterns: PatternFinder) -> None:
        self._patterns = patterns
        self._numbers: list[tuple[int, NumberCells]] = []
        self._booleans: list[tuple[int, BooleanCells]] = []
        self._timestamps: list[tuple[int, TimestampCells]] = []
        self._texts: list[tuple[int, StringCells]] = []
        self._others: list[tuple[int, _Other]] = []
        self._found_start: list[Longs] = []
        self._found_leaf: list[Ints] = []
        self._found_rows = 0
        self._found_leaves = 0

    def known(self, group: int, row: Rows) -> None:
        """Events that the group knows and that satisfy nothing of it."""
        self._others.append((group, _Other(row)))

    def numbers(self, group: int, cells: NumberCells) -> None:
        """Integers and floats."""
        self._numbers.append((group, cells))

    def booleans(self, group: int, cells: BooleanCells) -> None:
        """Booleans."""
        self._booleans.append((group, cells))

    def timestamps(self, group: int, cells: TimestampCells) -> None:
        """Timestamps that are no strings."""
        self._timestamps.append((group, cells))

    def strings(self, group: int, cells: StringCells) -> None:
        """Strings."""
        self._texts.append((group, cells))

    def found(self, group: int, row: Rows, value: Codes, start: Longs, leaf: Codes) -> None:
        """Values that found their leaves themselves: decimals, free text in all strings of the field.

        Event row[i] has value[i], and that the leaves leaf[start[value[i]] : start[value[i] + 1]].
        """
        self._others.append((group, _Other(row, self._found(start, leaf)[value])))

    def read_strings(self, group: int, cells: StringCells, read: Reader) -> None:
        """The strings that read as another kind, as values of that kind; the others are not known.

        Both kinds that strings read as, instants and addresses, are pairs of integers.
        """
        keys = [read(text) for text in cells.texts.to_pylist()]
        readable = np.array([key is not None for key in keys], np.bool_)
        high = np.array([0 if key is None else key[0] for key in keys], np.int64)
        low = np.array([0 if key is None else key[1] for key in keys], np.int64)
        chosen = readable[cells.code]
        code = cells.code[chosen]
        if len(code):
            self._timestamps.append((group, TimestampCells(cells.row[chosen], high[code], low[code])))

    def _found(self, start: Longs, leaf: Ints) -> Codes:
        """Keep found leaves; the rows of found_start for each value (-1: nothing found)."""
        row = np.arange(self._found_rows, self._found_rows + len(start) - 1, dtype=np.int32)
        self._found_start.append(start[:-1] + self._found_leaves)
        self._found_leaf.append(leaf)
        self._found_rows += len(start) - 1
        self._found_leaves += len(leaf)
        return np.where(np.diff(start) > 0, row, np.int32(-1))

    def cells(self, index: CompiledIndex, traits: GroupTraits) -> Cells:
        """Look everything up and put the cells in order of group and event.

        Parts are, in this order: numbers, booleans, timestamps, which are looked up as scalars; texts;
        and the others.
        """
        scalars = len(self._numbers) + len(self._booleans) + len(self._timestamps)
        texts = scalars + len(self._texts)
        every: tuple[tuple[int, _HasRow], ...] = (
            *self._numbers,
            *self._booleans,
            *self._timestamps,
            *self._texts,
            *self._others,
        )
        rows = [cells.row for _, cells in every]
        group = np.array([number for number, _ in every], np.int32)
        start = starts(np.fromiter(map(len, rows), np.int64, len(rows)), np.int64)
        row = joined(rows, np.int32)
        group_start, cell, cell_row = arrange(group, start, row, len(index.group_path))
        posting, slot, found = np.full((3, len(row)), -1, np.int32)
        if scalars:
            parts = Parts(group[:scalars], start[: scalars + 1], cell)
            keys = self._scalar_keys()
            look_up_scalars(index.literals, index.bounds, traits, parts, *keys, posting, slot)
        if texts > scalars:
            first = start[scalars]
            parts = Parts(group[scalars:texts], start[scalars : texts + 1] - first, cell[first:])
            code, text_start, offset, data = self._text_arrays()
            look_up_texts(index.literals, index.bounds, parts, code, text_start, offset, data, posting, slot)
            if not self._patterns.groups.isdisjoint(parts.group.tolist()):
                rows_found = self._patterns_found(parts.group, text_start, offset, data)
                text = np.repeat(text_start[:-1], np.diff(parts.start)) + code
                found[cell[first : start[texts]]] = rows_found[text]
        for part, (_, other) in enumerate(self._others, texts):
            if other.found is not None:
                found[cell[start[part] : start[part + 1]]] = other.found
        found_start = joined([*self._found_start, np.array([self._found_leaves], np.int64)], np.int64)
        found_leaf = joined(self._found_leaf, np.int32)
        return Cells(group_start, cell_row, posting, slot, found, found_start, found_leaf)

    def _patterns_found(self, group: Ints, text_start: Longs, offset: Longs, data: Bytes) -> Codes:
        """For each text what the patterns of its group find; see _found."""
        asked = np.where([each in self._patterns.groups for each in group.tolist()], group, np.int32(-1))
        return self._found(*self._patterns.find(np.repeat(asked, np.diff(text_start)), offset, data))

    def _scalar_keys(self) -> tuple[Longs, Longs]:
        """The keys of all scalars (see conditions/graph/value_keys.py)."""
        numbers = [cells for _, cells in self._numbers]
        booleans = joined([cells.value for _, cells in self._booleans], np.uint8).astype(np.int64)
        timestamps = [cells for _, cells in self._timestamps]
        high = [
            double_keys(joined([cells.high for cells in numbers], np.float64)),
            booleans,
            *(cells.second for cells in timestamps),
        ]
        low = [
            *(cells.low for cells in numbers),
            np.zeros_like(booleans),
            *(cells.nano for cells in timestamps),
        ]
        return joined(high, np.int64), joined(low, np.int64)

    def _text_arrays(self) -> tuple[Codes, Longs, Longs, Bytes]:
        """The codes of all texts, the texts of each part, and their offsets and bytes."""
        texts: Sequence[pa.LargeStringArray] = [cells.texts for _, cells in self._texts]
        return (
            joined([cells.code for _, cells in self._texts], np.int32),
            starts(np.fromiter(map(len, texts), np.int64, len(texts)), np.int64),
            *text_arrays(pa.concat_arrays(texts)),
        )
