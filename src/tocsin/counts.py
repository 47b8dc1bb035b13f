"""How many there are of something, in a message."""

from __future__ import annotations


def number_of(count: int, one: str, several: str | None = None) -> str:
    """`1 rule`, `2,000 rules`; a plural that is not made by an s is given as `several`."""
    return f"{count:,} {one if count == 1 else several or f'{one}s'}"
