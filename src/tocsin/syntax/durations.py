"""Lengths of time as people write them: `10 minutes`, `90s`, `1.5 hours`, `1 day 12 hours`, `1h30m`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

_SECOND = 1_000_000
_UNITS: Mapping[str, int] = {
    spelling: length
    for length, spellings in (
        (_SECOND // 1000, ("ms", "millisecond", "milliseconds")),
        (_SECOND, ("s", "sec", "secs", "second", "seconds")),
        (60 * _SECOND, ("m", "min", "mins", "minute", "minutes")),
        (3600 * _SECOND, ("h", "hr", "hrs", "hour", "hours")),
        (86_400 * _SECOND, ("d", "day", "days")),
        (7 * 86_400 * _SECOND, ("w", "week", "weeks")),
    )
    for spelling in spellings
}
LONGEST_DAYS = 36_500
_LONGEST = LONGEST_DAYS * 86_400 * _SECOND
_PART = re.compile(r"\s*([0-9]{1,15}(?:\.[0-9]{1,15})?)\s*([^\W\d_]*)\s*")
_NAMED_UNITS = "milliseconds, seconds, minutes, hours, days or weeks"


def parse_duration(value: object, what: str, example: str) -> int:
    """A length of time in microseconds: numbers with units, which add up.

    ValueError says what is wrong with it, of `what` (`a throttle`) and with an `example` (`10 minutes`).
    """
    expected = f"expected a length of time such as '{example}'"
    if not isinstance(value, str):
        raise ValueError(f"{expected}, found {value!r:.100}: it is written as text, with its unit")
    total, at = Fraction(0), 0
    seen: set[int] = set()
    while at < len(value) or not seen:
        found = _PART.match(value, at)
        if found is None:
            raise ValueError(f"{expected}, found {value!r:.100}")
        number, unit = found.groups()
        if not unit:
            raise ValueError(f"expected a unit after {number}: {_NAMED_UNITS}")
        length = _UNITS.get(unit.lower())
        if length is None:
            raise ValueError(f"{unit[:100]!r} is not a unit here: expected {_NAMED_UNITS}")
        if length in seen:
            raise ValueError(f"the unit {unit!r} is given twice")
        seen.add(length)
        total += Fraction(number) * length
        at = found.end()
    if total.denominator != 1:
        raise ValueError(f"{what} is a whole number of microseconds")
    if not 0 < total <= _LONGEST:
        raise ValueError(f"{what} is longer than nothing, and at most {LONGEST_DAYS:,} days")
    return int(total)
