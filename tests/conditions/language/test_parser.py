from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.conditions.language import (
    Connective,
    Constant,
    Literal,
    Operator,
    Predicate,
    Step,
    Test,
    parse_condition,
)
from tocsin.conditions.language.numerals import read_number
from tocsin.conditions.language.parser import parse_predicate
from tocsin.errors import RuleError, RuleErrors
from tocsin.events import Kind

NOT = Operator(Connective.NOT, 1)
XOR = Operator(Connective.XOR, 2)
XNOR = Operator(Connective.XNOR, 2)


def number(value: int | str) -> Literal:
    return Literal(Kind.NUMBER, value)


def string(value: str) -> Literal:
    return Literal(Kind.STRING, value)


def bare(name: str) -> Predicate:
    return Predicate((name,), Test.EQ, (Literal(Kind.BOOLEAN, True),))


def is_and(arity: int) -> Operator:
    return Operator(Connective.AND, arity)


def is_or(arity: int) -> Operator:
    return Operator(Connective.OR, arity)


A, B, C, D = (bare(name) for name in "abcd")


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("a and b and c", [A, B, C, is_and(3)]),
        ("(a and b) and c", [A, B, is_and(2), C, is_and(2)]),
        ("a or b or c and d", [A, B, C, D, is_and(2), is_or(3)]),
        ("a xor b xnor c", [A, B, XOR, C, XNOR]),
        ("a xor (b xnor c)", [A, B, C, XNOR, XOR]),
        ("a xor b and c or d", [A, B, C, is_and(2), XOR, D, is_or(2)]),
        ("not not a", [A, NOT, NOT]),
        ("not (a or b) and c", [A, B, is_or(2), NOT, C, is_and(2)]),
        ("not a != 1", [Predicate(("a",), Test.EQ, (number(1),)), NOT, NOT]),
        ("((a))", [A]),
        ("true AND False", [Constant(True), Constant(False), is_and(2)]),
        ("a = true", [A]),
    ],
)
def test_structure(text: str, steps: list[Step]) -> None:
    assert list(parse_condition(text).steps) == steps


@pytest.mark.parametrize(
    ("text", "predicate", "negated"),
    [
        ("a=5", Predicate(("a",), Test.EQ, (number(5),)), False),
        ("a <> -5", Predicate(("a",), Test.EQ, (number(-5),)), True),
        ("a<-5", Predicate(("a",), Test.LT, (number(-5),)), False),
        ("a >= 1.50", Predicate(("a",), Test.GE, (number("1.5"),)), False),
        ("a not in ('x', 'y''z')", Predicate(("a",), Test.IN, (string("x"), string("y'z"))), True),
        ("a between 1 and 2.5", Predicate(("a",), Test.BETWEEN, (number(1), number("2.5"))), False),
        ("a between 5 and 1", Predicate(("a",), Test.BETWEEN, (number(5), number(1))), False),
        ("a is not null", Predicate(("a",), Test.NULL, ()), True),
        ("a NOT LIKE '%x_'", Predicate(("a",), Test.LIKE, (string("%x_"),)), True),
        ("a ilike 'x'", Predicate(("a",), Test.ILIKE, (string("x"),)), False),
        ("a not matches '^x+$'", Predicate(("a",), Test.MATCHES, (string("^x+$"),)), True),
        ("CIDR(a.b, '10.0.0.0/8')", Predicate(("a", "b"), Test.CIDR, (string("10.0.0.0/8"),)), False),
        ("cidr", bare("cidr"), False),
        ("contains = 1", Predicate(("contains",), Test.EQ, (number(1),)), False),
        ("timestamp = 1", Predicate(("timestamp",), Test.EQ, (number(1),)), False),
        (
            "a = timestamp '1970-01-01T00:00:01Z'",
            Predicate(("a",), Test.EQ, (Literal(Kind.TIMESTAMP, 10**9),)),
            False,
        ),
        ('"in"."a.b".NOT = 1', Predicate(("in", "a.b", "NOT"), Test.EQ, (number(1),)), False),
        ('"" = 1', Predicate(("",), Test.EQ, (number(1),)), False),
        ("when = 1", Predicate(("when",), Test.EQ, (number(1),)), False),
        ("false", Constant(False), False),
        (" -- c\n a -- d\n", A, False),
    ],
)
def test_predicates(text: str, predicate: Predicate | Constant, negated: bool) -> None:
    assert parse_predicate(text) == (predicate, negated)
    steps = parse_condition(text).steps
    assert steps == ((predicate, NOT) if negated else (predicate,))


