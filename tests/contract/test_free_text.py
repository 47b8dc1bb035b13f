"""Free text through every engine and every door: the same matches and the same scores, to the last bit."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import Event
from tests.contract.doors import indexed
from tests.strategies import Drawn
from tests.text_rules import (
    Scored,
    Settings,
    expected_scores,
    make_condition,
    make_event,
    make_settings,
)

import tocsin
from tocsin import build
from tocsin.engines import ENGINES
from tocsin.events import FieldPlan
from tocsin.matches import FewRules
from tocsin.rules import Rules


def by_event(index: Any, events: list[dict[str, object]]) -> Scored:
    return [
        (number, match.rule, match.score)
        for number, event in enumerate(events)
        for match in index.match(event)
    ]


def by_cells(index: Any, events: list[dict[str, object]]) -> Scored:
    """Events in one batch, as the command line and Spark match them."""
    matcher = index.version
    found = matcher.match_cells(FieldPlan(matcher.fields).batch(events))
    names = index.ids.to_pylist()
    numbers = matcher.numbers().tolist()
    name_of = dict(zip(numbers, names, strict=True))
    scored: Scored = []
    at = 0
    for number, count in enumerate(found.per_event.tolist()):
        for place in range(at, at + count):
            score = (
                None
                if found.score is None or found.score[place] != found.score[place]
                else float(found.score[place])
            )
            scored.append((number, name_of[int(found.rule[place])], score))
        at += count
    return scored


def by_few(rules: list[tuple[str, str]], events: list[Event], setting: Settings) -> Scored:
    """Without an index, as the command line matches small files."""
    few = FewRules(Rules.of(rules), dict(enumerate(events)), setting.for_meaning())
    found = few.match_rows(np.arange(len(events)))
    at = np.repeat(np.arange(len(events)), found.per_event).tolist()
    scores = [None] * len(at) if found.score is None else found.score.tolist()
    ids = few.names.take(pa.array(found.rule)).to_pylist()
    return [
        (event, rule, None if score is None or score != score else score)
        for event, rule, score in zip(at, ids, scores, strict=True)
    ]


def as_table(events: list[dict[str, object]]) -> pa.Table:
    """Events whose texts are strings or lists of strings, as columns."""
    strings = {
        name: pa.array(
            [
                [each for each in value if isinstance(each, str)]
                if isinstance(value := event.get(name), list)
                else [value]
                if isinstance(value, str)
                else None
                for event in events
            ],
            pa.list_(pa.string()),
        )
        for name in ("body", "title", "tags")
    }
    kind = pa.array([event.get("kind") for event in events], pa.string())
    size = pa.array([event.get("size") for event in events], pa.int64())
    return pa.table({**strings, "kind": kind, "size": size})


def rows(table: pa.Table) -> Scored:
    return list(zip(*(table[name].to_pylist() for name in ("event", "rule", "score")), strict=True))


@st.composite
def cases(draw: st.DrawFn) -> tuple[Settings, list[tuple[str, str]], list[Event]]:
    """Settings, rules and events."""
    choices = Drawn(draw)
    setting = make_settings(choices)
    rules = [(f"r{number}", make_condition(choices)) for number in range(choices.randint(1, 5))]
    return setting, rules, [make_event(choices) for _ in range(choices.randint(1, 6))]


@given(case=cases())
@settings(max_examples=40)
def test_random_rules_match_and_score_as_they_mean(
    case: tuple[Settings, list[tuple[str, str]], list[Event]],
) -> None:
    setting, rules, events = case
    expected = expected_scores(rules, events, setting)
    table = as_table(events)
    of_table = expected_scores(rules, table.to_pylist(), setting)
    for engine in ENGINES:
        index: Any = build(rules, engine, **setting.for_build())
        assert by_event(index, events) == expected, engine
        assert by_cells(index, events) == expected, engine
        assert rows(index.match_table(table)) == of_table, engine
        counts = index.match_table(table, count=True)
        assert sum(counts.per_event.to_pylist()) == len(of_table), engine
    assert by_few(rules, events, setting) == expected


@given(seed=st.integers(0, 10**9))
@settings(max_examples=20)
def test_the_way_in_changes_no_match_and_no_score(seed: int) -> None:
    choices = random.Random(seed)
    setting = make_settings(choices)
    rules = [(f"r{number}", make_condition(choices)) for number in range(12)]
    events = [make_event(choices) for _ in range(66)]
    expected = expected_scores(rules, events, setting)
    table = as_table(events)
    of_table = Counter(rule for _, rule, _ in expected_scores(rules, table.to_pylist(), setting))
    for access in ("auto", "structured", "text"):
        index: Any = build(rules, access=access, **setting.for_build())
        assert by_cells(index, events) == expected, access
        assert by_event(index, events) == expected, access
        per_rule = index.match_table(table, count=True).per_rule.to_pylist()
        assert per_rule == [of_table[name] for name, _ in rules], access


@given(seed=st.integers(0, 10**9))
@settings(max_examples=25)
def test_a_saved_index_gives_the_same(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    choices = random.Random(seed)
    setting = make_settings(choices)
    rules = [(f"r{number}", make_condition(choices)) for number in range(12)]
    events = [make_event(choices) for _ in range(12)]
    path: Path = tmp_path_factory.mktemp("saved") / "rules.tocsin"
    build(rules, **setting.for_build()).save(path)
    index = tocsin.open(path)
    assert by_event(index, events) == expected_scores(rules, events, setting)
    added = [(f"n{number}", make_condition(choices)) for number in range(3)]
    index.apply([("insert", *rule) for rule in added])
    assert by_cells(index, events) == expected_scores([*rules, *added], events, setting)


@given(seed=st.integers(0, 10**9))
@settings(max_examples=25)
def test_changes_are_seen_by_the_next_match(seed: int) -> None:
    choices = random.Random(seed)
    setting = make_settings(choices)
    rules = {f"r{number}": make_condition(choices) for number in range(8)}
    index: Any = build(list(rules.items()), **setting.for_build())
    for step in range(12):
        roll = choices.randint(0, 5)
        if roll == 0 and rules:
            name = choices.choice(sorted(rules))
            index.delete(name)
            del rules[name]
        elif roll == 1 and rules:
            name = choices.choice(sorted(rules))
            del rules[name]
            rules[name] = make_condition(choices)
            index.replace(name, rules[name])
        elif roll == 2:
            index.compact()
        else:
            rules[f"s{step}"] = make_condition(choices)
            index.insert(f"s{step}", rules[f"s{step}"])
        events = [make_event(choices) for _ in range(3)]
        expected = expected_scores(list(rules.items()), events, setting)
        assert by_event(index, events) == expected
        assert by_cells(index, events) == expected


@given(seed=st.integers(0, 10**9))
@settings(max_examples=25)
def test_other_dictionaries_give_other_scores_and_the_old_index_stays(seed: int) -> None:
    choices = random.Random(seed)
    before, after = make_settings(choices), make_settings(choices)
    after = replace(after, threshold=before.threshold)
    rules = [(f"r{number}", make_condition(choices)) for number in range(10)]
    events = [make_event(choices) for _ in range(10)]
    old: Any = build(rules, **before.for_build())
    old.insert("later", make_condition(choices))
    rules.append(("later", old.rule("later").when))
    new = old.reweighed(dictionaries=after.dictionaries, stop_words=after.stop_words)
    assert by_cells(new, events) == expected_scores(rules, events, after)
    assert by_event(new, events) == expected_scores(rules, events, after)
    assert by_cells(old, events) == expected_scores(rules, events, before)


def test_a_rule_is_one_expression_of_all_kinds_of_condition(engine: str) -> None:
    index = indexed(
        [("lee", "category = 'sports' and contains(description, '\"David Lee\", golf, trophy', 1.3)")], engine
    )
    good = {"category": "sports", "description": "David Lee wins a golf trophy"}
    assert [match.rule for match in index.match(good)] == ["lee"]
    assert index.match(good)[0].score == pytest.approx(3**0.5)
    assert not index.match({**good, "category": "politics"})
    assert not index.match({**good, "description": "Lee, David: golf"})
