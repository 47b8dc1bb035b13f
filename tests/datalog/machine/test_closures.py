"""Closures are found in every form they are written in, nothing else is taken for one, and none changes."""

from __future__ import annotations

import re
from collections.abc import Collection

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.conftest import examples
from tests.datalog.machine.normal_meaning import Row, contents_of

from tocsin.datalog.language import Type
from tocsin.datalog.machine import Atom, JoinRule, NormalProgram, Relation, Variable
from tocsin.datalog.machine.closures import closure_steps
from tocsin.datalog.machine.normal_form import (
    AggregateRule,
    Anything,
    ClosureRule,
    Constant,
    MapRule,
    Step,
    Term,
)
from tocsin.datalog.machine.normal_form import Test as Comparison

BASE = "p(x, y) :- e(x, y)"
RIGHT = "p(x, z) :- e(x, y), p(y, z)"
LEFT = "p(x, z) :- p(x, y), e(y, z)"
BOTH = "p(x, z) :- p(x, y), p(y, z)"
MIRROR = "p(x, y) :- p(y, x)"
NAMES = ("e", "f", "p", "q")


def join(text: str) -> JoinRule:
    """A rule as it is written; `_` is anything, a number a constant."""
    numbers: dict[str, int] = {}

    def term(written: str) -> Term:
        if written == "_":
            return Anything()
        if written.isdigit():
            return Constant(int(written))
        return Variable(numbers.setdefault(written, len(numbers)))

    head, *body = (
        Atom(name, tuple(map(term, terms.split(", ")))) for name, terms in re.findall(r"(\w)\((.*?)\)", text)
    )
    return JoinRule(head, tuple(body))


def program(*rules: str | Step, facts: Collection[tuple[str, Row]] = ()) -> NormalProgram:
    relations = tuple(Relation(name, (Type.NUMBER, Type.NUMBER)) for name in NAMES)
    return NormalProgram(
        relations, tuple(join(rule) if isinstance(rule, str) else rule for rule in rules), tuple(facts)
    )


def closures(found: NormalProgram) -> list[ClosureRule]:
    return [step for step in found.steps if isinstance(step, ClosureRule)]


@pytest.mark.parametrize(
    "rules",
    [
        (BASE, RIGHT),
        (BASE, LEFT),
        (BASE, BOTH),
        (BASE, RIGHT, LEFT, BOTH),
        (RIGHT, BASE),
        (BASE, "p(x, z) :- p(y, z), e(x, y)"),
        (BASE, "p(a, c) :- e(a, b), p(b, c)"),
        (BASE, RIGHT, "p(x, y) :- p(x, y)"),
        (BASE, RIGHT, "p(x, w) :- e(x, y), p(y, z), e(z, w)"),
        (BASE, BOTH, "p(x, w) :- p(x, y), p(y, z), p(z, w)"),
    ],
)
def test_closures_of_one_relation_as_it_is(rules: tuple[str, ...]) -> None:
    found = closure_steps(program(*rules))
    assert found.steps == (ClosureRule("p", "e"),)
    assert found.relations == program().relations


@pytest.mark.parametrize(
    "rules",
    [
        ("p(x, y) :- e(y, x)", "p(x, z) :- e(y, x), p(y, z)"),
        ("p(x, y) :- e(y, x)", "p(x, z) :- p(x, y), e(z, y)"),
        ("p(x, y) :- e(y, x)", BOTH),
        (BASE, "p(x, y) :- f(x, y)", RIGHT, "p(x, z) :- f(x, y), p(y, z)"),
        (BASE, "p(x, y) :- f(y, x)", LEFT, "p(x, z) :- p(x, y), f(z, y)"),
        (BASE, "p(x, y) :- e(y, x)", RIGHT, "p(x, z) :- e(y, x), p(y, z)"),
        (BASE, "p(x, y) :- f(x, y)", BOTH),
        (BASE, "p(x, y) :- f(x, y)", BOTH, RIGHT),
        ("p(x, z) :- e(x, y), f(y, z)", BOTH),
        ("p(x, x) :- e(x, _)", BOTH),
        (BASE, BOTH, MIRROR),
        (BASE, BOTH, MIRROR, "p(x, x) :- p(x, _)", "p(x, x) :- p(_, x)"),
        (BASE, "p(x, z) :- p(y, x), p(y, z)", MIRROR),
        (BASE, MIRROR, RIGHT, "p(x, z) :- e(y, x), p(y, z)"),
    ],
)
def test_closures_of_what_base_rules_give(rules: tuple[str, ...]) -> None:
    found = closure_steps(program(*rules))
    (closure,) = closures(found)
    assert closure.head == "p"
    assert closure.arc.startswith("+")
    assert closure.facts is None
    made = {relation.name for relation in found.relations} - set(NAMES)
    assert closure.arc in made
    assert all(step.head.relation in made for step in found.steps if isinstance(step, JoinRule))


