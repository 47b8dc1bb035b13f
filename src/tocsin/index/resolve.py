"""A batch of events meets the index: every cell learns which literals and bounds it meets."""

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
from tocsin.index.packing import starts, text_arrays
from tocsin.index.patterns import PatternGroup
from tocsin.kernels.leaves import Cells
from tocsin.kernels.lookup import look_up_scalars, look_up_texts

Rows = NDArray[np.int32]
Codes = NDArray[np.int32]

_Reader = Callable[[str], "tuple[int, int] | None"]

_NO_CODES: Codes = np.empty(0, np.int32)


class _Part(NamedTuple):
    """Cells of one group from one source, and where to take their postings and slots from.

    A part of scalars or texts owns a stretch of the values looked up together, `first` on; `code`
    maps a cell to its text. A part without values (empty lists, null tests) has neither.
    """

    group: int
    row: Rows
    scalars: int = -1
    texts: int = -1
    code: Codes | None = None
    found: Codes | None = None


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
        predicate, _ = parse_predicate(self._index.leaf_text[leaf])
        assert isinstance(predicate, Predicate)
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


class _Pending:
    """What a batch holds for the groups, until all scalars and all texts are looked up at once."""

    def __init__(self) -> None:
        self.parts: list[_Part] = []
        self.high: list[NDArray[np.int64]] = []
        self.low: list[NDArray[np.int64]] = []
        self.scalar_group: list[int] = []
        self.text: list[pa.LargeStringArray] = []
        self.text_group: list[int] = []
        self.found_start: list[NDArray[np.int64]] = []
        self.found_leaf: list[NDArray[np.int32]] = []
        self.found_rows = 0

    def known(self, group: int, row: Rows) -> None:
        self.parts.append(_Part(group, row))

    def scalars(self, group: int, row: Rows, high: NDArray[np.int64], low: NDArray[np.int64]) -> None:
        self.parts.append(_Part(group, row, scalars=len(self.high)))
        self.scalar_group.append(group)
        self.high.append(high)
        self.low.append(low)

    def numbers(self, group: int, cells: NumberCells) -> None:
        self.scalars(group, cells.row, double_keys(cells.high), cells.low)

    def decimals(self, group: int, cells: DecimalCells, leaves: DecimalGroup) -> None:
        found = self._found(*leaves.find(cells.values))[cells.code]
        self.parts.append(_Part(group, cells.row, found=found))

    def strings(self, group: int, cells: StringCells, patterns: PatternGroup | None) -> None:
        found = None if patterns is None else self._found(*patterns.find(cells.texts))[cells.code]
        self.parts.append(_Part(group, cells.row, texts=len(self.text), code=cells.code, found=found))
        self.text_group.append(group)
        self.text.append(cells.texts)

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
        base = sum(len(leaves) for leaves in self.found_leaf)
        row = np.arange(self.found_rows, self.found_rows + len(start) - 1, dtype=np.int32)
        self.found_start.append(start[:-1] + base)
        self.found_leaf.append(leaf)
        self.found_rows += len(start) - 1
        return np.where(np.diff(start) > 0, row, np.int32(-1))

    def cells(self, index: CompiledIndex) -> Cells:
        """Look everything up and put the cells in order of group and event."""
        scalar_posting, scalar_slot, scalar_start = self._look_up_scalars(index)
        text_posting, text_slot, text_start = self._look_up_texts(index)
        groups: dict[int, list[tuple[Rows, Codes, Codes, Codes]]] = defaultdict(list)
        for part in self.parts:
            nothing = np.full(len(part.row), -1, np.int32)
            posting, slot = nothing, nothing
            if part.scalars >= 0:
                stretch = slice(scalar_start[part.scalars], scalar_start[part.scalars + 1])
                posting, slot = scalar_posting[stretch], scalar_slot[stretch]
            elif part.texts >= 0 and part.code is not None:
                stretch = slice(text_start[part.texts], text_start[part.texts + 1])
                posting, slot = text_posting[stretch][part.code], text_slot[stretch][part.code]
            found = nothing if part.found is None else part.found
            groups[part.group].append((part.row, posting, slot, found))
        sizes = np.zeros(len(index.group_path), np.int64)
        ordered: list[tuple[Rows, Codes, Codes, Codes]] = []
        for group in sorted(groups):
            joined = _joined(groups[group])
            sizes[group] = len(joined[0])
            ordered.append(joined)
        columns = [np.concatenate(column) for column in zip(*ordered, strict=True)] if ordered else [_NO_CODES] * 4
        found_leaf = np.concatenate(self.found_leaf) if self.found_leaf else _NO_CODES
        found_start = np.concatenate([*self.found_start, np.array([len(found_leaf)], np.int64)])
        return Cells(starts(sizes, np.int64), *columns, found_start, found_leaf)

    def _look_up_scalars(self, index: CompiledIndex) -> tuple[Codes, Codes, NDArray[np.int64]]:
        start = starts([len(values) for values in self.high], np.int64)
        posting = np.empty(start[-1], np.int32)
        slot = np.empty(start[-1], np.int32)
        if len(posting):
            look_up_scalars(
                index.literals,
                index.bounds,
                np.array(self.scalar_group, np.int32),
                start,
                np.concatenate(self.high),
                np.concatenate(self.low),
                posting,
                slot,
            )
        return posting, slot, start

    def _look_up_texts(self, index: CompiledIndex) -> tuple[Codes, Codes, NDArray[np.int64]]:
        start = starts([len(texts) for texts in self.text], np.int64)
        posting = np.empty(start[-1], np.int32)
        slot = np.empty(start[-1], np.int32)
        if len(posting):
            arrays = [text_arrays(texts) for texts in self.text]
            sizes = np.concatenate([np.diff(offset) for offset, _ in arrays])
            look_up_texts(
                index.literals,
                index.bounds,
                np.array(self.text_group, np.int32),
                start,
                starts(sizes, np.int64),
                np.concatenate([data for _, data in arrays]),
                posting,
                slot,
            )
        return posting, slot, start


def _joined(parts: list[tuple[Rows, Codes, Codes, Codes]]) -> tuple[Rows, Codes, Codes, Codes]:
    """The cells of one group, ascending by event."""
    if len(parts) == 1:
        return parts[0]
    row, posting, slot, found = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(row, kind="stable")
    return row[order], posting[order], slot[order], found[order]
