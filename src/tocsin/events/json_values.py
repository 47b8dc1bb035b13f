"""Values of events by way of JSON texts: the same value, whatever it was read from."""

from __future__ import annotations

import json
import math
from decimal import Decimal, InvalidOperation

from tocsin.events.json_lines import integer_of_digits


def _exact(text: str) -> float | Decimal:
    """A number with a fraction: a float, unless that would lose digits, as a decimal of a table can.

    One beyond all floats is the float that it is in conditions: infinite, or 0.
    """
    number = float(text)
    if math.isinf(number):
        return number
    try:
        exact = Decimal(text)
    except InvalidOperation:
        return number
    return number if Decimal(repr(number)) == exact else exact


_DECODER = json.JSONDecoder(parse_int=integer_of_digits, parse_float=_exact)


def parsed(text: str) -> object:
    """The value of a JSON text that an event gave."""
    value: object = _DECODER.decode(text)
    return value
