"""Random programs, random changes: after each, an engine is what the obvious evaluator says it is."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.datalog_programs import Case, Change, cases, changes
from tests.monitor.programs.judged import LIMIT, Judged, contents, plain

import tocsin
from tocsin.monitor.programs.engine import Engine
from tocsin.monitor.programs.program import Program

EXAMPLES = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def operations(some: list[Change]) -> list[tuple[str, str, tuple[int | float | str, ...]]]:
    return [("+" if change.insert else "-", change.relation, change.values) for change in some]


def started(case: Case) -> Judged:
    judged = Judged(Program.parse(case.text))
    judged.step(
        lambda engine: engine.apply(
            [("+", name, each) for name, tuples in case.facts.items() for each in tuples]
        )
    )
    return judged


@EXAMPLES
@given(cases(), changes())
def test_one_by_one(case: Case, some: list[Change]) -> None:
    judged = started(case)
    for each in some:
        judged.step(
            lambda engine, each=each: (engine.insert if each.insert else engine.delete)(
                each.relation, each.values
            )
        )


@EXAMPLES
@given(cases(), changes())
def test_a_batch_is_the_same_changes_one_by_one(case: Case, some: list[Change]) -> None:
    judged = started(case)
    before = contents(judged.engine)
    net = judged.step(lambda engine: engine.apply(operations(some)))
    single = started(case)
    for operation in operations(some):
        single.step(lambda engine, operation=operation: engine.apply([operation]))
    if net is not None:
        assert contents(single.engine) == contents(judged.engine)
        back = judged.step(lambda engine: engine.apply(undoing(before, engine)))
        if back is not None:
            assert (back.added, back.removed) == (net.removed, net.added)


def undoing(
    before: dict[str, list[tuple[int | float | str, ...]]], engine: Engine
) -> list[tuple[str, str, tuple[int | float | str, ...]]]:
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
    for step, (change, life) in enumerate(zip(some, lives, strict=False)):
        ttl = life or None
        judged.step(
            lambda engine, change=change, ttl=ttl: (
                engine.insert(change.relation, change.values, ttl=ttl)
                if change.insert
                else engine.delete(change.relation, change.values)
            )
        )
        judged.step(lambda engine, step=step: engine.advance(step))
        if step == saved_at:
            with TemporaryDirectory() as folder:
                judged.engine.save(Path(folder) / "engine.tocsin")
                judged.engine = tocsin.open(Path(folder) / "engine.tocsin")
            judged.check()
    judged.step(lambda engine: engine.advance(100))


@EXAMPLES
@given(cases(), changes(), st.data())
def test_rules_come_and_go(case: Case, some: list[Change], data: st.DataObject) -> None:
    judged = started(case)
    rules = judged.engine.program.rules
    gone = data.draw(st.lists(st.sampled_from(range(len(rules))), max_size=3, unique=True)) if rules else []
    for number in sorted(gone, reverse=True):
        judged.step(lambda engine, number=number: engine.remove_rule(number))
    judged.step(lambda engine: engine.apply(operations(some)))
    for number in gone:
        judged.step(lambda engine, number=number: engine.add_rule(rules[number]))
    assert sorted(judged.engine.program.rules) == sorted(rules)
    whole = Program.parse(case.text).start(limit=LIMIT)
    assert plain(whole.apply([])) == ({}, {})
