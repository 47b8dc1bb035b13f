"""Triggers tried on the rows of their tables, and on events that tell the row before a change: every
combination that satisfies them, and no other."""

from __future__ import annotations

import random
from collections.abc import Mapping
from itertools import product
from typing import Any, cast

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import Choices
from tests.strategies import Drawn
from tests.watches.making import TABLES, make_row, make_trigger

import tocsin
from tocsin.conditions.language import TEXT_TESTS, Predicate
from tocsin.conditions.meaning import Truth, text_score
from tocsin.rules import Trigger, joined_truth
from tocsin.rules.rule_files import rules_of_triggers

Rows = dict[str, list[dict[str, Any]]]


def expected(trigger: Trigger, when: str, tables: Rows) -> dict[tuple[int, ...], float | None]:
    """Every combination of rows that satisfies a condition, with its score."""
    condition = trigger.joined(when)
    texts = [
        Predicate(step.field[1:], step.test, step.operands)
        for step in condition.steps
        if isinstance(step, Predicate) and step.test in TEXT_TESTS
    ]
    found = {}
    for numbers in product(*(range(len(tables[table.name])) for table in trigger.tables)):
        rows: Mapping[str, dict[str, Any]] = {
            table.alias: tables[table.name][number]
            for table, number in zip(trigger.tables, numbers, strict=True)
        }
        if joined_truth(condition, rows) is Truth.TRUE:
            alias = str(trigger.after.alias) if trigger.after else trigger.aliases[0]
            found[numbers] = text_score(texts, rows[alias]) if texts else None
    return found


def check(chooser: Choices) -> int:
    text = make_trigger(chooser, "r")
    rules = rules_of_triggers(text)
    trigger = rules.triggers[0]
    tables: Rows = {name: [changed_row(chooser) for _ in range(chooser.randint(0, 6))] for name in TABLES}
    run = tocsin.backtest(rules, tables, rule="r")
    read = run.tried.when if run.query is None else run.tried.with_threshold("0")
    right = expected(trigger, read, tables)
    table = run.table.to_pylist()
    found = {tuple(row.get("rows", {"": row["event"]}).values()): row["score"] for row in table}
    assert found == right, text
    alias = trigger.after.alias if trigger.after else trigger.aliases[0]
    event_table = next(each.name for each in trigger.tables if each.alias == alias)
    with_old = sum("old" in row for row in tables[event_table])
    assert run.olds == (with_old if "old." in text else None)
    assert len(table) == len(right)
    scores = [row["score"] or 0.0 for row in table]
    assert scores == sorted(scores, reverse=True)
    if run.query is None:
        assert run.hits == len(right)
        return len(right)
    for threshold in (0, 0.3, 0.5, 0.7, 1, 1.2, 3):
        assert run.alerts(threshold) == len(
            expected(trigger, run.tried.with_threshold(repr(threshold)), tables)
        )
    assert run.hits == len(expected(trigger, run.tried.when, tables))
    return len(right)


def changed_row(chooser: Choices) -> dict[str, Any]:
    """A row, of which it may be told what it was before."""
    row = make_row(chooser)
    return {**row, "old": make_row(chooser)} if chooser.randint(0, 1) else row


def test_random_triggers_over_random_tables() -> None:
    found = [check(random.Random(seed)) for seed in range(600)]
    assert sum(map(bool, found)) > 60


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_drawn_triggers_over_drawn_tables(data: st.DataObject) -> None:
    check(Drawn(cast(st.DrawFn, data.draw)))


RULE = """create trigger r from video as v, comment as c after insert to c
  when c.vid = v.vid and v.kind = 'sports' and contains(c.body, 'golf, trophy', 1.2);"""
VIDEOS = [{"vid": 1, "kind": "sports"}, {"vid": 2, "kind": "news"}, {"vid": 1, "kind": "sports"}]
COMMENTS = [
    {"vid": 1, "body": "golf", "at": "2026-01-01T00:00:00Z"},
    {"vid": 2, "body": "golf trophy", "at": "2026-01-02T00:00:00Z"},
    {"vid": 1, "body": "a golf trophy", "at": "2026-01-03T00:00:00Z"},
]


def test_each_combination_counts_and_the_event_table_tells_the_day() -> None:
    run = tocsin.backtest(rules_of_triggers(RULE), {"video": VIDEOS, "comment": COMMENTS}, rule="r")
    assert [(row["event"], row["rows"], str(row["day"]), row["text"]) for row in run.table.to_pylist()] == [
        (2, {"v": 0, "c": 2}, "2026-01-03", "a [golf] [trophy]"),
        (2, {"v": 2, "c": 2}, "2026-01-03", "a [golf] [trophy]"),
        (0, {"v": 0, "c": 0}, "2026-01-01", "[golf]"),
        (0, {"v": 2, "c": 0}, "2026-01-01", "[golf]"),
    ]
    assert (run.hits, run.days, run.events, run.tables, run.time) == (2, 3, 3, {"v": 3, "c": 3}, "at")
    assert run.pick(0) == 1.0
    with pytest.raises(tocsin.UsageError, match="event 1 does not satisfy"):
        run.pick(1)


def test_tables_of_any_form(tmp_path: Any) -> None:
    (tmp_path / "video.csv").write_text("vid,kind\n1,sports\n2,news\n1,sports\n")
    tables = {"video": tmp_path / "video.csv", "comment": pa.Table.from_pylist(COMMENTS)}
    rules = rules_of_triggers(RULE)
    plain = tocsin.backtest(rules, {"video": VIDEOS, "comment": COMMENTS}, rule="r")
    assert tocsin.backtest(rules, tables, rule="r").table.equals(plain.table)


