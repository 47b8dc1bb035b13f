from __future__ import annotations

from tests.datalog_trees import print_rule

from tocsin.datalog.language import Type
from tocsin.datalog.language.checker import check_program
from tocsin.datalog.language.syntax import CheckedProgram


def rules_of(program: CheckedProgram) -> list[str]:
    return [print_rule(rule) for rule in program.rules]


def test_an_instance_has_its_own_relations_and_sees_those_around_it() -> None:
    program = check_program(
        """
        .decl start(x: number)
        .comp Reach {
            .decl edge(x: number, y: number)
            .decl reached(x: number)
            reached(x) :- start(x).
            reached(y) :- reached(x), edge(x, y).
            .output reached
        }
        .init a = Reach
        .init b = Reach
        a.edge(1, 2).
        b.edge(x, y) :- a.edge(y, x), !a.reached(x), 1 < count : { a.reached(_) }.
        """
    )
    assert list(program.relations) == ["start", "a.edge", "a.reached", "b.edge", "b.reached"]
    assert rules_of(program) == [
        "a.edge(1, 2).",
        "b.edge(x, y) :- a.edge(y, x), !a.reached(x), 1 < count : { a.reached(_) }.",
        "a.reached(x) :- start(x).",
        "a.reached(y) :- a.reached(x), a.edge(x, y).",
        "b.reached(x) :- start(x).",
        "b.reached(y) :- b.reached(x), b.edge(x, y).",
    ]
    assert [directive.relation for directive in program.directives] == ["a.reached", "b.reached"]
    assert program.rules[2].text == "reached(x) :- start(x)."


def test_type_parameters_stand_for_types_and_components() -> None:
    program = check_program(
        """
        .type Id <: symbol
        .comp Store<T> { .type Item = T .decl has(x: Item, y: T) has(x, y) :- has(y, x), x = as(y, T). }
        .comp Twice<K, T> { .init inner = K<T> .decl all(x: T) all(x) :- inner.has(x, _). }
        .init numbers = Store<number>
        .init ids = Twice<Store, Id>
        ids.inner.has("a", "b").
        """
    )
    assert program.relations["numbers.has"].types == (Type.NUMBER, Type.NUMBER)
    assert program.relations["ids.inner.has"].types == (Type.SYMBOL, Type.SYMBOL)
    assert "ids.all(x) :- ids.inner.has(x, _)." in rules_of(program)


def test_bases_are_inherited_and_overridden() -> None:
    program = check_program(
        """
        .comp Base<T> {
            .decl p(x: T) overridable
            .decl q(x: T)
            p(x) :- q(x).
            q(x), p(x) :- given(x).
        }
        .comp Middle<T> : Base<T> { .decl m(x: T) m(x) :- p(x). }
        .comp Derived : Middle<number> { .override p p(x) :- q(x), x > 1. }
        .decl given(x: number)
        .init b = Base<number>
        .init d = Derived
        """
    )
    assert rules_of(program) == [
        "b.p(x) :- b.q(x).",
        "b.q(x), b.p(x) :- given(x).",
        "d.q(x) :- given(x).",
        "d.m(x) :- d.p(x).",
        "d.p(x) :- d.q(x), x > 1.",
    ]


def test_components_within_components() -> None:
    program = check_program(
        """
        .comp Outer {
            .comp Inner { .decl r(x: number) r(x) :- s(x). t(x) :- r(x). }
            .decl s(x: number)
            .decl t(x: number)
            .init in = Inner
            t(x) :- in.r(x).
        }
        .decl s(x: number)
        .init o = Outer
        s(x) :- o.in.r(x).
        """
    )
    assert rules_of(program) == [
        "s(x) :- o.in.r(x).",
        "o.t(x) :- o.in.r(x).",
        "o.in.r(x) :- o.s(x).",
        "o.t(x) :- o.in.r(x).",
    ]
