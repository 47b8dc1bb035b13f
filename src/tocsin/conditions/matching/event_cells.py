"""The cells of one event, collected into plain lists: for a handful of values that is quicker than
arrays for each field (see batch_cells.py for many events)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tocsin.conditions.graph.value_keys import Reader, double_key
from tocsin.conditions.kernels.leaves import OneEvent
from tocsin.conditions.matching.decimals import DecimalGroup
from tocsin.conditions.matching.pattern_group import PatternGroup
from tocsin.events.cells import (
    BooleanCells,
    DecimalCells,
    NumberCells,
    Path,
    Rows,
    StringCells,
    TimestampCells,
)
from tocsin.text.batch_documents import BatchDocuments
from tocsin.text.text_matcher import TextMatcher


class EventCells:
    """What one event holds for the groups."""

    def __init__(self) -> None:
        self._scalar: list[int] = []
        self._text: list[int] = []
        self._text_bytes = bytearray()
        self._known_group: list[int] = []
        self._found_leaf: list[int] = []

    def known(self, group: int, _row: Rows) -> None:
        """The group knows the event, which satisfies nothing of it."""
        self._known_group.append(group)

    def _scalars(self, group: int, high: Sequence[int], low: Sequence[int]) -> None:
        for key in zip(high, low, strict=True):
            self._scalar += (group, *key)

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
        for text in cells.texts.to_pylist():
            self._text_bytes += text.encode()
            self._text += (group, len(self._text_bytes))
        if patterns is not None:
            self._found_leaf.extend(patterns.find(cells.texts)[1].tolist())

    def texts(self, group: int, path: Path, documents: BatchDocuments, matcher: TextMatcher) -> None:
        """All strings of the field as one document, in which free text is found."""
        field = documents.field(path)
        if field is not None:
            start, leaf = matcher.find(path, field.documents)
            (document,) = field.document.tolist()
            self._known_group.append(group)
            self._found_leaf.extend(leaf[start[document] : start[document + 1]].tolist())

    def read_strings(self, group: int, cells: StringCells, read: Reader) -> None:
        """The strings that read as another kind, as values of that kind; the others are not known."""
        for text in cells.texts.to_pylist():
            key = read(text)
            if key is not None:
                self._scalars(group, key[:1], key[1:])

    def event(self) -> OneEvent:
        """Everything in arrays."""
        return OneEvent(
            np.array(self._scalar, np.int64),
            np.array(self._text, np.int64),
            np.frombuffer(self._text_bytes, np.uint8),
            np.array(self._known_group, np.int32),
            np.array(self._found_leaf, np.int32),
        )
