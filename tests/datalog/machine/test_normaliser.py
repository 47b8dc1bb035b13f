"""The normal form says what the program says."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from tests.datalog_programs import REFUSED, Case, cases
from tests.normal_programs import run, text_of

from tocsin.datalog.language.checker import check_program
from tocsin.datalog.language.conjunctions import Tuple
from tocsin.datalog.machine import JoinRule
from tocsin.datalog.machine.normaliser import normal_program
from tocsin.datalog.machine.passes.clause_reader import DEEPEST
from tocsin.datalog.meaning import evaluate
from tocsin.errors import DerivationError, RuleError


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(cases())
def test_same_contents(case: Case) -> None:
    program = case.program()
    contents = run(normal_program(program), case.facts)
    wanted = evaluate(program, case.facts)
    assert {name: contents[name] for name in wanted} == wanted


INPUTS = """
.decl q(x: number, y: number)
.decl r(x: number)
.decl n(x: number, s: symbol)
.decl w(s: symbol)
.decl f(x: number, y: float)
"""


def normal(rules: str, local: int | None = None) -> list[str]:
    """The lines of the normal form of a program that starts with INPUTS."""
    return text_of(normal_program(check_program(INPUTS + rules), local))


@pytest.mark.parametrize(
    ("rules", "lines"),
    [
        (".decl p(x: number) p(1 + 2). p(x) :- x = 2 * y, y = 4.", ["p(3,)", "p(8,)"]),
        (
            ".decl p(x: number) p(x) :- r(y), x = y, z = 3, q(x, z), z < 4.",
            ["p(a) :- r(a), q(a, 3)"],
        ),
        (".decl p(x: number) p(x) :- r(x), x = 1, x = 2.", []),
        (".decl p(x: number) p(x) :- r(x), (x > 1 ; false).", ["p(a) :- r(a), a > 1"]),
        (
            ".decl p(x: number) p(x + 1) :- q(x, x * 2), !r(x - 1).",
            ["p(a) :- q(b, c), !r(d), d := -(b, 1), a := +(b, 1), c := *(b, 2)"],
        ),
        (
            ".decl p(x: number) p(x) :- r(x), x = y + 1, y = x - 1, r(y), r(x).",
            ["p(a) :- r(a), r(b), a := +(b, 1), b := -(a, 1)"],
        ),
        (".decl p() p() :- !r(1).", ["p() :- +once(), !r(1)", "+once()"]),
        (
            ".decl e(x: number, y: number) eqrel e(x, y) :- q(x, y).",
            ["e(a, b) :- q(a, b)", "e(a, b) :- e(b, a)", "e(a, b) :- e(a, c), e(c, b)"],
        ),
    ],
)
def test_rules(rules: str, lines: Sequence[str]) -> None:
    assert normal(rules) == lines


def test_locations_are_constants() -> None:
    rules = ".decl p(x: number, y: number) p(x, y) :- q(@x, y), !q(@y, _)."
    assert normal(rules, local=7) == ["+1(7, a) :- q(7, a)", "p(7, a) :- q(7, a), !+1(a, _)"]
    assert normal(rules) == ["p(a, b) :- q(a, b), !q(b, _)"]


def test_an_aggregate_has_relations_of_its_own() -> None:
    rules = ".decl p(x: number, n: number) p(x, n) :- r(x), n = sum z : { q(z, x), r(z), z > 1 }."
    assert normal(rules) == [
        "+2 = sum of +1 by 1",
        "p(a, 0) :- r(a), !+1(a, _)",
        "p(a, b) :- r(a), +2(a, b)",
        "+1(a, b) :- q(b, a), r(b), b > 1",
    ]


def test_a_relation_in_the_right_order_is_the_origin_itself() -> None:
    rules = """.decl p(x: number, n: number) p(x, n) :- r(x), n = count : { q(x, _) }.
    .decl m(x: number, y: float) m(x, y) :- y = max z : { f(x, z) }, r(x)."""
    assert normal(rules) == [
        "+1 = count of q by 1",
        "p(a, 0) :- r(a), !q(a, _)",
        "p(a, b) :- r(a), +1(a, b)",
        "+2 = max of f by 1",
        "m(a, b) :- r(a), +2(a, b)",
    ]


def test_equal_aggregates_share_their_relations() -> None:
    rules = """.decl p(x: number, n: number)
    p(x, n) :- r(x), n = min z : { q(z, x) }.
    p(y, m) :- q(y, _), m = min u : { q(u, y) }."""
    assert normal(rules) == [
        "+2 = min of +1 by 1",
        "p(a, b) :- r(a), +2(a, b)",
        "+1(a, b) :- q(b, a)",
        "p(a, b) :- q(a, _), +2(a, b)",
    ]


def test_what_an_aggregate_only_compares_with_is_bound_by_the_outer_body() -> None:
    rules = ".decl p(x: number, n: number) p(x, n) :- r(x), n = count : { q(y, _), y < x }."
    assert normal(rules) == [
        "+2 = count of +1 by 1",
        "p(a, 0) :- r(a), !+1(a, _, _)",
        "p(a, b) :- r(a), +2(a, b)",
        "+1(a, b, c) :- q(b, c), r(a), b < a",
    ]


def test_what_binds_a_group_and_may_fail_is_worked_out_before() -> None:
    rules = ".decl p(n: number) p(n) :- z = x / y, n = max u : { r(u), u < z }, q(x, y), y != 0, !r(x)."
    assert normal(rules) == [
        "+2 = max of +1 by 1",
        "+4(a, b) :- q(a, b), !r(a), b != 0",
        "+5 <- +4",
        "p <- +6",
        "p(a) :- +5(b, -1, _), +2(b, a)",
        "+6(a) :- +5(_, 1, a)",
        "+6(a) :- +5(b, 0, a), +2(b, c)",
        "+3(a) :- q(b, c), a := /(b, c) or nothing",
        "+1(a, b) :- r(b), +3(a), b < a",
    ]


def test_an_aggregate_that_may_fail_tells_for_which_groups() -> None:
    rules = (
        ".decl p(x: number, n: number) p(x, n) :- r(x), x != 0, n = max y : { q(y, _), y > 10 / x }, n > 1."
    )
    assert normal(rules) == [
        "+3 = max of +1 by 1",
        "p <- +4",
        "+4(a) :- r(b), +2(b, a), b != 0",
        "p(a, b) :- r(a), +3(a, b), a != 0, b > 1",
        "+1(a, b) :- q(b, _), r(a), b > /(10, a) or nothing",
        "+2(a, 'division by zero') :- q(b, _), r(a), b > /(10, a) has no value",
    ]


GUARDED = [
    "p(x, n) :- r(x), x != 0, n = count : { r(y), y > 10 / x }.",
    "p(x, n) :- r(x), x != 0, n = sum 10 / x + 0 * y : { q(y, _) }.",
    "p(x, n) :- r(x), x != 0, n = sum 10 / x : { q(x, _) }.",
    "p(1, n) :- r(_), n = sum 10 / x : { q(x, _) }.",
    "p(1, n) :- n = sum 10 / x : { r(x) }.",
    "p(x, n) :- p(_, x), r(x), 10 / x > 0, n = count : { q(z, y), y > 10 / z, z > 1 }. p(0, 5) :- r(5).",
    "p(z, n) :- z = 10 / x, r(x), x > 0, n = count : { q(u, y), u > z, y > 10 / z }.",
    "p(x, n) :- r(x), x != 0, n = min 10 / y : { q(y, _), y = x }, n < 100.",
    "p(x, n) :- r(x), !q(0, x), n = max y : { r(y), y >= 10 / x }.",
    "p(x, n) :- r(x), z = x + 1, z != 1, n = count : { q(y, _), y > 10 / x }.",
    "p(x, n) :- r(x), x != 0, n = count : { r(y), y > m, m = count : { r(z), z > 10 / x } }.",
    "p(x, n) :- r(x), m = count : { r(y), y < x }, m > 0, n = count : { r(z), z > 10 / m }.",
    "p(x, n) :- r(x), m = max y : { q(x, y) }, n = count : { r(z), z > 10 / x }, n <= m.",
    "p(x, n) :- p(_, x), r(x), x > 0, n = count : { r(z), z > 10 / x }. p(0, 2) :- r(0).",
    "p(x, n) :- r(x), n = count : { r(z), z > 10 / x }, n > 100.",
    "p(x, n) :- r(x), x = 0, n = count : { r(z), z > 10 / x, z > 100 }.",
    "p(x, n) :- r(x), y = 10 / x, n = min z : { q(y, z) }.",
    "p(x, n) :- r(x), y = 10 / x, n = min z : { q(y, z) }, q(x, m), n < m.",
    "p(x, n) :- r(x), n = min y : { r(y), y > 10 / x }, q(x, m), m > 5.",
    "p(x, n) :- r(x), n = count : { q(y, _), 10 / y > x }, m = min z : { q(x, z) }, m > 6.",
    "p(x, n) :- r(x), n = count : { q(_, y), 10 / x > y }, p(x, 1). p(x, 1) :- q(x, 5).",
    "p(x, n) :- r(x), m = count : { q(y, _), 10 / y > x }, n = sum z : { r(z), z < 10 / m }.",
    "p(x, n) :- r(x), n = max y : { r(y), x = 10 / y }, !r(2).",
    "p(x, n) :- m = to_number(substr(to_string(x), 0, 1)), n = min z : { q(m, z) }, r(x), !r(2).",
]


@pytest.mark.parametrize("rule", GUARDED)
@pytest.mark.parametrize("r", [(), (0,), (5,), (0, 5), (-3, 0, 2, 5)], ids=str)
def test_an_aggregate_fails_only_where_all_else_holds(rule: str, r: tuple[int, ...]) -> None:
    program = check_program(f"{INPUTS}.decl p(x: number, n: number)\n{rule}")
    facts: dict[str, list[Tuple]] = {"r": [(x,) for x in r], "q": [(0, 0), (2, 5), (5, 2), (5, 7)]}
    try:
        wanted = evaluate(program, facts)
    except DerivationError as error:
        with pytest.raises(DerivationError, match=error.reason):
            run(normal_program(program), facts)
    else:
        assert run(normal_program(program), facts)["p"] == wanted["p"]


def test_a_group_that_only_a_recursive_relation_binds_is_refused() -> None:
    rules = ".decl p(x: number) p(n) :- p(x), n = count : { r(y), y < x }."
    with pytest.raises(RuleError, match=REFUSED) as raised:
        normal(rules)
    assert raised.value.rule == "p(n) :- p(x), n = count : { r(y), y < x }."


def test_text_work_comes_after_filters_and_before_what_needs_it() -> None:
    rules = """.decl p(x: number, t: symbol)
    p(x, t) :- n(x, s), r(x), x > 2, q(x, y), !r(y), t = cat(s, "!"), w(t), contains("a", s)."""
    assert normal(rules) == [
        "+1(a, b) :- n(a, b), r(a), a > 2",
        "+2 <- +1",
        "p(a, b) :- +2(a, b), q(a, c), w(b), !r(c)",
    ]


def test_text_work_at_the_end_gives_the_head() -> None:
    assert normal(".decl p(x: number, l: number) p(x, strlen(s)) :- n(x, s).") == ["p <- n"]
    assert normal('.decl p(l: number) p(strlen(s)) :- n(_, s), s != "a".') == [
        "+1(a) :- n(_, a), a != 'a'",
        "p <- +1",
    ]


def test_text_work_that_may_fail_waits_for_all_that_rules_it_out() -> None:
    rules = ".decl p(x: number) p(to_number(s)) :- n(x, s), q(x, y), !r(y)."
    assert normal(rules) == ["+1(a) :- n(b, a), q(b, c), !r(c)", "p <- +1"]


def test_text_work_in_stages() -> None:
    rules = """.decl p(s: symbol)
    p(v) :- w(s), t = cat(s, "a"), n(x, t), n(x, u), v = cat(u, t)."""
    assert normal(rules) == ["+1 <- w", "+2(a, b) :- +1(a), n(c, a), n(c, b)", "p <- +2"]


def test_texts_that_wait_for_one_another() -> None:
    rules = """.decl p(x: number) .decl b(s: symbol, t: symbol)
    p(1) :- b(s, t), b(u, v), t = cat(u, "a"), v = cat(s, "a")."""
    program = check_program(INPUTS + rules)
    contents = run(normal_program(program), {"b": [("a", "ba"), ("b", "aa"), ("b", "c")]})
    assert contents["p"] == {(1,)}
    assert run(normal_program(program), {"b": [("a", "ba"), ("b", "ab")]})["p"] == set()


@pytest.mark.parametrize("body", ["w(s), strlen(s) > 1", "strlen(s) > 1, w(s)"])
def test_text_work_fails_only_where_all_else_holds(body: str) -> None:
    rule = f"p(to_number(s)) :- {body}."
    program = normal_program(check_program(f"{INPUTS}.decl p(x: number)\n{rule}"))
    assert run(program, {"w": [("x",), ("12",)]})["p"] == {(12,)}
    with pytest.raises(DerivationError, match=r"'xy'.*not a number") as raised:
        run(program, {"w": [("xy",)]})
    assert raised.value.rule == rule


LATER = [
    "p(1 / x, 1) :- s <= s, n(x, s), q(5, v).",
    "p(1, y) :- w(s), x = to_number(s), q(x, y).",
    "p(x, y) :- w(s), x = to_number(s), q(y, _), !r(x), !r(y).",
    "p(x, y) :- w(s), x = to_number(s), r(x), y = x + 1, r(y), strlen(s) < 2.",
    "p(x, y) :- w(s), n(_, t), x = to_number(s), y = to_number(t), q(x, y), s != t.",
    "p(x, y) :- w(s), x = to_number(s), n(y, t), y / x < 3, contains(t, s).",
    "p(x, n) :- w(s), x = to_number(s), r(_), n = min y : { q(x, y) }.",
    "p(x, n) :- w(s), x = to_number(s), r(_), n = count : { q(x, _) }, n < 2.",
    "p(x, 1) :- r(y), z = 4 / y, t = to_string(z), n(x, t), !w(t).",
]


@pytest.mark.parametrize("rule", LATER)
@pytest.mark.parametrize("r", [(), (0,), (1, 3)], ids=str)
@pytest.mark.parametrize("q", [(), ((1, 2),), ((3, 1), (5, 1))], ids=str)
def test_what_has_no_value_is_no_error_unless_the_rest_holds(
    rule: str, r: tuple[int, ...], q: tuple[Tuple, ...]
) -> None:
    program = check_program(f"{INPUTS}.decl p(x: number, n: number)\n{rule}")
    for texts in ((), ("1",), ("b",), ("1", "b", "")):
        facts: dict[str, list[Tuple]] = {
            "r": [(x,) for x in r],
            "q": list(q),
            "w": [(text,) for text in texts],
            "n": [(x, text) for x, text in enumerate(texts)],
        }
        try:
            wanted = evaluate(program, facts)["p"]
        except DerivationError:
            with pytest.raises(DerivationError) as raised:
                run(normal_program(program), facts)
            assert raised.value.rule in (rule, None), "the slow judge names no rule of a join"
        else:
            assert run(normal_program(program), facts)["p"] == wanted


def test_a_fact_without_a_value_names_its_rule() -> None:
    with pytest.raises(DerivationError, match="division by zero") as raised:
        normal(".decl p(x: number)\np(1 / 0).")
    assert raised.value.rule == "p(1 / 0)."


@pytest.mark.parametrize("test", ["x0 < x3000", "strlen(s) < x3000"])
def test_rules_of_thousands_of_atoms(test: str) -> None:
    atoms = ", ".join(f"q(x{place}, x{place + 1})" for place in range(3000))
    text = f"{INPUTS}.decl p(x: number, y: number) p(x0, x3000) :- n(x0, s), {atoms}, {test}."
    joins = [step for step in normal_program(check_program(text)).steps if isinstance(step, JoinRule)]
    assert [len(join.body) for join in joins] == [3001]


def test_deep_expressions_get_variables_on_the_way() -> None:
    deep = "(" * 90 + "x" + " + 1)" * 90
    program = check_program(f"{INPUTS}.decl p(x: number) p({deep}) :- r(x).")
    (step,) = normal_program(program).steps
    assert isinstance(step, JoinRule)
    assert len(step.lets) == 90 // (DEEPEST + 1) + 1
    assert run(normal_program(program), {"r": [(1,)]})["p"] == {(91,)}


def test_too_many_aggregates_are_refused() -> None:
    sums = ", ".join(f"y{place} = sum z : {{ q(z, x) , z > {place} }}" for place in range(15))
    with pytest.raises(RuleError, match="too many aggregates"):
        normal(f".decl p(x: number) p(x) :- r(x), {sums}.")
