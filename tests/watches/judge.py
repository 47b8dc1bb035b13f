"""The judge of tocsin.watch: every combination of rows is tried, and conditions are read by their meaning."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from itertools import product
from typing import Any

from tocsin import Alert
from tocsin.conditions.language.parser import parse_condition
from tocsin.conditions.language.tree import TEXT_TESTS, Condition, Predicate
from tocsin.conditions.meaning import Truth, matches, score
from tocsin.rules.joins.meaning import joined_truth
from tocsin.rules.joins.parser import parse_joined
from tocsin.rules.triggers import Trigger, parse_triggers

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
        self.tables[table][at] = new
        return self._told("update", table, new)

    def delete(self, table: str, row: Row) -> list[Told] | None:
        at = self._find(table, row)
        if at is None:
            return None
        gone = self.tables[table].pop(at)
        return self._told("delete", table, gone)

    def _find(self, table: str, row: Row) -> int | None:
        same = [at for at, each in enumerate(self.tables.get(table, [])) if shown(each) == shown(row)]
        return same[0] if same else None

    def _told(self, change: str, table: str, row: Row) -> list[Told]:
        """The alerts of a change of this very row; where it stands in two positions it is one alert."""
        told: list[Told] = []
        for trigger in self.triggers:
            if change != ("insert" if trigger.after is None else trigger.after.kinds[0]):
                continue
            names = [(each.alias, each.name) for each in trigger.tables] or [(table, table)]
            event = None if trigger.after is None else trigger.after.alias
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
                    found = _score_if_true(trigger, rows)
                    if key not in seen and found is not False:
                        told.append((trigger.name, shown(rows), found))
                    seen.add(key)
        return told


def _score_if_true(trigger: Trigger, rows: Mapping[str, Row]) -> float | bool | None:
    if len(rows) == 1:
        (row,) = rows.values()
        condition = parse_condition(trigger.when, trigger.alias)
        return score(condition, row) if matches(condition, row) else False
    joined = parse_joined(trigger.when, trigger.aliases)
    if joined_truth(joined, rows) is not Truth.TRUE:
        return False
    texts = [
        Predicate(step.field[1:], step.test, step.operands)
        for step in joined.steps
        if isinstance(step, Predicate) and step.test in TEXT_TESTS
    ]
    return score(Condition(tuple(texts)), rows[trigger.after.alias]) if texts and trigger.after else None


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
    if isinstance(value, datetime):
        return {"instant": value.replace(tzinfo=value.tzinfo or UTC).timestamp()}
    exact = Decimal(value).as_integer_ratio()
    return {"number": [str(part) for part in exact]}


def _is_missing(value: Any) -> bool:
    return value is None or value != value
