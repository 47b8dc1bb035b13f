"""The cells of a table, which may be of any type."""

from __future__ import annotations

from typing import Any

from tocsin_lab.experiments.outcome import Table


def rows(table: Table) -> list[list[Any]]:
    return [list(row) for row in table.rows]


def by_first(table: Table, heading: str) -> dict[Any, Any]:
    """A column by the first cell of each row."""
    place = [column.heading for column in table.columns].index(heading)
    return {row[0]: row[place] for row in rows(table)}
