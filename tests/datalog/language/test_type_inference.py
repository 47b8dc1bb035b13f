from __future__ import annotations

import pytest

from tocsin.datalog.language import Type
from tocsin.datalog.language.checker import check_program
from tocsin.datalog.language.syntax import Anonymous, Constant, Operation, Variable
from tocsin.datalog.language.tree_walk import walk

DECLARED = """
.decl n(x: number)
.decl u(x: unsigned)
.decl f(x: float)
.decl s(x: symbol)
"""
N, U, F, S = Type.NUMBER, Type.UNSIGNED, Type.FLOAT, Type.SYMBOL


@pytest.mark.parametrize(
    ("rule", "types"),
    [
        ("n(1).", {1: N}),
        ("f(1).", {1: F}),
        ("u(1).", {1: U}),
        ("f(x + 1) :- f(x).", {"x": F, 1: F, "+": F}),
        ("u(x + 1) :- u(x), 2 > x.", {"x": U, 1: U, 2: U, "+": U}),
        ("f(x) :- x = 1.", {"x": F, 1: F}),
        ("f(x) :- x = y, y = 1 * 2.", {"x": F, "y": F, 1: F, 2: F, "*": F}),
        ("n(3) :- 1 < 2.", {1: N, 2: N, 3: N}),
        ("n(3) :- 1 < 2.5.", {1: F, 2.5: F, 3: N}),
        ("s(to_string(1)).", {1: N, "to_string": S}),
        ("f(to_float(1 + x)) :- n(x).", {1: N, "x": N, "+": N, "to_float": F}),
        ("n(strlen(x)) :- s(x), n(_).", {"x": S, "strlen": N, "_": N}),
        ('s("a" + x) :- s(x).', {"x": S, "a": S, "cat": S}),
        ("n(1) :- 2 < sum x + 3 : { f(x) }.", {2: F, "x": F, 3: F, "+": F}),
        ("n(c) :- c = count : { u(1) }.", {"c": N, 1: U}),
        ("f(c) :- c = mean x : { u(x) }.", {"c": F, "x": U}),
        ('n(1) :- u(y), y = 1 ; s(y), y = "a".', {"a": S}),
        ("n(max(x, 1)) :- !f(2), n(x).", {"x": N, 1: N, "max": N, 2: F}),
        ('s(max(x, "b")) :- s(x).', {"x": S, "b": S, "max": S}),
    ],
)
def test_types(rule: str, types: dict[object, Type]) -> None:
    checked = check_program(DECLARED + rule).rules[0]
    found: dict[object, Type | None] = {}
    for node in walk(checked.body, *checked.heads[0].arguments):
        if isinstance(node, Constant):
            assert node.type is not None
            assert type(node.value) is {N: int, U: int, F: float, S: str}[node.type]
            found[node.value] = node.type
        elif isinstance(node, Variable):
            found[node.name] = node.type
        elif isinstance(node, Operation):
            found[node.functor] = node.type
        elif isinstance(node, Anonymous):
            found["_"] = node.type
    assert types.items() <= found.items()


def test_each_alternative_has_types_of_its_own() -> None:
    rule = check_program(DECLARED + 'n(1) :- u(y), y = 1 ; s(y), y = "a".').rules[0]
    ys = [node.type for node in walk(rule.body) if isinstance(node, Variable)]
    assert ys == [U, U, S, S]


def test_a_cast_is_gone() -> None:
    rule = check_program(f"{DECLARED}.type A <: number\n.decl a(x: A)\na(as(x, A)) :- n(x).").rules[0]
    assert rule.heads[0].arguments == (Variable("x", type=N),)
