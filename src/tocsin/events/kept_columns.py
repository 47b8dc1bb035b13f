"""Columns of events that are carried along to the matches: as JSON text, or in one type each.

Kept values of JSON lines arrive as JSON texts (Arrow's own type for those marks them), those of CSV
and Parquet files in their types. JSON output takes any of them as text. A table needs one type for
each column over the whole input, so every slice reports which kinds of value it saw, and when all are
there `settle` chooses:

    integers that fit in 64 bits                      int64
    floats, also mixed with integers below 2^53       double
    Booleans                                          bool
    strings                                           string
    Arrow types that can be widened to a common one   that one
    anything else                                     string, holding JSON text
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Collection, Iterable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from json.encoder import encode_basestring
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from tocsin.errors import InputError
from tocsin.events.csv_columns import ColumnType, long_integers
from tocsin.events.field_values import Instant, scalar_of
from tocsin.events.slices import Slice
from tocsin.syntax import print_timestamp
from tocsin.tables import without_views

JSON = pa.json_(pa.large_string())
"""The type of kept columns that hold JSON texts."""

SMALL, INTEGER, FLOAT, BOOLEAN, STRING, OTHER = "small", "integer", "float", "boolean", "string", "other"
"""The kinds of JSON values that decide a column's type; SMALL is an integer that every double near it
can tell from its neighbours."""
TYPED = "typed"
"""In the place of kinds: the column has an Arrow type."""

DEEPEST_TYPE = 50
_TYPE_OF_KIND = {INTEGER: pa.int64(), FLOAT: pa.float64(), BOOLEAN: pa.bool_(), STRING: pa.string()}
_SMALL_DIGITS = 15
_LONG_BITS = 2_000
"""An integer of fewer bits can be written by Python, however it is set up."""
_NANOS_OF_UNIT = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


class KeptColumn(NamedTuple):
    """A column of the result; `type` is None when it holds JSON texts as strings."""

    name: str
    type: pa.DataType | None

    @property
    def field(self) -> pa.Field:
        """The column in a schema."""
        return pa.field(self.name, pa.string() if self.type is None else self.type)


def plain(array: pa.Array, name: str) -> pa.Array:
    """A column as it can be kept: dictionaries resolved, texts known to be texts.

    InputError when a text is not UTF-8, or the type is nested too deeply to be written.
    """
    array = without_views(array)
    if pt.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if _depth(array.type) > DEEPEST_TYPE:
        raise InputError(f"the column {name!r} cannot be kept: it is nested more than {DEEPEST_TYPE} deep")
    try:
        array.validate(full=True)
    except pa.ArrowInvalid as error:
        raise InputError(f"the column {name!r} cannot be kept: {error}") from error
    return array


def _depth(data_type: pa.DataType) -> int:
    depth, level = 0, [data_type]
    while level and depth <= DEEPEST_TYPE:
        depth += 1
        level = [each.field(place).type for each in level for place in range(each.num_fields)]
    return depth


def kinds_of(array: pa.Array) -> set[str]:
    """The kinds of the values in a kept column."""
    if array.type != JSON:
        return {TYPED}
    return {_kind(text) for text in pc.unique(array.storage).to_pylist() if text is not None}


def _kind(text: str) -> str:
    first = text[0]
    if first == '"':
        return STRING
    if text in ("true", "false"):
        return BOOLEAN
    if first in "{[":
        return OTHER
    digits = text.removeprefix("-")
    if digits.isdigit():
        if len(digits) <= _SMALL_DIGITS:
            return SMALL
        return INTEGER if len(digits) < 20 and -(2**63) <= int(text) < 2**63 else OTHER
    return FLOAT if math.isfinite(float(text)) else OTHER


def settle(name: str, kinds: Collection[str], types: Iterable[pa.DataType]) -> KeptColumn:
    """The type of a column, from the kinds of its JSON values or from the types it has in files."""
    if TYPED in kinds:
        return KeptColumn(name, _widest(list(types)))
    if {SMALL, FLOAT} == set(kinds):
        return KeptColumn(name, pa.float64())
    found = {INTEGER if kind == SMALL else kind for kind in kinds}
    if len(found) > 1:
        return KeptColumn(name, None)
    return KeptColumn(name, _TYPE_OF_KIND.get(found.pop()) if found else pa.string())


def _widest(types: list[pa.DataType]) -> pa.DataType | None:
    schemas = [pa.schema([("", pa.string() if pt.is_large_string(each) else each)]) for each in types]
    try:
        widest = pa.unify_schemas(schemas, promote_options="permissive").field(0).type
    except pa.ArrowException:
        return None
    return pa.string() if pt.is_null(widest) else widest


def converted(column: KeptColumn, array: pa.Array | None, length: int) -> pa.Array:
    """The values of a column in its settled type; a file that does not have it gives nulls."""
    if array is None:
        return pa.nulls(length, column.field.type)
    if column.type is None:
        return pa.array(json_texts(array), pa.string())
    if array.type == JSON:
        if pt.is_string(column.type):
            return pa.array([None if text is None else json.loads(text) for text in json_texts(array)])
        return array.storage.cast(column.type)
    try:
        return array.cast(column.type)
    except pa.ArrowException as error:
        raise InputError(f"the column {column.name!r} cannot be kept as {column.type}: {error}") from error


def json_texts(array: pa.Array) -> list[str | None]:
    """Each value as JSON text; None where it is missing. InputError for a time that has no text."""
    if array.type == JSON or pt.is_integer(array.type):
        texts: list[str | None] = (
            array.storage if array.type == JSON else array.cast(pa.string())
        ).to_pylist()
        return texts
    try:
        if pt.is_timestamp(array.type):
            return _instants(array)
        values = _python_values(array)
        write = _writer(array.type)
        return [None if _is_missing(value) else write(value) for value in values]
    except (ValueError, OverflowError) as error:
        raise InputError(f"a value of type {array.type} cannot be written as text: {error}") from error


def _python_values(array: pa.Array) -> list[Any]:
    """Maps as dictionaries; those whose keys are lists or objects, which none can have, as lists of pairs."""
    try:
        values: list[Any] = array.to_pylist(maps_as_pydicts="lossy")
    except TypeError:
        values = array.to_pylist()
    return values


def _writer(data_type: pa.DataType) -> Callable[[Any], str]:
    """What writes the values of a type: what json_text does, at once for a text."""
    if pt.is_string(data_type) or pt.is_large_string(data_type):
        return encode_basestring
    return json_text


def _instants(array: pa.Array) -> list[str | None]:
    """Timestamps by their count of units, which reaches further than Python's own do."""
    nanos = _NANOS_OF_UNIT[array.type.unit]
    counts = array.cast(pa.int64()).to_pylist()
    return [None if count is None else f'"{print_timestamp(count * nanos)}"' for count in counts]


