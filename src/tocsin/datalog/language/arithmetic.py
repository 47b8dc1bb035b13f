"""What functors, comparisons and aggregates do to Python values.

Numbers are 64 bits and wrap; minus zero is zero. What has no value (division by zero, a text that is no
number, a float that is none) raises DerivationError; whoever knows the rule adds it.

Texts are counted in bytes of UTF-8, as Soufflé does; a character that `substr` would cut in two is left out.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from tocsin.datalog.language.syntax import Type, Value
from tocsin.errors import DerivationError, TocsinWarning
from tocsin.syntax import LONGEST_PATTERN, Regex, compile_regex

BITS = 64
_WORDS = 1 << BITS
_SIGN = 1 << (BITS - 1)

RANGES = {Type.NUMBER: (-_SIGN, _SIGN - 1), Type.UNSIGNED: (0, _WORDS - 1)}
"""The least and the greatest value of the integer types."""

LONGEST_RANGE = 10_000_000
"""So many values a `range` may have."""

LONGEST_TEXT = 64 << 20
"""In characters: so long a text may be that `cat` makes."""


# ---- Numbers


def number(value: int) -> int:
    """The 64-bit number with the same last 64 bits."""
    return (value + _SIGN) % _WORDS - _SIGN


def unsigned(value: int) -> int:
    """The same, without a sign."""
    return value % _WORDS


def floating(value: float) -> float:
    """A float that is one."""
    if math.isnan(value):
        raise DerivationError("the result is not a number")
    return value + 0.0


def wrapped(total: int, kind: Type | None) -> int:
    """A sum as a value of an integer type."""
    return unsigned(total) if kind is Type.UNSIGNED else number(total)


def quotient(left: Any, right: Any) -> Any:
    """Of integers, rounded towards zero."""
    if right == 0:
        raise DerivationError("division by zero")
    if isinstance(left, float):
        return left / right
    whole = abs(left) // abs(right)
    return whole if (left < 0) == (right < 0) else -whole


def remainder(left: int, right: int) -> int:
    """What the quotient of two integers leaves."""
    if right == 0:
        raise DerivationError("remainder of a division by zero")
    rest: int = left - right * quotient(left, right)
    return rest


def power(base: Any, exponent: Any) -> Any:
    """Wraps as multiplying again and again does; a negative exponent gives the quotient, truncated.

    What is beyond all floats is infinite.
    """
    if base == 0 and exponent < 0:
        raise DerivationError("division by zero: zero to a negative power")
    if isinstance(base, float):
        try:
            return math.pow(base, exponent)
        except ValueError:
            return math.nan
        except OverflowError:
            return -math.inf if base < 0 and exponent % 2 == 1 else math.inf
    if exponent >= 0:
        return pow(base, exponent, _WORDS)
    if base in (1, -1):
        return base if exponent % 2 else 1
    return 0


def integer_of_float(kind: Type) -> Callable[[float], int]:
    """What cuts off of a float all behind its point."""
    functor, (least, most) = f"to_{kind.value}", RANGES[kind]

    def cut(value: float) -> int:
        if math.isinf(value) or not least <= int(value) <= most:
            raise DerivationError(f"{functor}({value!r}): this number does not fit")
        return int(value)

    return cut


# ---- Texts


def substr(text: str, start: int, length: int) -> str:
    """So many bytes from a byte on: all the rest when `length` is negative, none when `start` is outside."""
    encoded = text.encode()
    if not 0 <= start <= len(encoded):
        return ""
    stop = len(encoded) if length < 0 else start + length
    return encoded[start:stop].decode(errors="ignore")


_INTEGER = re.compile(r"\s*([+-]?)(0x[0-9a-fA-F]+|0b[01]+|[0-9]+)", re.ASCII)
_DECIMAL = re.compile(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)
_BASES = {"0x": 16, "0b": 2}


def integer_of_text(kind: Type) -> Callable[[str], int]:
    """What reads numbers of an integer type."""
    functor, (least, most) = f"to_{kind.value}", RANGES[kind]

    def read(text: str) -> int:
        found = _INTEGER.fullmatch(text)
        if found is None:
            raise DerivationError(f"{functor}({text!r}): this text is not a number")
        sign, digits = found.groups()
        size = int(digits, _BASES.get(digits[:2], 10)) if len(digits) <= BITS + 2 else most + 1
        value = -size if sign == "-" else size
        if not least <= value <= most:
            raise DerivationError(f"{functor}({text!r}): this number does not fit 64 bits")
        return value

    return read


def float_of_text(text: str) -> float:
    """The float that a text is."""
    if _DECIMAL.fullmatch(text) is None:
        raise DerivationError(f"to_float({text!r}): this text is not a number")
    value = float(text)
    if math.isinf(value):
        raise DerivationError(f"to_float({text!r}): this number is too large for a float")
    return value + 0.0


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


def cat(*texts: str) -> str:
    """One text of all."""
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


def match(pattern: Any, text: Any) -> bool:
    """Whether an expression matches the whole text."""
    regex = _whole_text_regex(pattern)
    return regex is not None and regex.search(text)


# ---- Aggregates


def sum_of(values: Sequence[Any], kind: Type | None) -> Value:
    """Sums of floats are rounded once, so that they do not depend on an order."""
    return floating(_exact_sum(values)) if kind is Type.FLOAT else wrapped(sum(values), kind)


def mean_of(values: Sequence[Any], kind: Type | None) -> Value:
    """The sum, not yet wrapped, divided by the count."""
    total = _exact_sum(values) if kind is Type.FLOAT else sum(values)
    return floating(total / len(values))


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
