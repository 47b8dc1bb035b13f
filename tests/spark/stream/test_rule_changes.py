"""Differences of rules as operations: a base and its changes match as the rules built anew do."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tocsin
from tocsin import Index, Rules
from tocsin.conditions.live import Preparation
from tocsin.errors import RuleErrors
from tocsin.rules.rule_files import rules_of_triggers
from tocsin.spark.stream.rule_changes import Operation, difference, operations

EVENTS = [{"n": n, "s": s} for n in range(6) for s in ("a", "b")]

CONDITIONS = st.sampled_from(["n = 1", "n > 2", "s = 'a'", "n < 4 and s = 'b'", "n is null", "not n = 3"])
RULES = st.dictionaries(
    st.sampled_from([f"r{number}" for number in range(8)]),
    st.tuples(CONDITIONS, st.none() | st.sampled_from(["high", "low"]), st.none() | st.integers(0, 1)),
    max_size=8,
)


def rules_of(drawn: dict[str, tuple[str, str | None, int | None]], has_metadata: bool) -> Rules:
    table = {"id": list(drawn), "when": [when for when, _, _ in drawn.values()]}
    columns: dict[str, Any] = {name: pa.array(values, pa.string()) for name, values in table.items()}
    if has_metadata:
        columns["severity"] = pa.array([each[1] for each in drawn.values()], pa.string())
        columns["level"] = pa.array([each[2] for each in drawn.values()], pa.int64())
    return Rules.of_table(pa.table(columns))


def answers(index: Any) -> list[list[str]]:
    return [sorted(match.rule for match in index.match(event)) for event in EVENTS]


@settings(max_examples=60)
@given(st.lists(st.tuples(RULES, st.booleans()), min_size=2, max_size=4))
def test_a_base_and_its_changes_are_the_new_rules(readings: list[tuple[dict[str, Any], bool]]) -> None:
    first, *later = [rules_of(*reading) for reading in readings]
    base = tocsin.build(first)
    assert isinstance(base, Index)
    pending: dict[str, Operation] | None = {}
    before = first
    for rules in later:
        changed = difference(before, rules)
        assert changed is not None
        assert pending is not None
        pending = operations(base, pending, rules, changed, Preparation.of())
        assert pending is not None
        index = tocsin.build(first)
        assert isinstance(index, Index)
        index.apply(json.loads(json.dumps(list(pending.values()))))
        assert answers(index) == answers(tocsin.build(rules))
        assert sorted(index.ids.to_pylist()) == sorted(rules.ids.to_pylist())
        for rule in rules:
            assert index.rule(rule.id).metadata == rule.metadata
        before = rules


def test_what_is_as_it_was_is_no_difference() -> None:
    rules = rules_of({f"r{number}": ("n = 1", "high", 1) for number in range(5)}, True)
    assert len(difference(rules, rules) or ()) == 0
    reordered = rules_of({f"r{number}": ("n = 1", "high", 1) for number in reversed(range(5))}, True)
    assert len(difference(rules, reordered) or ()) == 0


def test_differences_are_found_in_conditions_metadata_and_aliases() -> None:
    def read(text: str) -> Rules:
        return rules_of_triggers(text)

    before = read(
        "create trigger a when n = 1; create trigger b with (severity = 'low') when n = 1;"
        "create trigger c from t as v when v.n = 1; create trigger d when n = 4;"
    )
    after = read(
        "create trigger a when n = 2; create trigger b with (severity = 'high') when n = 1;"
        "create trigger c from t as w when v.n = 1; create trigger e when n = 5;"
    )
    changed = difference(before, after)
    assert changed is not None
    assert changed.removed == ["d"]
    assert [after.ids[row].as_py() for row in changed.rows.tolist()] == ["a", "b", "c", "e"]


def test_metadata_of_another_type_is_not_compared() -> None:
    old = Rules.of_table(pa.table({"id": ["a"], "when": ["n = 1"], "level": [1]}))
    new = Rules.of_table(pa.table({"id": ["a"], "when": ["n = 1"], "level": ["1"]}))
    assert difference(old, new) is None


def test_every_error_of_changed_rules_is_raised() -> None:
    old = rules_of({"a": ("n = 1", None, None)}, False)
    new = rules_of({"a": ("n >", None, None), "b": ("= 3", None, None), "c": ("n = 1", None, None)}, False)
    changed = difference(old, new)
    assert changed is not None
    base = tocsin.build(old)
    assert isinstance(base, Index)
    with pytest.raises(RuleErrors) as raised:
        operations(base, {}, new, changed, Preparation.of())
    assert [error.rule for error in raised.value.errors] == ["a", "b"]
