"""How programs are cut into units, and what `explain` says of it."""

from __future__ import annotations

import pytest

from tocsin import Program
from tocsin.datalog.spark.stream.unit_planner import plan
from tocsin.spark import explain_activation

DECLARED = """
.decl login(user: symbol, device: number)
.decl owner(device: number, user: symbol)
.decl arc(who: symbol, x: number, y: number)
.decl p(user: symbol) .decl q(user: symbol, device: number) .decl n(count: number)
.decl path(who: symbol, x: number, y: number)
.decl reach(x: number, y: number)
"""


def shapes(rules: str) -> list[tuple[int, str | None, bool]]:
    """The level, key and kind (counted or not) of each unit."""
    planned = plan(Program.parse(DECLARED + rules))
    return [(unit.level, unit.key, unit.counted) for unit in planned.units]


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ("p(u) :- login(u, d), !owner(d, u).", [(0, "p.user", False)]),
        ("n(d) :- login(u, d), owner(e, u).", [(0, "u", True)]),
        ("n(1) :- login(u, d), owner(d, v).", [(0, "d", True)]),
        ("n(d) :- login(u, d), owner(e, v).", [(0, None, True)]),
        ("n(c) :- c = count : { login(_, _) }.", [(0, None, True)]),
        ("q(u, c) :- login(u, _), c = count : { login(u, _) }.", [(0, "q.user", False)]),
        (
            "q(u, c) :- login(u, d), c = count : { login(_, d) }.",
            [(0, "d", True)],
        ),
        ("q(u, c) :- login(u, _), c = count : { login(_, 1) }.", [(0, None, True)]),
        ("p(u) :- login(u, 1); owner(1, u).", [(0, "p.user", False)]),
        ('p("x") :- login(u, 1). p(u) :- owner(1, u).', [(0, "u", True), (0, "u", True)]),
        (
            "path(w, x, y) :- arc(w, x, y). path(w, x, z) :- path(w, x, y), arc(w, y, z).",
            [(0, "path.who", False)],
        ),
        ("reach(x, y) :- arc(_, x, y). reach(x, z) :- reach(x, y), arc(_, y, z).", [(0, None, False)]),
        ("reach(x, y) :- arc(_, x, y). reach(x, z) :- reach(x, y), arc(_, x, z).", [(0, "reach.x", False)]),
        ("p(u) :- login(u, 1). q(u, d) :- p(u), login(u, d).", [(0, "p.user, q.user", False)]),
        ("p(u) :- login(u, 1). q(u, d) :- p(u), login(_, d).", [(0, "p.user", False), (1, None, True)]),
        ("p(u) :- login(u, _), u != to_string(1).", [(0, "p.user", False)]),
        ("p(cat(u, u)) :- login(u, _).", [(0, "u", True)]),
    ],
)
def test_a_unit_is_as_large_as_its_key_allows(
    rules: str, expected: list[tuple[int, str | None, bool]]
) -> None:
    assert shapes(rules) == expected


def test_one_part_is_not_made_one_with_two_that_something_stands_between() -> None:
    rules = """
    p(u) :- login(u, 1).
    n(d) :- p(u), owner(d, u).
    q(u, d) :- p(u), login(u, d), !n(d), n(7).
    """
    assert shapes(rules) == [(0, "p.user", False), (1, "u", True), (2, None, True)]


def test_an_equivalence_is_whole() -> None:
    planned = plan(Program.parse(".decl same(a: symbol, b: symbol) eqrel\n"))
    assert [(unit.key, unit.counted) for unit in planned.units] == [(None, False)]


def test_a_relation_may_come_by_two_of_its_columns() -> None:
    planned = plan(Program.parse(DECLARED + "n(x) :- arc(w, x, y), arc(v, y, x), arc(w, y, z)."))
    assert [port.name for port in planned.units[0].takes] == ["arc@2", "arc@1"]


def test_explain_says_how_each_rule_is_spread() -> None:
    program = Program.parse(
        DECLARED
        + """
        p(u) :- login(u, d), !owner(d, u).
        n(d) :- login(_, d), owner(d, u), p(u).
        q(u, d) :- p(u), n(d).
        reach(x, y) :- arc(_, x, y). reach(x, z) :- reach(x, y), arc(_, y, z).
        """
    )
    assert explain_activation(program) == (
        "level 0\n"
        "  by key, complete: p.user\n"
        "    p(u) :- login(u, d), !owner(d, u).\n"
        "  whole, in one place: no column goes through the recursion\n"
        "    reach(x, y) :- arc(_, x, y).\n"
        "    reach(x, z) :- reach(x, y), arc(_, y, z).\n"
        "level 1\n"
        "  by rule, in one place: no variable stands in all atoms\n"
        "    n(d) :- login(_, d), owner(d, u), p(u).\n"
        "  then by tuple, counted across rules and keys: n\n"
        "level 2\n"
        "  by rule, in one place: no variable stands in all atoms\n"
        "    q(u, d) :- p(u), n(d).\n"
        "  then by tuple, counted across rules and keys: q"
    )
