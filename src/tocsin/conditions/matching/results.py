"""What matching gives back: for one event a sequence, for a table a table, or only counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.arrays.dtypes import Doubles, Ints, Longs
from tocsin.conditions.kernels.id_column import repeat_rows
from tocsin.conditions.matching.matcher import BatchMatches
from tocsin.conditions.matching.portions import BYTES_OF_ROW
from tocsin.conditions.matching.rule_dictionary import RULE_TYPE
from tocsin.conditions.matching.rule_names import RuleNames
from tocsin.display import SHOWN, Display, Displayed, Grid
from tocsin.printable import number_of

MATCH_SCHEMA = pa.schema([("event", pa.int64()), ("rule", pa.string()), ("score", pa.float64())])
"""A row for each match, as files and Spark have it. `score` is null for a rule without free text."""

TABLE_SCHEMA = MATCH_SCHEMA.set(1, pa.field("rule", RULE_TYPE))
"""The same as Index.match_table gives it: ids as a dictionary."""


Scores = Doubles | None
"""Of some matches: NaN for a rule without free text, None when no rule has any."""


class Match(NamedTuple):
    """A rule that an event satisfies."""

    rule: str
    score: float | None = None


class Matches(Sequence[Match], Displayed):
    """The matches of one event in the rules' order. A Match is made only when it is looked at.

    `numbers` are the places of the rules among all rules, ascending. `scores` has NaN for rules without
    free text, and is None when no rule has any.
    """

    __slots__ = ("_names", "numbers", "scores")

    def __init__(self, rules: Ints, names: RuleNames | _OwnNames, scores: Doubles | None = None) -> None:
        self.numbers = rules
        self.scores = scores
        self._names = names

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, place: int) -> Match: ...
    @overload
    def __getitem__(self, place: slice) -> Matches: ...
    def __getitem__(self, place: int | slice) -> Match | Matches:
        if isinstance(place, slice):
            scores = None if self.scores is None else self.scores[place]
            return Matches(self.numbers[place], self._names, scores)
        score = None if self.scores is None or np.isnan(self.scores[place]) else float(self.scores[place])
        return Match(self._names.name(int(self.numbers[place])), score)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        shown = [repr(match) for match in self[:5]]
        if len(self) > len(shown):
            shown.append(f"... {len(self)} in all")
        return f"[{', '.join(shown)}]"

    def _display(self) -> Display:
        grid = Grid.of(("rule", "score"), self[:SHOWN], len(self))
        if self.scores is None:
            grid = Grid.of(("rule",), [row[:1] for row in grid.rows], len(self))
        return Display(number_of(len(self), "match", "matches"), [("", grid)])

    def __reduce__(self) -> tuple[Any, ...]:
        names = _OwnNames(self.numbers, self.rules())
        return Matches, (self.numbers, names, self.scores)

    def rules(self) -> pa.StringArray:
        """The ids of the rules, as one Arrow array."""
        return self._names.column(self.numbers)


class _OwnNames(NamedTuple):
    """The ids of some matches alone: a pickle of them needs no others."""

    numbers: Ints
    ids: pa.StringArray

    def name(self, number: int) -> str:
        """One id."""
        found: str = self.ids[int(np.flatnonzero(self.numbers == number)[0])].as_py()
        return found

    def column(self, numbers: Ints) -> pa.StringArray:
        """The ids of these numbers."""
        order = np.argsort(self.numbers)
        return self.ids.take(pa.array(order[np.searchsorted(self.numbers, numbers, sorter=order)]))


class Counts(NamedTuple):
    """How often: per_event[e] rules match event e, per_rule[r] events match the r-th rule."""

    per_event: pa.Int64Array
    per_rule: pa.Int64Array

    def __repr__(self) -> str:
        matches = number_of(pc.sum(self.per_event).as_py() or 0, "match", "matches")
        events, rules = number_of(len(self.per_event), "event"), number_of(len(self.per_rule), "rule")
        return f"<tocsin.Counts: {matches} of {events} and {rules}>"

    def _repr_html_(self) -> str:
        rows = [
            (name, len(counts), pc.sum(pc.equal(counts, 0)).as_py(), pc.max(counts).as_py())
            for name, counts in zip(("events", "rules"), self, strict=True)
        ]
        grid = Grid(("", "in all", "without a match", "most matches"), rows)
        return Display(repr(self)[1:-1], [("", grid)]).html()


class MatchedRows(NamedTuple):
    """Matches in memory of their own: event[i] satisfies rule number rule[i]."""

    event: Longs
    rule: Ints
    score: Scores

    @staticmethod
    def of(first: int, found: BatchMatches) -> MatchedRows:
        """The matches of events `first`, `first + 1`, ...; `found` is not written to any more."""
        event = np.empty(len(found.rule), np.int64)
        repeat_rows(first, found.per_event, event)
        return MatchedRows(event, found.rule, found.score)

    def pieces(self, limit: int) -> Iterator[MatchedRows]:
        """The same in pieces of at most `limit` bytes."""
        rows = max(1, limit // BYTES_OF_ROW)
        for first in range(0, len(self.event), rows):
            some = slice(first, first + rows)
            yield MatchedRows(
                self.event[some], self.rule[some], None if self.score is None else self.score[some]
            )

    def batches(self, names: Iterable[pa.DictionaryArray]) -> Iterator[pa.RecordBatch]:
        """As Arrow, a batch for each column of names, which are those of `rule` in their order."""
        first = 0
        for column in names:
            last = first + len(column)
            scores = score_column(None if self.score is None else self.score[first:last], len(column))
            events = pa.array(self.event[first:last])
            yield pa.RecordBatch.from_arrays([events, column, scores], schema=TABLE_SCHEMA)
            first = last


class _Nulls:
    """Scores of matches without free text: nulls, of which all results share one piece of memory.

    Nobody writes to it, and what stands for a null is hardly read: the system need not give it any pages.
    """

    def __init__(self) -> None:
        self._nulls = self._made(0)

    def of(self, count: int) -> pa.DoubleArray:
        """So many nulls."""
        nulls = self._nulls
        if len(nulls) < count:
            nulls = self._nulls = self._made(1 << (count - 1).bit_length())
        return nulls.slice(0, count)

    @staticmethod
    def _made(count: int) -> pa.DoubleArray:
        valid, values = np.zeros(-(-count // 8), np.uint8), np.zeros(count)
        buffers = [pa.py_buffer(valid), pa.py_buffer(values)]
        return pa.Array.from_buffers(pa.float64(), count, buffers, null_count=count)


_nulls = _Nulls()


def match_batch(events: Longs, rules: Ints, names: RuleNames, scores: Scores = None) -> pa.RecordBatch:
    """Matches as Arrow, with ids as strings: no Python object is made for any of them."""
    arrays = [pa.array(events), names.column(rules), score_column(scores, len(events))]
    return pa.RecordBatch.from_arrays(arrays, schema=MATCH_SCHEMA)


def score_column(scores: Scores, count: int) -> pa.DoubleArray:
    """Scores as Arrow has them, null for a rule without free text."""
    return _nulls.of(count) if scores is None else pa.array(scores, from_pandas=True)
