"""Which rules see which changes: by the table and the kind of change that each of them names.

A trigger says so by `from TABLE` and `after insert|update|delete to`, a row of a table of rules by the
columns `table` and `after`. A rule without a table sees the changes of every table, one without `after`
inserts. Tables are named with their schema, `"sales.orders"`, or without it where that can only mean one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tocsin.arrays.dtypes import Flags, Ints, Longs
from tocsin.conditions.live.snapshot import Snapshot
from tocsin.errors import InputError
from tocsin.spark.postgres.change_files import DELETE, INSERT, UPDATE
from tocsin.spark.postgres.postgres_address import TableName
from tocsin.spark.stream.rule_version import RuleVersion

OPS = (INSERT, UPDATE, DELETE)
ANY_TABLE, NO_TABLE = -1, -2


class RuleTables:
    """The tables and kinds of change of the rules of a version.

    table     int32[numbers]: a place in `tables`, ANY_TABLE, or NO_TABLE for one that is not chosen
    op        int8[numbers]: a place in OPS
    unknown   names of tables that rules give and that are not chosen
    """

    def __init__(
        self,
        tables: Sequence[TableName],
        table: Ints,
        op: NDArray[np.int8],
        unknown: Sequence[str],
        alive: Longs,
    ) -> None:
        self.tables = tuple(tables)
        self.table = table
        self.op = op
        self.unknown = tuple(unknown)
        self._seen = set(zip(table[alive].tolist(), op[alive].tolist(), strict=True))
        self._place = {str(name): place for place, name in enumerate(self.tables)}

    @staticmethod
    def of(version: Snapshot, tables: Sequence[TableName]) -> RuleTables:
        """Those of a version's rules; InputError when one of them names what cannot be."""
        numbers = version.numbers()
        metadata = version.metadata_of(numbers)
        table = np.full(version.count, ANY_TABLE, np.int32)
        op = np.zeros(version.count, np.int8)
        unknown: list[str] = []
        names, codes = _distinct(metadata, "table")
        for code, name in enumerate(names):
            place = place_of(name, tables)
            table[numbers[codes == code]] = NO_TABLE if place is None else place
            if place is None:
                unknown.append(name)
        kinds, codes = _distinct(metadata, "after")
        for code, kind in enumerate(kinds):
            if kind not in OPS:
                raise InputError(f"a rule is to fire after {kind!r}: it can be one of {', '.join(OPS)}")
            op[numbers[codes == code]] = OPS.index(kind)
        return RuleTables(tables, table, op, unknown, numbers)

    def sees(self, table: str, op: str) -> bool:
        """Whether any rule sees such changes."""
        kind = OPS.index(op)
        return (ANY_TABLE, kind) in self._seen or (self._place.get(table), kind) in self._seen

    def need_whole_rows(self) -> list[TableName]:
        """The tables whose old rows the log has to carry."""
        return [table for table in self.tables if any(self.sees(str(table), op) for op in (UPDATE, DELETE))]

    def codes(self, tables: Iterable[str], ops: Iterable[str]) -> tuple[Ints, NDArray[np.int8]]:
        """Changes as places in `tables` and OPS."""
        return (
            np.array([self._place[table] for table in tables], np.int32),
            np.array([OPS.index(op) for op in ops], np.int8),
        )

    def fires(self, tables: Ints, ops: NDArray[np.int8], row: Longs, rule: Ints) -> Flags:
        """Which matches count, given the changes' codes, and for each match the change and the rule."""
        watched = self.table[rule]
        fits: Flags = (watched == ANY_TABLE) | (watched == tables[row])
        fits &= self.op[rule] == ops[row]
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
    return RuleTables.of(rules.open().version, tables)


def _distinct(metadata: pa.Table | None, name: str) -> tuple[list[str], Longs]:
    """The distinct texts of a column, and for each row which it has: -1 where there is none."""
    if metadata is None or name not in metadata.column_names:
        return [], np.zeros(0, np.int64)
    column = metadata[name]
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return [], np.full(len(column), -1)
    encoded = pa.concat_arrays(column.cast(pa.large_string()).chunks).dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return encoded.dictionary.to_pylist(), codes
