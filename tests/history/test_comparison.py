from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import events as drawn_events
from tests.strategies import rule_sets

import tocsin
from tocsin.conditions.language import print_condition
from tocsin.conditions.meaning import matches
from tocsin.rules.rule_files import rules_of_triggers

EVENTS = [{"age": age, "state": state} for age in (12, 31, 70) for state in ("CA", "NY")]
OLD = [("adults", "age >= 18"), ("west", "state = 'CA'"), ("gone", "age > 60"), ("same", "age = 12")]
NEW = [("adults", "age >= 30 and state = 'CA'"), ("west", "state in ('CA', 'NY')"), ("same", "age < 13")]


def test_new_and_lost_hits_rule_by_rule() -> None:
    found = tocsin.backtest(NEW, EVENTS, compare=OLD)
    assert found.rules.to_pylist() == [
        row("adults", 4, 2, new=0, lost=2),
        row("west", 3, 6, new=3, lost=0),
        row("same", 2, 2, new=0, lost=0),
        row("gone", 2, None, new=0, lost=2),
    ]
    assert found.samples.to_pylist() == [
        *({"rule": "adults", "change": "lost", "event": event} for event in (3, 5)),
        *({"rule": "west", "change": "new", "event": event} for event in (1, 3, 5)),
        *({"rule": "gone", "change": "lost", "event": event} for event in (4, 5)),
    ]
    assert found.changed["rule"].to_pylist() == ["west", "adults", "gone"]
    assert (found.events, found.new, found.lost) == (6, 3, 4)


def row(rule: str, other: int | None, hits: int | None, *, new: int, lost: int) -> dict[str, Any]:
    rates = [None if each is None else each / 6 for each in (other, hits)]
    return {
        "rule": rule,
        "other_hits": other,
        "hits": hits,
        "new": new,
        "lost": lost,
        "other_rate": rates[0],
        "rate": rates[1],
        "difference": pytest.approx((hits or 0) / 6 - (other or 0) / 6),
    }


@settings(max_examples=50, deadline=None)
@given(rule_sets(most=5), rule_sets(most=5), st.lists(drawn_events(), max_size=8), st.integers(0, 3))
def test_differences_are_those_of_the_meaning(mine: Any, other: Any, events: list[Any], samples: int) -> None:
    sides = [[(f"r{at}", when) for at, (_, when) in enumerate(side)] for side in (mine, other)]
    texts = [[(rule, print_condition(when)) for rule, when in side] for side in sides]
    found = tocsin.backtest(texts[0], events, compare=texts[1], samples=samples)
    hits = [
        {rule: {at for at, event in enumerate(events) if matches(when, event)} for rule, when in side}
        for side in sides
    ]
    assert found.rules.num_rows == max(len(mine), len(other))
    for row in found.rules.to_pylist():
        now, before = (side.get(row["rule"]) for side in hits)
        assert row["hits"] == (None if now is None else len(now))
        assert row["other_hits"] == (None if before is None else len(before))
        new, lost = (now or set()) - (before or set()), (before or set()) - (now or set())
        assert (row["new"], row["lost"]) == (len(new), len(lost))
        named = [
            (each["change"], each["event"])
            for each in found.samples.to_pylist()
            if each["rule"] == row["rule"]
        ]
        assert named == [
            *(("new", event) for event in sorted(new)[:samples]),
            *(("lost", event) for event in sorted(lost)[:samples]),
        ]


def test_many_batches_are_one_history() -> None:
    rng = np.random.default_rng(3)
    events = [{"n": int(n)} for n in rng.integers(0, 100, 10_000)]
    found = tocsin.backtest([("r", "n < 50")], events, compare=[("r", "n < 40 or n = 99")], samples=7)
    (row,) = found.rules.to_pylist()
    new = [at for at, event in enumerate(events) if 40 <= event["n"] < 50]
    lost = [at for at, event in enumerate(events) if event["n"] == 99]
    assert (row["new"], row["lost"]) == (len(new), len(lost))
    assert found.samples["event"].to_pylist() == [*new[:7], *lost[:7]]


def test_saved_indexes_and_deleted_rules(tmp_path: Path) -> None:
    index = tocsin.build(OLD)
    index.delete("gone")
    index.insert("late", "age = 70")
    index.save(tmp_path / "old.tocsin")
    for other in (index, tmp_path / "old.tocsin"):
        found = tocsin.backtest(NEW, EVENTS, compare=other)
        counts = {row["rule"]: (row["other_hits"], row["hits"]) for row in found.rules.to_pylist()}
        assert counts == {"adults": (4, 2), "west": (3, 6), "same": (2, 2), "late": (2, None)}
    with pytest.raises(tocsin.UsageError, match="leave out rule"):
        tocsin.backtest(NEW, EVENTS, compare=index, rule="west")


def test_one_rule_of_both() -> None:
    found = tocsin.backtest(NEW, EVENTS, compare=OLD, rule="west")
    assert found.rules.to_pylist() == [row("west", 3, 6, new=3, lost=0)]
    gone = tocsin.backtest(NEW, EVENTS, compare=OLD, rule="gone")
    assert gone.rules.to_pylist() == [row("gone", 2, None, new=0, lost=2)]
    with pytest.raises(tocsin.UnknownRuleError):
        tocsin.backtest(NEW, EVENTS, compare=OLD, rule="none")
    with pytest.raises(tocsin.UsageError, match="samples"):
        tocsin.backtest(NEW, EVENTS, compare=OLD, samples=-1)


