"""Arithmetic in kernels against what functors mean on Python values."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.conftest import examples

from tocsin.datalog.language import Type, Value, functors
from tocsin.datalog.machine import (
    Atom,
    JoinRule,
    Machine,
    NormalProgram,
    Relation,
    Symbols,
    TupleCode,
    Variable,
)
from tocsin.datalog.machine.normal_form import Call, Constant, Let
from tocsin.datalog.machine.normal_form import Test as Comparison
from tocsin.errors import DerivationError

BITS = ("band", "bor", "bxor", "bshl", "bshr", "bshru", "bnot")
LOGIC = ("land", "lor", "lxor", "lnot")
WHOLE = ("+", "-", "*", "/", "%", "^", "min", "max", "neg", *BITS, *LOGIC)
FUNCTORS = {
    Type.NUMBER: WHOLE,
    Type.UNSIGNED: WHOLE,
    Type.FLOAT: ("+", "-", "*", "/", "^", "min", "max", "neg"),
}
UNARY = ("neg", "bnot", "lnot")
EDGES = (0, 1, -1, 2, -2, 3, 63, 64, 2**31, 2**62, 2**63 - 1, -(2**63), -(2**63) + 1)
VALUES: dict[Type, st.SearchStrategy[Value]] = {
    Type.NUMBER: st.sampled_from(EDGES) | st.integers(-(2**63), 2**63 - 1) | st.integers(-9, 9),
    Type.UNSIGNED: st.sampled_from((0, 1, 2, 63, 64, 2**63, 2**64 - 1))
    | st.integers(0, 2**64 - 1)
    | st.integers(0, 9),
    Type.FLOAT: st.floats(allow_nan=False) | st.sampled_from((0.0, 1.0, -1.0, 0.5, 2.0, 1e308, 5e-324)),
}


@pytest.mark.parametrize(("kind", "functor"), [(kind, name) for kind in FUNCTORS for name in FUNCTORS[kind]])
def test_operations(kind: Type, functor: str) -> None:
    call = Call(functor, kind, (Variable(0),) if functor in UNARY else (Variable(0), Variable(1)))
    program = NormalProgram(
        (Relation("a", (kind, kind)), Relation("p", (kind,))),
        (
            JoinRule(
                Atom("p", (Variable(2),)),
                (Atom("a", (Variable(0), Variable(1))),),
                lets=(Let(Variable(2), call, kind),),
            ),
        ),
    )

    @given(VALUES[kind], VALUES[kind])
    @example(-(2**63) if kind is Type.NUMBER else 1, -1 if kind is Type.NUMBER else 0)
    @settings(max_examples=examples(60), deadline=None)
    def run(left: Value, right: Value) -> None:
        if kind is Type.FLOAT:
            left, right = float(left) + 0.0, float(right) + 0.0
        symbols = Symbols()
        machine = Machine(program, symbols)
        row = TupleCode("a", (kind, kind), symbols).encode((left, right))
        operands = (left,) if functor in UNARY else (left, right)
        try:
            wanted = functors.apply(functor, kind, operands)
        except DerivationError:
            with pytest.raises(DerivationError):
                machine.change_one(0, row, True)
            return
        machine.change_one(0, row, True)
        assert TupleCode("p", (kind,), symbols).decode_rows(machine.rows(1)) == [(wanted,)]

    run()


@pytest.mark.parametrize("kind", FUNCTORS)
@pytest.mark.parametrize("operator", ["=", "!=", "<", "<=", ">", ">="])
def test_comparisons(kind: Type, operator: str) -> None:
    test = Comparison(operator, Variable(0), Variable(1), kind)
    program = NormalProgram(
        (Relation("a", (kind, kind)), Relation("p", ())),
        (JoinRule(Atom("p", ()), (Atom("a", (Variable(0), Variable(1))),), tests=(test,)),),
    )

    @given(VALUES[kind], VALUES[kind], st.booleans())
    @settings(max_examples=examples(40), deadline=None)
    def run(left: Value, right: Value, same: bool) -> None:
        if kind is Type.FLOAT:
            left, right = float(left) + 0.0, float(right) + 0.0
        symbols = Symbols()
        machine = Machine(program, symbols)
        other = left if same else right
        machine.change_one(0, TupleCode("a", (kind, kind), symbols).encode((left, other)), True)
        assert machine.size(1) == functors.holds(operator, left, other)

    run()


def test_many_operands_are_taken_two_by_two() -> None:
    operands = tuple(Constant(value) for value in (9, 4, 7, 1, 8))
    call = Call("min", Type.NUMBER, operands)
    head = Atom("p", (Variable(1),))
    program = NormalProgram(
        (Relation("a", (Type.NUMBER,)), Relation("p", (Type.NUMBER,))),
        (JoinRule(head, (Atom("a", (Variable(0),)),), lets=(Let(Variable(1), call, Type.NUMBER),)),),
    )
    machine = Machine(program, Symbols())
    machine.change_one(0, (5,), True)
    assert machine.rows(1).tolist() == [[1]]
