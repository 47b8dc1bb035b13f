"""Events as a person reads them: JSON, made only of the few that are shown.

A line of JSON is shown as it was written; a row of a table as an object of its columns, missing ones left
out. A value that has no text (a date beyond what Python can say) is left out too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

import pyarrow as pa

from tocsin.errors import InputError
from tocsin.events.arrow_types import without_views
from tocsin.events.kept_columns import json_text, json_texts, plain

RowTexts = Callable[[Sequence[int]], list[str | None]]
"""The JSON texts of these rows of a batch; None of an event that has none."""


def no_texts(rows: Sequence[int]) -> list[str | None]:
    """For a batch of which nothing is to be shown."""
    return [None] * len(rows)


def texts_of_lines(lines: Sequence[bytes]) -> RowTexts:
    """Of events that were lines of JSON."""
    return lambda rows: [lines[row].decode().strip() for row in rows]


def texts_of_events(events: Sequence[Mapping[str, object]]) -> RowTexts:
    """Of events that are dictionaries."""

    def texts(rows: Sequence[int]) -> list[str | None]:
        return [_event_text(events[row]) for row in rows]

    return texts


def _event_text(event: Mapping[str, object]) -> str | None:
    try:
        return json_text(dict(event))
    except (RecursionError, ValueError, TypeError):
        return None


def texts_of_columns(columns: Mapping[str, pa.Array]) -> RowTexts:
    """Of events that are rows of a table."""

    def texts(rows: Sequence[int]) -> list[str | None]:
        places = pa.array(rows, pa.int64())
        written: list[list[str]] = [[] for _ in rows]
        for name, column in columns.items():
            key = json.dumps(name, ensure_ascii=False)
            for members, text in zip(written, _texts(without_views(column).take(places), name), strict=True):
                if text is not None:
                    members.append(f"{key}: {text}")
        return ["{" + ", ".join(members) + "}" for members in written]

    return texts


def _texts(column: pa.Array, name: str) -> list[str | None]:
    try:
        return json_texts(plain(column, name))
    except InputError:
        return [None] * len(column)
