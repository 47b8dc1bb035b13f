"""What has changed between two readings of the rules, and the operations on an index that this makes.

Rules are compared as columns: with a hundred thousand of them, most of which are as they were, nothing is
made in Python but what the changed ones need.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.arrays.dtypes import Flags, Longs
from tocsin.conditions.live import Index, Preparation
from tocsin.engines import build_prepared
from tocsin.errors import RuleError, each_error, raise_all
from tocsin.rules import Rules

Operation = list[Any]
"""["insert", id, condition, metadata], ["replace", id, condition, metadata] or ["delete", id]."""


class Difference(NamedTuple):
    """Ids that are gone, and the rows of the new rules that are new or not as they were, ascending."""

    removed: list[str]
    rows: Longs

    def __len__(self) -> int:
        return len(self.removed) + len(self.rows)


def difference(old: Rules, new: Rules) -> Difference | None:
    """What differs; None when it cannot be told without looking at every rule."""
    removed = old.ids.filter(pc.invert(pc.is_in(old.ids, value_set=new.ids)))
    found = pc.index_in(new.ids, value_set=old.ids)
    is_new = found.is_null().to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(~is_new)
    before = found.drop_null().to_numpy().astype(np.int64)
    at, was = pa.array(rows), pa.array(before)
    differs = pc.not_equal(new.whens.take(at), old.whens.take(was)).to_numpy(zero_copy_only=False)
    metadata = _differing_metadata(old.metadata, new.metadata, was, at)
    if metadata is None:
        return None
    differs = differs | metadata
    if old.aliases or new.aliases:
        pairs = zip(rows.tolist(), before.tolist(), strict=True)
        differs = differs | np.array(
            [new.aliases.get(row) != old.aliases.get(place) for row, place in pairs], np.bool_
        )
    changed = is_new.copy()
    changed[rows[differs]] = True
    return Difference(removed.to_pylist(), np.flatnonzero(changed))


def _differing_metadata(
    old: pa.Table | None, new: pa.Table | None, was: pa.Array, at: pa.Array
) -> Flags | None:
    """Which of the rows `at` carry something else than the rows `was` did; None when types differ."""
    differs = np.zeros(len(at), np.bool_)
    for name in dict.fromkeys(
        name for table in (old, new) if table is not None for name in table.column_names
    ):
        before, after = _column(old, name, was), _column(new, name, at)
        if pa.types.is_null(before.type) or pa.types.is_null(after.type):
            same = pc.and_(before.is_null(), after.is_null())
        elif before.type != after.type or pa.types.is_nested(before.type):
            return None
        else:
            both_null = pc.and_(before.is_null(), after.is_null())
            same = pc.or_(both_null, pc.fill_null(pc.equal(before, after), False))
        differs |= ~same.to_numpy(zero_copy_only=False)
    return differs


def _column(table: pa.Table | None, name: str, rows: pa.Array) -> pa.Array:
    """Some rows of a column as one array; nulls when the table has no such column."""
    if table is None or name not in table.column_names:
        return pa.nulls(len(rows))
    taken = table[name].take(rows)
    return pa.concat_arrays(taken.chunks) if taken.num_chunks else pa.array([], taken.type)


def operations(
    base: Index, pending: Mapping[str, Operation], new: Rules, changed: Difference, preparation: Preparation
) -> dict[str, Operation] | None:
    """The operations by id that lead from `base` to the new rules, when `pending` led there before them.

    None when they cannot be written down. Raises RuleErrors with every error of the changed rules.
    """
    some = new.take(changed.rows)
    checked = built_of(some, new, preparation)
    made = dict(pending)
    for rule in changed.removed:
        made.pop(rule, None)
        if rule in base:
            made[rule] = ["delete", rule]
    for rule in some.ids.to_pylist():
        written = checked.rule(rule)
        made[rule] = ["replace" if rule in base else "insert", rule, written.when, written.metadata]
    try:
        json.dumps([made[rule] for rule in some.ids.to_pylist()], allow_nan=False)
    except (TypeError, ValueError):
        return None
    return made


def built_of(rules: Rules, read: Rules, preparation: Preparation) -> Index:
    """The index of rules, all or some of those read; RuleErrors with every error of files and conditions."""
    try:
        built = build_prepared(rules, "atree", preparation)
    except RuleError as error:
        raise_all([*read.rejected, *each_error(error)])
    raise_all(read.rejected)
    return built