@pytest.mark.parametrize(
    "rules",
    [
        (BASE,),
        (RIGHT,),
        (BASE, "p(x, z) :- f(x, y), p(y, z)"),
        (BASE, "p(x, z) :- e(x, y), f(y, z)"),
        (BASE, "p(x, z) :- e(y, x), p(y, z)"),
        (BASE, "p(x, z) :- e(x, y), p(z, y)"),
        (BASE, "p(z, x) :- e(x, y), p(y, z)"),
        (BASE, "p(x, z) :- e(x, y), p(y, z), f(y, w)"),
        (BASE, "p(x, z) :- e(x, y), p(y, z), e(x, z)"),
        (BASE, "p(x, z) :- e(x, y), p(w, z)"),
        (BASE, "p(x, y) :- e(x, y), p(y, z)"),
        (BASE, "p(x, z) :- e(x, 1), p(1, z)"),
        (BASE, "p(x, z) :- e(x, _), p(x, z)"),
        (BASE, "p(x, w) :- e(x, y), e(y, z), p(z, w)"),
        (BASE, "p(x, w) :- p(x, y), p(y, z), p(z, w)"),
        (BASE, "p(x, y) :- f(x, y)", RIGHT),
        (BASE, "p(x, y) :- f(x, y)", RIGHT, "p(x, z) :- p(x, y), f(y, z)"),
        ("p(x, z) :- e(x, y), f(y, z)", RIGHT),
        (BASE, "p(x, 1) :- f(x, _)", RIGHT),
        (BASE, MIRROR),
        (BASE, RIGHT, MIRROR),
        (BASE, BOTH, "p(x, x) :- p(x, _)"),
        (BASE, BOTH, "p(x, z) :- p(y, x), p(y, z)"),
        (BASE, RIGHT, "q(x, y) :- p(x, y)"),
        (BASE, BOTH, "q(x, y) :- e(x, y), p(y, x)"),
    ],
)
def test_what_is_no_closure_stays_as_it_is(rules: tuple[str, ...]) -> None:
    assert closure_steps(program(*rules)) == program(*rules)


def test_rules_with_conditions_and_steps_of_other_kinds() -> None:
    smaller = Comparison("<", Variable(0), Variable(1), Type.NUMBER)
    base, right = join(BASE), join(RIGHT)
    kept = [
        (BASE, JoinRule(right.head, right.body, tests=(smaller,))),
        (BASE, JoinRule(right.head, right.body, negated=(Atom("f", (Variable(0), Variable(1))),))),
        (BASE, RIGHT, AggregateRule("q", "p", 1, "count", Type.NUMBER)),
        (BASE, RIGHT, MapRule("q", "p", lambda row: [row])),
        (BASE, BOTH, MapRule("p", "p", lambda row: [row])),
        (BASE, RIGHT, JoinRule(Atom("q", (Variable(0), Variable(1))), base.body, negated=(base.head,))),
    ]
    for rules in kept:
        assert closure_steps(program(*rules)) == program(*rules)
    mapped = MapRule("p", "e", lambda row: [row])
    small = JoinRule(base.head, base.body, tests=(smaller,))
    found = closure_steps(program(mapped, small, BOTH))
    (closure,) = closures(found)
    assert MapRule(closure.arc, "e", mapped.function) in found.steps
    assert JoinRule(small.head._replace(relation=closure.arc), small.body, tests=(smaller,)) in found.steps


def test_columns_of_two_types_are_no_vertices() -> None:
    one = program(BASE, RIGHT)
    mixed = tuple(Relation(name, (Type.NUMBER, Type.UNSIGNED)) for name in NAMES)
    assert not closures(closure_steps(NormalProgram(mixed, one.steps)))


