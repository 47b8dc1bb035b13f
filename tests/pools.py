"""The fields and values that random conditions and random events are made of.

Pools are small, and conditions and events draw from the same ones, so that matches are frequent. They
hold what engines get wrong: integers that no double holds, texts that fold oddly, wildcards as plain
characters, strings that read as something else.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

from tocsin.conditions.language import Literal, Path
from tocsin.events import Kind
from tocsin.syntax import parse_timestamp

FIELDS: dict[Path, Kind] = {
    ("n",): Kind.NUMBER,
    ("m",): Kind.NUMBER,
    ("s",): Kind.STRING,
    ("t",): Kind.STRING,
    ("flag",): Kind.BOOLEAN,
    ("at",): Kind.TIMESTAMP,
    ("ip",): Kind.ADDRESS,
    ("user",): Kind.STRING,
    ("user", "age"): Kind.NUMBER,
    ("user", "home", "city"): Kind.STRING,
    ("items",): Kind.NUMBER,
    ("items", "price"): Kind.NUMBER,
    ("items", "tags"): Kind.STRING,
    ("user.age",): Kind.NUMBER,
    ('odd "name" ☃',): Kind.STRING,
    ("and",): Kind.BOOLEAN,
}
"""Every field of the random cases, with the kind that it holds and is asked about most of the time."""

INTEGERS = [0, 1, 5, -1, 6, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)]
HUGE_INTEGERS = [2**63, 2**64 - 1, 2**64, -(2**63) - 1, 10**30, -(10**30), 10**400]
FLOATS = [0.1, -0.0, 1.5, 5.0, 1e308, 2.0**53, 2.0**63, -2.5, 5e-324]
NOT_JSON_FLOATS = [float("inf"), float("-inf"), float("nan")]
DECIMAL_TEXTS = [
    "0.1",
    "1.5",
    "5.0",
    "0.0",
    "-2.5",
    "1e308",
    "9007199254740993.0",
    "9223372036854775807.0",
    "1e30",
]
"""Literals with a point or an exponent, in the one form that the parser gives them."""
DECIMALS = [
    Decimal(text)
    for text in (
        "0.1",
        "0.10",
        "1.5",
        "5",
        "0",
        "-2.5",
        "9007199254740993",
        "1E+30",
        "9223372036854775807",
        "NaN",
    )
] + [Decimal.from_float(0.1), Decimal("Infinity")]

STRINGS = ["", "a", "b", "abc", "a%c", "a_c", "100%", "a\\c", "\\", "A", "a\nb", "a\x00b", "5", "true"]
UNICODE_STRINGS = [
    "ß",
    "SS",
    "ss",
    "İ",
    "i",
    "ſ",
    "\u212a",
    "k",
    "é",
    "e\u0301",
    "É",
    "😀",
    "a😀c",
    "\uffff",
    "Σς",
]
TIMESTAMP_TEXTS = [
    "2026-01-31T12:00:00Z",
    "2026-01-31t13:00:00+01:00",
    "2026-01-31 12:00:00.000000001z",
    "2026-01-31T12:00:00.5-00:00",
    "1969-12-31T23:59:59.999999999Z",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999999999Z",
    "2024-02-29T00:00:00Z",
    "2016-12-31T23:59:60Z",
]
ALMOST_TIMESTAMPS = ["2026-01-31", "2026-01-31T12:00:00", "2025-02-29T00:00:00Z", "2026-01-31T24:00:00Z"]
ADDRESSES = ["10.0.0.1", "10.1.2.3", "::ffff:10.0.0.1", "192.168.0.1", "::1", "fe80::1%eth0", "2001:db8::1"]
ALMOST_ADDRESSES = ["10.0.0.256", "010.0.0.1", " 10.0.0.1", "10.0.0.1/8", "::1::"]

LIKE_PATTERNS = [
    "",
    "%",
    "_",
    "a%",
    "%c",
    "a_c",
    "%b%",
    "a\\%c",
    "a\\_c",
    "%\\\\%",
    "%%_%",
    "__",
    "100\\%",
    "%a_%",
]
FOLDED_PATTERNS = [*LIKE_PATTERNS, "ß", "ss", "İ", "S", "K", "É", "É%", "ABC", "%σ%", "E\u0301"]
EXPRESSIONS = [
    "",
    "a",
    "^a.c$",
    "[0-9]+",
    "(?i)k",
    "\\pL",
    "^$",
    "^.$",
    "(?s)a.b",
    "a\x00b",
    "^(a|ab)*c",
    "😀|é",
]
NETWORKS = [
    "10.0.0.0/8",
    "10.0.0.1",
    "::ffff:10.0.0.0/104",
    "::/0",
    "0.0.0.0/0",
    "fe80::/10",
    "2001:db8::/32",
]

MOMENTS = [
    datetime(2026, 1, 31, 12),
    datetime(2026, 1, 31, 12, tzinfo=UTC),
    datetime(2026, 1, 31, 14, 0, 0, 500_000, tzinfo=timezone(timedelta(hours=2))),
    datetime(1969, 12, 31, 23, 59, 59, 999_999),
    datetime(1, 1, 1),
    datetime(9999, 12, 31, 23, 59, 59, 999_999),
]
DATES = [date(2024, 2, 29), date(1, 1, 1), date(1969, 12, 31)]


def instant(text: str) -> int:
    """The nanoseconds of a text that is known to be a timestamp."""
    nanos = parse_timestamp(text)
    assert nanos is not None
    return nanos


LITERALS: dict[Kind, list[Literal]] = {
    Kind.NUMBER: [
        *(Literal(Kind.NUMBER, value) for value in INTEGERS),
        *(Literal(Kind.NUMBER, text) for text in DECIMAL_TEXTS),
    ],
    Kind.STRING: [Literal(Kind.STRING, text) for text in [*STRINGS, *UNICODE_STRINGS, TIMESTAMP_TEXTS[0]]],
    Kind.BOOLEAN: [Literal(Kind.BOOLEAN, False), Literal(Kind.BOOLEAN, True)],
    Kind.TIMESTAMP: [Literal(Kind.TIMESTAMP, instant(text)) for text in TIMESTAMP_TEXTS],
}

JSON_VALUES: dict[Kind, list[object]] = {
    Kind.NUMBER: [*INTEGERS, *HUGE_INTEGERS, *FLOATS],
    Kind.STRING: [*STRINGS, *UNICODE_STRINGS],
    Kind.BOOLEAN: [False, True],
    Kind.TIMESTAMP: [*TIMESTAMP_TEXTS, *ALMOST_TIMESTAMPS],
    Kind.ADDRESS: [*ADDRESSES, *ALMOST_ADDRESSES],
}
"""What a field of a kind may hold in JSON, where timestamps and addresses are strings."""

VALUES: dict[Kind, list[object]] = {
    **JSON_VALUES,
    Kind.NUMBER: [*JSON_VALUES[Kind.NUMBER], *NOT_JSON_FLOATS, *DECIMALS],
    Kind.TIMESTAMP: [*JSON_VALUES[Kind.TIMESTAMP], *MOMENTS, *DATES],
}
"""The same for events as Python objects."""
