"""One event, read for the groups of leaves that ask about its fields: for a handful of values that is quicker
than arrays for each field (see batch_cells.py for many events).

Integers, floats, strings, Booleans, instants, decimals and objects go straight to what the kernel takes, and
so do lists of integers or strings. Anything else is found as in a batch (events/python_events.py), and then
goes the same way value by value.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Ints
from tocsin.arrays.packed import joined
from tocsin.conditions.graph.value_keys import Reader, address_of_text, double_key, instant_of_text
from tocsin.conditions.kernels.leaves import OneEvent
from tocsin.conditions.kernels.predicate_parser import NULLS, TEXTS
from tocsin.conditions.language.tree import Path
from tocsin.conditions.matching.decimals import DecimalGroup
from tocsin.conditions.matching.pattern_finder import PatternFinder
from tocsin.events import (
    FieldPlan,
    Found,
    Instant,
    Kind,
    Node,
    Scalar,
    check_event,
    descend,
    scalar_of,
    split_integer,
    surrogate_error,
)

_NONE = -1
_EXACT = 2**53
_INTEGERS = {int}
_TEXTS = {str}
_SCALARS = frozenset({datetime, Decimal, date})
_SURROGATE = re.compile("[\ud800-\udfff]")
_NO_BYTES = np.empty(0, np.uint8)
_NO_LEAVES = np.empty(0, np.int32)

FindTexts = Callable[[dict[Path, list[str]]], Ints]
"""Finds the leaves of free text that the strings of fields satisfy; an empty list has no strings."""


class _Field(NamedTuple):
    """The groups that ask about a field, by what they ask for; -1: none.

    `asked` is `string` if it has patterns, and `readers` are groups that know a text if it reads as something
    else; `every` group but the null group is told of an empty list. `within` is there when fields of the
    field are asked for.
    """

    path: Path
    node: Node
    number: int
    string: int
    text: int
    null: int
    boolean: int
    instant: int
    asked: int
    readers: tuple[tuple[int, Reader], ...]
    within: _Fields | None
    every: tuple[int, ...]


class _Fields:
    """The fields of an event, or of an object in it, that are asked about; each worked out when first met:
    a young layer sees few."""

    __slots__ = ("known", "nodes", "path")

    def __init__(self, path: Path, nodes: Mapping[str, Node]) -> None:
        self.path = path
        self.nodes = nodes
        self.known: dict[str, _Field | None] = dict.fromkeys(nodes)


def is_plain(value: object) -> bool:
    """Whether a value of an event is one that the grammar's evaluator and every index take alike."""
    if type(value) is list:
        return all(type(each) is int or _is_text(each) for each in value)
    if value is None or type(value) in (int, bool):
        return True
    return _is_text(value) or (type(value) is float and value == value)


def _is_text(value: object) -> bool:
    return type(value) is str and (value.isascii() or not _SURROGATE.search(value))


class EventReader:
    """Reads single events for the groups of an index. It keeps nothing of an event."""

    def __init__(
        self,
        groups: Mapping[Path, Iterable[tuple[int, int]]],
        patterns: PatternFinder,
        decimals_of: Callable[[int], DecimalGroup],
    ) -> None:
        self._groups = groups
        self._patterns = patterns
        self._decimals_of = decimals_of
        self._top = _Fields((), FieldPlan(groups).names)

    def read(self, event: object, find_texts: FindTexts) -> OneEvent:
        """What the event holds for the groups; EventError when it cannot be read."""
        if type(event) is not dict:
            check_event(event, 0)
        found = _Values(self._decimals_of, self._patterns)
        integer, scalar, present = found.integer, found.scalar, found.known_group
        float_group, floats = found.float_group, found.floats
        unread: list[tuple[_Fields, Any]] = [(self._top, event)]
        for fields, values in unread:
            known = fields.known
            for name, value in values.items():
                if name not in known or value is None:
                    continue
                field = known[name] or self._field(fields, name)
                kind = type(value)
                if kind is int:
                    if -_EXACT <= value <= _EXACT:
                        if field.number >= 0:
                            integer += (field.number, value)
                    else:
                        found.add_number(field, value)
                elif kind is str:
                    found.add_text(field, value)
                    if field.text >= 0:
                        found.add_document(field, [value])
                elif kind is dict:
                    if field.within is not None:
                        unread.append((field.within, value))
                elif kind is float and value == value:
                    if field.number >= 0:
                        float_group.append(field.number)
                        floats.append(value)
                elif kind is bool:
                    if field.boolean >= 0:
                        scalar += (field.boolean, value, 0)
                elif kind is list and self._add_list(field, value, found):
                    pass
                elif kind in _SCALARS and (read := scalar_of(value, field.path, 0)) is not None:
                    found.add(field, read)
                else:
                    self._add_any(field, value, found)
                    continue
                if field.null >= 0:
                    present.append(field.null)
        return found.event(find_texts)

    def _add_list(self, field: _Field, values: list[Any], found: _Values) -> bool:
        """Take in a list of integers or of strings; False when it is none."""
        types = set(map(type, values))
        if not types:
            found.add_empty(field)
        elif types == _INTEGERS:
            for value in values:
                found.add_number(field, value)
        elif types == _TEXTS:
            for value in values:
                found.add_text(field, value)
            if field.text >= 0:
                found.add_document(field, values)
        else:
            return False
        return True

    def _add_any(self, field: _Field, value: object, found: _Values) -> None:
        """Take in what the wanted fields at and below a value hold, whatever it is."""
        cells: dict[Path, Found] = {}
        descend(field.node, value, 0, cells)
        for path, held in cells.items():
            asked = self._field_at(path)
            values: list[Scalar] = [each for each in held.values if each == each]
            for scalar in values:
                found.add(asked, scalar)
            texts = [each for each in values if type(each) is str]
            if texts and asked.text >= 0:
                found.add_document(asked, texts)
            if asked.null >= 0 and (values or held.listed or held.objects):
                found.known_group.append(asked.null)
            if held.listed and not values and not held.objects:
                found.add_empty(asked)

    def _field_at(self, path: Path) -> _Field:
        fields = self._top
        for name in path[:-1]:
            fields = (fields.known[name] or self._field(fields, name)).within or fields
        return fields.known[path[-1]] or self._field(fields, path[-1])

    def _field(self, fields: _Fields, name: str) -> _Field:
        path = (*fields.path, name)
        node = fields.nodes[name]
        groups = {kind: group for group, kind in self._groups.get(path, ())}
        string, instant, address = (
            groups.get(kind, _NONE) for kind in (Kind.STRING, Kind.TIMESTAMP, Kind.ADDRESS)
        )
        readers = ((instant, instant_of_text), (address, address_of_text))
        field = fields.known[name] = _Field(
            path=path,
            node=node,
            number=groups.get(Kind.NUMBER, _NONE),
            string=string,
            text=groups.get(TEXTS, _NONE),
            null=groups.get(NULLS, _NONE),
            boolean=groups.get(Kind.BOOLEAN, _NONE),
            instant=instant,
            asked=string if string in self._patterns.groups else _NONE,
            readers=tuple(each for each in readers if each[0] >= 0),
            within=_Fields(path, node.names) if node.names else None,
            every=tuple(group for kind, group in groups.items() if kind != NULLS),
        )
        return field


