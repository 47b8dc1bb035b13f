"""How often a stream looks for events: `every='5 seconds'`."""

from __future__ import annotations

from tocsin.errors import UsageError
from tocsin.syntax.durations import parse_duration

_MILLISECOND = 1_000


def milliseconds_of(every: str) -> int:
    """The time from one look to the next, as exactly as Spark counts; UsageError when it is none.

    Nothing of Spark is needed to tell.
    """
    try:
        length = parse_duration(every, "it", "5 seconds")
        if length % _MILLISECOND:
            raise ValueError("it is a whole number of milliseconds")
    except ValueError as error:
        raise UsageError(f"every: {error}") from error
    return length // _MILLISECOND
