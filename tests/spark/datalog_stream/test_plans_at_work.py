"""Random programs and changes through their plans, without Spark: each seq gives what an engine gives."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from tests.datalog_programs import INPUTS, Case, cases, rows, signatures
from tests.spark.datalog_stream.simulated import Simulated
from tests.spark.datalog_stream.spread_programs import (
    DERIVED,
    RULES,
    program_of,
    spread_operations,
    spread_programs,
)
from tests.spark.datalog_stream.spread_programs import INPUTS as SPREAD_INPUTS

from tocsin import Changes, Engine, Program
from tocsin.datalog.engine.requests import Operation
from tocsin.datalog.spark.stream.step_rows import texts_of
from tocsin.errors import DerivationError

EXAMPLES = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@st.composite
def batches(draw: st.DrawFn, case: Case) -> list[list[list[Operation]]]:
    """Batches of seqs of changes, to derived relations too."""
    takers = [*INPUTS, *(each for each in signatures(case.text) if each.name.startswith("d"))]
    change = st.sampled_from(takers).flatmap(
        lambda relation: st.tuples(st.sampled_from("++-"), st.just(relation.name), rows(relation))
    )
    first = [[("+", name, each) for name, tuples in case.facts.items() for each in tuples]]
    return [first, *draw(st.lists(st.lists(st.lists(change, max_size=4), max_size=4), max_size=4))]


@st.composite
def cases_with_batches(draw: st.DrawFn) -> tuple[str, list[list[list[Operation]]]]:
    case = draw(cases())
    return case.text, draw(batches(case))


def said(changes: Changes, seq: int | None) -> set[tuple[str, str, tuple[str, ...], int | None]]:
    """Changes of an engine as rows."""
    return {
        (op, name, texts_of(values), seq)
        for op, changed in (("-", changes.removed), ("+", changes.added))
        for name, tuples in changed.items()
        for values in tuples
    }


def at_once(operations: Sequence[Operation]) -> list[Operation]:
    """What an engine is told of a seq: what goes, goes first."""
    return sorted(operations, key=lambda operation: operation[0] == "+")


def compare(simulated: Simulated, engine: Engine, some: Sequence[Sequence[Sequence[Operation]]]) -> None:
    seq = 0
    for batch in some:
        expected = set()
        changes = []
        for operations in batch:
            seq += 1
            expected |= said(engine.apply(at_once(operations)), seq)
            changes += [(*operation, seq, 0) for operation in dict.fromkeys(operations)]
        assert simulated.batch(changes) == expected


@EXAMPLES
@given(cases_with_batches(), st.integers(0, 1000))
def test_every_seq_gives_what_an_engine_gives(
    case: tuple[str, list[list[list[Operation]]]], seed: int
) -> None:
    text, some = case
    engine = Program.parse(text).start()
    try:
        compare(Simulated(text, workers=3, seed=seed), engine, some)
    except DerivationError:
        reject()


SPREAD_CASES = (
    spread_programs(),
    st.lists(st.lists(st.lists(spread_operations(), max_size=5), max_size=5), max_size=5),
    st.integers(0, 1000),
)


@EXAMPLES
@given(*SPREAD_CASES)
def test_programs_that_can_be_spread(text: str, some: list[list[list[Operation]]], seed: int) -> None:
    compare(Simulated(text, workers=3, seed=seed), Program.parse(text).start(), some)


@pytest.mark.slow
@settings(EXAMPLES, max_examples=1000)
@given(*SPREAD_CASES)
def test_many_programs_that_can_be_spread(text: str, some: list[list[list[Operation]]], seed: int) -> None:
    compare(Simulated(text, workers=3, seed=seed), Program.parse(text).start(), some)


def test_all_rules_at_once() -> None:
    text = program_of(list(RULES), [])
    random = Random(7)
    names = [*SPREAD_INPUTS, "hot", "alert"]
    arities = {**SPREAD_INPUTS, **DERIVED}
    some = [
        [
            [
                (random.choice("++-"), name, tuple(random.randrange(4) for _ in range(arities[name])))
                for name in random.choices(names, k=random.randrange(6))
            ]
            for _ in range(random.randrange(6))
        ]
        for _ in range(25)
    ]
    simulated = Simulated(text, workers=2, seed=3)
    compare(simulated, Program.parse(text).start(), some)
    kinds = {(unit.counted, unit.key is None) for unit in simulated.setting.plan.units}
    assert len(kinds) == 4  # complete and counted, with keys and without
    assert simulated.setting.plan.levels > 2


def test_what_is_taken_back_and_given_in_one_seq_is_there() -> None:
    text = program_of(
        ["seen(u, d) :- login(u, d).", "any() :- alert(_, _)."], ["seen", "any", "alert", "ban"]
    )
    simulated = Simulated(text)
    for relation, values in (("login", (1, 2)), ("alert", (1, 2)), ("ban", (1,))):
        both = [("+", relation, values), ("-", relation, values)]
        came = simulated.batch([(*operation, 1, 0) for operation in both])
        assert {op for op, *_ in came} == {"+"}
        assert simulated.batch([(*operation, 2, 0) for operation in both[::-1]]) == set()
        assert {op for op, *_ in simulated.batch([("-", relation, values, 3, 0)])} == {"-"}
