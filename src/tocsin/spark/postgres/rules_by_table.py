"""Which rules see which changes: by the table and the kind of change that each of them names.

A trigger says so by `from TABLE` and `after insert or update of total to`, a row of a table of rules by the
columns `table` and `after`. A rule without a table sees the changes of every table, one without `after`
inserts. Tables are named with their schema, `"sales.orders"`, or without it where that can only mean one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.arrays.dtypes import Flags, Ints, Longs
from tocsin.conditions.language import Path
from tocsin.conditions.live import Snapshot
from tocsin.errors import InputError
from tocsin.rules import AFTER, ALERT, DEDUP, given_values, read_after, read_enabled
from tocsin.spark.postgres.change_files import DELETE, INSERT, UPDATE
from tocsin.spark.postgres.postgres_address import TableName
from tocsin.spark.stream.rule_version import RuleVersion

OPS = (INSERT, UPDATE, DELETE)
ANY_TABLE, NO_TABLE = -1, -2
Differs = Callable[[int, tuple[Path, ...]], bool]
"""Whether the update in a row of a batch is one of these fields."""


class RuleTables:
    """The tables and kinds of change of the rules of a version.

    table     int32[numbers]: a place in `tables`, ANY_TABLE, or NO_TABLE for one that is not chosen
    ops       int8[numbers]: a bit for each place in OPS
    updated   int32[numbers]: a place in `fields`, those of `update of`; -1 where any update counts
    unknown   names of tables that rules give and that are not chosen

    Changes are pairs of a table and an op: `_seen` by any rule, `_asking` by one that asks for the row
    before, `_comparing` by one that looks whether fields differ.
    """

    def __init__(self, version: Snapshot, tables: Sequence[TableName]) -> None:
        """Those of a version's rules; InputError when one of them names what cannot be."""
        numbers = version.numbers()
        metadata = version.metadata_of(numbers)
        self.tables = tuple(tables)
        self.table = np.full(version.count, ANY_TABLE, np.int32)
        self.ops = np.ones(version.count, np.int8)
        self.updated = np.full(version.count, -1, np.int32)
        self._place = {str(name): place for place, name in enumerate(self.tables)}
        fields: dict[tuple[Path, ...], int] = {}
        unknown: list[str] = []
        for rows, name in given_values(metadata, "table"):
            place = place_of(str(name), tables)
            self.table[numbers[rows]] = NO_TABLE if place is None else place
            if place is None:
                unknown.append(str(name))
        for rows, text in given_values(metadata, AFTER):
            after = read_after(str(text))
            self.ops[numbers[rows]] = sum(1 << OPS.index(kind) for kind in after.kinds)
            if after.fields:
                self.updated[numbers[rows]] = fields.setdefault(after.fields, len(fields))
        self.unknown = tuple(unknown)
        self.fields = tuple(fields)
        disabled = read_enabled(metadata)[0]
        self._seen = self._changes(np.delete(numbers, disabled))
        self._comparing = self._changes(numbers[self.updated[numbers] >= 0])
        named = _names_old(version.whens_of(numbers), metadata)
        self._asking = self._changes(numbers[named & (self.ops[numbers] > 1)])

    def _changes(self, numbers: Longs) -> set[tuple[int, int]]:
        """The tables and kinds of change that these rules see."""
        pairs = set(zip(self.table[numbers].tolist(), self.ops[numbers].tolist(), strict=True))
        return {(place, kind) for place, kinds in pairs for kind in range(len(OPS)) if kinds >> kind & 1}

    def sees(self, table: str, op: str) -> bool:
        """Whether any rule sees such changes."""
        return self._is_in(self._seen, table, op)

    def asks_old(self, table: str, op: str) -> bool:
        """Whether any rule that sees such changes asks for the row before."""
        return self._is_in(self._asking, table, op)

    def needs_old(self, table: str, op: str) -> bool:
        """Whether the row before such changes has to be known."""
        return self.asks_old(table, op) or self._is_in(self._comparing, table, op)

    def _is_in(self, changes: set[tuple[int, int]], table: str, op: str) -> bool:
        return any((place, OPS.index(op)) in changes for place in (ANY_TABLE, self._place.get(table)))

    def need_whole_rows(self) -> list[TableName]:
        """The tables whose old rows the log has to carry."""
        return [table for table in self.tables if any(self.sees(str(table), op) for op in (UPDATE, DELETE))]

    def codes(self, tables: Iterable[str], ops: Iterable[str]) -> tuple[Ints, Ints]:
        """Changes as places in `tables` and OPS."""
        return (
            np.array([self._place[table] for table in tables], np.int32),
            np.array([OPS.index(op) for op in ops], np.int32),
        )

    def fires(self, tables: Ints, ops: Ints, row: Longs, rule: Ints, differs: Differs) -> Flags:
        """Which matches count, given the changes' codes, and for each match the change and the rule."""
        watched = self.table[rule]
        fits: Flags = (watched == ANY_TABLE) | (watched == tables[row])
        fits &= (self.ops[rule] >> ops[row] & 1) == 1
        asked = np.flatnonzero(fits & (self.updated[rule] >= 0) & (ops[row] == OPS.index(UPDATE)))
        pairs, pair = np.unique(
            np.stack([row[asked], self.updated[rule[asked]]]), axis=1, return_inverse=True
        )
        holds = [differs(at, self.fields[of]) for at, of in pairs.T.tolist()]
        fits[asked] = np.array(holds, np.bool_)[pair.ravel()]
        return fits


def place_of(name: str, tables: Sequence[TableName]) -> int | None:
    """The place of the table that a rule means; None when it is not there, InputError when it could be two.

    Without a schema it is the one in `public`, or else the only one of that name.
    """
    whole = [place for place, table in enumerate(tables) if str(table) == name]
    named = [place for place, table in enumerate(tables) if table.name == name]
    public = [place for place in named if tables[place].schema == "public"]
    found = whole or public or named
    if len(found) > 1:
        listed = ", ".join(f'"{tables[place]}"' for place in found)
        raise InputError(f"the table {name} that a rule names can be {listed}: name it with its schema")
    return found[0] if found else None


@lru_cache(maxsize=2)
def rule_tables(rules: RuleVersion, tables: Sequence[TableName]) -> RuleTables:
    """Made once in a process for each version."""
    return RuleTables(rules.open().version, tables)


def _names_old(whens: pa.Array, metadata: pa.Table | None) -> Flags:
    """Which rules name a field of the row before: in the condition, the alert's text or the dedup."""
    found: Flags = pc.match_substring_regex(whens, r"\bold\s*\.").to_numpy(zero_copy_only=False)
    for name, pattern in ((ALERT, r"\{\s*old\s*\."), (DEDUP, r"^\s*old\s*\.")):
        for rows, text in given_values(metadata, name):
            if re.search(pattern, str(text)):
                found = found.copy()
                found[rows] = True
    return found
