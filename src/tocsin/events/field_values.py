"""What a batch of Python events holds of one field: the values as they are found, then made into cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from tocsin.errors import EventError
from tocsin.events.cells import (
    BooleanCells,
    Cells,
    DecimalCells,
    NumberCells,
    Path,
    Rows,
    StringCells,
    TimestampCells,
    path_text,
    texts_of,
)
from tocsin.events.number_pairs import split_floats, split_integers, split_mixed

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_DAY = date(1970, 1, 1)


class Instant(NamedTuple):
    """A point in time: whole seconds since 1970, rounded down, and nanoseconds within the second."""

    second: int
    nano: int


Scalar = str | int | float | bool | Decimal | Instant

SIMPLE = frozenset({str, int, float, bool})
"""The types that are what they are: a value of exactly one of these needs no look."""


def scalar_of(value: object, field: Path, row: int) -> Scalar | None:
    """The value as a Scalar of exactly one of its types; None when it counts as missing.

    A float may still be NaN: whoever gathers many drops those at once.
    """
    if type(value) in SIMPLE:
        return value  # type: ignore[return-value]
    if isinstance(value, datetime):
        return _instant(value)
    if isinstance(value, date):
        return Instant((value - _FIRST_DAY).days * 86_400, 0)
    if isinstance(value, Decimal):
        return _decimal(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int) or (isinstance(value, np.integer) and value.dtype.kind != "m"):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value)
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, np.datetime64):
        return _instant_of_numpy(value)
    if type(value).__name__ == "NAType" and type(value).__module__.startswith("pandas."):
        return None
    raise EventError(
        f"field {path_text(field)} holds a value of type {type_name(value)}, which no condition can test",
        row=row,
    )


def type_name(value: object) -> str:
    """How a message names the type of a value."""
    if value is None:
        return "null"
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def _decimal(value: Decimal) -> Decimal | float | None:
    """An infinite decimal is the infinite double: it compares the same, and has no digits."""
    if value.is_nan():
        return None
    if value.is_infinite():
        return float(value)
    return value if type(value) is Decimal else Decimal(value)


def _instant(value: datetime) -> Instant | None:
    """A datetime without a zone is UTC. pandas' Timestamp is one, with nanoseconds, and so is its NaT."""
    if value != value:
        return None
    if value.utcoffset() is None:
        value = value.replace(tzinfo=UTC)
    since: timedelta = value - _EPOCH
    nano = since.microseconds * 1_000 + int(getattr(since, "nanoseconds", 0))
    return Instant(since.days * 86_400 + since.seconds, nano)


def _instant_of_numpy(value: np.datetime64) -> Instant | None:
    if np.isnat(value):
        return None
    second = value.astype("datetime64[s]")
    nano = (value - second).astype("timedelta64[ns]")
    return Instant(int(second.astype(np.int64)), int(nano.astype(np.int64)))


class Found:
    """What a batch holds of one field: the events and values of its cells, in order."""

    __slots__ = ("listed", "objects", "repeated", "rows", "values")

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.values: list[Any] = []  # of Scalar; each maker of cells below takes one kind of them
        self.listed: list[int] = []
        self.objects: list[int] = []
        self.repeated = False

    def add(self, row: int, value: Scalar) -> None:
        """A value of the event `row`, which comes after those added before."""
        self.rows.append(row)
        self.values.append(value)

    def add_list(self, row: int, values: Sequence[Scalar]) -> None:
        """A list of the event `row`, which comes after what was added before."""
        self.listed.append(row)
        self.repeated = True
        self.rows.extend(repeat(row, len(values)))
        self.values.extend(values)


def cells_of(field: Path, found: Found) -> Cells:
    """The cells of one field; EventError for a text with half a surrogate pair.

    The values are of one kind as a rule, and sorted out when not.
    """
    kinds = {_KIND_OF_TYPE[kind] for kind in set(map(type, found.values))}
    try:
        if len(kinds) == 1:
            kind = kinds.pop()
            return Cells(**{kind: _MAKERS[kind](found.rows, found.values)})
        return Cells(**{kind: _MAKERS[kind](*_of_kind(kind, found)) for kind in kinds})
    except UnicodeEncodeError:
        raise surrogate_error(zip(repeat(field), found.rows, found.values, strict=False)) from None


def rows_of(rows: list[int]) -> Rows:
    """Row numbers as cells keep them."""
    return np.array(rows, np.int32)


def _of_kind(kind: str, found: Found) -> tuple[list[int], list[Any]]:
    """The rows and values of one kind, out of a field that holds several."""
    places = [i for i, value in enumerate(found.values) if _KIND_OF_TYPE[type(value)] == kind]
    return [found.rows[i] for i in places], [found.values[i] for i in places]


def _numbers(rows: list[int], values: list[Any]) -> NumberCells | None:
    types = set(map(type, values))
    row = rows_of(rows)
    if float not in types:
        return NumberCells(row, *split_integers(values))
    if int in types:
        known = [i for i, value in enumerate(values) if value == value]
        return NumberCells(row[known], *split_mixed([values[i] for i in known])) if known else None
    floats = np.array(values, np.float64)
    kept = floats == floats
    if not kept.all():
        row, floats = row[kept], floats[kept]
    return NumberCells(row, *split_floats(floats)) if len(row) else None


def _decimals(rows: list[int], values: list[Any]) -> DecimalCells:
    places: dict[Decimal, int] = {}
    code = [places.setdefault(value, len(places)) for value in values]
    return DecimalCells(rows_of(rows), np.array(code, np.int32), list(places))


def _strings(rows: list[int], values: list[Any]) -> StringCells:
    places: dict[str, int] = {}
    code = [places.setdefault(value, len(places)) for value in values]
    return StringCells(rows_of(rows), np.array(code, np.int32), texts_of(list(places)))


def surrogate_error(cells: Iterable[tuple[Path, int, object]]) -> EventError:
    """The error of the first of these cells (field, row, value) whose text UTF-8 cannot say."""
    for field, row, value in cells:
        try:
            str(value).encode()
        except UnicodeEncodeError as error:
            reason = f"the text of field {path_text(field)} has half a surrogate pair at {error.start}"
            return EventError(reason, row=row)
    raise AssertionError("every text is valid")


def _booleans(rows: list[int], values: list[Any]) -> BooleanCells:
    return BooleanCells(rows_of(rows), np.array(values, np.uint8))


def _timestamps(rows: list[int], values: list[Any]) -> TimestampCells:
    second = np.array([instant.second for instant in values], np.int64)
    nano = np.array([instant.nano for instant in values], np.int64)
    return TimestampCells(rows_of(rows), second, nano)


_KIND_OF_TYPE: dict[type, str] = {
    int: "numbers",
    float: "numbers",
    Decimal: "decimals",
    str: "strings",
    bool: "booleans",
    Instant: "timestamps",
}
_MAKERS: dict[str, Callable[[list[int], list[Any]], Any]] = {
    "numbers": _numbers,
    "decimals": _decimals,
    "strings": _strings,
    "booleans": _booleans,
    "timestamps": _timestamps,
}