class _Values:
    """What one event holds for the groups, in lists as OneEvent has them."""

    __slots__ = (
        "asked",
        "decimals_of",
        "float_group",
        "floats",
        "found",
        "integer",
        "known_group",
        "patterns",
        "scalar",
        "text",
        "text_bytes",
        "texts",
    )

    def __init__(self, decimals_of: Callable[[int], DecimalGroup], patterns: PatternFinder) -> None:
        self.decimals_of = decimals_of
        self.patterns = patterns
        self.integer: list[int] = []
        self.float_group: list[int] = []
        self.floats: list[float] = []
        self.scalar: list[int] = []
        self.text: list[int] = []
        self.text_bytes = bytearray()
        self.asked: list[int] = []
        self.known_group: list[int] = []
        self.found: list[Ints] = []
        self.texts: dict[Path, list[str]] = {}

    def add(self, field: _Field, value: Scalar) -> None:
        """Take in a value of any kind, but for free text."""
        kind = type(value)
        if isinstance(value, str):
            self.add_text(field, value)
        elif isinstance(value, Instant):
            if field.instant >= 0:
                self.scalar += (field.instant, value.second, value.nano)
        elif kind is bool:
            if field.boolean >= 0:
                self.scalar += (field.boolean, int(value), 0)
        elif field.number >= 0:
            if isinstance(value, Decimal):
                self.known_group.append(field.number)
                self.found.append(self.decimals_of(field.number).leaves_of(value))
            else:
                self.add_number(field, value)

    def add_number(self, field: _Field, value: float) -> None:
        """Take in an integer of any size, or a float that is no NaN."""
        if field.number < 0:
            return
        if isinstance(value, float):
            self.float_group.append(field.number)
            self.floats.append(value)
        elif -_EXACT <= value <= _EXACT:
            self.integer += (field.number, value)
        else:
            high, low = split_integer(value)
            self.scalar += (field.number, double_key(high), low)

    def add_text(self, field: _Field, value: str) -> None:
        """Take in a string; EventError when it holds half a surrogate pair."""
        try:
            data = value.encode()
        except UnicodeEncodeError:
            raise surrogate_error([(field.path, 0, value)]) from None
        if field.string >= 0:
            self.text_bytes += data
            self.text += (field.string, len(self.text_bytes))
            self.asked.append(field.asked)
        for group, read in field.readers:
            key = read(value)
            if key is not None:
                self.scalar += (group, *key)

    def add_document(self, field: _Field, strings: list[str]) -> None:
        """Take in all strings of a field that free text asks about."""
        self.known_group.append(field.text)
        self.texts[field.path] = strings

    def add_empty(self, field: _Field) -> None:
        """Take in an empty list: known to every kind, satisfying nothing."""
        self.known_group.extend(field.every)
        if field.text >= 0:
            self.texts[field.path] = []

    def event(self, find_texts: FindTexts) -> OneEvent:
        """Everything in arrays."""
        data = np.frombuffer(self.text_bytes, np.uint8) if self.text_bytes else _NO_BYTES
        if self.asked and max(self.asked) >= 0:
            start = np.array((0, *self.text[1::2]), np.int64)
            self.found.append(self.patterns.find(np.array(self.asked, np.int32), start, data)[1])
        if self.texts:
            self.found.append(find_texts(self.texts))
        counts = (len(self.integer) >> 1, len(self.floats), len(self.scalar) // 3, len(self.text) >> 1)
        values = array("q", (*counts, *self.integer, *self.float_group))
        if self.floats:
            values.frombytes(array("d", self.floats).tobytes())
        values.fromlist(self.scalar + self.text + self.known_group)
        return OneEvent(
            np.frombuffer(values, np.int64),
            data,
            joined(self.found, np.int32) if self.found else _NO_LEAVES,
        )
