"""Memory that matching writes to: made once, lent to one thread at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

T = TypeVar("T")


class Scratch(Generic[T]):
    """As many copies as threads ever needed at the same time."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._idle: list[T] = []

    @contextmanager
    def lent(self) -> Iterator[T]:
        """One copy, for the caller alone; it is to be left as it was found."""
        try:
            one = self._idle.pop()
        except IndexError:
            one = self._make()
        yield one
        self._idle.append(one)
