"""The Yield-index paper on constraint elements: sections 3.3 and 3.4, Algorithm 1, the reduction of 5.1."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.datalog.language import Type
from tocsin.datalog.machine import Atom, JoinRule, Machine, NormalProgram, Relation, Symbols, Variable
from tocsin.datalog.machine.constraints import (
    Argument,
    ConstantConstraint,
    ConstraintElement,
    VariableConstraint,
    all_elements,
    least_elements,
)
from tocsin.datalog.machine.normal_form import Constant, Term

A, B, C, W, X, Y, Z, U = map(Variable, range(8))

R4 = (Atom("s", (Constant(3), X, A)), Atom("t", (X, B)), Atom("w", (X, C)))
R5 = (Atom("s", (X, Constant(5), Constant(1))), Atom("w", (X, B)))
R6 = (Atom("p1", (X, Z)), Atom("p2", (Y, Z)), Atom("p3", (W, Z)))
R7 = (Atom("p1", (X, Y)), Atom("p2", (X, Z)), Atom("p3", (Y, W)), Atom("p4", (Y, U)))
UC = (Atom("near", (X, Z)), Atom("use", (X, Z)), Atom("request", (Z, Y)))


def written(element: ConstraintElement, body: Sequence[Atom]) -> str:
    """As the paper writes it, columns counted from 1: `S.2 = T.1`."""

    def argument(named: Argument) -> str:
        return f"{body[named.atom].relation.upper()}.{named.column + 1}"

    if isinstance(element, ConstantConstraint):
        return f"{argument(element.argument)} = {element.constant.value}"
    return f"{argument(element.left)} = {argument(element.right)}"


def written_all(elements: Sequence[ConstraintElement], body: Sequence[Atom]) -> set[str]:
    return {written(element, body) for element in elements}


def test_the_sce_of_r4() -> None:
    assert written_all(all_elements(R4), R4) == {
        "S.2 = T.1",
        "S.2 = W.1",
        "T.1 = W.1",
        "T.1 = S.2",
        "W.1 = S.2",
        "W.1 = T.1",
        "S.1 = 3",
    }


def test_algorithm_1_leaves_the_mce_of_r4() -> None:
    assert written_all(least_elements(R4, {}), R4) == {"S.1 = 3", "T.1 = S.2", "W.1 = S.2"}


def test_the_main_relation_is_the_one_with_most_tuples() -> None:
    assert written_all(least_elements(R4, {"s": 10, "t": 1_000, "w": 100}), R4) == {
        "S.1 = 3",
        "S.2 = T.1",
        "W.1 = T.1",
    }


def test_r5_has_two_constant_constraints_and_one_of_variables() -> None:
    assert written_all(least_elements(R5, {}), R5) == {"S.2 = 5", "S.3 = 1", "W.1 = S.1"}


def stats_of(*bodies: Sequence[Atom]) -> dict[str, int]:
    """What the index of some rules has, each with a head of its own."""
    arity = {atom.relation: len(atom.terms) for body in bodies for atom in body}
    relations = [Relation(name, (Type.NUMBER,) * width) for name, width in arity.items()]
    heads = [Relation(f"h{number}", (Type.NUMBER,)) for number in range(len(bodies))]
    rules = [
        JoinRule(
            Atom(head.name, (next(term for term in body[0].terms if isinstance(term, Variable)),)),
            tuple(body),
        )
        for head, body in zip(heads, bodies, strict=True)
    ]
    machine = Machine(NormalProgram((*relations, *heads), tuple(rules)), Symbols())
    machine.settle()
    return machine.stats()


@pytest.mark.parametrize(
    ("body", "data_indexes"),
    [(R4, 1), (R5, 1), (R6, 1), (R7, 2), (UC, 2)],
    ids=["R4", "R5", "R6", "R7", "UC"],
)
def test_one_data_index_for_each_join(body: Sequence[Atom], data_indexes: int) -> None:
    """Section 5.1: R6 needs one data index in place of three, R7 two in place of five."""
    assert stats_of(body)["data_indexes"] == data_indexes


def test_stats_count_the_elements_before_and_after_algorithm_1() -> None:
    stats = stats_of(R4)
    assert (stats["constraint_elements"], stats["least_constraint_elements"]) == (7, 3)


def test_rules_share_data_indexes() -> None:
    """`near` by both columns, and by the second one, serve both rules."""
    other = (Atom("near", (X, Z)), Atom("use", (X, Z)), Atom("broken", (Z,)))
    both = stats_of(UC, other)
    assert both["data_indexes"] == stats_of(UC)["data_indexes"] == 2
    assert both["links"] == stats_of(UC)["links"] + 1, "only `broken` is new"


terms: st.SearchStrategy[Term] = st.integers(0, 4).map(Variable) | st.integers(0, 2).map(Constant)
bodies = st.lists(
    st.tuples(st.sampled_from("pqrs"), st.lists(terms, min_size=1, max_size=3)).map(
        lambda drawn: Atom(drawn[0], tuple(drawn[1]))
    ),
    min_size=1,
    max_size=5,
)


@given(bodies, st.dictionaries(st.sampled_from("pqrs"), st.integers(0, 9)))
def test_the_mce_says_what_the_sce_says_and_no_more_than_once(
    body: list[Atom], sizes: dict[str, int]
) -> None:
    least, everything = least_elements(body, sizes), all_elements(body)
    assert classes(least) == classes(everything)
    assert constants(least) == constants(everything)
    variables = [element for element in least if isinstance(element, VariableConstraint)]
    joined = sum(len(members) - 1 for members in classes(everything))
    assert len(variables) == joined, "one element less than arguments, for each variable"


def classes(elements: Sequence[ConstraintElement]) -> set[frozenset[Argument]]:
    """The arguments that elements hold equal."""
    found: dict[Argument, frozenset[Argument]] = {}
    for element in elements:
        if isinstance(element, VariableConstraint):
            merged = found.get(element.left, frozenset({element.left})) | found.get(
                element.right, frozenset({element.right})
            )
            found.update(dict.fromkeys(merged, merged))
    return set(found.values())


def constants(elements: Sequence[ConstraintElement]) -> set[ConstantConstraint]:
    return {element for element in elements if isinstance(element, ConstantConstraint)}
