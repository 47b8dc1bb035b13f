"""What operators, functors, comparisons and aggregates of programs mean, on Python values.

One table by the functor's name and the type of its first operand. Numbers are 64 bits and wrap; minus
zero is zero. What has no value (division by zero, a text that is no number, a float that is none)
raises DerivationError; whoever knows the rule adds it.

Texts are counted in bytes of UTF-8, as Soufflé does; a character that `substr` would cut in two is left out.
"""

from __future__ import annotations

import math
import operator
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, cast

from tocsin.datalog.language.syntax import Type, Value
from tocsin.datalog.language.vocabulary import EACH, RANGE
from tocsin.errors import DerivationError, TocsinWarning
from tocsin.syntax.regexes import LONGEST_PATTERN, Regex, compile_regex

_BITS = 64
_WORDS = 1 << _BITS
_SIGN = 1 << (_BITS - 1)

LONGEST_RANGE = 10_000_000
"""So many values a `range` may have."""

TEXT_LIMIT = 1 << 30
"""So many bytes of texts the rules of a program may make, if nothing else is said."""

LONGEST_TEXT = 64 << 20
"""In characters: so long a text may be that `cat` makes."""

Function = Callable[..., Value]


def apply(functor: str, operand_type: Type, operands: Sequence[Value]) -> Value:
    """The value of a functor. `operand_type` is the type of its first operand."""
    return FUNCTORS[functor, operand_type](*operands)


def is_arithmetic(functor: str, operand_type: Type) -> bool:
    """Whether it takes and gives numbers of one type: what needs no text and no conversion."""
    return functor in _ARITHMETIC and operand_type is not Type.SYMBOL


def is_total(functor: str, operand_type: Type) -> bool:
    """Whether it has a value for all operands."""
    if functor == RANGE:
        return True  # but at its limit
    if operand_type is Type.FLOAT:
        return functor in ("neg", "min", "max", "to_string", "to_float")
    if operand_type is Type.SYMBOL:
        return not functor.startswith("to_") or functor == "to_string"  # cat has one but at its limit
    return functor not in ("/", "%", "^")


def holds(comparison: str, left: Value, right: Value) -> bool:
    """Whether a comparison of two values of one type holds. Texts compare by their bytes."""
    return COMPARISONS[comparison](left, right)


def aggregate(function: str, value_type: Type | None, values: Sequence[Any]) -> Value | None:
    """The result of an aggregate over the values of its assignments, None when it has none.

    Sums of floats are rounded once, so that they do not depend on an order; a mean is the sum, not yet
    wrapped, divided by the count.
    """
    if function == "count":
        return len(values)
    if function == "sum":
        return _wrapped_sum(value_type, values)
    if not values:
        return None
    if function == "mean":
        if value_type is Type.FLOAT:
            return _float(_exact_sum(values) / len(values))
        return _float(sum(values) / len(values))
    result: Value = min(values) if function == "min" else max(values)
    return result


def _wrapped_sum(value_type: Type | None, values: Sequence[Any]) -> Value:
    if value_type is Type.FLOAT:
        return _float(_exact_sum(values))
    total = sum(values)
    return _unsigned(total) if value_type is Type.UNSIGNED else _number(total)


def _exact_sum(values: Sequence[Any]) -> float:
    """The float nearest to the sum; infinite where that is beyond all floats, and NaN of both infinities."""
    infinite: set[float] = {value for value in values if math.isinf(value)}
    if infinite:
        return sum(infinite)
    try:
        return math.fsum(values)
    except OverflowError:
        total = sum(map(Fraction, values))
    try:
        return float(total)
    except OverflowError:
        return math.inf if total > 0 else -math.inf


def _number(value: int) -> int:
    """The 64-bit number with the same last 64 bits."""
    return (value + _SIGN) % _WORDS - _SIGN


def _unsigned(value: int) -> int:
    return value % _WORDS


def _float(value: float) -> float:
    if math.isnan(value):
        raise DerivationError("the result is not a number")
    return value + 0.0


def _truncated_quotient(left: int, right: int) -> int:
    if right == 0:
        raise DerivationError("division by zero")
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _remainder(left: int, right: int) -> int:
    if right == 0:
        raise DerivationError("remainder of a division by zero")
    return left - right * _truncated_quotient(left, right)


