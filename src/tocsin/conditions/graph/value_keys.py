"""Values as keys that compare as the values do: pairs of int64 for scalars, bytes for strings.

Literals and event values go through the same few lines here, so that equal values have equal keys.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

import numpy as np

from tocsin.arrays.dtypes import Doubles, Longs
from tocsin.conditions.language.addresses import parse_address
from tocsin.conditions.language.tree import Literal
from tocsin.events import Kind, split_integer
from tocsin.syntax import parse_timestamp

Reader = Callable[[str], "tuple[int, int] | None"]
"""Reads a string as another kind: its key, or None when it is none."""

_MAGNITUDE = 0x7FFF_FFFF_FFFF_FFFF
_HALF = 2**63
_NANOS = 10**9


def double_key(value: float) -> int:
    """The bits of a double (not NaN, not -0.0) as an int64 that is ordered as the doubles are."""
    (bits,) = struct.unpack("<q", struct.pack("<d", value))
    return int(bits ^ _MAGNITUDE if bits < 0 else bits)


def value_of_double_key(key: int) -> float:
    """The double whose key this is."""
    (value,) = struct.unpack("<d", struct.pack("<q", key ^ _MAGNITUDE if key < 0 else key))
    return float(value)


def double_keys(values: Doubles) -> Longs:
    """The same for an array."""
    bits = values.view(np.int64)
    return bits ^ ((bits >> 63) & np.int64(_MAGNITUDE))


def instant_key(nanos: int) -> tuple[int, int]:
    """Nanoseconds since 1970 as seconds, rounded down, and the rest."""
    return divmod(nanos, _NANOS)


def address_key(address: int) -> tuple[int, int]:
    """A place on the 128-bit line of addresses as two signed halves."""
    return (address >> 64) - _HALF, (address & (2**64 - 1)) - _HALF


def instant_of_text(text: str) -> tuple[int, int] | None:
    """The key of a text that reads as a timestamp."""
    nanos = parse_timestamp(text)
    return None if nanos is None else instant_key(nanos)


def address_of_text(text: str) -> tuple[int, int] | None:
    """The key of a text that reads as an address."""
    address = parse_address(text)
    return None if address is None else address_key(address)


def scalar_key(literal: Literal) -> tuple[int, int]:
    """The key of a rule's constant that is no string."""
    value = literal.value
    if literal.kind is Kind.NUMBER:
        if isinstance(value, str):
            return double_key(float(value) + 0.0), 0
        high, low = split_integer(value)
        return double_key(high), low
    if literal.kind is Kind.TIMESTAMP:
        return instant_key(int(value))
    return int(value), 0
