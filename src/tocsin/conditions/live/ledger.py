"""Everything that was written since the rules were last compiled as a whole.

Every rule has a number: first those of the main index, then the younger ones as they were written.
Numbers are never used again, and a change writes only behind what is there or stamps a death, so that
readers of any version go on reading while it is made:

    number     0 ... n-1      n      n+1     n+2    ...
               main           ids, whens, metadata (appended)
    dead_at    the change that took the rule away, NEVER while it lives

A version (layered_snapshot.py) is a change's number and how many rules there were; of an id, only the rule
with the largest number below that can be alive. A compaction starts another ledger.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from tocsin.arrays.dtypes import Ints, Longs
from tocsin.arrays.packed import arrow_texts
from tocsin.arrays.text_table import find_text, table_of_texts
from tocsin.conditions.graph.compiled_index import CompiledIndex, rule_ids, rule_metadata
from tocsin.conditions.matching.rule_names import Names
from tocsin.errors import RuleError
from tocsin.rules import MOST_COLUMNS, Rule, Rules, concat_metadata, is_disabled, metadata_of_rows

NEVER = np.iinfo(np.int64).max
_SPARE = 1024


class Ledger:
    """Rules by number and numbers by id. One writer at a time; readers need no lock."""

    def __init__(self, main: CompiledIndex) -> None:
        self.main = main
        self.main_count = main.rule_count
        self.dead_in_main = 0
        self.dead_at = np.empty(0, np.int64)
        self._ids: list[str] = []
        self._whens: list[str] = []
        self._metadata: dict[int, Mapping[str, Any]] = {}
        self._metadata_names: set[str] | None = None
        self._main_metadata: pa.Table | None = None
        self._newest: dict[str, int] = {}
        self._earlier: dict[int, int] = {}
        self._main_table: tuple[Ints, Ints] | None = None
        self.names = Names(main.rule_id, self._ids)

    @property
    def count(self) -> int:
        """How many rules were ever written here."""
        return self.main_count + len(self._ids)

    def find(self, rule: object, count: int, change: int) -> int | None:
        """The number of the rule with this id that is alive at a change, among the first `count`."""
        if isinstance(rule, int) and not isinstance(rule, bool):
            rule = str(rule)
        if not isinstance(rule, str):
            return None
        number = self._newest.get(rule)
        while number is not None and number >= count:
            number = self._earlier.get(number)
        if number is None:
            number = self._number_in_main(rule)
        return number if number >= 0 and self.is_alive(number, change) else None

    def is_alive(self, number: int, change: int) -> bool:
        """Whether a rule is alive at a change."""
        return not len(self.dead_at) or bool(self.dead_at[number] > change)

    def alive(self, count: int, change: int) -> Longs:
        """The numbers of the rules that are alive at a change, among the first `count`."""
        if not len(self.dead_at):
            return np.arange(count)
        return np.flatnonzero(self.dead_at[:count] > change)

    def newest(self, rule: str) -> int:
        """The number of the rule that was last written under an id that is known."""
        number = self._newest.get(rule)
        return self._number_in_main(rule) if number is None else number

    def append(self, rule: str, when: str, metadata: Mapping[str, Any] | None) -> None:
        """Write down another rule. A reader sees it when a version counts it."""
        number = self.count
        if metadata:
            self._metadata[number] = metadata
        self._ids.append(rule)
        self._whens.append(when)
        if 0 < len(self.dead_at) <= number:
            self._give_room()
        earlier = self._newest.get(rule)
        if earlier is not None:
            self._earlier[number] = earlier
        self._newest[rule] = number

    def strike(self, number: int, change: int) -> None:
        """A rule is dead from this change on."""
        if not len(self.dead_at):
            self._give_room()
        self.dead_at[number] = change
        self.dead_in_main += number < self.main_count

    def check_metadata_names(self, rule: str, names: Mapping[str, Any]) -> None:
        """RuleError when there would be more columns of metadata than rules can have."""
        if self._metadata_names is None:
            self._metadata_names = set(self._table().column_names)
            self._metadata_names.update(*self._metadata.values())
        self._metadata_names.update(names)
        if len(self._metadata_names) > MOST_COLUMNS:
            self._metadata_names = None
            raise RuleError(f"more than {MOST_COLUMNS:,} different names of metadata", rule=rule)

    def rule(self, number: int) -> Rule:
        """A rule as it was written."""
        younger = number - self.main_count
        if younger >= 0:
            return Rule(self._ids[younger], self._whens[younger], dict(self._metadata.get(number, {})))
        row = self._table().slice(number, 1).to_pylist()[0]
        metadata = {name: value for name, value in row.items() if value is not None}
        return Rule(self.main.rule_id.text(number), self.main.rule_text.text(number), metadata)

    def when(self, number: int) -> str:
        """What a rule that is younger than the main index is matched by."""
        return "false" if is_disabled(self._metadata.get(number)) else self._whens[number - self.main_count]

    def ids(self, numbers: Longs) -> pa.LargeStringArray:
        """The ids of these ascending numbers."""
        return self._texts(numbers, rule_ids(self.main), self._ids)

    def whens(self, numbers: Longs) -> pa.LargeStringArray:
        """The conditions of these ascending numbers."""
        return self._texts(numbers, arrow_texts(*self.main.rule_text), self._whens)

    def rules(self, numbers: Longs) -> Rules:
        """The rules of these ascending numbers, ready to be compiled."""
        return Rules(
            self.ids(numbers), self.whens(numbers), lines=numbers + 1, metadata=self.metadata_of(numbers)
        )

    def after(self, main: CompiledIndex, kept: Longs, compacted: int) -> Ledger:
        """The ledger to go on with, when the rules `kept` of the first `compacted` have become `main`.

        What was written behind them is carried over, and so are deaths since: rules that have died
        are dead in every version that the new ledger will see.
        """
        ledger = Ledger(main)
        first = compacted - self.main_count
        ledger._ids.extend(self._ids[first:])
        ledger._whens.extend(self._whens[first:])
        shift = main.rule_count - compacted
        ledger._metadata.update(
            (number + shift, each) for number, each in self._metadata.items() if number >= compacted
        )
        ledger._newest.update((name, main.rule_count + at) for at, name in enumerate(ledger._ids))
        if len(self.dead_at):
            ledger._give_room()
            ledger.dead_at[: main.rule_count] = self.dead_at[kept]
            ledger.dead_at[main.rule_count : ledger.count] = self.dead_at[compacted : self.count]
            ledger.dead_in_main = int(np.count_nonzero(self.dead_at[kept] < NEVER))
        return ledger

    def _give_room(self) -> None:
        """Room for stamps of every rule and some more, in another array: a reader may hold this one."""
        dead_at = np.full(self.count + self.count // 4 + _SPARE, NEVER, np.int64)
        dead_at[: len(self.dead_at)] = self.dead_at
        self.dead_at = dead_at

    def _number_in_main(self, rule: str) -> int:
        if self._main_table is None:
            groups = np.zeros(self.main.rule_count, np.int32)
            self._main_table = groups, table_of_texts(groups, *self.main.rule_id)
        groups, table = self._main_table
        try:
            name = np.frombuffer(rule.encode(), np.uint8)
        except UnicodeEncodeError:
            return -1
        return int(find_text(table, groups, *self.main.rule_id, 0, name, 0, len(name)))

    def _table(self) -> pa.Table:
        if self._main_metadata is None:
            self._main_metadata = rule_metadata(self.main)
        return self._main_metadata

    def _texts(
        self, numbers: Longs, older: pa.LargeStringArray, younger: Sequence[str]
    ) -> pa.LargeStringArray:
        """Texts by number, those of the main index from one column and the others from a list."""
        split = self._split(numbers)
        texts = pa.array(
            [younger[place] for place in (numbers[split:] - self.main_count).tolist()], older.type
        )
        if split == 0:
            return texts
        kept = older if split == len(older) else older.take(pa.array(numbers[:split]))
        return pa.concat_arrays([kept, texts]) if len(texts) else kept

    def metadata_of(self, numbers: Longs) -> pa.Table | None:
        """What the rules of these ascending numbers carry besides, a row for each; None when nothing."""
        split = self._split(numbers)
        older = self._table().take(pa.array(numbers[:split])) if split and len(self.main.metadata) else None
        younger = None
        if self._metadata:
            younger = metadata_of_rows(
                [self._metadata.get(number, {}) for number in numbers[split:].tolist()]
            )
        return concat_metadata([(older, split), (younger, len(numbers) - split)])

    def _split(self, numbers: Longs) -> int:
        """How many of these are numbers of the main index."""
        return int(np.searchsorted(numbers, self.main_count))


class LedgerSnapshot:
    """What a snapshot says of rules by themselves, from the first `count` of a ledger at a `change`."""

    __slots__ = ()

    ledger: Ledger
    count: int
    change: int

    @property
    def names(self) -> Names:
        """The ids of the rules by their numbers, those of dead rules too."""
        return self.ledger.names

    def numbers(self) -> Longs:
        """The numbers of the rules, in order."""
        return self.ledger.alive(self.count, self.change)

    def ids_of(self, numbers: Longs) -> pa.LargeStringArray:
        """The ids of these ascending numbers."""
        return self.ledger.ids(numbers)

    def whens_of(self, numbers: Longs) -> pa.LargeStringArray:
        """The conditions of these ascending numbers."""
        return self.ledger.whens(numbers)

    def metadata_of(self, numbers: Longs) -> pa.Table | None:
        """What the rules of these ascending numbers carry besides, a row for each; None when nothing."""
        return self.ledger.metadata_of(numbers)

    def find(self, rule: object) -> int | None:
        """The number of a rule by its id."""
        return self.ledger.find(rule, self.count, self.change)

    def rule(self, number: int) -> Rule:
        """A rule as it was written."""
        return self.ledger.rule(number)
