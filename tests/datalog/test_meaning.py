"""What programs mean, by example."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest

from tocsin.datalog.language import Value
from tocsin.datalog.language.checker import check_program
from tocsin.datalog.language.conjunctions import Tuple
from tocsin.datalog.meaning import evaluate
from tocsin.errors import DerivationError

INPUTS = """
.decl arc(x: number, y: number)
.decl node(x: number)
.decl name(x: number, s: symbol)
.decl weight(x: number, w: float)
"""


def derived(rules: str, facts: Mapping[str, Iterable[Tuple]], local: Value | None = None) -> set[Tuple]:
    """The contents of p in a program that starts with INPUTS."""
    return evaluate(check_program(INPUTS + rules), facts, local)["p"]


CASES: Mapping[str, tuple[str, dict[str, list[Tuple]], set[Tuple]]] = {
    "facts, also computed ones": (
        ".decl p(x: number) p(1). p(1 + 2). p(x) :- x = 7.",
        {},
        {(1,), (3,), (7,)},
    ),
    "recursion": (
        ".decl p(x: number, y: number) p(x, y) :- arc(x, y). p(x, y) :- p(x, z), p(z, y).",
        {"arc": [(1, 2), (2, 3), (3, 1)]},
        {(x, y) for x in (1, 2, 3) for y in (1, 2, 3)},
    ),
    "mutual recursion": (
        """.decl p(x: number) .decl odd(x: number)
        p(0). odd(x + 1) :- p(x), x < 5. p(x + 1) :- odd(x), x < 5.""",
        {},
        {(0,), (2,), (4,)},
    ),
    "negation of what is not there, with _": (
        ".decl p(x: number) p(x) :- node(x), !arc(x, _).",
        {"node": [(1,), (2,)], "arc": [(1, 5)]},
        {(2,)},
    ),
    "a repeated variable and a constant": (
        ".decl p(x: number) p(x) :- arc(x, x), arc(x, 2).",
        {"arc": [(1, 1), (1, 2), (3, 3), (4, 2)]},
        {(1,)},
    ),
    "an equation before what it needs": (
        ".decl p(x: number) p(z) :- z = y * 2, y = x + 1, node(x).",
        {"node": [(1,)]},
        {(4,)},
    ),
    "a computed argument of a body's atom": (
        ".decl p(x: number) p(x) :- arc(x, x + 1).",
        {"arc": [(1, 2), (2, 2)]},
        {(1,)},
    ),
    "disjunction and several heads": (
        ".decl p(x: number) .decl q(x: number) p(x), q(x) :- node(x), (x > 2 ; arc(x, _), x < 2).",
        {"node": [(1,), (2,), (3,)], "arc": [(1, 1), (2, 2)]},
        {(1,), (3,)},
    ),
    "true and false": (
        ".decl p(x: number) p(x) :- node(x), (x = 1, true ; x = 2, false).",
        {"node": [(1,), (2,)]},
        {(1,)},
    ),
    "count of the assignments of an outer variable": (
        ".decl p(x: number, n: number) p(x, n) :- node(x), n = count : { arc(x, _) }.",
        {"node": [(1,), (2,)], "arc": [(1, 5), (1, 6)]},
        {(1, 2), (2, 0)},
    ),
    "assignments are counted, not values": (
        ".decl p(n: number) p(n) :- n = sum y : { arc(_, y) }.",
        {"arc": [(1, 5), (2, 5)]},
        {(10,)},
    ),
    "min and max of nothing have no result": (
        ".decl p(n: number) p(n) :- n = max y : { arc(_, y) }. p(n) :- n = min y : { arc(_, y) }.",
        {},
        set(),
    ),
    "sum of nothing": (".decl p(n: number) p(n) :- n = sum y : { arc(_, y) }.", {}, {(0,)}),
    "a sum of floats is rounded once": (
        ".decl p(s: float) p(s) :- s = sum w : { weight(_, w) }.",
        {"weight": [(number, 0.1) for number in range(10)]},
        {(1.0,)},
    ),
    "mean of numbers": (
        ".decl p(s: float) p(s) :- s = mean y : { arc(_, y) }.",
        {"arc": [(1, 1), (1, 2)]},
        {(1.5,)},
    ),
    "an aggregate that only compares with an outer variable": (
        ".decl p(x: number, n: number) p(x, n) :- node(x), n = count : { arc(y, _), y < x }.",
        {"node": [(0,), (9,)], "arc": [(1, 1), (2, 1)]},
        {(0, 0), (9, 2)},
    ),
    "an aggregate within an aggregate": (
        """.decl p(n: number)
        p(n) :- n = max m : { node(x), m = count : { arc(x, _) } }.""",
        {"node": [(1,), (2,)], "arc": [(1, 1), (2, 1), (2, 2)]},
        {(2,)},
    ),
    "equal names in two aggregates": (
        ".decl p(n: number, m: number) p(n, m) :- n = count : { node(x) }, m = sum x : { arc(x, _) }.",
        {"node": [(1,), (2,)], "arc": [(7, 1)]},
        {(2, 7)},
    ),
    "texts": (
        """.decl p(s: symbol)
        p(cat(s, "!")) :- name(_, s), contains("b", s), !match("b.*", s), strlen(s) < 4, s < "b".""",
        {"name": [(1, "ab"), (2, "ba"), (3, "abcd"), (4, "cb")]},
        {("ab!",)},
    ),
    "numbers in texts": (
        '.decl p(x: number) p(to_number(s) + x) :- name(x, s), match("[0-9]+", s).',
        {"name": [(1, "41"), (2, "x")]},
        {(42,)},
    ),
    "an equivalence": (
        ".decl p(x: number, y: number) eqrel p(x, y) :- arc(x, y).",
        {"arc": [(1, 2), (3, 2), (9, 9)]},
        {(x, y) for x in (1, 2, 3) for y in (1, 2, 3)} | {(9, 9)},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_case(name: str) -> None:
    rules, facts, wanted = CASES[name]
    assert derived(rules, facts) == wanted


def test_given_facts_of_a_derived_relation_count() -> None:
    rules = ".decl p(x: number) p(x + 1) :- p(x), x < 3."
    assert derived(rules, {"p": [(1,)]}) == {(1,), (2,), (3,)}


def test_locations() -> None:
    rules = ".decl p(x: number, y: number) p(x, y) :- arc(@x, y), !node(@y)."
    facts: dict[str, list[Tuple]] = {"arc": [(1, 1), (1, 2), (2, 1)], "node": [(1,), (2,)]}
    assert derived(rules, facts, local=1) == {(1, 2)}
    assert derived(rules, facts, local=2) == {(2, 1)}
    assert derived(rules, facts) == set()


@pytest.mark.parametrize(
    "body",
    ["arc(x, y), y != 0", "y != 0, arc(x, y)", "arc(x, y), !zero(y)", "arc(x, y), node(y)"],
)
def test_a_division_is_guarded_wherever_its_guard_stands(body: str) -> None:
    rules = f".decl p(z: number) .decl zero(x: number) zero(0). p(z) :- z = x / y, {body}."
    assert derived(rules, {"arc": [(6, 2), (1, 0)], "node": [(2,)]}) == {(3,)}


def test_a_guard_reaches_into_an_aggregate() -> None:
    rules = ".decl p(n: number) p(n) :- z = x / y, n = count : { node(u), u < z }, arc(x, y), y != 0."
    assert derived(rules, {"arc": [(6, 2), (1, 0)], "node": [(2,)]}) == {(1,)}


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("p(x / y) :- arc(x, y).", "division by zero"),
        ("p(z) :- arc(x, y), z = x % y.", "division by zero"),
        ("p(to_number(s)) :- name(_, s).", "not a number"),
        ("p(1 / 0).", "division by zero"),
        ('p(1) :- name(p, _), match("(?=a)", "b").', "not an RE2 expression"),
    ],
)
def test_an_expression_without_a_value_names_the_rule(rule: str, reason: str) -> None:
    with pytest.raises(DerivationError, match=reason) as raised:
        derived(f".decl p(x: number)\n{rule}", {"arc": [(1, 0)], "name": [(1, "(")]})
    assert raised.value.rule == rule


def test_limit_on_derived_tuples() -> None:
    program = check_program(".decl p(x: number)\np(x + 1) :- p(x).")
    with pytest.raises(DerivationError, match="more than 50 tuples are derived") as raised:
        evaluate(program, {"p": [(0,)]}, limit=50)
    assert raised.value.rule == "p(x + 1) :- p(x)."
