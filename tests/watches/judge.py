"""The judge of tocsin.watch: every combination of rows is tried, and conditions are read by their meaning."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from itertools import product
from typing import Any

from tocsin import Alert
from tocsin.conditions.language import TEXT_TESTS, Condition, Path, Predicate, parse_condition
from tocsin.conditions.meaning import Instant, Truth, lookup, matches, score
from tocsin.rules import Comparison, JoinedCondition, Trigger, is_disabled, joined_truth
from tocsin.rules.joins.tree import JoinedStep
from tocsin.rules.triggers import parse_triggers

Row = dict[str, Any]
Told = tuple[str, str, float | None]
"""An alert as the judge tells it: the rule, its rows as a text, and the score."""


class Judge:
    """The tables as plain lists, and nothing prepared."""

    def __init__(self) -> None:
        self.tables: dict[str, list[Row]] = {}
        self.triggers: list[Trigger] = []

    def add(self, text: str) -> None:
        triggers, errors = parse_triggers(text)
        assert errors == []
        self.triggers += triggers

    def remove(self, name: str) -> None:
        self.triggers = [trigger for trigger in self.triggers if trigger.name != name]

    def insert(self, table: str, row: Row) -> list[Told]:
        self.tables.setdefault(table, []).append(row)
        return self._told("insert", table, row)

    def update(self, table: str, old: Row, new: Row) -> list[Told] | None:
        at = self._find(table, old)
        if at is None:
            return None
        before = self.tables[table][at]
        self.tables[table][at] = new
        return self._told("update", table, new, before)

    def delete(self, table: str, row: Row) -> list[Told] | None:
        at = self._find(table, row)
        if at is None:
            return None
        gone = self.tables[table].pop(at)
        return self._told("delete", table, gone, gone)

    def _find(self, table: str, row: Row) -> int | None:
        same = [at for at, each in enumerate(self.tables.get(table, [])) if shown(each) == shown(row)]
        return same[0] if same else None

    def _told(self, change: str, table: str, row: Row, old: Row | None = None) -> list[Told]:
        """The alerts of a change of this very row; where it stands in two positions it is one alert."""
        told: list[Told] = []
        for trigger in self.triggers:
            after = trigger.after
            if change not in (("insert",) if after is None else after.kinds) or is_disabled(trigger.options):
                continue
            if change == "update" and after is not None and after.fields:
                pairs = [(lookup(old or {}, path), lookup(row, path)) for path in after.fields]
                if all(shown({"": one}) == shown({"": other}) for one, other in pairs):
                    continue
            names = [(each.alias, each.name) for each in trigger.sources] or [(table, table)]
            event = None if after is None else after.alias
            seen: set[tuple[int, ...]] = set()
            for alias, name in names:
                if name != table or event not in (None, alias):
                    continue
                others = [
                    [row] if other == alias else self.tables.get(its_table, []) for other, its_table in names
                ]
                for combination in product(*others):
                    rows = dict(zip((alias for alias, _ in names), combination, strict=True))
                    key = tuple(id(each) for each in combination)
                    found = _score_if_true(trigger, rows, old)
                    if key not in seen and found is not False:
                        if old is not None and asks_old(trigger):
                            rows["old"] = old
                        told.append((trigger.name, shown(rows), found))
                    seen.add(key)
        return told


def asks_old(trigger: Trigger) -> bool:
    """Whether an alert of the trigger has the row before the change."""
    if trigger.after is None or trigger.old_of is None:
        return False
    return bool(trigger.after.fields) or any(path[1] == "old" for path in trigger.joined().fields())


def _score_if_true(trigger: Trigger, rows: Mapping[str, Row], old: Row | None) -> float | bool | None:
    """The row before is one more row, with an alias of its own; it has no fields when there is none."""
    if trigger.old_of is None and len(rows) == 1:
        (row,) = rows.values()
        condition = parse_condition(trigger.when, trigger.alias)
        return score(condition, row) if matches(condition, row) else False
    written = trigger.joined()
    named = zip(trigger.aliases or ("",), rows.values(), strict=True)
    every: dict[str, Row] = {**dict(named), "old": old or {}}
    joined = written
    if trigger.old_of is not None:
        joined = JoinedCondition(tuple(_apart(step) for step in written.steps))
    if joined_truth(joined, every) is not Truth.TRUE:
        return False
    texts = [
        Predicate(step.field[1:], step.test, step.operands)
        for step in joined.steps
        if isinstance(step, Predicate) and step.test in TEXT_TESTS
    ]
    if not texts or trigger.after is None:
        return None
    return score(Condition(tuple(texts)), every[trigger.after.alias or ""])


def _apart(step: JoinedStep) -> JoinedStep:
    """The step with the alias `old` where the parser has it as an object of the row."""
    if isinstance(step, Comparison):
        return Comparison(_bare(step.left), step.test, _bare(step.right))
    return Predicate(_bare(step.field), step.test, step.operands) if isinstance(step, Predicate) else step


def _bare(path: Path) -> Path:
    return path[1:] if path[1] == "old" else path


def told(alerts: Iterable[Alert]) -> list[Told]:
    return [(alert.rule, shown(alert.rows), alert.score) for alert in alerts]


def shown(value: Any) -> str:
    """A value as a text that is the same for values that are the same to conditions."""
    return json.dumps(_shown(value), sort_keys=True)


def _shown(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _shown(each) for name, each in value.items() if not _is_missing(each)}
    if isinstance(value, list):
        return [_shown(each) for each in value if not _is_missing(each)]
    if isinstance(value, bool | str):
        return value
    if isinstance(value, Instant):
        return {"instant": value.nanos / 10**9}
    if isinstance(value, datetime):
        return {"instant": value.replace(tzinfo=value.tzinfo or UTC).timestamp()}
    exact = Decimal(value).as_integer_ratio()
    return {"number": [str(part) for part in exact]}


def _is_missing(value: Any) -> bool:
    return value is None or value != value
