"""Mistakes in the metadata of rules: in what means something to an alert (its text, `throttle`, `dedup`), and
bytes that are no text."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tocsin.rules.alert_texts import misread_alerts
from tocsin.rules.rule_columns import NOT_UNICODE
from tocsin.rules.throttles import read_throttles


def misread_metadata(metadata: pa.Table | None, count: int) -> dict[int, str]:
    """By row, what is wrong with the metadata of `count` rules: a mistake in it is one of the rule."""
    unreadable = {} if metadata is None else _not_unicode(metadata)
    if metadata is None or not unreadable:
        return read_throttles(metadata, count)[1] | misread_alerts(metadata)
    good = np.delete(np.arange(count), list(unreadable))
    others = _plain(metadata).take(pa.array(good))
    wrong = read_throttles(others, len(good))[1] | misread_alerts(others)
    return unreadable | {int(good[row]): reason for row, reason in wrong.items()}


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