def _integer_power(base: int, exponent: int) -> int:
    """Wraps as multiplying again and again does; a negative exponent gives the quotient, truncated."""
    if exponent >= 0:
        return pow(base, exponent, _WORDS)
    if base == 0:
        raise DerivationError("division by zero: zero to a negative power")
    if base in (1, -1):
        return base if exponent % 2 else 1
    return 0


def _float_quotient(left: float, right: float) -> float:
    if right == 0:
        raise DerivationError("division by zero")
    return left / right


def _float_power(base: float, exponent: float) -> float:
    if base == 0 and exponent < 0:
        raise DerivationError("division by zero: zero to a negative power")
    try:
        return math.pow(base, exponent)
    except ValueError:
        return math.nan
    except OverflowError:
        return -math.inf if base < 0 and exponent % 2 == 1 else math.inf


def _shift(exponent: int) -> int:
    """Shifts look at the last six bits of how far."""
    return exponent % _BITS


def _substr(text: str, start: int, length: int) -> str:
    """So many bytes from a byte on: all the rest when `length` is negative, none when `start` is outside."""
    encoded = text.encode()
    if not 0 <= start <= len(encoded):
        return ""
    stop = len(encoded) if length < 0 else start + length
    return encoded[start:stop].decode(errors="ignore")


_INTEGER = re.compile(r"\s*([+-]?)(0x[0-9a-fA-F]+|0b[01]+|[0-9]+)", re.ASCII)
_DECIMAL = re.compile(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)
_BASES = {"0x": 16, "0b": 2}


def _read_integer(functor: str, text: str, least: int, most: int) -> int:
    read = _INTEGER.fullmatch(text)
    if read is None:
        raise DerivationError(f"{functor}({text!r}): this text is not a number")
    sign, digits = read.groups()
    size = int(digits, _BASES.get(digits[:2], 10)) if len(digits) <= _BITS + 2 else most + 1
    value = -size if sign == "-" else size
    if not least <= value <= most:
        raise DerivationError(f"{functor}({text!r}): this number does not fit 64 bits")
    return value


def _text_to_number(text: str) -> int:
    return _read_integer("to_number", text, -_SIGN, _SIGN - 1)


def _text_to_unsigned(text: str) -> int:
    return _read_integer("to_unsigned", text, 0, _WORDS - 1)


def _text_to_float(text: str) -> float:
    if _DECIMAL.fullmatch(text) is None:
        raise DerivationError(f"to_float({text!r}): this text is not a number")
    value = float(text)
    if math.isinf(value):
        raise DerivationError(f"to_float({text!r}): this number is too large for a float")
    return value + 0.0


def _float_to_integer(functor: str, value: float, least: int, most: int) -> int:
    if math.isinf(value) or not least <= int(value) <= most:
        raise DerivationError(f"{functor}({value!r}): this number does not fit")
    return int(value)


def _float_to_number(value: float) -> int:
    return _float_to_integer("to_number", value, -_SIGN, _SIGN - 1)


def _float_to_unsigned(value: float) -> int:
    return _float_to_integer("to_unsigned", value, 0, _WORDS - 1)


def _float_to_text(value: float) -> str:
    return f"{value:f}"


@lru_cache(maxsize=4096)
def _whole_text_regex(pattern: str) -> Regex | None:
    """The expression, None when it is none: that matches nothing, as in Soufflé, which warns of it."""
    try:
        compile_regex(pattern)
        return compile_regex(rf"\A(?:{pattern})\z")
    except ValueError as error:
        if _is_well_formed(pattern):
            raise DerivationError(f"match({pattern!r}, ...): {error}") from None
        warnings.warn(f"match({pattern!r}, ...) matches nothing: {error}", TocsinWarning, stacklevel=3)
        return None


def _is_well_formed(pattern: str) -> bool:
    """Whether an expression that RE2 does not take (a back-reference, say) is one all the same."""
    if len(pattern) > LONGEST_PATTERN:
        return True
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return False
    return True


def _cat(*texts: str) -> str:
    if sum(map(len, texts)) > LONGEST_TEXT:
        raise DerivationError(
            f"cat makes a text of more than {LONGEST_TEXT:,} characters, which is the limit"
        )
    return "".join(texts)


