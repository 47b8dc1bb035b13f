"""PostgreSQL's values as JSON, and that JSON as the values that conditions know.

A change carries its rows as JSON, which every reader of a DataFrame can use, and beside it the types of the
columns, because JSON alone cannot say what a condition has to know:

    type                                        JSON                          value
    int2 int4 int8 oid                          number                        integer
    float4 float8                               number, "Infinity"            float; NaN is missing
    numeric                                     number with all its digits    decimal; NaN is missing
    bool                                        true, false                   Boolean
    json jsonb                                  as it is                      as in an event of JSON lines
    timestamptz                                 "2026-01-31T12:00:00Z"        timestamp
    timestamp                                   "2026-01-31T12:00:00"         timestamp, taken for UTC
    date                                        "2026-01-31"                  timestamp, midnight UTC
    char(n)                                     string without its padding    string
    arrays of these                             list                          list
    anything else (text, uuid, inet, time,      string as PostgreSQL          string
      interval, enum, bytea, range, ...)          writes it

Times outside of the years 1 to 9999, and PostgreSQL's `infinity`, stay strings. A domain is as what it is
made of. Importing this module loads no client of PostgreSQL.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from functools import lru_cache, partial
from typing import Any

from tocsin.events import json_text
from tocsin.spark.postgres.pgoutput import UNCHANGED, Value
from tocsin.tables import integer_of_digits

INTEGERS = ("int2", "int4", "int8", "oid")
FLOATS = ("float4", "float8")
JSONS = ("json", "jsonb")

_TIME = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)(\+00)?")
_NUMBER = re.compile(r"-?\d")
_HALF_A_PAIR = re.compile("[\ud800-\udfff]")
_BOUNDS = re.compile(r"(\[-?\d+:-?\d+\])+=")
_PIECE = {
    between: re.compile(rf'[{{}}{between}]|"((?:[^"\\]|\\.)*)"|((?:[^{{}}{between}"\\]|\\.)+)', re.DOTALL)
    for between in ",;"
}
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


class RowWriter:
    """Rows of one table as JSON objects: text in, text out."""

    def __init__(self, names: Sequence[str], types: Sequence[str]) -> None:
        self._members = [
            (f"{json.dumps(name, ensure_ascii=False)}: ", _writer(type_name))
            for name, type_name in zip(names, types, strict=True)
        ]
        self.types = json.dumps(dict(zip(names, types, strict=True)), ensure_ascii=False)

    def text(self, row: Sequence[Value]) -> str:
        """The row; values that are not known are left out."""
        members = [
            name + ("null" if value is None else write(value))
            for (name, write), value in zip(self._members, row, strict=True)
            if value is not UNCHANGED
        ]
        return f"{{{', '.join(members)}}}"


def known_type(schema: str, name: str) -> str:
    """The name that values of a type are read by; one that only has the name of a built-in type is text."""
    if schema == "pg_catalog" or name.removeprefix("_") not in _NOT_STRINGS:
        return name
    return "_text" if name.startswith("_") else "text"


def _writer(type_name: str) -> Callable[[str], str]:
    """How a value of this type is written as JSON."""
    if type_name.startswith("_"):
        write = _writer(type_name[1:])
        between = ";" if type_name == "_box" else ","
        return lambda text: _list_text(text, write, between)
    if type_name in INTEGERS or type_name in JSONS:
        return str
    return _WRITERS.get(type_name, _string)


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _number(text: str) -> str:
    """NaN and the infinite are no numbers of JSON."""
    return text if _NUMBER.match(text) else f'"{text}"'


def _time(text: str) -> str:
    found = _TIME.fullmatch(text)
    return f'"{text}"' if found is None else f'"{found[1]}T{found[2]}{"Z" if found[3] else ""}"'


_WRITERS: dict[str, Callable[[str], str]] = {
    **dict.fromkeys((*FLOATS, "numeric"), _number),
    "bool": lambda text: "true" if text == "t" else "false",
    "bpchar": lambda text: _string(text.rstrip(" ")),
    "timestamp": _time,
    "timestamptz": _time,
}
_NOT_STRINGS = frozenset((*INTEGERS, *JSONS, *_WRITERS, "date", "box"))
"""The types whose values, or lists of them, are not written as those of others are."""


def _list_text(text: str, write: Callable[[str], str], between: str) -> str:
    """A list of lists of at most six dimensions: PostgreSQL has no deeper ones."""

    def element(value: Any) -> str:
        if isinstance(value, list):
            return f"[{', '.join(map(element, value))}]"
        return "null" if value is None else write(value)

    try:
        return element(array_elements(text, between))
    except ValueError:
        return _string(text)  # the name of a type that only looks like an array's


def array_elements(text: str, between: str = ",") -> list[Any]:
    r"""The elements of `{1,NULL,"a \"b\""}`, `{{1,2},{3,4}}` or `[0:1]={5,6}` as PostgreSQL writes them.

    None stands for null, and lists are nested as the array is. Between elements stands a comma, but of boxes,
    which have commas themselves, a semicolon. ValueError when the text is no array.
    """
    bounds = _BOUNDS.match(text)
    place = bounds.end() if bounds else 0
    outside: list[Any] = []
    open_lists = [outside]
    while place < len(text):
        piece = _PIECE[between].match(text, place)
        if piece is None:
            break
        place = piece.end()
        quoted, bare = piece.groups()
        if quoted is not None:
            open_lists[-1].append(_ESCAPE.sub(r"\1", quoted))
        elif bare is not None:
            open_lists[-1].append(None if bare == "NULL" else _ESCAPE.sub(r"\1", bare))
        elif piece[0] == "{":
            inner: list[Any] = []
            open_lists[-1].append(inner)
            open_lists.append(inner)
        elif piece[0] == "}":
            open_lists.pop()
            if not open_lists:
                break
    if place != len(text) or open_lists != [outside] or len(outside) != 1 or not isinstance(outside[0], list):
        raise ValueError(f"no array: {text!r}")
    return outside[0]


# ---- Back from JSON


class RowReader:
    """Rows of one table as events: JSON in, values that conditions know out."""

    def __init__(self, types: Mapping[str, str]) -> None:
        self._convert = {name: convert for name, kind in types.items() if (convert := _reader(kind))}
        self.names = frozenset(types)
        self._has_json = any(kind.lstrip("_") in JSONS for kind in types.values())

    def row(self, text: str) -> dict[str, Any]:
        """The row; ValueError with the reason when a `json` in it holds what no event may."""
        try:
            row: dict[str, Any] = _DECODER.decode(text)
            for name, convert in self._convert.items():
                value = row.get(name)
                if value is not None:
                    row[name] = convert(value)
            if self._has_json and "\\u" in text and _has_half_a_pair(row):
                raise ValueError("half a surrogate pair in a string")
        except json.JSONDecodeError as error:
            raise ValueError(f"not valid JSON at character {error.pos + 1}: {error.msg}") from None
        except RecursionError:
            raise ValueError("nested too deeply") from None
        return row


def row_text(row: Mapping[str, Any]) -> str:
    """A row as JSON that RowReader reads as this row."""
    return json_text({name: _writable(value) for name, value in row.items()})


def _writable(value: Any) -> Any:
    """An infinite decimal as PostgreSQL writes it: a number could be a decimal that is only very large."""
    if isinstance(value, Decimal) and value.is_infinite():
        return str(value)
    return [_writable(each) for each in value] if isinstance(value, list) else value


@lru_cache(maxsize=1_000)
def row_reader(types: str) -> RowReader:
    """The reader of rows whose columns have these types, a JSON object."""
    return RowReader(json.loads(types))


def _fraction(text: str) -> Decimal | float:
    """A decimal; one whose exponent is beyond all decimals, as in a `json`, is a float: infinite, or 0."""
    try:
        return Decimal(text)
    except InvalidOperation:
        return float(text)


_DECODER = json.JSONDecoder(parse_float=_fraction, parse_int=integer_of_digits)


def _reader(type_name: str) -> Callable[[Any], Any] | None:
    """What is to be done to a value that JSON gave; None when it is right."""
    if type_name.startswith("_"):
        convert = _reader(type_name[1:])
        return None if convert is None else lambda value: _converted_list(value, convert)
    return _READERS.get(type_name)


def _converted_list(value: Any, convert: Callable[[Any], Any]) -> Any:
    if not isinstance(value, list):
        return value
    return [
        _converted_list(each, convert) if isinstance(each, list) else None if each is None else convert(each)
        for each in value
    ]


def _number_of(kind: type[float | Decimal], value: Any) -> float | Decimal | None:
    number = kind(value)
    return None if math.isnan(number) else number


def _time_of(kind: type[date], value: str) -> date | str:
    try:
        return kind.fromisoformat(value)
    except ValueError:
        return value


def _with_floats(value: Any) -> Any:
    """A document with floats where it was read with decimals, changed in place; without recursion."""
    holder = [value]
    unread: list[Any] = [holder]
    while unread:
        here = unread.pop()
        for place, each in list(here.items() if isinstance(here, dict) else enumerate(here)):
            if isinstance(each, Decimal):
                here[place] = float(each)
            elif isinstance(each, dict | list):
                unread.append(each)
    return holder[0]


_READERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(FLOATS, partial(_number_of, float)),
    **dict.fromkeys(JSONS, _with_floats),
    "numeric": partial(_number_of, Decimal),
    **dict.fromkeys(("timestamp", "timestamptz"), partial(_time_of, datetime)),
    "date": partial(_time_of, date),
}


def _has_half_a_pair(row: Mapping[str, Any]) -> bool:
    return _HALF_A_PAIR.search(json.dumps(row, ensure_ascii=False, default=str)) is not None
