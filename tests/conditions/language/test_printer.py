from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.conditions.language import (
    Condition,
    Connective,
    Constant,
    Literal,
    Operator,
    Predicate,
    Step,
    Test,
    parse_condition,
    print_condition,
    print_predicate,
)
from tocsin.conditions.language.parser import parse_predicate
from tocsin.events import Kind

FIRST, LAST = -62_135_596_800, 253_402_300_799  # the years 1 and 9999

texts = st.text(max_size=8)
names = st.one_of(
    st.sampled_from(
        ["a", "b_1", "in", "AND", "from", "cidr", "contains", "timestamp", "true", "a.b", "", '"', "é"]
    ),
    texts,
)
fields = st.lists(names, min_size=1, max_size=3).map(tuple)
numbers = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.sampled_from(["0.1", "-2.5", "1e30", "5.0", "0.0", "1e-8", "-1.25e-300", "1e-400"]),
).map(lambda value: Literal(Kind.NUMBER, value))
strings = texts.map(lambda value: Literal(Kind.STRING, value))
booleans = st.booleans().map(lambda value: Literal(Kind.BOOLEAN, value))
timestamps = st.integers(FIRST * 10**9, LAST * 10**9 + 999_999_999).map(
    lambda value: Literal(Kind.TIMESTAMP, value)
)
kinds = [numbers, strings, booleans, timestamps]


def asking(*parts: st.SearchStrategy[object]) -> st.SearchStrategy[Predicate]:
    return st.builds(Predicate, *parts)


def pattern_of(test: Test, patterns: list[str]) -> st.SearchStrategy[Predicate]:
    operands = st.sampled_from(patterns).map(lambda text: (Literal(Kind.STRING, text),))
    return asking(fields, st.just(test), operands)


predicates = st.one_of(
    asking(
        fields, st.sampled_from([Test.EQ, Test.LT, Test.LE, Test.GT, Test.GE]), st.tuples(st.one_of(kinds))
    ),
    *(asking(fields, st.just(Test.IN), st.lists(kind, min_size=1, max_size=4).map(tuple)) for kind in kinds),
    *(asking(fields, st.just(Test.BETWEEN), st.tuples(kind, kind)) for kind in kinds),
    asking(fields, st.just(Test.NULL), st.just(())),
    pattern_of(Test.LIKE, ["%a_\\%", "", "it's", "\n"]),
    pattern_of(Test.ILIKE, ["%É%", "'"]),
    pattern_of(Test.MATCHES, ["^a+'$", "", "\\d"]),
    pattern_of(Test.CIDR, ["10.0.0.0/8", "::/0"]),
)

Steps = tuple[Step, ...]


def joined(connective: Connective, parts: list[Steps]) -> Steps:
    return (*(step for part in parts for step in part), Operator(connective, len(parts)))


def larger(inner: st.SearchStrategy[Steps]) -> st.SearchStrategy[Steps]:
    several = st.lists(inner, min_size=2, max_size=4)
    return st.one_of(
        inner.map(lambda part: joined(Connective.NOT, [part])),
        st.builds(joined, st.sampled_from([Connective.AND, Connective.OR]), several),
        st.builds(
            joined,
            st.sampled_from([Connective.XOR, Connective.XNOR]),
            st.lists(inner, min_size=2, max_size=2),
        ),
    )


leaves = st.one_of(predicates, st.builds(Constant, st.booleans())).map(lambda step: (step,))
conditions = st.recursive(leaves, larger, max_leaves=12).map(Condition)


@given(conditions)
def test_what_is_printed_reads_as_the_same_steps(condition: Condition) -> None:
    assert parse_condition(print_condition(condition)) == condition


@given(predicates, st.booleans())
def test_a_printed_predicate_reads_back(predicate: Predicate, negated: bool) -> None:
    text = print_predicate(predicate, negated)
    if negated and text.startswith("not "):
        text, negated = text.removeprefix("not "), False
    assert parse_predicate(text) == (predicate, negated)


def spelled(condition: Condition, blank: str) -> str:
    """An independent printer: everything in parentheses, keywords in capitals."""
    stack: list[str] = []
    for step in condition.steps:
        if isinstance(step, Predicate):
            stack.append(print_predicate(step))
        elif isinstance(step, Constant):
            stack.append(str(step.value).upper())
        else:
            parts = stack[-step.arity :]
            del stack[-step.arity :]
            word = step.connective.value.upper()
            parts = [f"({part})" for part in parts]
            stack.append(
                f"{word}{blank}{parts[0]}" if step.arity == 1 else f"{blank}{word}{blank}".join(parts)
            )
    return f"{blank}({stack[0]}){blank}"


@given(conditions, st.sampled_from([" ", "\n", "\t\r\n", " -- not a comment's end ' \" (\n"]))
def test_parentheses_blanks_and_case_change_nothing(condition: Condition, blank: str) -> None:
    assert parse_condition(spelled(condition, blank)) == condition


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("not x = 5", "x != 5"),
        ("not x in (1)", "x not in (1)"),
        ("not x is null", "x is not null"),
        ("not x between 1 and 2", "x not between 1 and 2"),
        ("x not like 'a'", "x not like 'a'"),
        ("not x < 5", "not x < 5"),
        ("not cidr(x, '::/0')", "not cidr(x, '::/0')"),
        ("not x != 5", "not x != 5"),
        ("x", "x = true"),
        ("(a = 1 and b = 2) and c = 3", "(a = 1 and b = 2) and c = 3"),
        ("((a = 1 and (b = 2)) or (c = 3))", "a = 1 and b = 2 or c = 3"),
        ("(a = 1 xor b = 2) xnor c = 3", "a = 1 xor b = 2 xnor c = 3"),
        ("a = 1 xor (b = 2 xor c = 3)", "a = 1 xor (b = 2 xor c = 3)"),
        ("(a = 1 or b = 2) and not (c = 3 or d = 4)", "(a = 1 or b = 2) and not (c = 3 or d = 4)"),
        ("not true", "not true"),
        ('"a"."b c"."In"."q""r" = 1', 'a."b c"."In"."q""r" = 1'),
        ("a = 1.50e1", "a = 15.0"),
        (
            "a > timestamp '2020-01-01T01:00:00.120+01:00'",
            "a > timestamp '2020-01-01T00:00:00.12Z'",
        ),
    ],
)
def test_forms(text: str, printed: str) -> None:
    assert print_condition(parse_condition(text)) == printed


@pytest.mark.parametrize(
    "instant",
    ["0001-01-01T00:00:00+23:00", "0000-02-29T00:00:00Z", "9999-12-31T23:59:59.999999999-23:59"],
)
def test_the_edges_of_the_calendar_read_back(instant: str) -> None:
    condition = parse_condition(f"a = timestamp '{instant}'")
    assert parse_condition(print_condition(condition)) == condition


def test_depth_is_no_problem() -> None:
    for text in ("not " * 100_000 + "(a or b)", "a and (b or (" * 10_000 + "a" + "))" * 10_000):
        condition = parse_condition(text)
        assert parse_condition(print_condition(condition)) == condition
