"""Random programs, random changes: after each, an engine is what the obvious evaluator says it is."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from tests.datalog.engine.judged import Judged, contents, obvious_engine
from tests.datalog_programs import Case, Change, cases, changes, signatures

import tocsin
from tocsin import Engine, Program
from tocsin.datalog.engine.requests import Operation
from tocsin.errors import DerivationError, RuleError

EXAMPLES = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def operations(some: list[Change]) -> list[Operation]:
    return [("+" if change.insert else "-", change.relation, change.values) for change in some]


def started(case: Case) -> Judged:
    program = Program.parse(case.text)
    try:
        judged = Judged(program)
    except RuleError:  # an aggregate that depends on what only recursion gives is refused
        reject()
    except DerivationError:
        with pytest.raises(DerivationError):
            obvious_engine(program)
        reject()
    judged.step("apply", [("+", name, each) for name, tuples in case.facts.items() for each in tuples])
    return judged


@EXAMPLES
@given(cases(), changes())
def test_one_by_one(case: Case, some: list[Change]) -> None:
    judged = started(case)
    for each in some:
        judged.step("insert" if each.insert else "delete", each.relation, each.values)


@EXAMPLES
@given(cases(), changes())
def test_a_batch_is_the_same_changes_one_by_one(case: Case, some: list[Change]) -> None:
    judged = started(case)
    before = contents(judged.engine)
    net = judged.step("apply", operations(some))
    single = started(case)
    refused = [single.step("apply", [operation]) is None for operation in operations(some)]
    if net is not None and not any(refused):
        assert contents(single.engine) == contents(judged.engine)
        back = judged.step("apply", undoing(before, judged.engine))
        assert back is not None
        assert (back.added, back.removed) == (net.removed, net.added)


def undoing(before: dict[str, list[Any]], engine: Engine) -> list[Operation]:
    """What brings the input relations back to what they were."""
    inputs = set(engine.program.relations) - set(engine.program.outputs)
    return [
        (sign, name, each)
        for name in inputs
        for sign, tuples in (
            ("+", set(before[name]) - set(engine.query(name))),
            ("-", set(engine.query(name)) - set(before[name])),
        )
        for each in tuples
    ]


@EXAMPLES
@given(cases(), changes(), st.lists(st.integers(0, 4), min_size=12, max_size=12), st.integers(0, 12))
def test_times_to_live_and_snapshots(case: Case, some: list[Change], lives: list[int], saved_at: int) -> None:
    judged = started(case)
    for step, (each, life) in enumerate(zip(some, lives, strict=False)):
        if each.insert:
            judged.step("insert", each.relation, each.values, life or None)
        else:
            judged.step("delete", each.relation, each.values)
        judged.step("advance", step)
        if step == saved_at:
            with TemporaryDirectory() as folder:
                judged.engine.save(Path(folder) / "engine.tocsin")
                judged.engine = tocsin.open(Path(folder) / "engine.tocsin")
            judged.check()
    judged.step("advance", 100)


@EXAMPLES
@given(cases(), changes(), st.data())
def test_rules_come_and_go(case: Case, some: list[Change], data: st.DataObject) -> None:
    judged = started(case)
    rules = judged.engine.program.rules
    numbers = st.lists(st.sampled_from(range(len(rules))), max_size=3, unique=True) if rules else st.just([])
    gone = data.draw(numbers)
    for number in sorted(gone, reverse=True):
        judged.step("remove_rule", number)
    judged.step("apply", operations(some))
    for number in gone:
        judged.step("add_rule", rules[number])
    assert sorted(judged.engine.program.rules) == sorted(judged.judge.program.rules)


def check_all_at_once(case: Case, data: st.DataObject) -> None:
    """Changes of any relation, derived ones too, one by one and several, some of them refused as errors."""
    judged = started(case)
    relations = signatures(case.text)
    for _ in range(data.draw(st.integers(1, 4))):
        some = data.draw(changes(8, relations))
        if len(some) == 1:
            judged.step("insert" if some[0].insert else "delete", some[0].relation, some[0].values)
        else:
            judged.step("apply", operations(some))
    for name in judged.engine.program.outputs:
        for each in judged.engine.query(name)[:2]:
            assert judged.engine.why(name, each)


@EXAMPLES
@given(cases(partial=True), st.data())
def test_facts_of_derived_relations_and_values_that_there_are_none_of(
    case: Case, data: st.DataObject
) -> None:
    check_all_at_once(case, data)


@settings(EXAMPLES, max_examples=10)
@given(cases(most=25), st.data())
def test_larger_relations(case: Case, data: st.DataObject) -> None:
    check_all_at_once(case, data)


@pytest.mark.slow
@settings(EXAMPLES, max_examples=3_000, derandomize=False)
@given(st.one_of(cases(partial=True), cases(6, 10, partial=True), cases(most=25)), st.data())
def test_thousands(case: Case, data: st.DataObject) -> None:
    check_all_at_once(case, data)
