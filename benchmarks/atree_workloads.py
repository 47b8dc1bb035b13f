"""What the A-Tree benchmark matches: rules compiled once, events in the forms they are asked in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import pyarrow as pa
from benchmarks.folders import Row
from benchmarks.measuring import say

from tocsin.conditions.graph import CompiledIndex, compile_rules
from tocsin.conditions.live import Index
from tocsin.conditions.matching import Matcher
from tocsin.events import EventBatch, batch_of_table
from tocsin.rules import Rules
from tocsin_lab import abe_gen


@dataclass
class Sizes:
    """How much each part measures. The small ones are for trying the script."""

    expressions: int = 1_000_000
    events: int = 4_096
    single_events: int = 300
    scanned_events: int = 20
    advertisements: int = 1_392_196
    organised: int = 100_000
    growth: tuple[int, ...] = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000)
    updates: int = 20_000
    updates_with_match: int = 1_000
    repeat: int = 5


QUICK = Sizes(
    expressions=20_000,
    events=1_024,
    single_events=50,
    scanned_events=5,
    advertisements=10_000,
    organised=5_000,
    growth=(1_000, 3_000, 10_000),
    updates=1_000,
    updates_with_match=100,
    repeat=2,
)


class Built:
    """Rules ready to be matched, by the door and by the matcher behind it."""

    def __init__(self, rules: pa.Table) -> None:
        say(f"  {rules.num_rows:,} rules are built")
        self.compiled: CompiledIndex = compile_rules(Rules.of(rules))
        self.index = Index(self.compiled)
        self.matcher = Matcher(self.compiled)

    @property
    def count(self) -> int:
        return self.compiled.rule_count


class Asked:
    """Events as a table, as cells, and some as dictionaries."""

    def __init__(self, table: pa.Table, rows: Sequence[Row]) -> None:
        self.table = table
        self.rows = rows

    def cells(self, built: Built) -> EventBatch:
        """All of them in the form that the matcher takes."""
        return batch_of_table(self.table, built.matcher.fields)

    @property
    def length(self) -> int:
        return int(self.table.num_rows)


@lru_cache(maxsize=1)
def built_of(setting: abe_gen.Workload) -> Built:
    """The rules of a setting; those asked for last are kept."""
    say(f"  {setting.expressions:,} rules are made")
    return Built(abe_gen.rules(setting))


def asked_of(made: abe_gen.Events, single_events: int) -> Asked:
    return Asked(abe_gen.table_of(made), abe_gen.rows_of(abe_gen.first(made, single_events)))