def test_places_are_where_things_are_written() -> None:
    text = "a = 1 and not (b < 2 or c is not null) and x xor y xnor z"
    condition = parse_condition(text)
    written = {step: text[place:] for step, place in zip(condition.steps, condition.places, strict=True)}
    assert written[is_and(3)].startswith("and not")
    assert written[is_or(2)].startswith("or c")
    assert written[XOR].startswith("xor y")
    assert written[XNOR].startswith("xnor z")
    assert written[bare("y")].startswith("y xnor")
    assert [
        text[place : place + 3]
        for step, place in zip(condition.steps, condition.places, strict=True)
        if step == NOT
    ] == ["not", "not"]
    assert condition == parse_condition(" " + text)


def test_alias_is_left_out() -> None:
    def fields(text: str) -> list[tuple[str, ...]]:
        return [predicate.field for predicate in parse_condition(text, alias="v").predicates()]

    assert fields("v.a = 1 and cidr(v.b.c, '::/0') and w.v = 2") == [("a",), ("b", "c"), ("w", "v")]
    assert fields('"v".a = 1 and V.a') == [("v", "a"), ("V", "a")]
    assert fields("v.v = 1") == [("v",)]
    with pytest.raises(RuleError, match=r"expected '\.' and a field"):
        parse_condition("v = 1", alias="v")


def errors_of(text: str) -> list[tuple[int, str]]:
    with pytest.raises(RuleError) as raised:
        parse_condition(text)
    errors = raised.value.errors if isinstance(raised.value, RuleErrors) else (raised.value,)
    assert all(error.line == 1 for error in errors)
    return [(error.column or 0, error.reason) for error in errors]


