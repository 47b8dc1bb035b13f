"""Stretches of time of one width, chosen so that a history has few of them.

The widths form a ladder in which each divides the next, and all buckets are counted from one Monday. So
counts by a smaller width add up to those by a larger one exactly, and tasks that saw different parts of
a history, each with a width of its own, can be put together: the width of the whole is never smaller
than that of a part.
"""

from __future__ import annotations

from tocsin.arrays.dtypes import Longs

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_YEAR = 364 * _DAY
WIDTHS = (
    *(1, 5, 15),
    *(_MINUTE, 5 * _MINUTE, 15 * _MINUTE),
    *(_HOUR, 3 * _HOUR, 6 * _HOUR, 12 * _HOUR),
    *(_DAY, 7 * _DAY, 28 * _DAY),
    *(_YEAR, 10 * _YEAR, 100 * _YEAR, 1_000 * _YEAR, 10_000 * _YEAR),
)
"""In seconds. The last holds all times that there are in few buckets."""

MONDAY = -3 * _DAY
"""The second, from 1970 on, at which a bucket of every width starts: 1969-12-29."""

MOST_BUCKETS = 60


def bucket_numbers(seconds: Longs, width: int) -> Longs:
    """The number of each instant's bucket."""
    return (seconds - MONDAY) // width


def bucket_start(number: int, width: int) -> int:
    """The second at which a bucket starts."""
    return number * width + MONDAY


def width_for(first: int, last: int, least: int = WIDTHS[0]) -> int:
    """The smallest width, from `least` on, by which these two seconds are few enough buckets apart."""
    for width in WIDTHS:
        if width >= least and (last - MONDAY) // width - (first - MONDAY) // width < MOST_BUCKETS:
            return width
    return WIDTHS[-1]


_UNITS = (("week", 7 * _DAY), ("day", _DAY), ("hour", _HOUR), ("minute", _MINUTE), ("second", 1))


def width_text(width: int) -> str:
    """`6 hours`, `1 day`."""
    for unit, seconds in _UNITS:
        if width % seconds == 0:
            count = width // seconds
            return f"{count:,} {unit}{'s' * (count > 1)}"
    return f"{width} seconds"