def test_facts_of_a_linear_relation_are_no_arcs() -> None:
    stated = program(BASE, RIGHT, facts=[("p", (1, 2))])
    assert closure_steps(stated) == stated
    assert closure_steps(program(BASE, RIGHT), ["p"]) == program(BASE, RIGHT)
    assert closures(closure_steps(program(BASE, RIGHT), ["e"]))


@pytest.mark.parametrize("rules", [(BASE, BOTH), (BOTH,), (BASE, BOTH, MIRROR)])
def test_facts_of_a_non_linear_relation_are_arcs(rules: tuple[str, ...]) -> None:
    stated = program(*rules, facts=[("p", (1, 2)), ("e", (2, 3))])
    found = closure_steps(stated)
    (closure,) = closures(found)
    assert closure.facts is not None
    assert found.facts == ((closure.facts, (1, 2)), ("e", (2, 3)))
    (loaded,) = closures(closure_steps(program(*rules), ["p"]))
    assert loaded.facts is not None


def test_several_closures_and_made_names_that_are_taken() -> None:
    both = program(BASE, BOTH, "q(x, y) :- f(x, y)", "q(x, z) :- f(x, y), q(y, z)", facts=[("p", (1, 1))])
    taken = NormalProgram(
        (*both.relations, Relation("+arcs of p", (Type.NUMBER, Type.NUMBER))), both.steps, both.facts
    )
    found = closure_steps(taken)
    assert {closure.head for closure in closures(found)} == {"p", "q"}
    names = [relation.name for relation in found.relations]
    assert len(set(names)) == len(names)


def test_a_closure_of_a_closure_keeps_only_the_outer_one_implicit() -> None:
    found = closure_steps(program(BASE, RIGHT, "q(x, y) :- p(x, y)", "q(x, z) :- q(x, y), p(y, z)"))
    assert closures(found) == [ClosureRule("q", "p")]


def test_rules_of_thousands_of_atoms() -> None:
    length = 5_000
    body = tuple(Atom("p", (Variable(i), Variable(i + 1))) for i in range(length))
    long = JoinRule(Atom("p", (Variable(0), Variable(length))), body)
    assert closures(closure_steps(program(BASE, BOTH, long))) == [ClosureRule("p", "e")]
    star = tuple(Atom("p", (Variable(0), Variable(i + 1))) for i in range(length))
    assert not closures(closure_steps(program(BASE, BOTH, JoinRule(Atom("p", star[0].terms), star))))


ROW = st.tuples(st.integers(1, 4), st.integers(1, 4))
FACTS = st.lists(st.tuples(st.sampled_from("eefp"), ROW), min_size=3, max_size=8)
LINK = st.tuples(st.sampled_from("efpp"), st.sampled_from([True, True, False]))


@st.composite
def chains(draw: st.DrawFn) -> str:
    """A rule that leads from link to link, mostly to the end of its head."""
    links = draw(st.lists(LINK, min_size=1, max_size=3))
    atoms = [
        f"{name}({i}, {i + 1})" if forward else f"{name}({i + 1}, {i})"
        for i, (name, forward) in enumerate(links)
    ]
    last = draw(st.sampled_from([len(links)] * 4 + [0, 1]))
    rule = f"p(0, {last}) :- " + ", ".join(draw(st.permutations(atoms)))
    return rule.translate(str.maketrans("0123", "wxyz"))


FORMS = [BASE, BASE, RIGHT, LEFT, BOTH, MIRROR, "p(x, y) :- f(x, y)", "p(x, x) :- p(x, y)"]


@given(
    rules=st.lists(st.one_of(st.sampled_from(FORMS), chains()), min_size=2, max_size=4),
    facts=FACTS,
    stated=st.booleans(),
)
@example(rules=[BASE, RIGHT], facts=[("e", (1, 2)), ("p", (2, 3))], stated=True)
@settings(deadline=None, max_examples=examples(400))
def test_a_program_means_the_same(rules: list[str], facts: list[tuple[str, Row]], stated: bool) -> None:
    """Whether facts stand in the program or are given to it."""
    plain = program(*rules, facts=facts if stated else ())
    found = closure_steps(plain, {name for name, _ in facts})
    given_facts = () if stated else facts
    expected = contents_of(plain, given_facts)
    actual = contents_of(found, given_facts)
    assert {name: actual[name] for name in NAMES} == {name: expected[name] for name in NAMES}
