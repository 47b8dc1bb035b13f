"""What each functor gives, and what has no value."""

from __future__ import annotations

import math

import pytest

from tocsin.datalog.language import Type, Value
from tocsin.datalog.language.functors import aggregate, apply, holds, is_arithmetic, is_total
from tocsin.errors import DerivationError, TocsinWarning

N, U, F, S = Type.NUMBER, Type.UNSIGNED, Type.FLOAT, Type.SYMBOL
LEAST, MOST, ALL = -(2**63), 2**63 - 1, 2**64 - 1


@pytest.mark.parametrize(
    ("functor", "operand_type", "operands", "value"),
    [
        ("+", N, (MOST, 1), LEAST),
        ("-", N, (LEAST, 1), MOST),
        ("*", N, (MOST, 2), -2),
        ("neg", N, (LEAST,), LEAST),
        ("/", N, (7, -2), -3),
        ("/", N, (-7, 2), -3),
        ("/", N, (LEAST, -1), LEAST),
        ("%", N, (7, -2), 1),
        ("%", N, (-7, 2), -1),
        ("%", N, (LEAST, -1), 0),
        ("^", N, (2, 10), 1024),
        ("^", N, (2, 63), LEAST),
        ("^", N, (-3, 3), -27),
        ("^", N, (2, -1), 0),
        ("^", N, (-1, -3), -1),
        ("^", N, (1, -3), 1),
        ("^", N, (0, 0), 1),
        ("bshl", N, (1, 63), LEAST),
        ("bshl", N, (1, 64), 1),
        ("bshl", N, (1, -1), LEAST),
        ("bshr", N, (-8, 1), -4),
        ("bshru", N, (-1, 60), 15),
        ("bnot", N, (0,), -1),
        ("band", N, (-1, 12), 12),
        ("bxor", N, (5, 1), 4),
        ("land", N, (2, -1), 1),
        ("lor", N, (0, 0), 0),
        ("lxor", N, (5, 3), 0),
        ("lnot", N, (0,), 1),
        ("max", N, (1, 5, 3), 5),
        ("-", U, (0, 1), ALL),
        ("neg", U, (1,), ALL),
        ("bnot", U, (0,), ALL),
        ("bshr", U, (ALL, 60), 15),
        ("/", U, (ALL, 2), MOST),
        ("-", F, (0.0, 0.0), 0.0),
        ("*", F, (1e308, 10.0), math.inf),
        ("^", F, (2.0, -1.0), 0.5),
        ("^", F, (-1e200, 3.0), -math.inf),
        ("cat", S, ("a", "b", "c"), "abc"),
        ("strlen", S, ("héllo",), 6),
        ("substr", S, ("Hello_", 2, 3), "llo"),
        ("substr", S, ("World!", 3, 6), "ld!"),
        ("substr", S, ("abc", 3, 1), ""),
        ("substr", S, ("abc", 4, 1), ""),
        ("substr", S, ("abc", -1, 1), ""),
        ("substr", S, ("abc", 1, -1), "bc"),
        ("substr", S, ("é!", 0, 1), ""),
        ("min", S, ("b", "a"), "a"),
        ("to_number", S, ("-12",), -12),
        ("to_number", S, ("0x1f",), 31),
        ("to_number", S, ("-0b11",), -3),
        ("to_number", F, (-2.9,), -2),
        ("to_number", U, (ALL,), -1),
        ("to_unsigned", N, (-1,), ALL),
        ("to_float", S, ("1e2",), 100.0),
        ("to_string", N, (-5,), "-5"),
        ("to_string", F, (1.5,), "1.500000"),
    ],
)
def test_value(functor: str, operand_type: Type, operands: tuple[Value, ...], value: Value) -> None:
    got = apply(functor, operand_type, operands)
    assert got == value
    assert type(got) is type(value)


def test_minus_zero_is_zero() -> None:
    assert math.copysign(1, float(apply("neg", F, (0.0,)))) == 1
    assert math.copysign(1, float(apply("*", F, (-1.0, 0.0)))) == 1


@pytest.mark.parametrize(
    ("functor", "operand_type", "operands", "reason"),
    [
        ("/", N, (1, 0), "division by zero"),
        ("%", U, (1, 0), "division by zero"),
        ("/", F, (1.0, 0.0), "division by zero"),
        ("^", N, (0, -1), "division by zero"),
        ("^", F, (0.0, -1.0), "division by zero"),
        ("^", F, (-1.0, 0.5), "not a number"),
        ("-", F, (math.inf, math.inf), "not a number"),
        ("to_number", S, ("",), "not a number"),
        ("to_number", S, ("12a",), "not a number"),
        ("to_number", S, ("9223372036854775808",), "does not fit"),
        ("to_number", S, ("9" * 10_000,), "does not fit"),
        ("to_unsigned", S, ("-1",), "does not fit"),
        ("to_float", S, ("nan",), "not a number"),
        ("to_float", S, ("1e999",), "too large"),
        ("to_number", F, (1e30,), "does not fit"),
        ("to_unsigned", F, (-1.5,), "does not fit"),
    ],
)
def test_no_value(functor: str, operand_type: Type, operands: tuple[Value, ...], reason: str) -> None:
    assert not is_total(functor, operand_type)
    with pytest.raises(DerivationError, match=reason):
        apply(functor, operand_type, operands)


def test_matching_is_of_the_whole_text() -> None:
    assert holds("match", "a.*", "abba")
    assert not holds("match", "a.", "abba")
    assert holds("!match", "a|b", "ab")
    assert holds("contains", "bb", "abba")
    assert holds("!contains", "bb", "aba")
    with pytest.warns(TocsinWarning, match="not an RE2 expression"):
        assert not holds("match", "a)(b", "ab")
    with pytest.raises(DerivationError, match="not an RE2 expression"):
        holds("match", "(?=a)b", "ab")


def test_arithmetic_is_what_gives_the_type_it_takes() -> None:
    assert is_arithmetic("max", F)
    assert not is_arithmetic("max", S)
    assert not is_arithmetic("to_float", N)


@pytest.mark.parametrize(
    ("function", "value_type", "values", "result"),
    [
        ("count", None, [0, 0], 2),
        ("count", None, [], 0),
        ("sum", N, [MOST, 1], LEAST),
        ("sum", U, [ALL, 2], 1),
        ("sum", F, [0.1] * 10, 1.0),
        ("sum", F, [1e308, 1e308, -1e308], 1e308),
        ("sum", F, [1e308, 1e308], math.inf),
        ("sum", F, [], 0.0),
        ("sum", N, [], 0),
        ("min", N, [], None),
        ("max", N, [1, 3, 2], 3),
        ("mean", N, [1, 2], 1.5),
        ("mean", N, [MOST, MOST], float(MOST)),
        ("mean", F, [0.1] * 10, 0.1),
        ("mean", F, [], None),
    ],
)
def test_aggregate(function: str, value_type: Type | None, values: list[Value], result: Value | None) -> None:
    got = aggregate(function, value_type, values)
    assert got == result
    assert type(got) is type(result)
