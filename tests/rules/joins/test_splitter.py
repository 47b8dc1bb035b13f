"""Conditions over several tables, cut into selections, equalities and filters."""

from __future__ import annotations

from tocsin.conditions.language import Operator, Predicate, Test, parse_condition
from tocsin.rules import Comparison, JoinedCondition, Split, split, text_predicates
from tocsin.rules.joins.parser import parse_joined

ALIASES = ("a", "b", "c")


def cut(text: str) -> Split:
    return split(parse_joined(text, ALIASES))


def test_each_conjunct_goes_where_it_belongs() -> None:
    apart = cut(
        "a.x = 1 and (b.y = a.z and (a.n < 2 or not a.m)) and c.p.q is null and a.x < c.x"
        " and (a.x = 1 or b.x = 1)"
    )
    assert apart.selections == {
        "a": parse_condition("x = 1 and (n < 2 or not m)"),
        "c": parse_condition("p.q is null"),
    }
    assert apart.equalities == (Comparison(("b", "y"), Test.EQ, ("a", "z")),)
    assert apart.filters == (
        JoinedCondition((Comparison(("a", "x"), Test.LT, ("c", "x")),)),
        parse_joined("a.x = 1 or b.x = 1", ALIASES),
    )
    assert apart.bound == {"a", "b", "c"}


def test_comparisons_that_are_no_keys_are_filters_and_bind_all_the_same() -> None:
    apart = cut("a.x != b.x and not a.y >= c.y")
    assert not apart.selections
    assert not apart.equalities
    assert apart.bound == {"a", "b", "c"}
    assert [len(each.steps) for each in apart.filters] == [2, 2]


def test_what_stands_under_a_connective_binds_nothing() -> None:
    assert cut("a.x = b.x or a.y = b.y").bound == frozenset()
    assert cut("not (a.x = b.x and a.y = 1)").bound == frozenset()
    assert cut("true").bound == frozenset()


def test_two_fields_of_one_table_are_compared_by_a_filter() -> None:
    apart = cut("a.x < a.y and (a.x = a.y or a.z = 1)")
    assert not apart.selections
    assert not apart.equalities
    assert (len(apart.filters), apart.bound) == (2, frozenset("a"))


def test_an_equality_that_is_written_twice_is_one() -> None:
    assert len(cut("a.x = b.x and a.x = b.x").equalities) == 1


def test_the_texts_of_a_condition_are_found_wherever_they_stand() -> None:
    condition = parse_joined(
        "a.x = b.x and contains(a.t, 'w') and (b.x = 1 or tm_contains(a.u, 'v', 2))", ALIASES
    )
    assert [predicate.field for predicate in text_predicates(condition)] == [("t",), ("u",)]


def test_deep_and_long_conditions_come_apart() -> None:
    deep = 100_000
    apart = cut("(" * deep + "a.x = b.x" + ")" * deep + " and " + "not " * deep + "a.y = 1")
    assert len(apart.equalities) == 1
    assert len(apart.selections["a"].steps) == deep + 1
    apart = cut(" and ".join(f"a.x = {number}" for number in range(20_000)) + " and b.y = 1")
    assert apart.selections["a"].steps[-1] == Operator(apart.selections["a"].steps[-1].connective, 20_000)  # type: ignore[union-attr]
    assert isinstance(apart.selections["b"].steps[0], Predicate)


def test_ands_that_are_nested_come_apart_to_the_last() -> None:
    nested = "a.x = 1"
    for _ in range(500):
        nested = f"({nested} and a.x = 1)"
    assert len(cut(f"{nested} and a.x = b.x").selections["a"].steps) == 502