@pytest.mark.parametrize(
    ("text", "column", "part"),
    [
        ("", 1, "empty"),
        ("  -- only a comment", 20, "empty"),
        ("a = )", 5, "expected a value after '=', found ')'"),
        ("a = ", 5, "expected a value after '=', found the end"),
        ("a == 1", 3, "use '='"),
        ("a && b", 3, "use 'and'"),
        ("a || b", 3, "use 'or'"),
        ("! a", 1, "use 'not'"),
        ('state = "CA"', 9, "single quotes"),
        ("state = CA", 9, "single quotes"),
        ("a = b.c", 5, "a field cannot stand here"),
        ("in = 5", 1, 'as a field it is written "in"'),
        ("a and null", 7, 'written "null"'),
        ("a = null", 5, "use 'is null'"),
        ("a <> NULL", 6, "use 'is not null'"),
        ("a not = 1", 7, "put 'not' before the field"),
        ("a not null", 7, "use 'is not null'"),
        ("a = not 1", 5, "expected a value"),
        ("1 < a < 5", 1, "starts with its field"),
        ("a < 5 < 6", 7, "join two comparisons with 'and'"),
        ("((a = 1)", 1, "never closed"),
        ("a in (1, 2", 6, "never closed"),
        ("cidr(a, '::/0'", 5, "never closed"),
        ("a = 1)", 6, "closes nothing"),
        ("()", 2, "expected a condition after '('"),
        ("and a", 1, "expected a condition, found 'and'"),
        ("a or", 5, "expected a condition after 'or', found the end"),
        ("a or or b", 6, "expected a condition after 'or', found 'or'"),
        ("not", 4, "expected a condition after 'not'"),
        ("a b", 3, "expected a comparison after 'a', found 'b'"),
        ("a = 1 b = 2", 7, "expected 'and', 'or', 'xor', 'xnor' or the end"),
        ("a = 1;", 6, "ends without ';'"),
        ("a = 1, b = 2", 6, "found ','"),
        ("a in ()", 7, "expected a value after '('"),
        ("a in (1,)", 9, "expected a value after ','"),
        ("a in (1 2)", 9, "expected ',' or ')'"),
        ("a in 5", 6, "stand in parentheses"),
        ("a in (1, 'x', true)", 10, "this is a string, the first is a number"),
        ("a between 1 and 'x'", 17, "of one kind"),
        ("a between 1, 2", 12, "expected 'and'"),
        ("a between x and 5", 11, "expected a value"),
        ("a between and 5", 11, "expected a value after 'between'"),
        ("a is 5", 6, "expected 'null' or 'not null'"),
        ("a is true", 6, "use '= true'"),
        ("a is not false", 10, "use '!= false'"),
        ("a like 5", 8, "expected a string"),
        ("a like 'x\\'", 8, "backslash"),
        ("a matches '('", 11, "RE2"),
        ("a matches '(?=x)'", 11, "look-around"),
        ("cidr(a, '10.0.0.1/8')", 9, "host bits"),
        ("cidr(a)", 7, "expected ','"),
        ("contains(a, 'x,, y', 0.5)", 16, "expected a word or a phrase, found ','"),
        ("contains(a, 'x', -0.5)", 18, "a threshold is a number from 0 on"),
        ("contains(a, 'x', maybe)", 18, "expected a threshold or 'boolean'"),
        ("contains(a, x)", 13, "expected a text query as a string"),
        ("contains(a, 'x', 1) and contains(b, 'y', 2)", 25, "only one contains of a condition"),
        ("tm_contains (a, 'it''s !')", 25, "expected a word or a phrase"),
        ("lower(a) = 'x'", 1, "not a function"),
        ("a.5 = 1", 3, "expected a name after '.'"),
        ("a. = 1", 4, "expected a name after '.'"),
        ("a = 9223372036854775808", 5, "64 bits"),
        ("a = 1" + "0" * 5000, 5, "64 bits"),
        ("a = 1e400", 5, "too large"),
        ("a = -1e99999999999999999999", 5, "too large"),
        ("a = 1e-99999999999999999999", 5, "zero"),
        ("a = timestamp '2020-13-01T00:00:00Z'", 15, "not a timestamp"),
        ("a = timestamp", 5, "timestamp '2026"),
        ("a = 'it's'", 9, "found 's'"),
    ],
)
def test_one_mistake_gives_one_message_at_its_place(text: str, column: int, part: str) -> None:
    found = errors_of(text)
    assert found[0][0] == column
    assert part in found[0][1]
    assert len(found) == (2 if "it's" in text else 1)


def test_every_mistake_is_reported_and_nothing_else() -> None:
    text = (
        'a == 1 and (b = ) or c = "x" and d in (1, y) xor not e between q and 2 and (f like 3)'
        " and New York = 1"
    )
    places = [
        text.index("=="),
        text.index(")"),
        text.index('"x"'),
        text.index("y)"),
        text.index("q and"),
        text.index("3)"),
        text.index("York"),
    ]
    assert [column - 1 for column, _ in errors_of(text)] == places


def test_errors_have_lines_columns_and_excerpts() -> None:
    with pytest.raises(RuleErrors) as raised:
        parse_condition("a = 1\r\nand b ==\n 2\n or c !")
    first, second = raised.value.errors
    assert (first.line, first.column, first.excerpt) == (2, 7, "and b ==")
    assert (second.line, second.column, second.excerpt) == (4, 7, " or c !")
    assert str(first).endswith("    and b ==\n" + " " * 10 + "^")


