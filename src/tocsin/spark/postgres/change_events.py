"""In a worker: changes of rows to found rows, past the rules that see such changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from tocsin.events.kept_columns import JSON, json_text
from tocsin.events.python_events import FieldPlan
from tocsin.spark.postgres.change_files import DELETE, lsn_text
from tocsin.spark.postgres.postgres_values import row_reader
from tocsin.spark.postgres.rules_by_table import OPS, RuleTables
from tocsin.spark.stream.match_task import Events, Finder, Rejected

NOT_WHOLE = "the log does not carry the whole row: the table lacks REPLICA IDENTITY FULL"


class ChangeMatcher:
    """Changes past the rules of one version, in one task."""

    def __init__(self, finder: Finder, tables: RuleTables, keep: Sequence[str]) -> None:
        self._finder = finder
        self._tables = tables
        self._keep = keep
        self._plan = FieldPlan(finder.fields)

    def found(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """The found rows of a batch of changes, see change_files.py."""
        seen: list[dict[str, Any]] = []
        rows: list[dict[str, Any]] = []
        rejects: list[Rejected] = []
        for change in batch.to_pylist():
            if change["op"] not in OPS or not self._tables.sees(change["table"], change["op"]):
                continue
            text = text_of(change)
            try:
                rows.append(event_of(change))
                seen.append(change)
            except ValueError as error:
                rejects.append(Rejected(place_of(change), ordinal_of(change), str(error), text))
        yield from self._finder.rejected(rejects)
        if rows:
            yield from self._matches(seen, rows)

    def _matches(self, changes: list[dict[str, Any]], rows: list[dict[str, Any]]) -> Iterator[pa.RecordBatch]:
        tables = [change["table"] for change in changes]
        ops = [change["op"] for change in changes]
        columns = {name: json_column(row.get(name) for row in rows) for name in self._finder.columns}
        others = {
            "table": pa.array(tables, pa.string()),
            "op": pa.array(ops, pa.string()),
            **{name: columns[name].storage.cast(pa.string()) for name in self._keep},
        }
        events = Events(
            self._plan.batch(rows),
            pa.array(map(place_of, changes), pa.string()),
            pa.array(map(ordinal_of, changes), pa.string()),
            columns,
            others,
        )
        table_codes, op_codes = self._tables.codes(tables, ops)

        def fires(row: np.ndarray, rule: np.ndarray) -> np.ndarray:
            return self._tables.fires(table_codes, op_codes, row, rule)

        yield from self._finder.rows(events, fires)


def text_of(change: dict[str, Any]) -> str | None:
    """The row that a change is about, as JSON: the new one, of a deletion the old one."""
    text: str | None = change["old"] if change["op"] == DELETE else change["new"]
    return text


def event_of(change: dict[str, Any]) -> dict[str, Any]:
    """The row that a change is about; ValueError when it is not known, or cannot be read."""
    if not change["whole"]:
        raise ValueError(NOT_WHOLE)
    return row_reader(change["types"]).row(text_of(change) or "{}")


def place_of(change: dict[str, Any]) -> str:
    """Where a change stands: position of the commit, and row."""
    return f"{lsn_text(change['lsn'])}/{change['row']}"


def ordinal_of(change: dict[str, Any]) -> str:
    """The same, so that it sorts."""
    return f"{change['lsn']:016X}/{change['row']:012d}"


def json_column(values: Iterable[Any]) -> pa.Array:
    """Values as JSON texts, null where they are missing."""
    texts = pa.array([None if value is None else json_text(value) for value in values], pa.large_string())
    return pa.ExtensionArray.from_storage(JSON, texts)
