"""The cells of one event, collected into plain lists: for a handful of values that is quicker than
arrays for each field (see batch_cells.py for many events)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tocsin.arrays.dtypes import Longs
from tocsin.conditions.graph.value_keys import Reader, double_key
from tocsin.conditions.kernels.leaves import OneEvent
from tocsin.conditions.matching.pattern_group import PatternGroup
from tocsin.events.cells import BooleanCells, NumberCells, Rows, StringCells, TimestampCells

Starts = Longs


class EventCells:
    """What one event holds for the groups, in lists as OneEvent has them."""

    __slots__ = ("found_leaf", "known_group", "scalar", "text", "text_bytes")

    def __init__(self) -> None:
        self.scalar: list[int] = []
        self.text: list[int] = []
        self.text_bytes = bytearray()
        self.known_group: list[int] = []
        self.found_leaf: list[int] = []

    def known(self, group: int, _row: Rows) -> None:
        """The group knows the event, which satisfies nothing of it."""
        self.known_group.append(group)

    def _scalars(self, group: int, high: Sequence[int], low: Sequence[int]) -> None:
        for key in zip(high, low, strict=True):
            self.scalar += (group, *key)

    def numbers(self, group: int, cells: NumberCells) -> None:
        """Integers and floats."""
        self._scalars(group, [double_key(high) for high in cells.high.tolist()], cells.low.tolist())

    def booleans(self, group: int, cells: BooleanCells) -> None:
        """Booleans."""
        values = cells.value.tolist()
        self._scalars(group, values, [0] * len(values))

    def timestamps(self, group: int, cells: TimestampCells) -> None:
        """Timestamps that are no strings."""
        self._scalars(group, cells.second.tolist(), cells.nano.tolist())

    def strings(self, group: int, cells: StringCells, patterns: PatternGroup | None) -> None:
        """Strings, and the patterns to ask of them."""
        for text in cells.texts.to_pylist():
            self.text_bytes += text.encode()
            self.text += (group, len(self.text_bytes))
        if patterns is not None:
            self.found_leaf.extend(patterns.find(cells.texts)[1].tolist())

    def found(self, group: int, _row: Rows, _value: Rows, _start: Starts, leaf: Rows) -> None:
        """Values that found their leaves themselves: decimals, free text in all strings of the field."""
        self.known_group.append(group)
        self.found_leaf.extend(leaf.tolist())

    def read_strings(self, group: int, cells: StringCells, read: Reader) -> None:
        """The strings that read as another kind, as values of that kind; the others are not known."""
        for text in cells.texts.to_pylist():
            key = read(text)
            if key is not None:
                self._scalars(group, key[:1], key[1:])

    def event(self) -> OneEvent:
        """Everything in arrays."""
        return OneEvent(
            np.array(self.scalar, np.int64),
            np.array(self.text, np.int64) if self.text else _NO_TEXTS,
            np.frombuffer(self.text_bytes, np.uint8),
            np.array(self.known_group, np.int32) if self.known_group else _NOTHING,
            np.array(self.found_leaf, np.int32) if self.found_leaf else _NOTHING,
        )


_NO_TEXTS = np.empty(0, np.int64)
_NOTHING = np.empty(0, np.int32)