def csv_column(array: pa.Array) -> pa.Array:
    """A column that Arrow's CSV writer takes, with every value as in JSON, strings without quotes."""
    kind = array.type
    if pt.is_integer(kind) or pt.is_floating(kind) or pt.is_boolean(kind) or pt.is_string(kind):
        return array
    texts = [json.loads(text) if text and text[0] == '"' else text for text in json_texts(array)]
    return pa.array(texts, pa.string())


def _is_missing(value: object) -> bool:
    return value is None or value != value


def json_text(value: Any) -> str:
    """A value of a table as JSON.

    Decimals keep their digits; instants are RFC 3339 strings, other times and dates ISO 8601, bytes
    base64. What is infinite is a number that any reader finds infinite. Recursion follows the type
    of a column, whose depth is bounded.
    """
    if _is_missing(value):
        return "null"
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else "1e999" if value > 0 else "-1e999"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return str(value) if value.is_finite() else "1e999" if value > 0 else "-1e999"
    if isinstance(value, int):
        return integer_text(value)
    if isinstance(value, dict):
        members = (
            f"{json.dumps(str(key), ensure_ascii=False)}: {json_text(item)}" for key, item in value.items()
        )
        return "{" + ", ".join(members) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(json_text(item) for item in value) + "]"
    return json.dumps(_simple(value), ensure_ascii=False)


def integer_text(value: int) -> str:
    """The digits of an integer of any size, which Python itself writes only up to some thousands."""
    return str(value) if value.bit_length() < _LONG_BITS else str(Decimal(value))


def _simple(value: Any) -> str | int | float | bool:
    if isinstance(value, str | int | float):
        return value
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, np.bool_):
        return bool(value)
    instant = scalar_of(value, (), 0) if isinstance(value, datetime | np.datetime64) else None
    if isinstance(instant, Instant):
        return print_timestamp(instant.second * 1_000_000_000 + instant.nano)
    if isinstance(value, date | time):
        return value.isoformat()
    return value.total_seconds() if isinstance(value, timedelta) else str(value)


def kept_columns(piece: Slice, kept: pa.Table) -> dict[str, pa.Array]:
    """The columns of a chunk, each as one array, JSON texts marked as such."""
    types = dict(piece.layout)
    columns = {}
    for name, column in zip(kept.column_names, kept.columns, strict=True):
        array = column.combine_chunks()
        if types.get(name) is ColumnType.LONG_INTEGER:
            array = _json_integers(array)
        if piece.format == "jsonl" or types.get(name) is ColumnType.LONG_INTEGER:
            array = pa.ExtensionArray.from_storage(JSON, array)
        columns[name] = array
    return columns


def _json_integers(texts: pa.Array) -> pa.Array:
    """Long integers as written in CSV files, as JSON writes them."""
    found: list[str | None] = [None] * len(texts)
    for place, integer in zip(*long_integers(texts), strict=True):
        found[place] = str(Decimal(integer))
    return pa.array(found, pa.large_string())
