"""Numbers as rules write them: from a token's text to its value.

A number with a point or an exponent is kept as decimal text in one form per value, so that 0.10,
0.1 and 1e-1 are one literal: no zeros that say nothing, at least one digit on each side of a point,
positional from 1e-7 up to 1e21 and otherwise scientific:

    0.1    -2.5    5.0    0.0    1200.0    1e30    -2.5e-9

The text always has a point or an exponent, so it never reads back as an integer. Minus zero is zero.
"""

from __future__ import annotations

from math import isinf

_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1
_INT64_DIGITS = 19
_POSITIONAL_FROM, _POSITIONAL_BELOW = -7, 21
_SMALLEST_POWER = -9999
_LARGEST_EXPONENT = 10**9


def read_number(text: str) -> int | str:
    """The value of a number token: an int, or decimal text in its one form.

    Raises ValueError with the reason when an integer does not fit 64 bits, when the nearest double
    is infinite, or when the number is nearer to zero than 1e-9999.
    """
    unsigned = text.lstrip("+-")
    negative = text.startswith("-")
    if unsigned.isdigit():
        return _read_integer(unsigned, negative)
    mantissa, _, exponent = unsigned.lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    written = whole + fraction
    digits = written.lstrip("0")
    if not digits:
        return "0.0"
    power = _read_exponent(exponent) + len(whole) - (len(written) - len(digits)) - 1
    if power < _SMALLEST_POWER:
        raise ValueError("this number is too near to zero: the smallest is 1e-9999")
    canonical = ("-" if negative else "") + _decimal_text(digits.rstrip("0"), power)
    if isinf(float(canonical)):
        raise ValueError("this number is too large for a 64-bit float")
    return canonical


def _read_integer(unsigned: str, negative: bool) -> int:
    digits = unsigned if len(unsigned) <= _INT64_DIGITS else unsigned.lstrip("0") or "0"
    if len(digits) <= _INT64_DIGITS:
        value = -int(digits) if negative else int(digits)
        if _INT64_MIN <= value <= _INT64_MAX:
            return value
    raise ValueError("this integer does not fit 64 bits")


def _read_exponent(text: str) -> int:
    """The exponent, cut at a billion: beyond it every number is refused anyway."""
    digits = text.lstrip("+-").lstrip("0") or "0"
    size = min(int(digits[:10]), _LARGEST_EXPONENT)
    return -size if text.startswith("-") else size


def _decimal_text(digits: str, power: int) -> str:
    """The text of d.ddd × 10**power, where the digits have no zero at either end."""
    if not _POSITIONAL_FROM <= power < _POSITIONAL_BELOW:
        fraction = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{digits[0]}{fraction}e{power}"
    if power < 0:
        return f"0.{'0' * (-power - 1)}{digits}"
    whole = digits[: power + 1].ljust(power + 1, "0")
    return f"{whole}.{digits[power + 1 :] or '0'}"
