from __future__ import annotations

import re

import pytest
from tests.datalog_trees import print_rule

from tocsin.datalog.language.checker import check_program
from tocsin.datalog.meaning import evaluate

DECLARED = """
.decl q(x: number, y: number)
.decl r(x: number)
.decl h(x: number, y: number)
"""


def checked(rule: str) -> str:
    return print_rule(check_program(DECLARED + rule).rules[0])


@pytest.mark.parametrize(
    ("written", "scoped"),
    [
        (  # x has a value outside, y has none
            "h(x, n) :- r(x), n = sum y : { q(x, y) }.",
            "h(x, n) :- r(x), n = sum y : { q(x, y) }.",
        ),
        (  # the x of the sum's own value is another one
            "h(x, n) :- r(x), n = sum x : { q(x, _) }.",
            "h(x, n) :- r(x), n = sum x'1 : { q(x'1, _) }.",
        ),
        (  # unless the sum's body binds no x
            "h(x, n) :- r(x), n = sum x + y : { r(y) }.",
            "h(x, n) :- r(x), n = sum x + y : { r(y) }.",
        ),
        (  # two aggregates, each with an x of its own
            "h(a, b) :- a = count : { r(x) }, b = count : { q(x, _) }.",
            "h(a, b) :- a = count : { r(x'1) }, b = count : { q(x'2, _) }.",
        ),
        (  # the result has the name of what is aggregated
            "h(x, x) :- x = max x : { r(x) }.",
            "h(x, x) :- x = max x'1 : { r(x'1) }.",
        ),
        (  # the result of one aggregate is what another one is about
            "h(a, b) :- a = max x : { r(x) }, b = count : { q(a, _) }.",
            "h(a, b) :- a = max x : { r(x) }, b = count : { q(a, _) }.",
        ),
        (  # not so its own result, which has no value before
            "h(a, 1) :- a = count : { q(a, _) }.",
            "h(a, 1) :- a = count : { q(a'1, _) }.",
        ),
        (  # an inner aggregate sees the variables of the outer one and of the rule
            "h(x, n) :- r(x), n = count : { q(x, y), y > count : { q(y, x) } }.",
            "h(x, n) :- r(x), n = count : { q(x, y), y > count : { q(y, x) } }.",
        ),
        (  # unless they stand in its own value
            "h(x, n) :- r(x), n = count : { q(x, y), y > max y : { q(x, y) } }.",
            "h(x, n) :- r(x), n = count : { q(x, y), y > max y'1 : { q(x, y'1) } }.",
        ),
        (  # an aggregate of a head moves to the body
            "h(x, count : { q(x, _) } + 1) :- r(x).",
            "h(x, count'h0 + 1) :- r(x), count'h0 = count : { q(x, _) }.",
        ),
        (  # what a max is reached by
            "h(who, n) :- n = max y : { q(who, y) }.",
            "h(who, n) :- n = r'1, q(who, y'2), y'2 = r'1, r'1 = max y'3 : { q(who'4, y'3) }.",
        ),
        (  # the same where nobody asks for the value, and with another join
            "h(a, z) :- _ = min y : { q(a, y), r(z) }.",
            "h(a, z) :- _'1 = r'2, q(a, y'3), r(z), y'3 = r'2, r'2 = min y'4 : { q(a'5, y'4), r(z'6) }.",
        ),
        (  # alternatives are looked at one by one: x is the rule's in the first one only
            "h(n, 1) :- (r(x) ; r(n)), n = count : { q(x, _) }.",
            "h(n, 1) :- r(x), n = count : { q(x, _) } ; r(n), n = count : { q(x, _) }.",
        ),
    ],
)
def test_names(written: str, scoped: str) -> None:
    assert numbered(checked(written)) == numbered(scoped)


def numbered(text: str) -> str:
    """The text with made names numbered by where they first stand: which numbers they got does not matter."""
    seen: dict[str, str] = {}
    return re.sub(r"(\w+)'\w+", lambda found: seen.setdefault(found[0], f"{found[1]}'{len(seen)}"), text)


def test_disjunctions_stand_at_the_top() -> None:
    text = checked("h(x, y) :- r(x), (q(x, y) ; q(y, x), (y > 1 ; y < x)).")
    assert text == ("h(x, y) :- r(x), q(x, y) ; r(x), q(y, x), y > 1 ; r(x), q(y, x), y < x.")


def test_witnesses_have_the_smallest_or_greatest_value() -> None:
    program = check_program(
        """
        .decl person(who: symbol, age: number, city: symbol)
        .decl oldest(who: symbol)
        .decl youngest(city: symbol, who: symbol, age: number)
        person("a", 10, "x"). person("b", 46, "x").
        person("c", 46, "y"). person("d", 46, "y"). person("e", 3, "y").
        oldest(who) :- _ = max age : { person(who, age, _) }.
        youngest(city, who, n) :- person(_, _, city), n = min age : { person(who, age, city), age > 5 }.
        """
    )
    contents = evaluate(program, {})
    assert contents["oldest"] == {("b",), ("c",), ("d",)}
    assert contents["youngest"] == {("x", "a", 10), ("y", "c", 46), ("y", "d", 46)}
