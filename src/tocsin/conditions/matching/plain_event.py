"""The quick way for one event that is plain: a dictionary of integers, floats, strings and Booleans.

Such an event goes straight to the arrays that the kernel takes. Everything else is refused, and goes
the way of batches (events/python_events.py, event_cells.py), which knows all there is: lists of objects,
decimals, datetimes. A list is plain when its elements are integers or strings, and a dictionary
within the event when its values are plain.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from tocsin.conditions.graph.value_keys import Reader, address_of_text, double_key, instant_of_text
from tocsin.conditions.kernels.leaves import OneEvent
from tocsin.conditions.kernels.predicate_parser import NULLS, TEXTS
from tocsin.conditions.language.tree import Path
from tocsin.conditions.matching.event_cells import EventCells
from tocsin.conditions.matching.pattern_group import PatternGroup
from tocsin.events.cells import texts_of
from tocsin.events.kinds import Kind
from tocsin.events.number_pairs import split_integer

_SMALL = {number: (double_key(number), 0) for number in range(-1024, 1 << 16)}
_NONE = -1
_DEEPEST = 8
"""Objects within each other that are read the quick way, at most."""

_SURROGATE = re.compile("[\ud800-\udfff]")

FindText = Callable[[Path, list[str]], list[int]]
"""Finds the leaves of free text that the strings of a field satisfy; no strings: an empty list."""


class _Field(NamedTuple):
    """The groups that ask about a field, by what they ask for; -1: none.

    `patterns` are asked of texts besides, and `readers` are groups that know a text if it reads as something
    else. `within` is there when fields of the field are asked for.
    """

    path: Path
    number: int
    string: int
    text: int
    null: int
    boolean: int
    patterns: PatternGroup | None
    readers: tuple[tuple[int, Reader], ...]
    within: _Fields | None
    every: tuple[int, ...]


class _Fields:
    """The fields of an event, or of an object in it, that are asked about; each worked out when first met:
    a young layer sees few."""

    __slots__ = ("known", "names", "path")

    def __init__(self, path: Path, names: frozenset[str]) -> None:
        self.path = path
        self.names = names  # none where an event may be too deep
        self.known: dict[str, _Field] = {}


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
        self,
        groups: Mapping[Path, Iterable[tuple[int, int]]],
        patterns_of: Callable[[int], PatternGroup | None],
    ) -> None:
        self._groups = groups
        self._patterns_of = patterns_of
        names: dict[Path, set[str]] = defaultdict(set)
        for path in groups:
            for depth, name in enumerate(path[:_DEEPEST]):
                names[path[:depth]].add(name)
            if len(path) > _DEEPEST:
                names[path[:_DEEPEST]] = set()
        self._names = {path: frozenset(each) for path, each in names.items()}
        self._top = _Fields((), self._names.get((), frozenset()))

    def read(self, event: object, find_text: FindText) -> OneEvent | None:
        """What the event holds for the groups; None when it is not plain."""
        if type(event) is not dict:
            return None
        found = _Found(find_text)
        return found.event() if self._read(event, self._top, found) else None

    def _read(self, values: dict[str, object], fields: _Fields, found: _Found) -> bool:
        """Take in the values of an event, or of an object in it; False when they are not plain."""
        scalar, names, known = found.scalar, fields.names, fields.known
        for name, value in values.items():
            if name not in names or value is None:
                continue
            field = known.get(name) or self._field(fields, name)
            group, null, within = field.number, field.null, field.within
            if type(value) is int and within is None:
                if group >= 0:
                    scalar += (group, *(_SMALL.get(value) or _integer_key(value)))
            elif type(value) is dict and within is not None:
                if field.every or not within.names or not self._read(value, within, found):
                    return False
            elif not found.add(field, value):
                return False
            if null >= 0:
                found.known_group.append(null)
        return True

    def _field(self, fields: _Fields, name: str) -> _Field:
        path = (*fields.path, name)
        number = string = text = null = boolean = _NONE
        patterns = None
        readers: list[tuple[int, Reader]] = []
        every = []
        for group, kind in self._groups.get(path, ()):
            if kind == NULLS:
                null = group
                continue
            every.append(group)
            if kind == Kind.NUMBER:
                number = group
            elif kind == Kind.STRING:
                string = group
                patterns = self._patterns_of(group)
            elif kind == Kind.BOOLEAN:
                boolean = group
            elif kind == TEXTS:
                text = group
            else:
                readers.append((group, instant_of_text if kind == Kind.TIMESTAMP else address_of_text))
        within = _Fields(path, self._names[path]) if path in self._names else None
        field = _Field(
            path, number, string, text, null, boolean, patterns, tuple(readers), within, tuple(every)
        )
        fields.known[name] = field
        return field


def _integer_key(value: int) -> tuple[int, int]:
    high, low = split_integer(value)
    return double_key(high), low


class _Found(EventCells):
    """What a plain event holds."""

    __slots__ = ("find_text",)

    def __init__(self, find_text: FindText) -> None:
        super().__init__()
        self.find_text = find_text

    def add(self, field: _Field, value: object) -> bool:
        """Take in a field's value, an integer only if fields within are asked for; False: it is not plain."""
        if isinstance(value, str):
            return type(value) is str and self._add_text(field, value) and self._add_document(field, [value])
        if field.within is not None:
            return False
        if type(value) is list:
            return self._add_list(field, value)
        if type(value) is bool:
            if field.boolean >= 0:
                self.scalar += (field.boolean, int(value), 0)
            return True
        if type(value) is float and value == value:
            if field.number >= 0:
                self.scalar += (field.number, double_key(value + 0.0), 0)
            return True
        return False

    def _add_text(self, field: _Field, value: str) -> bool:
        if not _is_text(value):
            return False
        if field.string >= 0:
            self.text_bytes += value.encode()
            self.text += (field.string, len(self.text_bytes))
            if field.patterns is not None:
                _start, leaves = field.patterns.find(texts_of([value]))
                self.found_leaf += leaves.tolist()
        for group, read in field.readers:
            key = read(value)
            if key is not None:
                self.scalar += (group, *key)
        return True

    def _add_list(self, field: _Field, values: list[object]) -> bool:
        if not values:
            self.known_group.extend(field.every)
            if field.text >= 0:
                self.find_text(field.path, [])
        for value in values:
            if type(value) is int:
                if field.number >= 0:
                    self.scalar += (field.number, *(_SMALL.get(value) or _integer_key(value)))
            elif type(value) is not str or not self._add_text(field, value):
                return False
        return self._add_document(field, [value for value in values if isinstance(value, str)])

    def _add_document(self, field: _Field, strings: list[str]) -> bool:
        """Find free text in the strings of a field, none of which holds half a surrogate pair."""
        if field.text >= 0 and strings:
            self.known_group.append(field.text)
            self.found_leaf += self.find_text(field.path, strings)
        return True
