"""The kinds of value that a predicate can ask about."""

from __future__ import annotations

from enum import IntEnum


class Kind(IntEnum):
    """A value is of exactly one of the first four kinds; objects and lists are of none.

    ADDRESS is never a value's own kind: it is what a string is to `cidr` when it reads as an IP
    address, as a string is also a TIMESTAMP to a timestamp literal when it reads as RFC 3339.
    """

    NUMBER = 0
    STRING = 1
    BOOLEAN = 2
    TIMESTAMP = 3
    ADDRESS = 4
