"""Values that join by equality, as words: two words are equal when the values are.

A value of a joining field gives some *marks*, and two values are equal when they have a mark in common:

    a number        ("number", 7)         7, 7.0 and Decimal("7") are one mark, as they are equal
    a string        ("string", "x")
    a Boolean       ("boolean", True)     never a number
    a timestamp     ("timestamp", n)      nanoseconds

A string equals a timestamp when it reads as that instant, yet two strings that read as one instant are not
equal. So a string has one more mark that only timestamps of the *other* side have, and a timestamp one for
the strings of the other side. A list has the marks of its elements; objects and missing values have none.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from decimal import Decimal
from typing import NamedTuple

from tocsin.conditions.language import Path
from tocsin.conditions.meaning import Event, Instant, lookup
from tocsin.syntax import parse_timestamp

Mark = tuple[str, Hashable]

_AS_INSTANT = ("left string", "right string")


class KeyField(NamedTuple):
    """A field on one side, 0 the left and 1 the right, of an equality between two tables."""

    path: Path
    side: int


def marks_of(row: Event, key: KeyField) -> list[Mark]:
    """The marks of what a row holds in a field, each once."""
    found = lookup(row, key.path)
    values = found if isinstance(found, list) else [found]
    return list(dict.fromkeys(mark for value in values for mark in _marks(value, key.side)))


def _marks(value: object, side: int) -> Iterator[Mark]:
    if isinstance(value, bool):
        yield "boolean", value
    elif isinstance(value, int | float | Decimal):
        yield "number", value
    elif isinstance(value, str):
        yield "string", value
        instant = parse_timestamp(value)
        if instant is not None:
            yield _AS_INSTANT[side], instant
    elif isinstance(value, Instant):
        yield "timestamp", value.nanos
        yield _AS_INSTANT[1 - side], value.nanos


class Words:
    """A number for each mark that is in use. A mark that nobody uses any more frees its number."""

    def __init__(self) -> None:
        self._number: dict[Mark, int] = {}
        self._uses: list[int] = []
        self._marks: list[Mark | None] = []
        self._free: list[int] = []

    def __len__(self) -> int:
        return len(self._number)

    def __contains__(self, mark: Mark) -> bool:
        return mark in self._number

    def use(self, marks: Iterable[Mark]) -> tuple[int, ...]:
        """The numbers of these marks, each used once more."""
        return tuple(self._use(mark) for mark in marks)

    def numbers(self, marks: Iterable[Mark]) -> tuple[int, ...]:
        """The numbers of these marks, all of which are in use."""
        return tuple(self._number[mark] for mark in marks)

    def release(self, numbers: Iterable[int]) -> None:
        """Use these numbers once less."""
        for number in numbers:
            self._uses[number] -= 1
            if not self._uses[number]:
                mark = self._marks[number]
                if mark is not None:
                    del self._number[mark]
                self._marks[number] = None
                self._free.append(number)

    def _use(self, mark: Mark) -> int:
        number = self._number.get(mark)
        if number is None:
            number = self._free.pop() if self._free else self._new()
            self._number[mark] = number
            self._marks[number] = mark
        self._uses[number] += 1
        return number

    def _new(self) -> int:
        self._uses.append(0)
        self._marks.append(None)
        return len(self._uses) - 1
