"""The quick way for one event that is plain: a dictionary of integers, floats, strings and Booleans.

Such an event goes straight to the arrays that the kernel takes. Everything else is refused, and goes
the way of batches (events/values.py, event_cells.py), which knows all there is: objects within the
event, decimals, instants, patterns. A list is plain when its elements are integers or strings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from tocsin.events.kinds import Kind
from tocsin.events.numbers import split_integer
from tocsin.grammar.tree import Path
from tocsin.index.keys import double_key
from tocsin.index.packing import packed_bytes
from tocsin.kernels.predicates import NULLS
from tocsin.kernels.single import OneEvent

_SMALL = {number: double_key(number) for number in range(-1024, 1 << 16)}
_NONE = -1
_SURROGATE = re.compile("[\ud800-\udfff]")


class _Field(NamedTuple):
    """The groups that ask about a field, by what they ask for; -1: none. `odd` when a plain value is not
    enough for some: patterns, and texts that read as something else.
    """

    null: int
    number: int
    string: int
    boolean: int
    odd: bool
    every: tuple[int, ...]


def is_plain(value: object) -> bool:
    """Whether a value of an event is one that the grammar's evaluator and every index take alike."""
    if type(value) is list:
        return all(type(each) is int or _is_text(each) for each in value)
    if value is None or type(value) in (int, bool):
        return True
    return _is_text(value) or (type(value) is float and value == value)


def _is_text(value: object) -> bool:
    return type(value) is str and (value.isascii() or not _SURROGATE.search(value))


class PlainEvents:
    """Reads plain events for the groups of an index. It keeps nothing of an event."""

    def __init__(
        self, groups: Mapping[Path, Iterable[tuple[int, int]]], with_patterns: Iterable[int]
    ) -> None:
        patterns = frozenset(with_patterns)
        self._fields: dict[str, _Field] = {}
        self._entered = frozenset(path[0] for path in groups if len(path) > 1)
        for path, kinds in groups.items():
            if len(path) == 1:
                by_kind = {kind: group for group, kind in kinds}
                reread = Kind.TIMESTAMP in by_kind or Kind.ADDRESS in by_kind
                self._fields[path[0]] = _Field(
                    by_kind.get(NULLS, _NONE),
                    by_kind.get(Kind.NUMBER, _NONE),
                    by_kind.get(Kind.STRING, _NONE),
                    by_kind.get(Kind.BOOLEAN, _NONE),
                    reread or not patterns.isdisjoint(by_kind.values()),
                    tuple(group for kind, group in by_kind.items() if kind != NULLS),
                )

    def read(self, event: object) -> OneEvent | None:
        """What the event holds for the groups; None when it is not plain."""
        if type(event) is not dict:
            return None
        found = _Found()
        for name, value in event.items():
            if value is None:
                continue
            if name in self._entered and type(value) is not str:
                return None
            field = self._fields.get(name)
            if field is not None and not found.add(field, value):
                return None
        return found.event()


class _Found:
    """What one event holds, in lists."""

    __slots__ = ("group", "high", "known", "low", "text_group", "texts")

    def __init__(self) -> None:
        self.group: list[int] = []
        self.high: list[int] = []
        self.low: list[int] = []
        self.text_group: list[int] = []
        self.texts: list[bytes] = []
        self.known: list[int] = []

    def add(self, field: _Field, value: object) -> bool:
        """Take in a field's value; False when it is not plain."""
        kind = type(value)
        if kind is list:
            if not self._add_list(field, value):  # type: ignore[arg-type]
                return False
        elif kind is str:
            if field.odd or not self._add_text(field.string, value):  # type: ignore[arg-type]
                return False
        elif kind is int:
            self._add_integer(field.number, value)  # type: ignore[arg-type]
        elif kind is bool:
            if field.boolean >= 0:
                self._add_scalar(field.boolean, int(value), 0)  # type: ignore[call-overload]
        elif kind is float and value == value:
            if field.number >= 0:
                self._add_scalar(field.number, double_key(value + 0.0), 0)  # type: ignore[operator]
        else:
            return False
        if field.null >= 0:
            self.known.append(field.null)
        return True

    def _add_scalar(self, group: int, high: int, low: int) -> None:
        self.group.append(group)
        self.high.append(high)
        self.low.append(low)

    def _add_integer(self, group: int, value: int) -> None:
        if group < 0:
            return
        key = _SMALL.get(value)
        if key is None:
            high, low = split_integer(value)
            self._add_scalar(group, double_key(high), low)
        else:
            self._add_scalar(group, key, 0)

    def _add_text(self, group: int, value: str) -> bool:
        if group >= 0:
            try:
                self.texts.append(value.encode())
            except UnicodeEncodeError:
                return False
            self.text_group.append(group)
        return True

    def _add_list(self, field: _Field, values: list[object]) -> bool:
        if not values:
            self.known.extend(field.every)
        for value in values:
            if type(value) is int:
                self._add_integer(field.number, value)
            elif type(value) is not str or field.odd or not self._add_text(field.string, value):
                return False
        return True

    def event(self) -> OneEvent:
        """Everything in arrays."""
        offset, data = packed_bytes(self.texts)
        return OneEvent(
            np.array(self.group, np.int32),
            np.array(self.high, np.int64),
            np.array(self.low, np.int64),
            np.array(self.text_group, np.int32),
            offset,
            data,
            np.array(self.known, np.int32),
            _NOTHING_FOUND,
        )


_NOTHING_FOUND = np.empty(0, np.int32)
