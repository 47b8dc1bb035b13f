"""The rows of a table, equal ones as often as they were inserted.

Rows are equal when conditions cannot tell them apart by any field: 1 and 1.0 are the same, 1 and true are
not, and a member that is null or NaN is as if it were not there.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from decimal import Decimal
from heapq import heappop, heappush
from itertools import chain
from typing import Any

import numpy as np

from tocsin.conditions.language import Path
from tocsin.conditions.meaning import DEEPEST_LIST, is_missing, lookup, plain_value
from tocsin.errors import EventError
from tocsin.events import SIMPLE, type_name

Row = dict[str, Any]

_SEQUENCES = (list, tuple, np.ndarray)
_SETS = (set, frozenset)
_OPEN_OBJECT, _OPEN_LIST, _CLOSE = object(), object(), object()
_DEEPEST_SET = 100


class _EqualRows:
    """The numbers of rows that are equal. One that was taken away stays in the heap until it is the least."""

    def __init__(self) -> None:
        self.numbers: set[int] = set()
        self._heap: list[int] = []

    def add(self, number: int) -> None:
        self.numbers.add(number)
        heappush(self._heap, number)

    def least(self) -> int:
        while self._heap[0] not in self.numbers:
            heappop(self._heap)
        return self._heap[0]


class Contents:
    """The rows of one table by their numbers, which the caller gives."""

    def __init__(self) -> None:
        self._rows: dict[int, Row] = {}
        self._equal: dict[tuple[Hashable, ...], _EqualRows] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, number: int) -> Row:
        return self._rows[number]

    def items(self) -> list[tuple[int, Row]]:
        """Every number with its row, in the order of the numbers."""
        return sorted(self._rows.items(), key=lambda item: item[0])

    def find(self, row: Mapping[str, object]) -> int | None:
        """The least number of a row that equals this one."""
        equal = self._equal.get(content_of(row))
        return None if equal is None else equal.least()

    def put(self, number: int, row: Row) -> None:
        """Add a row."""
        self._equal.setdefault(content_of(row), _EqualRows()).add(number)
        self._rows[number] = row

    def take(self, number: int) -> None:
        """Take a row away."""
        content = content_of(self._rows.pop(number))
        equal = self._equal[content]
        equal.numbers.remove(number)
        if not equal.numbers:
            del self._equal[content]


def differ(one: Mapping[str, Any], other: Mapping[str, Any], paths: Iterable[Path]) -> bool:
    """Whether conditions can tell two rows apart by one of these fields; missing differs from any value."""
    return any(content_of({"": lookup(one, path)}) != content_of({"": lookup(other, path)}) for path in paths)


def kept_row(row: object) -> Row:
    """A copy of a row that no later change of the original reaches; EventError when it is no row."""
    if not isinstance(row, Mapping):
        raise EventError(f"a row must be an object, not {type_name(row)}")
    copy: Row = dict(row)
    unread: list[tuple[Any, Any, int]] = [(copy, name, 1) for name in copy]
    while unread:
        holder, place, depth = unread.pop()
        value = holder[place]
        if type(value) in SIMPLE:
            continue
        if depth > DEEPEST_LIST:
            raise EventError(f"a row is nested more than {DEEPEST_LIST:,} deep")
        made: Any = value
        if isinstance(value, Mapping):
            made = dict(value)
            unread.extend((made, name, depth + 1) for name in made)
        elif isinstance(value, list | tuple):
            made = list(value)
            unread.extend((made, at, depth + 1) for at in range(len(made)))
        elif isinstance(value, _SETS):
            made = frozenset(value)
            _check_depth(made)
        elif isinstance(value, np.ndarray):
            made = value.copy()
        holder[place] = made
    return copy


def _check_depth(value: frozenset[object]) -> None:
    """EventError for sets of sets of sets that are too deep to be compared."""
    level, depth = {value}, 0
    while level:
        level, depth = {each for one in level for each in one if isinstance(each, frozenset)}, depth + 1
        if depth > _DEEPEST_SET:
            raise EventError(f"sets of a row are nested more than {_DEEPEST_SET} deep")


def content_of(row: Mapping[str, object]) -> tuple[Hashable, ...]:
    """What a row holds as one flat tuple, which is equal for equal rows: nothing in it is nested."""
    content: list[Hashable] = []
    unread: list[Iterator[object]] = [_members(row)]
    while unread:
        if len(unread) > DEEPEST_LIST:
            raise EventError(f"a row is nested more than {DEEPEST_LIST:,} deep")
        for value in unread[-1]:
            if isinstance(value, Mapping):
                content.append(_OPEN_OBJECT)
                unread.append(_members(value))
                break
            if isinstance(value, _SEQUENCES):
                content.append(_OPEN_LIST)
                unread.append(iter(value.ravel() if isinstance(value, np.ndarray) else value))
                break
            if not is_missing(value):
                content.append(_scalar(value))
        else:
            unread.pop()
            content.append(_CLOSE)
    return tuple(content)


def _members(row: Mapping[Any, object]) -> Iterator[object]:
    """Names, each followed by its value, in the order of the names; without what is missing."""
    present: list[tuple[str, object]] = [
        (str(name), value) for name, value in row.items() if not is_missing(value)
    ]
    present.sort(key=lambda member: member[0])
    return chain.from_iterable(present)


def _scalar(value: object) -> Hashable:
    if isinstance(value, _SETS):
        return frozenset(_scalar(element) for element in value if not is_missing(element))
    try:
        plain = plain_value(value)
    except EventError:  # of a type that no condition can test: equal when it looks equal
        return type_name(value), repr(value)
    if isinstance(plain, bool):
        return type_name(plain), plain
    if isinstance(plain, int | float | Decimal):
        return "number", plain
    return plain
