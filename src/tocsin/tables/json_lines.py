"""Lines of JSON to objects, by the same parser on every path.

A record is a line that is not blank; blank lines (spaces, tabs and carriage returns only) are no
records and do not count. Each value keeps its own kind, integers of any size are exact, and the last
of duplicate keys wins. Python's additions NaN, Infinity and -Infinity are taken, as floats. What is
no object is set apart with a reason: invalid UTF-8 or JSON, half a surrogate pair in an escape,
anything but an object, a line or a number too long, nesting too deep.

The limits are fixed numbers, not whatever the interpreter happens to bear, so that a line is refused
on every path or on none.
"""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal, InvalidOperation
from json.decoder import WHITESPACE, scanstring  # type: ignore[attr-defined]
from typing import IO, Any, NamedTuple

import numpy as np

from tocsin.tables.records import BYTE_ORDER_MARK, Reject, readable

DEEPEST = 500
LONGEST_LINE = 64 * 2**20
MOST_DIGITS = 100_000
BLANKS = b" \t\r\n"

_DIGITS_FOR_INT = 600  # Python may be set to refuse longer ones, but not less than 640
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')
_WORD = re.compile(r'"(?:[^"\\]|\\.)*"|-?Infinity|NaN|-?[0-9.]+(?:[eE]\+?([0-9]+))?')
"""Strings, which stay as they are, and numbers; the exponent of one that is not less than 1."""
_LONG_EXPONENT = 6
"""Digits of an exponent that not every reader takes: a database may refuse 1e999999."""
_ONE_LINE = str.maketrans("\r\n", "  ")
_SHOWN = 1_000
_MANY_BLANK = 64
"""After so many blank lines it pays to look for the end of them."""


class Parsed(NamedTuple):
    """Objects with the row number and the line of each, and the records that are none."""

    objects: list[dict[str, object]]
    rows: list[int]
    lines: list[bytes]
    rejects: list[Reject]


def record_lines(stream: IO[bytes], start: int = 0, stop: int | None = None) -> Iterator[bytes]:
    """The lines of a stream that are not blank, from its place `start` up to `stop`.

    A byte order mark at the very start is skipped. Of a line that is too long to be read
    only enough is given for `parse_lines` to say so.
    """
    place = start
    blank = 0
    while stop is None or place < stop:
        if blank >= _MANY_BLANK:
            place += _skip_blank(stream)
            blank = 0
            continue
        line = stream.readline(LONGEST_LINE + 1)
        if not line:
            return
        mark = place == 0 and line.startswith(BYTE_ORDER_MARK)
        place += len(line)
        if mark:
            line = line[len(BYTE_ORDER_MARK) :]
        part = line
        while not part.endswith(b"\n") and len(part) > LONGEST_LINE:
            part = stream.readline(LONGEST_LINE + 1)
            place += len(part)
            line = line if line.strip(BLANKS) else part
        if line.strip(BLANKS):
            blank = 0
            yield line
        else:
            blank += 1


def _skip_blank(stream: IO[bytes]) -> int:
    """Read on over the blank lines that the stream has at hand; how many bytes they were.

    One by one, a packed gigabyte of line feeds would take many minutes.
    """
    skipped = 0
    while isinstance(stream, io.BufferedReader):
        ready = stream.peek()
        more = ready.rfind(b"\n", 0, len(ready) - len(ready.lstrip(BLANKS))) + 1
        if not more:
            break
        skipped += len(stream.read(more))
    return skipped


def parse_lines(lines: Iterable[bytes], first_row: int = 0) -> Parsed:
    """Read lines of which the first that is not blank has the number `first_row`."""
    parsed = Parsed([], [], [], [])
    row = first_row
    for line in lines:
        if not line.strip(BLANKS):
            continue
        found = _object_or_reason(line)
        if isinstance(found, str):
            shown = line if len(line) <= LONGEST_LINE else line[:_SHOWN]
            parsed.rejects.append(Reject(row, found, readable(shown).rstrip("\r\n")))
        else:
            parsed.objects.append(found)
            parsed.rows.append(row)
            parsed.lines.append(line)
        row += 1
    return parsed


def integer_of_digits(text: str) -> int:
    """The integer that a text of digits writes; ValueError for more than MOST_DIGITS of them."""
    if len(text) <= _DIGITS_FOR_INT:
        return int(text)
    if len(text) > MOST_DIGITS:
        raise ValueError(f"a number of {len(text):,} digits; at most {MOST_DIGITS:,} are read")
    return int(Decimal(text))


