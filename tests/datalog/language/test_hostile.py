"""Whatever is given as a program: errors or a program, and never a crash."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.datalog_trees import print_rule, rules

from tocsin.datalog.language.checker import check_program
from tocsin.datalog.language.clause_parser import NESTING
from tocsin.datalog.language.syntax import CheckedProgram, Rule
from tocsin.datalog.language.tree_walk import HEIGHT
from tocsin.errors import RuleError

DECLARED = ".decl p(x: number)\n.decl s(x: symbol)\n.decl pp(x: number, y: number)\np(1).\n"
DEEP = 100_000
LESS_DEEP = 20_000


def outcome(text: str) -> CheckedProgram | RuleError:
    try:
        return check_program(text)
    except RuleError as error:
        return error


def reasons(text: str) -> list[str]:
    found = outcome(text)
    assert isinstance(found, RuleError)
    assert str(found)
    return [error.reason for error in getattr(found, "errors", [found])]


@pytest.mark.parametrize(
    "clause",
    [
        f"p({'(' * DEEP}1{')' * DEEP}).",
        f"p(x) :- {'(' * DEEP}p(x){')' * DEEP}.",
        f"p(x) :- p(x), {'!' * DEEP}({'!(' * DEEP}p(x){')' * DEEP}).",
        f"p({'-' * DEEP}x) :- p(x).",
        f"p({'bnot ' * DEEP}x) :- p(x).",
        f"p({'2 ^ ' * DEEP}x) :- p(x).",
        f"p({'max(1, ' * LESS_DEEP}x{')' * LESS_DEEP}) :- p(x).",
        f"p({'count : { p(' * LESS_DEEP}1{') }' * LESS_DEEP}).",
        f"p({'(' * DEEP}",
        f"p(x) :- {'(' * DEEP}",
        f".decl {'(' * DEEP}",
        ".comp A { " * LESS_DEEP,
        f"{'.comp A { ' * LESS_DEEP}{'}' * LESS_DEEP}",
    ],
)
def test_deep_nesting_is_an_error_that_says_so(clause: str) -> None:
    found = reasons(DECLARED + clause + "\np(2).")
    assert any("deep" in reason or "expected" in reason or "'}' closes nothing" in reason for reason in found)


def test_long_chains_of_operators_are_an_error_that_says_so() -> None:
    chain = " + ".join(["x"] * DEEP)
    assert reasons(f"{DECLARED}p({chain}) :- p(x).") == [f"this stands within more than {HEIGHT} operations"]
    nested = "x"
    for _ in range(NESTING - 1):
        nested = f"({nested}{' + 1' * 100})"
    assert reasons(f"{DECLARED}p({nested}) :- p(x).") == [f"this stands within more than {HEIGHT} operations"]


def test_what_is_just_not_too_deep_is_a_program() -> None:
    chain = " + ".join(["x"] * (HEIGHT - 1))
    depth = NESTING - 1
    program = outcome(
        f"{DECLARED}p({chain}) :- p(x).\np({'(' * depth}x{')' * depth}) :- {'(' * depth}p(x){')' * depth}."
        f"p({'-' * depth}x) :- p(x), {'!' * 1000}p(2)."
    )
    assert isinstance(program, CheckedProgram)


def test_thousands_of_atoms_and_equations_are_a_program() -> None:
    many = 3_000
    atoms = ", ".join(f"pp(x{number}, x{number + 1})" for number in range(many))
    equations = ", ".join(f"x{number} = x{number + 1}" for number in range(many))
    program = outcome(f"{DECLARED}p(x0) :- {atoms}.\np(x0) :- {equations}, p(x{many}).")
    assert isinstance(program, CheckedProgram)


def test_too_many_alternatives_are_an_error() -> None:
    body = ", ".join(["(p(x) ; pp(x, _))"] * 40)
    assert reasons(f"{DECLARED}p(x) :- {body}.") == ["this rule has more than 10000 alternatives"]


def test_a_component_that_multiplies_is_an_error() -> None:
    levels = "\n".join(f".comp C{n} {{ .init a = C{n + 1} .init b = C{n + 1} }}" for n in range(40))
    found = reasons(f"{levels}\n.comp C40 {{ .decl p(x: number) }}\n.init c = C0")
    assert set(found) == {"there are more than 10000 instances"}


def test_a_component_within_itself_is_an_error() -> None:
    assert reasons(".comp C { .init c = C }\n.init c = C") == ["the component 'C' contains itself"]
    assert reasons(".comp A : B {}\n.comp B : A {}\n.init c = A") == [
        "the component 'B' inherits from itself"
    ]


@pytest.mark.parametrize("seed", range(2))
def test_a_megabyte_of_nonsense(seed: int) -> None:
    rng = random.Random(seed)
    words = ["p", "(", ")", ",", ".", ":-", ";", "!", "{", "}", '"', "\n", " ", "1", "x", "=", ".decl ", "@"]
    words += ["/*", "*/", "//", "#", "\x00", "é", "count", ":", "[", "$", "<=", "\\", ".comp ", ".type ", "-"]
    text = "".join(rng.choice(words) for _ in range(400_000))
    assert isinstance(outcome(text), RuleError)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("p(1). /* never", "this comment never ends: expected */"),
        ('s("never).\np(1).', 'this string does not end on its line: expected a closing "'),
        ("p(1\x00).", "the character U+0000 has no meaning here"),
        ("p(é).", "'é' is not a name"),
        ('s("\ud800").', "half of a surrogate pair is not a character"),
        ("p(1)\u00a0.", "the character U+00A0 has no meaning here"),
        (f"p({'9' * 100_000}).", "this is out of the range of a number"),
        (f"p(0x{'f' * 100_000}).", "this is out of the range of a number"),
        (f"p({'9' * 100_000}.5).", "column 'x' of 'p' is a number, and inf is a float"),
    ],
)
def test_bad_text(text: str, reason: str) -> None:
    assert reason in "\n".join(reasons(DECLARED + text))


@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    outcome(text)


WORDS = [
    "(",
    ")",
    ".",
    ",",
    ";",
    ":",
    "!",
    "{",
    "}",
    "=",
    "<",
    ">",
    "@",
    "+",
    "-",
    "*",
    "^",
    "|",
    "[",
    "]",
    "$",
    "#",
    "_",
    ":-",
    "<=",
    "p",
    "pp",
    "s",
    "x",
    "y",
    "1",
    '"a"',
    "1.5",
    "2u",
    "count",
    "sum",
    "max",
    "cat",
    "match",
    "true",
    "as",
    ".decl",
    ".comp",
    ".init",
    ".type",
    ".input",
    ".plan",
    "number",
]
TOKENS = st.sampled_from([*WORDS, "\n"])


@given(st.lists(TOKENS, max_size=40).map(" ".join))
def test_any_tokens(text: str) -> None:
    outcome(DECLARED + text)


@given(st.lists(rules, max_size=2))
def test_any_rules(written: list[Rule]) -> None:
    declared = ".decl p(x: number)\n.decl q_1(x: number, y: symbol)\n.decl ?r()\n.decl inline(x: float)\n"
    outcome(declared + "\n".join(map(print_rule, written)))
