"""What matching gives back: for one event a sequence, for a table a table, or only counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, overload

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

MATCH_SCHEMA = pa.schema([("event", pa.int64()), ("rule", pa.string()), ("score", pa.float64())])
"""A row for each match. `score` is null for a rule without free text."""


class Match(NamedTuple):
    """A rule that an event satisfies."""

    rule: str
    score: float | None = None


class Matches(Sequence[Match]):
    """The matches of one event in the rules' order. A Match is made only when it is looked at.

    `numbers` are the places of the rules among all rules, ascending.
    """

    __slots__ = ("_ids", "numbers")

    def __init__(self, rules: NDArray[np.int32], ids: pa.LargeStringArray) -> None:
        self.numbers = rules
        self._ids = ids

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, place: int) -> Match: ...
    @overload
    def __getitem__(self, place: slice) -> Matches: ...
    def __getitem__(self, place: int | slice) -> Match | Matches:
        if isinstance(place, slice):
            return Matches(self.numbers[place], self._ids)
        return Match(self._ids[int(self.numbers[place])].as_py())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        shown = [repr(match) for match in self[:5]]
        if len(self) > len(shown):
            shown.append(f"... {len(self)} in all")
        return f"[{', '.join(shown)}]"

    def rules(self) -> pa.StringArray:
        """The ids of the rules, as one Arrow array."""
        return self._ids.take(pa.array(self.numbers)).cast(pa.string())


class Counts(NamedTuple):
    """How often: per_event[e] rules match event e, per_rule[r] events match the r-th rule."""

    per_event: pa.Int64Array
    per_rule: pa.Int64Array


def match_batch(
    events: NDArray[np.int64], rules: NDArray[np.int32], ids: pa.LargeStringArray
) -> pa.RecordBatch:
    """Matches as Arrow: no Python object is made for any of them."""
    names = ids.take(pa.array(rules)).cast(pa.string())
    scores = pa.nulls(len(rules), pa.float64())
    return pa.RecordBatch.from_arrays([pa.array(events), names, scores], schema=MATCH_SCHEMA)
