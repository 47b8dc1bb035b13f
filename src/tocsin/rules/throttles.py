"""How often a rule may alert: `throttle = '10 minutes'`, for each value of `dedup = 'user.name'` apart.

Both are metadata: options of a trigger's `with`, or columns of a table of rules. A throttle is a length
of time (syntax/durations.py); a dedup is a field as conditions write it. They are read here with
every rule, so that a mistake in them is a mistake of the rule, wherever rules are read. What they do to
the alerts of a stream is in spark/stream/stream_throttle.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal, InvalidOperation
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tocsin.arrays.dtypes import Ints, Longs
from tocsin.conditions.language import Cursor, Path, read_field, tokenize
from tocsin.rules.joins.parser import read_aliased_field
from tocsin.rules.metadata_values import ENABLED, given_values, parse_enabled
from tocsin.syntax import Problem, parse_duration

THROTTLE, DEDUP = "throttle", "dedup"
"""The names of the metadata that are read here."""

LONELY_DEDUP = "'dedup' says for which values a throttle counts apart: it needs a 'throttle'"

_EXACTLY = Context(prec=MAX_PREC, Emin=MIN_EMIN, Emax=MAX_EMAX)
"""No digit is rounded away."""


def parse_throttle(value: object) -> int:
    """A throttle in microseconds. ValueError says what is wrong with it."""
    return parse_duration(value, "a throttle", "10 minutes")


def read_dedup(
    value: object, aliases: Sequence[str] = (), old_of: str | None = None
) -> tuple[Path | None, list[Problem]]:
    """The field that a dedup names, and what is wrong with it, at offsets in its text.

    With one alias, a first name that is the alias is left out; with several, it must be one and stays. For
    `old_of` see rules/joins/parser.py.
    """
    if not isinstance(value, str):
        return None, [(0, f"expected the name of a field, found {value!r:.100}")]
    cursor = Cursor(tokenize(value))
    if len(aliases) > 1:
        path = read_aliased_field(cursor, aliases, old_of)
    else:
        path = read_field(cursor, next(iter(aliases), None))
    if path is not None and not cursor.at_end():
        cursor.expected("the end of the field's name")
    return (None if cursor.failed else path), cursor.problems


def dedup_text(text: str) -> str:
    """The text that stands for a value, given its JSON text: numbers that are equal are one value.

    Numbers are taken by their digits, since a decimal of a table may have more of them than a float.
    """
    if text[0] in '"[{tf' or not any(mark in text for mark in ".eE"):
        return text
    if math.isinf(float(text)):
        return text
    try:
        number = Decimal(text)
    except InvalidOperation:  # an exponent below those of all decimals
        return text
    return str(int(number)) if number == number.to_integral_value() else str(_EXACTLY.normalize(number))


def option_problems(
    options: Mapping[str, object], aliases: Sequence[str], old_of: str | None = None
) -> dict[str, Problem]:
    """What is wrong with a rule's throttle, dedup and enabled: by option, with an offset in its text."""
    problems: dict[str, Problem] = {}
    read: tuple[tuple[str, Callable[[object], object]], ...] = (
        (THROTTLE, parse_throttle),
        (ENABLED, parse_enabled),
    )
    for name, parse in read:
        if name in options:
            try:
                parse(options[name])
            except ValueError as error:
                problems[name] = (0, str(error))
    if DEDUP in options:
        wrong = read_dedup(options[DEDUP], aliases, old_of)[1]
        if wrong:
            problems[DEDUP] = wrong[0]
        elif THROTTLE not in options:
            problems[DEDUP] = (0, LONELY_DEDUP)
    return problems


class Throttles(NamedTuple):
    """The throttles of many rules, by row.

    length    int64[n]   microseconds; 0 where a rule has no throttle
    field     int32[n]   a place in `fields`; -1 where a rule has no dedup
    fields    the different fields that dedups name
    """

    length: Longs
    field: Ints
    fields: tuple[Path, ...]

    @property
    def any(self) -> bool:
        """Whether any rule has a throttle."""
        return bool(self.length.any())


def read_throttles(metadata: pa.Table | None, count: int) -> tuple[Throttles, dict[int, str]]:
    """The throttles of `count` rules from the columns of their metadata; by row, why some are wrong.

    Blank texts are none, as tables write what is not given. Every different text is read once. Names of
    tables have been left out of a dedup when its trigger was read.
    """
    length = np.zeros(count, np.int64)
    field = np.full(count, -1, np.int32)
    wrong: dict[int, str] = {}
    fields: dict[Path, int] = {}
    for rows, value in given_values(metadata, THROTTLE):
        try:
            length[rows] = parse_throttle(value)
        except ValueError as error:
            wrong.update(dict.fromkeys(rows.tolist(), f"throttle: {error}"))
    for rows, value in given_values(metadata, DEDUP):
        path, problems = read_dedup(value)
        if path is None:
            found = dict.fromkeys(rows.tolist(), f"dedup: {problems[0][1]}")
        else:
            field[rows] = fields.setdefault(path, len(fields))
            found = dict.fromkeys(rows[length[rows] == 0].tolist(), LONELY_DEDUP)
        wrong = found | wrong
    return Throttles(length, field, tuple(fields)), wrong
