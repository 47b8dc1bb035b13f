"""Rows that should be rules, sorted by id: which can be, and why the others cannot.

Rows may say where they come from: the file and the line, the column within the line where a condition
begins, the alias that is no part of its fields, or why somebody before has found them to be no rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.arrays.dtypes import Flags
from tocsin.conditions.blocks.rule_block import Block, read_block
from tocsin.errors import RuleError
from tocsin.rules import RuleColumns, Rules, columns_of_table, misread_metadata

PLACE = pa.schema(
    [
        ("file", pa.string()),
        ("line", pa.int64()),
        ("column", pa.int32()),
        ("alias", pa.string()),
        ("reason", pa.string()),
    ]
)
"""Where a row comes from."""

REJECTS = pa.schema(
    [
        ("file", pa.string()),
        ("rule", pa.string()),
        ("line", pa.int64()),
        ("column", pa.int32()),
        ("reason", pa.string()),
        ("text", pa.string()),
    ]
)
"""A row that is no rule; the same names that `tocsin build --rejects` uses."""


class Refused(NamedTuple):
    """A row of REJECTS."""

    file: str | None
    rule: str | None
    line: int | None
    column: int | None
    reason: str
    text: str | None

    def error(self) -> RuleError:
        """The same as an error; it shows the place within a condition that stands in one line of a table."""
        shown = self.text is not None and "\n" not in self.text and self.column is not None
        return RuleError(
            self.reason,
            rule=self.rule,
            file=self.file,
            line=self.line,
            column=self.column,
            excerpt=self.text if shown and (self.column or 0) <= len(self.text or "") + 1 else None,
        )


def rejects_table(refused: Sequence[Refused]) -> pa.Table:
    """Refused rows as a table."""
    columns: list[Any] = list(zip(*refused, strict=True)) or [[] for _ in REJECTS]
    arrays = [pa.array(values, field.type) for values, field in zip(columns, REJECTS, strict=True)]
    return pa.Table.from_arrays(arrays, schema=REJECTS)


class RowsRead(NamedTuple):
    """What rows gave: a block of good rules, and the others in order of what is wrong with them."""

    block: Block
    refused: list[Refused]
    last_id: str | None


def read_rows(rows: pa.Table, where: pa.Table | None = None, last_id: str | None = None) -> RowsRead:
    """Read rows sorted by id, with id, when and any other columns, which are metadata.

    Of several rules with one id the first is taken; none whose id is `last_id`, that of the last rule of
    the rows before these. `where` has the columns of PLACE, for each row.
    """
    refused: list[Refused] = []
    if where is not None:
        told = pc.is_valid(where.column("reason"))
        refused += _told(rows.filter(told), where.filter(told))
        rows, where = rows.filter(pc.invert(told)), where.filter(pc.invert(told))
    columns = columns_of_table(rows.select(["id", "when"]), np.arange(rows.num_rows))
    for error in columns.errors:
        row = error.line or 0
        refused.append(_refused(error.reason, error.rule, row, rows, where))
    repeated = _repeated(columns.ids, last_id)
    first = np.maximum.accumulate(np.where(repeated, 0, np.arange(len(repeated))))
    for at in np.flatnonzero(repeated).tolist():
        name = columns.ids[at].as_py()
        row = int(columns.rows[at])
        place = "" if where is None else _place(where, int(columns.rows[first[at]]))
        refused.append(_refused(f"the id '{name}' is already taken{place}", name, row, rows, where))
    last_id = columns.ids[-1].as_py() if len(columns.ids) else last_id
    rules = _rules(columns, rows, where)
    wrong = misread_metadata(rules.metadata, len(rules))
    for at, reason in sorted(wrong.items()):
        if not repeated[at]:
            name = columns.ids[at].as_py()
            refused.append(_refused(reason, name, int(columns.rows[at]), rows, where))
    good = ~repeated
    good[list(wrong)] = False
    if not good.all():
        rules = rules.take(np.flatnonzero(good))
    block, errors = read_block(rules)
    refused += [
        Refused(
            error.file, error.rule, error.line or None, error.column, error.reason, rules.whens[row].as_py()
        )
        for row, error in errors
    ]
    return RowsRead(block, refused, last_id)


def _told(rows: pa.Table, where: pa.Table) -> list[Refused]:
    """Rows that somebody has found to be no rules."""
    names = [_decoded(name) for name in rows.column("id")]
    texts = [_decoded(text) for text in rows.column("when")]
    return [
        Refused(place["file"], name or None, place["line"], place["column"], place["reason"], text)
        for place, name, text in zip(where.to_pylist(), names, texts, strict=True)
    ]


def _refused(reason: str, name: str | None, row: int, rows: pa.Table, where: pa.Table | None) -> Refused:
    text = _decoded(rows.column("when")[row])
    if where is None:
        return Refused(None, name, None, None, reason, text)
    return Refused(
        where.column("file")[row].as_py(), name, where.column("line")[row].as_py(), None, reason, text
    )


def _place(where: pa.Table, row: int) -> str:
    return f" at {where.column('file')[row].as_py()}:{where.column('line')[row].as_py()}"


def _decoded(value: pa.Scalar) -> str | None:
    """A text, also one that is not Unicode."""
    if pa.types.is_integer(value.type) or not value.is_valid:
        return None if not value.is_valid else str(value.as_py())
    return bytes(value.as_buffer()).decode("utf-8", "backslashreplace")


def _repeated(ids: pa.LargeStringArray, last_id: str | None) -> Flags:
    """Which of sorted ids are the same as the one before."""
    repeated = np.zeros(len(ids), np.bool_)
    if len(ids):
        repeated[1:] = pc.equal(ids[1:], ids[:-1]).to_numpy(zero_copy_only=False)
        repeated[0] = ids[0].as_py() == last_id
    return repeated


def _rules(columns: RuleColumns, rows: pa.Table, where: pa.Table | None) -> Rules:
    """The good rows as rules that know where they come from."""
    metadata = rows.drop_columns(["id", "when"])
    metadata = metadata.take(pa.array(columns.rows)) if metadata.num_columns else None
    if where is None:
        nowhere = np.zeros(len(columns.rows), np.int64)
        return Rules(columns.ids, columns.whens, lines=nowhere, metadata=metadata)
    place = where.take(pa.array(columns.rows))
    files = pc.dictionary_encode(place.column("file").combine_chunks(), null_encoding="encode")
    aliases = place.column("alias")
    has_alias = np.flatnonzero(pc.is_valid(aliases).to_numpy()).tolist()
    return Rules(
        columns.ids,
        columns.whens,
        lines=place.column("line").fill_null(0).to_numpy().copy(),
        columns=place.column("column").fill_null(0).to_numpy().astype(np.int32),
        files=files.dictionary.to_pylist() or (None,),
        file_of=files.indices.to_numpy().astype(np.int32),
        aliases={row: aliases[row].as_py() for row in has_alias},
        metadata=metadata,
    )
