"""A few rules asked about a few events by the evaluator, where loading compiled loops would take far longer.

The command line goes this way for small files: the answer is the index's, after a fraction of a second and
on a machine where nothing is compiled yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from tocsin.arrays.dtypes import Ints, Longs
from tocsin.conditions.language import TEXT_TESTS, Path
from tocsin.conditions.matching import BatchMatches
from tocsin.conditions.meaning import matches, score
from tocsin.errors import InputError, RuleError
from tocsin.events import Slice, read_rows
from tocsin.rules import Rules
from tocsin.text import DEFAULT, TextSettings

MOST_ASKED = 20_000
"""Rules times events, at most: some tenths of a second."""
MOST_BYTES = 1 << 20

Events = Mapping[int, Mapping[str, object]]
"""Events by their row number."""


class FewRules:
    """Rules and the events that they will be asked about; both have been read.

    `errors` are those of rules that no index takes, which are left out here too.
    """

    def __init__(self, rules: Rules, events: Events, texts: TextSettings = DEFAULT) -> None:
        self._events = events
        self._texts = texts
        conditions, found = rules.parsed()
        self.errors: Sequence[RuleError] = rules.index_errors(found)
        bad = {error.rule for error in self.errors}
        ids = rules.ids.to_pylist()
        good = [row for row, rule in enumerate(ids) if rule not in bad]
        self.names = pa.array([ids[row] for row in good], pa.string())
        self.count = len(good)
        disabled = set(rules.disabled.tolist())
        self._asked = [(place, conditions[row]) for place, row in enumerate(good) if row not in disabled]
        every = [predicate for row in good for predicate in conditions[row].predicates()]
        self.fields: list[Path] = sorted({predicate.field for predicate in every})
        self._is_scored = any(predicate.test in TEXT_TESTS for predicate in every)

    def match_rows(self, rows: Longs) -> BatchMatches:
        """The matches of the events with these row numbers."""
        rule: list[int] = []
        scores: list[float | None] = []
        per_event = np.zeros(len(rows), np.int64)
        for place, row in enumerate(rows.tolist()):
            event = self._events[row]
            for number, condition in self._asked:
                if matches(condition, event, self._texts):
                    rule.append(number)
                    scores.append(score(condition, event, self._texts) if self._is_scored else None)
                    per_event[place] += 1
        found: Ints = np.array(rule, np.int32)
        return BatchMatches(found, per_event, np.array(scores, np.float64) if self._is_scored else None)


def few_events(slices: Iterable[Slice], rules: int) -> Events | None:
    """The events of some slices, if they are few beside so many rules and can be read to their end.

    None of Parquet: a row that Python cannot hold as a whole may have all that the rules ask for.
    """
    events: dict[int, Mapping[str, object]] = {}
    try:
        for piece in slices:
            if piece.format == "parquet":
                return None
            for chunk in read_rows(piece):
                events.update(zip(chunk.numbers, chunk.rows, strict=True))
                if len(events) * max(1, rules) > MOST_ASKED:
                    return None
    except InputError:
        return None
    return events
