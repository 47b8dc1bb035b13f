"""What rules carry besides id and condition, as columns of an Arrow table.

Different files have different columns, and one name may hold different types in two of them. Where
Arrow knows a common type the column has it; otherwise it holds text, JSON for what is not a string.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from tocsin.errors import InputError
from tocsin.rules.after_clause import misread_after
from tocsin.rules.alert_texts import misread_alerts
from tocsin.rules.metadata_values import read_enabled
from tocsin.rules.rule_columns import NOT_UNICODE
from tocsin.rules.throttles import read_throttles

MOST_COLUMNS = 1000
"""A table of rules with more names than this is taken for a mistake: each would cost every rule a cell."""


def metadata_of_rows(rows: Sequence[Mapping[str, Any]], file: str | None = None) -> pa.Table | None:
    """A table with a column for each name that any row has, null where a row lacks it."""
    names: dict[str, None] = {}
    for row in rows:
        names.update(dict.fromkeys(row))
        if len(names) > MOST_COLUMNS:
            where = "" if file is None else f"{file}: "
            raise InputError(f"{where}more than {MOST_COLUMNS:,} different names besides id and when")
    if not names:
        return None
    return pa.table({name: _column([row.get(name) for row in rows]) for name in names})


def concat_metadata(parts: Sequence[tuple[pa.Table | None, int]]) -> pa.Table | None:
    """One table over parts of given lengths, null where a part lacks a column."""
    common = common_schema([table.schema for table, _ in parts if table is not None])
    if not len(common):
        return None
    return pa.concat_tables([in_common(table, length, common) for table, length in parts])


def common_schema(schemas: Iterable[pa.Schema]) -> pa.Schema:
    """A field for each name that any schema has, of a type that suits all that have it."""
    types: dict[str, list[pa.DataType]] = {}
    for schema in schemas:
        for field in schema:
            types.setdefault(field.name, []).append(field.type)
    return pa.schema([(name, _common_type(found)) for name, found in types.items()])


def in_common(table: pa.Table | None, length: int, common: pa.Schema) -> pa.Table:
    """A part of so many rows with the columns of a common schema, null where it lacks one."""
    columns = [
        pa.chunked_array([pa.nulls(length, field.type)])
        if table is None or field.name not in table.column_names
        else _as_type(table[field.name], field.type)
        for field in common
    ]
    return pa.Table.from_arrays(columns, schema=common)


def _common_type(types: Sequence[pa.DataType]) -> pa.DataType:
    schemas = [pa.schema([("value", found)]) for found in types]
    try:
        common = pa.unify_schemas(schemas, promote_options="permissive").field("value").type
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.large_string()
    return pa.large_string() if pa.types.is_string(common) else common


def _as_type(column: pa.ChunkedArray, common: pa.DataType) -> pa.ChunkedArray:
    if column.type == common:
        return column
    try:
        return column.cast(common)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        return pa.chunked_array([pa.array(_texts(column.to_pylist()), pa.large_string())])


def _column(values: list[Any]) -> pa.Array:
    """One column of values; of different kinds that Arrow would make into each other, texts."""
    if _of_one_kind(values):
        try:
            made = pa.array(values)
        except (pa.ArrowException, ValueError, TypeError, OverflowError):
            return pa.array(_texts(values), pa.large_string())
        return made.cast(pa.large_string()) if pa.types.is_string(made.type) else made
    return pa.array(_texts(values), pa.large_string())


def _of_one_kind(values: Iterable[Any]) -> bool:
    kinds = {(type(value), getattr(value, "tzinfo", None) is None) for value in values if value is not None}
    return len(kinds) <= 1 or {kind for kind, _ in kinds} == {int, float}


def _texts(values: Iterable[Any]) -> list[str | None]:
    return [None if value is None else _text(value) for value in values]


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool | int | float | list | tuple | dict):
        return json.dumps(value, default=str, ensure_ascii=False)
    return str(value)


def misread_metadata(metadata: pa.Table | None, count: int) -> dict[int, str]:
    """By row, what is wrong with the metadata of `count` rules: a mistake in it is one of the rule."""
    unreadable = {} if metadata is None else _not_unicode(metadata)
    if metadata is None or not unreadable:
        return _misread(metadata, count)
    good = np.delete(np.arange(count), list(unreadable))
    wrong = _misread(_plain(metadata).take(pa.array(good)), len(good))
    return unreadable | {int(good[row]): reason for row, reason in wrong.items()}


def _misread(metadata: pa.Table | None, count: int) -> dict[int, str]:
    misread = read_throttles(metadata, count)[1] | misread_alerts(metadata)
    return misread | read_enabled(metadata)[1] | misread_after(metadata)


def _not_unicode(metadata: pa.Table) -> dict[int, str]:
    """By row, which column holds what is no text; Spark lets any bytes pass for a string."""
    found: dict[int, str] = {}
    for name, column in zip(metadata.column_names, metadata.columns, strict=True):
        try:
            column.validate(full=True)
        except pa.ArrowInvalid:
            rows = [row for row, value in enumerate(column) if not _is_readable(value)]
            found.update(dict.fromkeys(rows, NOT_UNICODE.format(f"column '{name}'")))
    return found


def _is_readable(value: pa.Scalar) -> bool:
    try:
        value.as_py()
    except UnicodeDecodeError:
        return False
    return True


def _plain(metadata: pa.Table) -> pa.Table:
    """The same without dictionaries: one of them may hold what no row refers to."""
    columns = [
        column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        for column in metadata.columns
    ]
    return pa.table(columns, names=metadata.column_names)
