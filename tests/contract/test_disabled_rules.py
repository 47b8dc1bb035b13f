"""Rules with `enabled = false`: every engine and door keeps them, and none lets them match."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import Choices, Event, make_condition, make_event, make_rule_set
from tests.conditions.blocks.pipeline import blocks_of, compared
from tests.contract.doors import RuleSet, by_cells, by_event, counted, expected
from tests.sharded_rules import in_parts
from tests.strategies import Drawn

import tocsin
from tocsin.conditions.blocks import compile_blocks
from tocsin.conditions.language import print_condition
from tocsin.conditions.live import Index
from tocsin.engines import ENGINES, build_good
from tocsin.events import FieldPlan
from tocsin.rules import is_disabled, read_enabled, read_rules
from tocsin.rules.metadata_values import parse_enabled

OFF, ON = [False, "false", " FALSE "], [None, True, "true", "True", "", " "]


def _rows(choices: Choices, rules: RuleSet, values: list[Any]) -> list[dict[str, Any]]:
    return [
        {"id": name, "when": print_condition(condition), "enabled": choices.choice(values), "n": number}
        for number, (name, condition) in enumerate(rules)
    ]


def _enabled(rules: RuleSet, rows: list[dict[str, Any]]) -> RuleSet:
    return [rule for rule, row in zip(rules, rows, strict=True) if row["enabled"] not in OFF]


def _check(choices: Choices) -> None:
    rules = make_rule_set(choices)
    rows = _rows(choices, rules, choices.choice([OFF + ON, [False, True], [False, None]]))
    events = [make_event(choices) for _ in range(3)]
    on = _enabled(rules, rows)
    engine = choices.choice(list(ENGINES))
    index, errors = build_good(rows, engine)
    refused = {error.rule for error in errors}
    assert refused <= {name for name, _ in on}, "a rule that never matches can be taken by every engine"
    its_rules = [rule for rule in on if rule[0] not in refused]
    assert index.ids.to_pylist() == [name for name, _ in rules if name not in refused]
    assert index.stats().disabled == len(rules) - len(on)
    assert by_event(index, events) == by_cells(index, events) == expected(its_rules, events)
    for (name, condition), row, event in zip(rules, rows, [*events, *[events[0]] * 99], strict=False):
        if name not in refused:
            explained = index.explain(name, event)
            off = row["enabled"] in OFF
            assert explained.disabled == off
            assert explained.matched == bool(expected([(name, condition)], [event]) and not off)
            assert ("disabled" in str(explained).splitlines()[0]) == off


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_engine_lets_them_match(data: st.DataObject) -> None:
    _check(Drawn(cast(st.DrawFn, data.draw)))


@pytest.mark.parametrize("seed", range(30))
def test_no_engine_lets_them_match_in_fixed_cases(seed: int) -> None:
    _check(random.Random(seed))


@pytest.mark.parametrize("seed", range(8))
def test_shards_blocks_saved_files_and_counts(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    rules = sorted(make_rule_set(rng, 30))
    rows = _rows(rng, rules, [False, True, None])
    table = pa.Table.from_pylist(rows, pa.schema({"id": "string", "when": "string", "enabled": "bool"}))
    events = [make_event(rng) for _ in range(20)]
    found = expected(_enabled(rules, rows), events)
    index = tocsin.build(table)
    assert isinstance(index, Index)
    index.save(tmp_path / "rules.tocsin")
    work, refused = blocks_of([table.slice(0, 7), table.slice(7)], tmp_path)
    assert not refused
    for each in (
        index,
        tocsin.open(tmp_path / "rules.tocsin"),
        in_parts(rng, table, 3),
        Index(compile_blocks(compared(work))),
    ):
        assert isinstance(each, Index)
        assert sorted(by_event(each, events)) == sorted(by_cells(each, events)) == sorted(found)
        assert (len(each), each.stats().disabled) == (
            len(rules),
            sum(row["enabled"] is False for row in rows),
        )
        assert sorted(each.ids.to_pylist()) == [name for name, _ in rules]
    version = index.version
    per_rule = np.zeros(len(rules), np.int64)
    per_event = version.count_cells(FieldPlan(version.fields).batch(events), per_rule).per_event
    assert (per_event.tolist(), per_rule.tolist()) == counted(rules, len(events), found)


@pytest.mark.parametrize("seed", range(12))
def test_it_is_changed_live_by_replacing_the_rule(seed: int) -> None:
    rng = random.Random(seed)
    index: Any = tocsin.build([("z", "no_such_field = 1")])
    now: dict[str, tuple[Any, dict[str, Any]]] = {}
    for step in range(60):
        name = f"r{rng.randint(0, 9)}"
        kind = rng.choice(["insert", "replace", "delete"])
        condition = now[name][0] if name in now and rng.randint(0, 1) else make_condition(rng)
        given_metadata = rng.choice([{}, {"enabled": rng.choice([*OFF, *ON])}])
        metadata = {key: value for key, value in given_metadata.items() if value is not None}
        if (kind == "insert") == (name in now):
            continue
        now.pop(name, None)
        if kind == "delete":
            index.delete(name)
        else:
            getattr(index, kind)(name, print_condition(condition), given_metadata)
            now[name] = condition, metadata
        on = [(name, when) for name, (when, its) in now.items() if its.get("enabled") not in OFF]
        events: list[Event] = [make_event(rng) for _ in range(3)]
        assert sorted(by_event(index, events)) == sorted(expected(on, events))
        assert sorted(by_cells(index, events)) == sorted(expected(on, events))
        assert index.stats().disabled == len(now) - len(on)
        if step % 20 == 19:
            index.compact()
    assert {name: is_disabled(index.rule(name).metadata) for name in now} == {
        name: its.get("enabled") in OFF for name, (_, its) in now.items()
    }


def test_every_format_of_rule_files_says_it(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,when,enabled\na1,x = 1,false\na2,x = 1,\na3,x = 1,True\n")
    (tmp_path / "b.jsonl").write_text(
        '{"id": "b1", "when": "x = 1", "enabled": false}\n{"id": "b2", "when": "x = 1"}\n'
    )
    pq.write_table(
        pa.table({"id": ["c1", "c2"], "when": ["x = 1"] * 2, "enabled": [False, None]}),
        tmp_path / "c.parquet",
    )
    (tmp_path / "d.sql").write_text(
        "create trigger d1 with (enabled = false) when x = 1;create trigger d2 from t when x = 1;"
    )
    rules = read_rules(tmp_path)
    assert [rules.ids[row].as_py() for row in rules.disabled.tolist()] == ["a1", "b1", "c1", "d1"]
    assert by_event(tocsin.build(rules), [{"x": 1}]) == [(0, each) for each in ("a2", "a3", "b2", "c2", "d2")]


@pytest.mark.parametrize("engine", ["atree", "scan"])
def test_a_disabled_rule_is_read_for_errors(engine: str) -> None:
    rows = [{"id": "a", "when": "x = ", "enabled": False}, {"id": "b", "when": "x = 1", "enabled": False}]
    with pytest.raises(tocsin.RuleError, match="expected a value") as caught:
        tocsin.build(rows, engine=engine)
    assert caught.value.rule == "a"
    index, errors = build_good(rows, engine)
    assert ([error.rule for error in errors], index.ids.to_pylist()) == (["a"], ["b"])


@pytest.mark.parametrize("value", [0, 1, "no", "off", 2.5, [False], {"a": 1}])
def test_what_is_neither_true_nor_false_is_an_error(value: Any) -> None:
    rows = [{"id": "a", "when": "x = 1"}, {"id": "b", "when": "x = 1", "enabled": value}]
    with pytest.raises(tocsin.RuleError, match="enabled: expected true or false") as caught:
        tocsin.build(rows)
    assert (caught.value.rule, caught.value.line) == ("b", 2)
    index: Any = tocsin.build([("z", "x = 1")])
    with pytest.raises(tocsin.RuleError, match="enabled: expected true or false"):
        index.insert("b", "x = 1", {"enabled": value})
    assert len(index) == 1
    with pytest.raises(ValueError, match="expected true or false"):
        parse_enabled(value)


def test_a_backtest_says_that_a_rule_is_disabled() -> None:
    rows: list[dict[str, Any]] = [
        {"id": "off", "when": "x = 1", "enabled": False},
        {"id": "on", "when": "x = 1"},
    ]
    tried = tocsin.backtest(rows, [{"x": 1}, {"x": 2}])
    assert not isinstance(tried, tocsin.TestRun)
    found = {row["rule"]: (row["hits"], row["why"]) for row in tried.rules.to_pylist()}
    assert found == {"off": (0, "it is disabled (enabled = false)"), "on": (1, None)}


def test_dictionaries_and_nothing_at_all() -> None:
    column = pa.array(["true", None, "false", ""]).dictionary_encode()
    assert read_enabled(pa.table({"enabled": column}))[0].tolist() == [2]
    assert read_enabled(pa.table({"enabled": pa.nulls(3)}))[0].tolist() == []
    assert read_enabled(None)[0].tolist() == read_enabled(pa.table({"x": [1]}))[0].tolist() == []
