"""Steps in postfix order: operands first, then what takes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


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


def first_steps(operands: Sequence[tuple[int, ...]]) -> list[int]:
    """For each step where what it stands for begins; it ends with the step. Given what each step takes."""
    first: list[int] = []
    for place, taken in enumerate(operands):
        first.append(first[taken[0]] if taken else place)
    return first
