"""In a worker: changes of rows to found rows, past the rules that see such changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from tocsin.conditions.language import Path
from tocsin.events import JSON, FieldPlan, json_text
from tocsin.rules import OLD, event_with
from tocsin.spark.postgres.change_files import DELETE, INSERT, lsn_text
from tocsin.spark.postgres.postgres_values import row_reader
from tocsin.spark.postgres.rules_by_table import OPS, RuleTables
from tocsin.spark.stream.match_task import Events, Finder, Rejected
from tocsin.watches import differ

NOT_WHOLE = "the log does not carry the whole row: the table lacks REPLICA IDENTITY FULL"
NO_OLD_ROW = (
    "the log does not carry the row as it was, which a rule asks for: ALTER TABLE {} REPLICA IDENTITY FULL"
)
COLUMN_OLD = (
    "the table has a column called old, which rules cannot tell from the row before the change, that one of"
    " them asks for"
)


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
        olds: list[dict[str, Any] | None] = []
        rejects: list[Rejected] = []
        for change in batch.to_pylist():
            if change["op"] not in OPS or not self._tables.sees(change["table"], change["op"]):
                continue
            text = text_of(change)
            try:
                row, old = read_change(change, self._tables)
                rows.append(row)
                olds.append(old)
                seen.append(change)
            except ValueError as error:
                rejects.append(Rejected(place_of(change), ordinal_of(change), str(error), text))
        yield from self._finder.rejected(rejects)
        if rows:
            yield from self._matches(seen, rows, olds)

    def _matches(
        self,
        changes: list[dict[str, Any]],
        rows: list[dict[str, Any]],
        olds: list[dict[str, Any] | None],
    ) -> Iterator[pa.RecordBatch]:
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
            np.array([op != DELETE for op in ops]),
        )
        table_codes, op_codes = self._tables.codes(tables, ops)

        def differs(row: int, fields: tuple[Path, ...]) -> bool:
            return differ(olds[row] or {}, rows[row], fields)

        def fires(row: np.ndarray, rule: np.ndarray) -> np.ndarray:
            return self._tables.fires(table_codes, op_codes, row, rule, differs)

        yield from self._finder.rows(events, fires)


def text_of(change: dict[str, Any]) -> str | None:
    """The row that a change is about, as JSON: the new one, of a deletion the old one."""
    text: str | None = change["old"] if change["op"] == DELETE else change["new"]
    return text


def read_change(change: dict[str, Any], tables: RuleTables) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """The event that rules see of a change, and the row before it if they need it; ValueError if not."""
    row, kind = event_of(change), (change["table"], change["op"])
    old = old_row_of(change) if tables.needs_old(*kind) else None
    if not tables.asks_old(*kind):
        return row, old
    if OLD in row:
        raise ValueError(COLUMN_OLD)
    return event_with(row, old), old


def event_of(change: dict[str, Any]) -> dict[str, Any]:
    """The row that a change is about; ValueError when it is not known, or cannot be read."""
    if not change["whole"]:
        raise ValueError(NOT_WHOLE)
    return row_reader(change["types"]).row(text_of(change) or "{}")


def old_row_of(change: dict[str, Any]) -> dict[str, Any] | None:
    """The row before a change, which an insert has not; ValueError when it is not known."""
    if change["op"] == INSERT:
        return None
    reader = row_reader(change["types"])
    row = {} if change["old"] is None else reader.row(change["old"])
    if not reader.names <= row.keys():
        raise ValueError(NO_OLD_ROW.format(change["table"]))
    return row


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
