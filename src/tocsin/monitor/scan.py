"""The engine `scan`: every rule asked of every event, by the meaning of conditions itself.

It is slow and obvious, takes every rule, and is what the other engines are compared with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import pyarrow as pa

from tocsin.errors import RuleError, UnknownRuleError, UsageError, each_error, raise_all
from tocsin.grammar.conditions import parse_condition
from tocsin.grammar.meaning import matches
from tocsin.grammar.rules import Rule, Rules
from tocsin.grammar.tree import Condition, Path
from tocsin.monitor.explaining import Explanation, check_event, explain_condition
from tocsin.monitor.fixed import FixedRules
from tocsin.monitor.missing import warn_of_missing_fields
from tocsin.monitor.names import Names
from tocsin.monitor.results import MATCH_SCHEMA, Counts, Matches, match_batch
from tocsin.monitor.rows import rows_of_batch
from tocsin.monitor.threads import thread_count


class ScanIndex(FixedRules):
    """Rules in a list."""

    engine = "scan"

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._conditions = _read_all(rules)
        self._names = Names.of(rules.ids)
        self._number_of = {rule: number for number, rule in enumerate(rules.ids.to_pylist())}
        self.fields: list[Path] = list(
            dict.fromkeys(each.field for condition in self._conditions for each in condition.predicates())
        )

    @property
    def ids(self) -> pa.LargeStringArray:
        """The rules' ids, in the rules' order."""
        return self._rules.ids

    def __len__(self) -> int:
        return len(self._conditions)

    def __contains__(self, rule: object) -> bool:
        return isinstance(rule, str | int) and str(rule) in self._number_of

    def rule(self, rule: str) -> Rule:
        """A rule by its id; UnknownRuleError when there is none."""
        return self._rules[self._number(rule)]

    def _number(self, rule: str) -> int:
        if rule not in self:
            raise UnknownRuleError(rule)
        return self._number_of[str(rule)]

    def match(self, event: Mapping[str, object]) -> Matches:
        """The rules that one event satisfies, in the rules' order."""
        check_event(event)
        found = [number for number, condition in enumerate(self._conditions) if matches(condition, event)]
        return Matches(np.array(found, np.int32), self._names)

    def match_table(
        self,
        table: pa.Table | pa.RecordBatch | pa.RecordBatchReader,
        *,
        count: bool = False,
        threads: int | None = None,
    ) -> pa.Table | pa.RecordBatchReader | Counts:
        """Match every row of a table, as Index.match_table does; `threads` is 1, whatever it says."""
        thread_count(threads, ())
        if not isinstance(table, pa.Table | pa.RecordBatch | pa.RecordBatchReader):
            raise UsageError(f"match_table takes an Arrow table or reader, not {type(table).__name__}")
        warn_of_missing_fields(self.fields, table.schema)
        names = {path[0] for path in self.fields}
        batches: Iterable[pa.RecordBatch]
        if isinstance(table, pa.RecordBatch):
            batches = [table]
        else:
            batches = table.to_batches() if isinstance(table, pa.Table) else table
        rows = (row for batch in batches for row in rows_of_batch(batch, names))
        if count:
            found = [self.match(row) for row in rows]
            per_rule = np.zeros(len(self), np.int64)
            for each in found:
                np.add.at(per_rule, each.numbers, 1)
            return Counts(pa.array([len(each) for each in found], pa.int64()), pa.array(per_rule))
        results = self._batches(rows)
        if isinstance(table, pa.RecordBatchReader):
            return pa.RecordBatchReader.from_batches(MATCH_SCHEMA, results)
        return pa.Table.from_batches(results, MATCH_SCHEMA)

    def _batches(self, rows: Iterator[Mapping[str, object]]) -> Iterator[pa.RecordBatch]:
        for event, row in enumerate(rows):
            found = self.match(row).numbers
            yield match_batch(np.full(len(found), event, np.int64), found, self._names)

    def explain(self, rule: str, event: Mapping[str, object]) -> Explanation:
        """Why the rule matches the event, or why not; UnknownRuleError when there is no such rule."""
        return explain_condition(rule, self._conditions[self._number(rule)], event)


def _read_all(rules: Rules) -> list[Condition]:
    conditions: list[Condition] = []
    errors: list[RuleError] = []
    for number, text in enumerate(rules.whens.to_pylist()):
        try:
            conditions.append(parse_condition(text, rules.aliases.get(number)))
        except RuleError as error:
            errors.extend(rules.error(number, each) for each in each_error(error))
    raise_all(errors)
    return conditions
