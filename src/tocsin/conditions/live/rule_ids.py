"""The ids of an index as a sequence of strings, each made only when it is looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import pyarrow as pa

from tocsin.conditions.live.snapshot import Snapshot

_AT_ONCE = 10_000
_SHOWN = 5


class RuleIds(Sequence[str]):
    """The ids of the rules as they were when it was asked for, in the rules' order."""

    __slots__ = ("_numbers", "_version")

    def __init__(self, version: Snapshot) -> None:
        self._version = version
        self._numbers = version.numbers()

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, rule: object) -> bool:
        return isinstance(rule, str) and self._version.find(rule) is not None

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self), _AT_ONCE):
            yield from self._version.ids_of(self._numbers[first : first + _AT_ONCE]).to_pylist()

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[at] for at in range(*place.indices(len(self)))]
        return self._version.names.name(int(self._numbers[place]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        shown = [repr(rule) for rule in self[:_SHOWN]]
        if len(self) > len(shown):
            shown.append(f"... {len(self):,} in all")
        return f"[{', '.join(shown)}]"

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)

    def __arrow_array__(self, type: pa.DataType | None = None) -> pa.Array:  # noqa: A002 - Arrow's name for it
        column = self._version.ids_of(self._numbers)
        return column if type is None else column.cast(type)

    def to_pylist(self) -> list[str]:
        """The ids as a list, as an Arrow array gives it."""
        return list(self)
