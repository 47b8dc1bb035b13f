"""What the values of a column of CSV have in common, as bits; what a column is follows from all of them."""

from __future__ import annotations

SEEN = 1
"""There is a value."""
NO_BOOLEAN = 2
NO_INTEGER = 4
NO_NUMBER = 8
LONG = 16
"""An integer does not fit in 64 bits."""
DIGITS = 32
"""A number is written with digits."""
NO_CHANCE = SEEN | NO_BOOLEAN | NO_INTEGER | NO_NUMBER
"""The column is one of strings, whatever comes."""
