"""Columns of alerts as columns of a PostgreSQL table: their types, and how their values are written.

Values travel as CSV, which PostgreSQL reads into whatever type a column has. So a table that is there
already may have other types than those that would be made here, as long as the values fit them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyspark.sql.functions as F  # noqa: N812  (as everybody writes it)
from pyarrow import csv
from pyspark.sql import Column, DataFrame
from pyspark.sql import types as T  # noqa: N812

from tocsin.events import json_text
from tocsin.spark.stream.match_columns import column_named, is_json, plain_text

JSON_TYPES = ("json", "jsonb")
BLOCK_SCHEMA = "block binary"

_AS_THEY_ARE: Mapping[type[T.DataType], str] = {
    T.BooleanType: "boolean",
    T.ByteType: "smallint",
    T.ShortType: "smallint",
    T.IntegerType: "integer",
    T.LongType: "bigint",
    T.FloatType: "real",
    T.DoubleType: "double precision",
    T.DateType: "date",
    T.TimestampType: "timestamptz",
    T.TimestampNTZType: "timestamp",
}
_DOCUMENTS: tuple[type[T.DataType], ...] = (T.ArrayType, T.MapType, T.StructType, T.VariantType)
_TYPES: Mapping[type[T.DataType], str] = {
    **_AS_THEY_ARE,
    T.BinaryType: "bytea",
    **dict.fromkeys(_DOCUMENTS, "jsonb"),
}
_REPLACEMENT = "\ufffd"
_ODD_NUMBER = r"[eE][+-]?\d{4,}|\.\d{1000,}"
_STRING_OR_NUMBER = re.compile(
    r'"(?:[^"\\]|\\.)*"|(?P<whole>-?\d+)(?:\.(?P<part>\d+))?(?:[eE](?P<exponent>[+-]?\d+))?', re.DOTALL
)
_MOST_DIGITS, _MOST_DECIMALS = 131_072, 16_383
"""Of a number of PostgreSQL before and behind the point, and so of one in a jsonb."""


def type_of(field: T.StructField) -> str:
    """The type of the column that is made for a field."""
    if is_json(field):
        return "jsonb"
    if isinstance(field.dataType, T.DecimalType):
        return f"numeric({field.dataType.precision}, {field.dataType.scale})"
    return _TYPES.get(type(field.dataType), "text")


def csv_blocks(alerts: DataFrame, types: Mapping[str, str]) -> DataFrame:
    """Alerts as CSV for COPY, in blocks; `types` are the types of the table's columns by name."""
    written, documents = [], []
    for number, field in enumerate(alerts.schema):
        written.append(_written(field, types[field.name]).alias(f"c{number}"))
        if is_json(field) and types[field.name] in JSON_TYPES:
            documents.append(number)
    task = partial(_csv_in_worker, documents)
    return alerts.select(*written).mapInArrow(task, BLOCK_SCHEMA)


def _written(field: T.StructField, target: str) -> Column:
    """A column in a type that CSV can be written of, without what PostgreSQL's texts cannot hold."""
    column = column_named(field.name)
    if is_json(field):
        return _without_zero_escapes(column) if target in JSON_TYPES else _text(plain_text(column))
    if isinstance(field.dataType, (*_AS_THEY_ARE, T.DecimalType)):
        return column
    if isinstance(field.dataType, T.StringType):
        return _text(column)
    if isinstance(field.dataType, T.BinaryType):
        return F.concat(F.lit("\\x"), F.hex(column))
    if isinstance(field.dataType, _DOCUMENTS):
        return _without_zero_escapes(F.to_json(column, {"ignoreNullFields": "false"}))
    return _text(column.cast(T.StringType()))


def _text(column: Column) -> Column:
    """PostgreSQL has no text with a zero character, nor any that is not UTF-8."""
    return F.translate(F.make_valid_utf8(column), "\0", _REPLACEMENT)


def _without_zero_escapes(json: Column) -> Column:
    r"""JSON text without the escape \u0000, which jsonb refuses; `\\u0000` is another thing."""
    return F.regexp_replace(json, r"(?<!\\)((?:\\\\)*)\\u0000", r"$1\\ufffd")


def without_overflow(json: str) -> str:
    """JSON text where a number that jsonb cannot hold is the float that conditions see: infinite, or 0."""

    def number(found: re.Match[str]) -> str:
        whole, part, exponent = found["whole"], found["part"] or "", found["exponent"] or "0"
        if whole is None:
            return found[0]
        digits = exponent.lstrip("+-0")
        power = int(f"{exponent[0] if exponent[0] == '-' else ''}{digits[:9] or 0}")
        if len(whole) + power < _MOST_DIGITS and len(part) - power < _MOST_DECIMALS:
            return found[0]
        return json_text(float(found[0]))

    return _STRING_OR_NUMBER.sub(number, json)


def _csv_in_worker(documents: Sequence[int], batches: Iterable[Any]) -> Iterator[Any]:
    """Batches of written columns as CSV; those at the places `documents` hold JSON."""
    options = csv.WriteOptions(include_header=False, quoting_style="all_valid")  # null alone stands unquoted
    for batch in batches:
        for place in documents:
            texts = batch.column(place)
            if pc.any(pc.match_substring_regex(texts, _ODD_NUMBER)).as_py():
                mended = [None if text is None else without_overflow(text) for text in texts.to_pylist()]
                batch = batch.set_column(place, batch.schema.field(place), pa.array(mended, texts.type))
        if batch.num_rows:
            block = pa.BufferOutputStream()
            csv.write_csv(batch, block, options)
            yield pa.record_batch({"block": pa.array([block.getvalue().to_pybytes()], pa.binary())})