def test_hits_show_the_alerts_text() -> None:
    text = """create trigger r from video as v, comment as c when c.vid = v.vid and v.kind = 'news'
      do alert '{c.body} of {v.vid}';"""
    run = tocsin.backtest(rules_of_triggers(text), {"video": VIDEOS, "comment": COMMENTS}, rule="r")
    assert run.table["text"].to_pylist() == ["golf trophy of 2"]
    silent = rules_of_triggers(text.split("do alert")[0] + ";")
    run = tocsin.backtest(silent, {"video": VIDEOS[1:2], "comment": COMMENTS}, rule="r")
    assert run.table["text"][0].as_py().startswith('{"v": {"vid": 2, "kind": "news"}, "c": {')


NO_COMBINATION = (
    "1 of 1 rows of v, 3 of 3 rows of c are what is asked of each alone, and no combination of them"
    " satisfies the rest"
)


@pytest.mark.parametrize(
    ("tables", "part"),
    [
        ({"video": [], "comment": COMMENTS}, ["v: the table has no rows"]),
        (
            {"video": [{"vid": 1, "kind": "news"}], "comment": COMMENTS},
            ["v: kind = 'sports' never holds: there is only 'news'"],
        ),
        (
            {"video": [{"vid": 9, "kind": "sports"}], "comment": COMMENTS},
            [
                NO_COMBINATION,
                "the best score its contains reached is 1.4142, in event 1",
            ],
        ),
    ],
)
def test_why_no_rows_go_together(tables: Rows, part: list[str]) -> None:
    run = tocsin.backtest(rules_of_triggers(RULE), tables, rule="r")
    assert run.why is not None
    assert [line for line in run.why.lines() if line in part] == part


def test_what_makes_no_sense() -> None:
    rules = rules_of_triggers(RULE)
    with pytest.raises(tocsin.UsageError, match=r"give the rows of each \(video, comment\)"):
        tocsin.backtest(rules, COMMENTS, rule="r")
    with pytest.raises(tocsin.UsageError, match="over the table video, which has no rows here"):
        tocsin.backtest(rules, {"comment": COMMENTS}, rule="r")
    with pytest.raises(tocsin.UsageError, match="name it with rule"):
        tocsin.backtest(rules, {"comment": COMMENTS, "video": VIDEOS})


def test_a_trigger_over_one_table_takes_its_rows() -> None:
    rules = rules_of_triggers("create trigger r after insert to c when c.vid = 2;")
    tables = {"video": VIDEOS, "c": COMMENTS}
    assert tocsin.backtest(rules, tables, rule="r").table["event"].to_pylist() == [1]
    with pytest.raises(tocsin.UsageError, match="names no table"):
        tocsin.backtest([("r", "vid = 2")], tables, rule="r")


REOPENED = """create trigger reopened from orders as o after insert or update of status to o
  when o.status = 'open' and old.status != o.status do alert '{old.status} -> {o.status}';"""
CHANGES = [
    {"id": 1, "status": "open"},
    {"id": 1, "status": "open", "old": {"id": 1, "status": "closed"}},
    {"id": 1, "status": "open", "old": {"id": 1, "status": "open"}},
    {"id": 1, "status": "closed", "old": {"id": 1, "status": "open"}},
    {"id": 2, "status": "open", "old": None},
]


def test_a_field_is_compared_with_the_row_before_the_change() -> None:
    rules = rules_of_triggers(REOPENED)
    forms: list[Any] = [CHANGES, {"orders": CHANGES}, pa.Table.from_struct_array(pa.array(CHANGES))]
    for events in forms:
        run = tocsin.backtest(rules, events, rule="reopened")
        assert (run.hits, run.events, run.olds, run.tables) == (1, 5, 3, {})
        (row,) = run.table.to_pylist()
        assert (row["event"], "rows" in row) == (1, False)
        assert '"old": {"id": 1, "status": "closed"}' in row["text"]


def test_why_it_never_differs_from_the_row_before() -> None:
    rules = rules_of_triggers(REOPENED)
    never = "old.status != o.status never holds in 2 events"
    for events, line in (
        (CHANGES[2:4], f"{never}, of which 1 satisfy the rest"),
        (CHANGES[4:], "old.status != o.status never holds in 1 event: none has an object old"),
        ([], "there are no events"),
        ([{"status": "shut"}], "status = 'open' never holds: there is only 'shut'"),
    ):
        run = tocsin.backtest(rules, events, rule="reopened")
        assert run.why is not None
        assert run.why.lines() == [line]
    alone = rules_of_triggers(REOPENED.replace("o.status = 'open' and", ""))
    run = tocsin.backtest(alone, CHANGES[2:3] * 2, rule="reopened")
    assert run.why is not None
    assert run.why.lines() == [never]


def test_two_forms_of_a_rule_that_compares_old_and_new() -> None:
    now, before = (rules_of_triggers(REOPENED.replace("!=", sign)) for sign in ("!=", "="))
    found = tocsin.backtest(now, CHANGES, compare=before, rule="reopened")
    assert found.samples.to_pylist() == [
        {"rule": "reopened", "change": "new", "event": 1},
        {"rule": "reopened", "change": "lost", "event": 2},
    ]