@pytest.mark.parametrize("text", ["a and b", "not a", "(a)", "", "a = 1 2", "true and", "a ="])
def test_parse_predicate_takes_exactly_one(text: str) -> None:
    with pytest.raises(RuleError):
        parse_predicate(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("9223372036854775807", 2**63 - 1), ("-9223372036854775808", -(2**63)), ("+007", 7), ("-0", 0),
        ("0" * 30 + "5", 5), ("1.0", "1.0"), ("0.10", "0.1"), ("1e-1", "0.1"), ("-0.0", "0.0"),
        ("0e99999", "0.0"), ("1e30", "1e30"), ("10e29", "1e30"), ("-25e29", "-2.5e30"), ("1200.00", "1200.0"),
        ("1e20", "100000000000000000000.0"), ("1e21", "1e21"), ("0.0000001", "0.0000001"), ("1e-8", "1e-8"),
        ("123.456E-20", "1.23456e-18"), ("1e-400", "1e-400"),
    ],
)  # fmt: skip
def test_numbers_have_one_form(text: str, value: int | str) -> None:
    assert read_number(text) == value


@given(st.integers(0, 10**25), st.integers(0, 30), st.integers(-300, 250), st.sampled_from(["", "-", "+"]))
def test_decimal_text_keeps_its_value_and_is_its_own_form(
    digits: int, point: int, exponent: int, sign: str
) -> None:
    text = f"{sign}{digits}.{'0' * point}{digits}e{exponent}"
    form = read_number(text)
    assert isinstance(form, str)
    assert Decimal(form) == Decimal(text)
    assert read_number(form) == form


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("(" * 100_000 + "a" + ")" * 100_000, 1),
        ("not " * 100_000 + "a", 100_001),
        ("a and (" * 50_000 + "a" + ")" * 50_000, 100_001),
        ("a in (" + ",".join(map(str, range(100_000))) + ")", 1),
        (" and ".join(["abc = 1"] * 80_000), 80_001),
        ("a = '" + "x" * 1_000_000 + "'", 1),
    ],
    ids=["parentheses", "nots", "nested", "in", "long", "string"],
)
def test_size_is_no_problem(text: str, steps: int) -> None:
    assert len(parse_condition(text).steps) == steps


@pytest.mark.parametrize(
    "text", ["(" * 100_000, ")" * 100_000, "a = = " * 50_000, "not " * 100_000, "'" * 99_999]
)
def test_large_nonsense_is_an_error(text: str) -> None:
    with pytest.raises(RuleError):
        parse_condition(text)


WORDS = [
    *(
        "a",
        "b.c",
        "'x'",
        '"q"',
        "1",
        "-2.5",
        "1.",
        "'open",
        "true",
        "null",
        "timestamp",
        "cidr(",
        "contains(",
    ),
    *("(", ")", ",", ".", ";", "$", "=", "!=", "<", "==", "&&", "!"),
    *("and", "or", "xor", "not", "in", "between", "is", "like", "matches"),
]


@given(st.lists(st.sampled_from(WORDS), max_size=25))
def test_any_words_give_a_condition_or_errors_inside_the_text(words: list[str]) -> None:
    text = " ".join(words)
    try:
        condition = parse_condition(text)
    except RuleError as error:
        for each in error.errors if isinstance(error, RuleErrors) else (error,):
            assert each.line == 1
            assert each.column is not None
            assert 1 <= each.column <= len(text) + 1
    else:
        depth = 0
        for step in condition.steps:
            depth += 1 - step.arity if isinstance(step, Operator) else 1
            assert depth > 0
        assert depth == 1
        assert len(condition.places) == len(condition.steps)


def test_of_many_open_parentheses_the_outermost_are_named() -> None:
    with pytest.raises(RuleErrors) as caught:
        parse_condition("(" * 100_000 + "x = 1")
    assert [error.column for error in caught.value.errors] == list(range(1, 11))
