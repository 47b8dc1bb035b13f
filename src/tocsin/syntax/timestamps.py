"""Timestamps: RFC 3339 text to nanoseconds since 1970-01-01T00:00:00Z, and back.

Python's own datetime stops at microseconds and at years 1 to 9999 in UTC; a timestamp here is a plain
int, so nanoseconds and the edges of the calendar are exact. What RFC 3339 leaves open is decided so:

- the date and the time may be joined by `T`, `t` or one space, and the zone `Z` may be `z`; a zone is
  required, and `-00:00` (zone unknown) is UTC, because the instant is known all the same;
- a fraction may have any number of digits; what is finer than a nanosecond is cut off, and refused in a
  rule (`is_too_fine`), where it would say something that no comparison can see;
- second 60 reads only where a leap second can be, in the last minute (UTC) of a month, and is the same
  instant as the first second of the next month, as POSIX counts.
"""

from __future__ import annotations

import re
from datetime import date

NANOS = 1_000_000_000
DAY = 86_400
EPOCH_ORDINAL = date(1970, 1, 1).toordinal()
CYCLE_DAYS = 146_097
"""The days of 400 years, after which the calendar repeats: year 0 is read as 400 less this."""

FIRST_SECOND = -62_167_219_200
LAST_SECOND = 253_402_300_799
"""From 0000-01-01T00:00:00Z to 9999-12-31T23:59:59Z: what four digits of year can say in UTC."""
WIDEST_OFFSET = 23 * 3600 + 59 * 60

DATE_TIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]"
    r"([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9]|60)(?:\.([0-9]+))?"
    r"(?:[Zz]|([+-])([01][0-9]|2[0-3]):([0-5][0-9]))"
)


def parse_timestamp(text: str) -> int | None:
    """The instant in nanoseconds since 1970 UTC, or None when the text is not RFC 3339.

    What a fraction says beyond nanoseconds is cut off.
    """
    found = DATE_TIME.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second, fraction, sign, offset_hours, offset_minutes = found.groups()
    days = _days_since_1970(int(year), int(month), int(day))
    if days is None:
        return None
    seconds = days * DAY + int(hour) * 3600 + int(minute) * 60 + int(second)
    if sign:
        offset = int(offset_hours) * 3600 + int(offset_minutes) * 60
        seconds += offset if sign == "-" else -offset
    if second == "60" and not _starts_a_month(seconds):
        return None
    if fraction is None:
        return seconds * NANOS
    return seconds * NANOS + int(fraction[:9].ljust(9, "0"))


def is_too_fine(text: str) -> bool:
    """Whether a timestamp's text says something finer than nanoseconds."""
    found = DATE_TIME.fullmatch(text)
    return found is not None and bool((found[7] or "")[9:].strip("0"))


def print_timestamp(nanos: int) -> str:
    """The canonical text: in UTC, with no more digits of fraction than needed.

    Instants just outside the years 0000 to 9999, which an offset can name, are printed with one; so
    everything that parse_timestamp gives is printed, and reads back as the same instant. Raises
    ValueError beyond that.
    """
    seconds, nano = divmod(nanos, NANOS)
    zone = "Z"
    if seconds < FIRST_SECOND:
        seconds, zone = seconds + WIDEST_OFFSET, "+23:59"
    elif seconds > LAST_SECOND:
        seconds, zone = seconds - WIDEST_OFFSET, "-23:59"
    if not FIRST_SECOND <= seconds <= LAST_SECOND:
        raise ValueError("an instant outside the years 0000 to 9999 has no RFC 3339 text")
    days, second_of_day = divmod(seconds, DAY)
    year, month, day = _calendar(days)
    minutes, second = divmod(second_of_day, 60)
    hour, minute = divmod(minutes, 60)
    fraction = f".{nano:09d}".rstrip("0") if nano else ""
    return f"{year:04d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}{fraction}{zone}"


def _days_since_1970(year: int, month: int, day: int) -> int | None:
    try:
        ordinal = date(year or 400, month, day).toordinal()
    except ValueError:
        return None
    return ordinal - EPOCH_ORDINAL - (0 if year else CYCLE_DAYS)


def _calendar(days: int) -> tuple[int, int, int]:
    """Year, month and day of a day that is not before year 0 and not after year 9999."""
    ordinal = days + EPOCH_ORDINAL
    if ordinal >= 1:
        then = date.fromordinal(ordinal)
        return then.year, then.month, then.day
    then = date.fromordinal(ordinal + CYCLE_DAYS)
    return then.year - 400, then.month, then.day


def _starts_a_month(seconds: int) -> bool:
    """Whether this second, in UTC, is the first of a month."""
    days, second_of_day = divmod(seconds, DAY)
    if second_of_day:
        return False
    return seconds > LAST_SECOND or _calendar(days)[2] == 1
