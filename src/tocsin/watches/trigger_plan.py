"""The plan of a trigger that no index can take as people read it: how the rows of each table are found, what
joins them, and what is asked of joined rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tocsin.conditions.planner import ConjunctPlan, Planner, RulePlan, plan_rules
from tocsin.rules import Rules, print_joined, print_joined_leaf, split
from tocsin.text import TextBase
from tocsin.watches.watched_trigger import watched


class TablePlan(NamedTuple):
    """One of a trigger's tables.

    change      the kind of change of its rows that fires the trigger; None when none does
    conjuncts   of what is asked of its rows before they are joined, in the index that all triggers over the
                table share; none when every row is let through
    """

    alias: str
    table: str
    change: str | None
    conjuncts: tuple[ConjunctPlan, ...]


class TriggerPlan(NamedTuple):
    """How a trigger is found: the event table first.

    keys      the fields that rows are joined by
    filters   what is asked of joined rows
    """

    rule: str
    tables: tuple[TablePlan, ...]
    keys: tuple[str, ...]
    filters: tuple[str, ...]

    def with_counts(self, count: Callable[[str, RulePlan], RulePlan]) -> TriggerPlan:
        """The same with what was counted of each table's rows."""
        tables = (
            table._replace(conjuncts=count(table.table, RulePlan(self.rule, table.conjuncts)).conjuncts)
            for table in self.tables
        )
        return self._replace(tables=tuple(tables))


def plan_trigger(rules: Rules, row: int, base: TextBase, planner: Planner) -> TriggerPlan:
    """The plan of the trigger of this row, which is right and which no index can take."""
    trigger = watched(rules, row)
    written = rules.triggers[row]
    apart = split(written.joined(rules.whens[row].as_py()))
    tables = []
    for at, position in enumerate(trigger.positions):
        asked = [] if position.selection is None else [(trigger.rule, position.selection)]
        plans = plan_rules(Rules.of(asked), base, planner)
        change = str(trigger.after) if trigger.event in (None, at) else None
        conjuncts = plans[0].conjuncts if plans else ()
        tables.append(TablePlan(position.alias or "row", position.table or "any table", change, conjuncts))
    return TriggerPlan(
        trigger.rule,
        tuple(sorted(tables, key=lambda table: table.change is None)),
        tuple(print_joined_leaf(each, old_of=written.old_of) for each in apart.equalities),
        tuple(print_joined(each, written.old_of) for each in apart.filters),
    )
