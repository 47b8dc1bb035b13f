"""Random triggers, tables and changes: a watch tells what the judge tells, after every step."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import Choices
from tests.strategies import Drawn
from tests.watches.judge import Judge, Told, asks_old, shown, told
from tests.watches.making import TABLES, make_row, make_trigger

import tocsin
from tocsin.rules.rule_files import rules_of_triggers

KINDS = ["insert"] * 5 + ["update"] * 6 + ["delete"] * 3 + ["add", "remove"]


class Both:
    """A watch and its judge; every change is made to both."""

    def __init__(self) -> None:
        self.watch = tocsin.watch([])
        self.judge = Judge()
        self.added = 0

    def add(self, chooser: Choices) -> None:
        text = make_trigger(chooser, f"r{self.added}")
        self.added += 1
        self.watch.add(rules_of_triggers(text))
        self.judge.add(text)

    def remove(self, name: str) -> None:
        self.watch.remove(name)
        self.judge.remove(name)

    def change(self, kind: str, table: str, *rows: dict[str, Any]) -> list[Told]:
        """Change a table; a change of a row that is not there is an error. Gives what both tell."""
        change: Callable[..., list[tocsin.Alert]] = getattr(self.watch, kind)
        expected: list[Told] | None = getattr(self.judge, kind)(table, *(dict(row) for row in rows))
        if expected is None:
            with pytest.raises(tocsin.EventError, match="no such row"):
                change(table, *rows)
            return []
        found = change(table, *rows)
        assert sorted(told(found), key=repr) == sorted(expected, key=repr)
        order = [trigger.name for trigger in self.judge.triggers]
        places = [order.index(alert.rule) for alert in found]
        assert places == sorted(places)
        return expected

    def check_rows(self) -> None:
        for table in TABLES:
            assert shown(self.watch.rows(table)) == shown(self.judge.tables.get(table, []))


def run(chooser: Choices, steps: int) -> Counter[str]:
    """Random changes of rows that come again and again; counts what was told, by what told it."""
    both = Both()
    pool = [make_row(chooser) for _ in range(4)]
    seen: Counter[str] = Counter()
    for step in range(steps):
        kind = "add" if step < 4 else chooser.choice(KINDS)
        triggers = both.judge.triggers
        if kind == "add":
            both.add(chooser)
        elif kind == "remove":
            if triggers:
                both.remove(chooser.choice(triggers).name)
        else:
            table = chooser.choice(TABLES)
            present = pool if kind == "insert" else [*both.judge.tables.get(table, []), pool[0]]
            rows = [chooser.choice(present)]
            if kind == "update":
                other = chooser.choice(pool)
                name = chooser.choice(["k", "m", "o", "note"])
                rows.append(chooser.choice([other, {**rows[0], name: other.get(name)}]))
            for rule, _, score in both.change(kind, table, *rows):
                of_rule = next(trigger for trigger in triggers if trigger.name == rule)
                seen.update([kind, f"{len(of_rule.tables)} tables", "scored" if score else "unscored"])
                seen.update(["of fields"] if of_rule.after and of_rule.after.fields else [])
                seen.update(["asks old"] if asks_old(of_rule) else [])
                seen.update(["compares"] if of_rule.compares else [])
    both.check_rows()
    return seen


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_a_watch_tells_what_the_judge_tells(data: st.DataObject) -> None:
    run(Drawn(cast(st.DrawFn, data.draw)), data.draw(st.integers(6, 24)))


def test_many_changes_of_every_kind_fire() -> None:
    """The same with fixed seeds, and a count that shows that nothing agrees for want of alerts."""
    seen: Counter[str] = Counter()
    for seed in range(60):
        seen.update(run(random.Random(seed), 70))
    wanted = ["insert", "update", "delete", "1 tables", "2 tables", "3 tables", "scored", "unscored"]
    assert all(seen[each] >= 20 for each in [*wanted, "of fields", "asks old", "compares"]), seen