class Range:
    """The numbers of a range, as Soufflé counts them: down where it ends below its start."""

    def __init__(self, first: Any, end: Any, step: Any = None) -> None:
        self._first, self._end = first, end
        self._step = (1 if first <= end else -1) if step is None else step

    def __iter__(self) -> Iterator[Value]:
        number, end, step = self._first, self._end, self._step
        if step == 0:
            yield from () if number == end else (number,)
            return
        for _ in range(LONGEST_RANGE):
            if not (number < end if step > 0 else number > end):
                return
            yield number
            number += step
        raise DerivationError(f"range has more than {LONGEST_RANGE:,} values, which is the limit")

    def numbers(self, rule: str) -> Iterator[Value]:
        """The same, for a rule that an error names."""
        try:
            yield from self
        except DerivationError as error:
            raise DerivationError(error.reason, rule=error.rule or rule) from None

    def __contains__(self, value: object) -> bool:
        if isinstance(value, int) and self._step:
            return value in range(self._first, self._end, self._step)
        return any(value == each for each in self)


def _match(pattern: Any, text: Any) -> bool:
    regex = _whole_text_regex(pattern)
    return regex is not None and regex.search(text)


def _contains(part: Any, text: Any) -> bool:
    return part in text


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    EACH: lambda value, numbers: value in numbers,
    "match": _match,
    "contains": _contains,
    "!match": lambda pattern, text: not _match(pattern, text),
    "!contains": lambda part, text: not _contains(part, text),
}
"""Every comparison there is, by its written name; with a `!`, the opposite."""


def _on_integers(fit: Callable[[int], int]) -> dict[str, Function]:
    """Operators of number or unsigned; `fit` brings a whole number into the type's 64 bits."""
    return {
        "neg": lambda value: fit(-value),
        "+": lambda left, right: fit(left + right),
        "-": lambda left, right: fit(left - right),
        "*": lambda left, right: fit(left * right),
        "/": lambda left, right: fit(_truncated_quotient(left, right)),
        "%": lambda left, right: fit(_remainder(left, right)),
        "^": lambda base, exponent: fit(_integer_power(base, exponent)),
        "band": lambda left, right: fit(left & right),
        "bor": lambda left, right: fit(left | right),
        "bxor": lambda left, right: fit(left ^ right),
        "bnot": lambda value: fit(~value),
        "bshl": lambda value, by: fit(value << _shift(by)),
        "bshr": lambda value, by: fit(value >> _shift(by)),
        "bshru": lambda value, by: fit(_unsigned(value) >> _shift(by)),
        "land": lambda left, right: int(left != 0 and right != 0),
        "lor": lambda left, right: int(left != 0 or right != 0),
        "lxor": lambda left, right: int((left != 0) != (right != 0)),
        "lnot": lambda value: int(value == 0),
        "min": min,
        "max": max,
        "to_number": _number,
        "to_unsigned": _unsigned,
        "to_float": float,
        "to_string": str,
    }


_ON_FLOATS: dict[str, Function] = {
    "neg": lambda value: _float(-value),
    "+": lambda left, right: _float(left + right),
    "-": lambda left, right: _float(left - right),
    "*": lambda left, right: _float(left * right),
    "/": lambda left, right: _float(_float_quotient(left, right)),
    "^": lambda base, exponent: _float(_float_power(base, exponent)),
    "min": min,
    "max": max,
    "to_number": _float_to_number,
    "to_unsigned": _float_to_unsigned,
    "to_float": lambda value: value,
    "to_string": _float_to_text,
}

_ON_TEXTS: dict[str, Function] = {
    "cat": _cat,
    "strlen": lambda text: len(text.encode()),
    "substr": _substr,
    "min": min,
    "max": max,
    "to_number": _text_to_number,
    "to_unsigned": _text_to_unsigned,
    "to_float": _text_to_float,
    "to_string": lambda text: text,
}

FUNCTORS: dict[tuple[str, Type], Function] = {
    (name, operand_type): function
    for operand_type, functions in (
        (Type.NUMBER, _on_integers(_number)),
        (Type.UNSIGNED, _on_integers(_unsigned)),
        (Type.FLOAT, _ON_FLOATS),
        (Type.SYMBOL, _ON_TEXTS),
    )
    for name, function in functions.items()
}
"""Every functor there is, by its written name and the type of its first operand."""
for _kind in (Type.NUMBER, Type.UNSIGNED, Type.FLOAT):
    FUNCTORS[RANGE, _kind] = cast(Function, Range)

_ARITHMETIC = frozenset(_on_integers(_number)) - {"to_number", "to_unsigned", "to_float", "to_string"}
