"""The cells of one event, collected into plain lists: for a handful of values that is quicker than
arrays for each field (see batch_cells.py for many events)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tocsin.events.cells import BooleanCells, DecimalCells, NumberCells, Rows, StringCells, TimestampCells
from tocsin.index.decimals import DecimalGroup
from tocsin.index.keys import Reader, double_key
from tocsin.index.packing import packed_bytes
from tocsin.index.patterns import PatternGroup
from tocsin.kernels.single import OneEvent


class EventCells:
    """What one event holds for the groups."""

    def __init__(self) -> None:
        self._scalar_group: list[int] = []
        self._high: list[int] = []
        self._low: list[int] = []
        self._text_group: list[int] = []
        self._texts: list[bytes] = []
        self._known_group: list[int] = []
        self._found_leaf: list[int] = []

    def known(self, group: int, _row: Rows) -> None:
        """The group knows the event, which satisfies nothing of it."""
        self._known_group.append(group)

    def _scalars(self, group: int, high: Sequence[int], low: Sequence[int]) -> None:
        self._scalar_group.extend([group] * len(high))
        self._high.extend(high)
        self._low.extend(low)

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

    def decimals(self, group: int, cells: DecimalCells, leaves: DecimalGroup) -> None:
        """Decimals, which find their leaves themselves."""
        self._known_group.append(group)
        self._found_leaf.extend(leaves.find(cells.values)[1].tolist())

    def strings(self, group: int, cells: StringCells, patterns: PatternGroup | None) -> None:
        """Strings, and the patterns to ask of them."""
        texts = cells.texts.to_pylist()
        self._text_group.extend([group] * len(texts))
        self._texts.extend([text.encode() for text in texts])
        if patterns is not None:
            self._found_leaf.extend(patterns.find(cells.texts)[1].tolist())

    def read_strings(self, group: int, cells: StringCells, read: Reader) -> None:
        """The strings that read as another kind, as values of that kind; the others are not known."""
        for text in cells.texts.to_pylist():
            key = read(text)
            if key is not None:
                self._scalars(group, key[:1], key[1:])

    def event(self) -> OneEvent:
        """Everything in arrays."""
        offset, data = packed_bytes(self._texts)
        return OneEvent(
            _int32(self._scalar_group),
            np.array(self._high, np.int64),
            np.array(self._low, np.int64),
            _int32(self._text_group),
            offset,
            data,
            _int32(self._known_group),
            _int32(self._found_leaf),
        )


def _int32(values: list[int]) -> NDArray[np.int32]:
    return np.array(values, np.int32)