_DECODER = json.JSONDecoder()
_EXACT_DECODER = json.JSONDecoder(parse_int=integer_of_digits)
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def _object_or_reason(line: bytes) -> dict[str, object] | str:
    """The object, or why there is none."""
    if len(line) > LONGEST_LINE:
        return f"longer than {LONGEST_LINE:,} bytes"
    if line.count(b"[") + line.count(b"{") > DEEPEST and _depth(line) > DEEPEST:
        return f"nested more than {DEEPEST} deep"
    try:
        return object_of(line, _decoded)
    except UnicodeDecodeError as error:
        return f"not valid UTF-8 at byte {error.start + 1}"
    except json.JSONDecodeError as error:
        return f"not valid JSON at character {error.pos + 1}: {error.msg}"
    except ValueError as error:
        return str(error)


class NotAnObject(ValueError):
    """A line that is another value."""


class HalfAPair(ValueError):
    """A string that is not text: an escape can spell half of a surrogate pair."""


def object_of(line: bytes, decode: Callable[[str], object]) -> dict[str, Any]:
    """The object that a line is; NotAnObject, HalfAPair, UnicodeDecodeError or what `decode` raises."""
    found = decode(line.decode())
    if not isinstance(found, dict):
        raise NotAnObject(f"not an object but {_a_kind(found)}")
    if _SURROGATE_ESCAPE.search(line) and _has_half_a_pair(found):
        raise HalfAPair("half a surrogate pair in a string")
    return found


def _decoded(text: str) -> object:
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError:
        raise
    except ValueError:  # an integer of more digits than int() takes
        return _EXACT_DECODER.decode(text)


def _depth(line: bytes) -> int:
    """How deep brackets are nested, those in strings left out."""
    marks = np.frombuffer(_STRING.sub(b"", line), np.uint8)
    opening = ((marks == ord("[")) | (marks == ord("{"))).astype(np.int64)
    closing = ((marks == ord("]")) | (marks == ord("}"))).astype(np.int64)
    return int(np.cumsum(opening - closing).max(initial=0))


def _a_kind(value: object) -> str:
    if value is None:
        return "null"
    kinds = {bool: "a Boolean", str: "a string", list: "a list"}
    return kinds.get(type(value), "a number")


def _has_half_a_pair(found: dict[str, object]) -> bool:
    stack: list[object] = [found]
    while stack:
        value = stack.pop()
        if isinstance(value, str):
            if _SURROGATE.search(value):
                return True
        elif isinstance(value, dict):
            stack.extend(value)
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)
    return False


def member_text(event: dict[str, object], line: bytes, name: str) -> str | None:
    """The JSON text of a top-level member of an event that `line` gave; None when it is missing."""
    value = event.get(name)

    def written() -> str:
        text = line.decode()
        start, end = member_span(text, name)
        return text[start:end]

    return _value_text(value, written)


def value_text(text: str) -> str | None:
    """The same of a value that was found to be JSON, from its own text."""
    return _value_text(_decoded(text), lambda: text)


def _value_text(value: object, written: Callable[[], str]) -> str | None:
    """The text of a value, of which another one was written.

    A number that Python would not write as it was read (1e400 is infinite to it, and it refuses to
    write very long integers) is copied from what was written. What JSON has no word for is written by what
    it has: Infinity, and what is as good as infinite, as a number that any reader finds infinite, NaN as
    null. The text is one line even where the record is several, as a record of Kafka may be.
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    try:
        return _ENCODER.encode(value)
    except ValueError:
        return _WORD.sub(_as_json, written()).translate(_ONE_LINE)


def _as_json(found: re.Match[str]) -> str:
    """A number as JSON has it."""
    word, exponent = found[0], found[1] or ""
    if word == "NaN":
        return "null"
    is_infinite = word.endswith("Infinity") or (len(exponent) >= _LONG_EXPONENT and math.isinf(float(word)))
    if word[0] == '"' or not is_infinite:
        return word
    return "-1e999" if word[0] == "-" else "1e999"


def member_span(text: str, name: str) -> tuple[int, int]:
    """Where the value of an object's member stands in its text; of equal names the last one counts."""
    span = (0, 0)
    place = WHITESPACE.match(text, text.index("{") + 1).end()
    while text[place] != "}":
        key, place = scanstring(text, place + 1)
        start = WHITESPACE.match(text, text.index(":", place) + 1).end()
        _, place = _EXACT_DECODER.raw_decode(text, start)
        if key == name:
            span = (start, place)
        place = WHITESPACE.match(text, place).end()
        if text[place] == ",":
            place = WHITESPACE.match(text, place + 1).end()
    return span


def _exact(text: str) -> float | Decimal:
    """A number with a fraction: a float, unless that would lose digits, as a decimal of a table can.

    One beyond all floats is the float that it is in conditions: infinite, or 0.
    """
    number = float(text)
    if math.isinf(number):
        return number
    try:
        exact = Decimal(text)
    except InvalidOperation:
        return number
    return number if Decimal(repr(number)) == exact else exact


_VALUE_DECODER = json.JSONDecoder(parse_int=integer_of_digits, parse_float=_exact)


def parsed(text: str) -> object:
    """The value of a JSON text that an event gave."""
    value: object = _VALUE_DECODER.decode(text)
    return value