def test_a_threshold_counts() -> None:
    events = [{"body": "golf"}, {"body": "golf trophy"}]
    old, new = ([("r", f"contains(body, 'golf, trophy', {threshold})")] for threshold in (1.2, 0.5))
    for rule in (None, "r"):
        found = tocsin.backtest(new, events, compare=old, rule=rule)
        assert found.samples.to_pylist() == [{"rule": "r", "change": "new", "event": 0}]


def test_a_trigger_over_several_tables() -> None:
    text = "create trigger r from a, b after insert to b when a.k = b.k and b.n > {};"
    tables = {"a": [{"k": 1}, {"k": 1}], "b": [{"k": 1, "n": n} for n in (1, 2, 3)]}
    old, new = (rules_of_triggers(text.format(least)) for least in (1, 2))
    found = tocsin.backtest(new, tables, compare=old, rule="r")
    assert found.rules.select(["other_hits", "hits", "new", "lost"]).to_pylist() == [
        {"other_hits": 4, "hits": 2, "new": 0, "lost": 2}
    ]
    assert found.samples["event"].to_pylist() == [1, 1]
    with pytest.raises(tocsin.UsageError, match="name it with rule"):
        tocsin.backtest(new, tables, compare=old)


def test_tables_in_another_order_are_the_same_hits() -> None:
    tables = {"a": [{"k": 1}, {"k": 2}, {"k": 1}], "b": [{"k": 2}, {"k": 1}]}
    old = rules_of_triggers("create trigger r from a, b after insert to b when a.k = b.k;")
    new = rules_of_triggers("create trigger r from b, a after insert to a when a.k = b.k and a.k = 1;")
    found = tocsin.backtest(new, tables, compare=old, rule="r")
    assert found.rules.select(["other_hits", "hits", "new", "lost"]).to_pylist() == [
        {"other_hits": 3, "hits": 2, "new": 0, "lost": 1}
    ]
    assert found.samples.to_pylist() == [{"rule": "r", "change": "lost", "event": 0}]
    twice = "create trigger r from {} after insert to y when x.k < y.k;"
    old, new = (rules_of_triggers(twice.format(order)) for order in ("a as x, a as y", "a as y, a as x"))
    found = tocsin.backtest(new, tables, compare=old, rule="r")
    assert (found.rules["hits"].to_pylist(), found.new, found.lost) == ([2], 0, 0)


def test_each_side_is_rated_by_the_events_of_its_own_table() -> None:
    tables = {"a": [{"k": 1}, {"k": 1}, {"k": 2}, {"k": 3}], "b": [{"k": 3}, {"k": 1}]}
    old, new = (f"create trigger r from a, b after insert to {event} when a.k = b.k;" for event in "ab")
    found = tocsin.backtest(rules_of_triggers(new), tables, compare=rules_of_triggers(old), rule="r")
    assert (found.events, found.other_events, found.new, found.lost) == (2, 4, 0, 0)
    assert found.rules.select(["other_rate", "rate", "difference"]).to_pylist() == [
        {"other_rate": 3 / 4, "rate": 3 / 2, "difference": 3 / 4}
    ]
    narrow = rules_of_triggers(new.replace("a.k = b.k", "a.k = b.k and a.k = 1"))
    found = tocsin.backtest(narrow, tables, compare=rules_of_triggers(old), rule="r")
    assert found.samples.to_pylist() == [{"rule": "r", "change": "lost", "event": 3}]
    gone = tocsin.backtest({"s": "k = 1"}, tables, compare=rules_of_triggers(old), rule="r")
    assert (gone.rules["other_rate"].to_pylist(), gone.rules["rate"].to_pylist()) == ([3 / 4], [None])


def test_rows_of_two_tables_are_two_hits() -> None:
    tables = {"a": [{"k": 1}, {"k": 2}], "b": [{"k": 1}, {"k": 1}, {"k": 1}]}
    old, new = (rules_of_triggers(f"create trigger r after insert to {table} when k = 1;") for table in "ab")
    found = tocsin.backtest(new, tables, compare=old, rule="r", samples=1)
    assert found.rules.select(["other_hits", "hits", "new", "lost", "rate"]).to_pylist() == [
        {"other_hits": 1, "hits": 3, "new": 3, "lost": 1, "rate": 1.0}
    ]
    found = tocsin.backtest(new, tables["b"], compare=old, rule="r")
    assert (found.new, found.lost) == (0, 0)


def test_a_disabled_rule_has_no_hits_by_itself_as_among_all() -> None:
    off, on = ([{"id": "r", "when": "n > 1", "enabled": enabled}] for enabled in (False, True))
    for rule in (None, "r"):
        found = tocsin.backtest(on, [{"n": 1}, {"n": 2}], compare=off, rule=rule)
        assert found.rules.select(["other_hits", "hits", "new", "lost"]).to_pylist() == [
            {"other_hits": 0, "hits": 1, "new": 1, "lost": 0}
        ]
