"""Any Python scalar as one of the six exact types that cells are made of, or as missing."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from tocsin.errors import EventError
from tocsin.events.cells import Path
from tocsin.events.field_paths import path_text

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
