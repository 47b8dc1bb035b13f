"""Steps in postfix order: operands first, then what takes them."""

from __future__ import annotations

from collections.abc import Iterable


def operands_of(arities: Iterable[int]) -> list[tuple[int, ...]]:
    """For each step the places of the steps that it takes, given how many each takes."""
    taken: list[tuple[int, ...]] = []
    waiting: list[int] = []
    for place, arity in enumerate(arities):
        operands: tuple[int, ...] = ()
        if arity:
            operands = tuple(waiting[-arity:])
            del waiting[-arity:]
        taken.append(operands)
        waiting.append(place)
    return taken
