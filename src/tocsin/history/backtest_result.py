"""What a test run found: the events of a history ranked by score, and how many alerts a threshold gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from tocsin.arrays.dtypes import Doubles, Flags, Ints, Longs
from tocsin.conditions.language.threshold_edit import threshold_text, with_threshold
from tocsin.errors import UsageError
from tocsin.rules.rule_edit import check_rewritable, rewritten
from tocsin.rules.rule_set import Rules
from tocsin.storage.drafts import AS_USUAL, draft_of
from tocsin.text import PlacedDocument, Stretch, TextQuery, snippet, threshold_warning, with_marks

NO_DAY = np.iinfo(np.int32).min
"""The day of an event whose time is not known."""

_QUANTILES = (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1)
_STEPS_A_UNIT = 1000
_CHOICES = pa.schema([("threshold", pa.float64()), ("alerts", pa.int64()), ("alerts a day", pa.float64())])
_BARS = pa.schema([("from", pa.float64()), ("below", pa.float64()), ("events", pa.int64())])
_MOST_PLACES = 50
_SNIPPET = 160


@dataclass(frozen=True, slots=True)
class Place:
    """The `contains` under test: its rule among the rules of a file, and where in the condition it stands."""

    rules: Rules
    row: int
    offset: int

    @property
    def rule(self) -> str:
        """The rule's id."""
        return str(self.rules.ids[self.row].as_py())

    def condition(self, threshold: str) -> str:
        """The rule's condition with this threshold."""
        return with_threshold(self.rules.whens[self.row].as_py(), self.offset, threshold)


@dataclass(frozen=True, slots=True)
class Ranking:
    """The events that satisfy a rule when its `contains` has no threshold, the best first.

    event      int64[n]
    score      float64[n]
    always     bool[n]      whether the event satisfies the rule whatever the threshold: another part of
                            the condition, joined by `or`, holds
    day        int32[n]     days since 1970, NO_DAY where unknown
    texts      for the first events their document, as far as it was kept
    """

    event: Longs
    score: Doubles
    always: Flags
    day: Ints
    texts: list[tuple[str, ...]] = field(repr=False)


@dataclass(frozen=True)
class TestRun:
    """A rule's `contains` tried on a history.

    rule        the rule's id
    query       the query of its `contains`
    threshold   the threshold that it has now; None when its Boolean reading decides
    events      how many events the history has
    rejects     how many of its records were no events
    time        the field that tells an event's day; None when there is none
    first_day, last_day   of the history, in days since 1970; None when no time is known
    """

    __test__ = False  # not a test class, whatever pytest thinks of its name

    place: Place = field(repr=False)
    query: TextQuery = field(repr=False)
    threshold: float | None
    events: int
    rejects: int
    time: str | None
    first_day: int | None
    last_day: int | None
    ranking: Ranking = field(repr=False)

    @property
    def rule(self) -> str:
        """The rule's id."""
        return self.place.rule

    @property
    def file(self) -> str | None:
        """The file that the rule came from."""
        return self.place.rules.file(self.place.row)

    @property
    def days(self) -> int | None:
        """How many days the history spans."""
        if self.first_day is None or self.last_day is None:
            return None
        return self.last_day - self.first_day + 1

    @cached_property
    def table(self) -> pa.Table:
        """The ranked events: event, score, always, day and, as far as texts were kept, the text with the
        words that counted in brackets."""
        return self.head(len(self.ranking.event))

    def head(self, count: int) -> pa.Table:
        """The first rows of `table`."""
        found = self.ranking
        day = found.day[:count]
        texts = [with_marks(self.shown(place)) for place in range(min(count, len(found.texts)))]
        return pa.table(
            {
                "event": pa.array(found.event[:count]),
                "score": pa.array(found.score[:count]),
                "always": pa.array(found.always[:count]),
                "day": pa.array(day, mask=day == NO_DAY).cast(pa.date32()),
                "text": pa.array([*texts, *[None] * (len(day) - len(texts))], pa.string()),
            }
        )

    def shown(self, place: int) -> list[Stretch]:
        """The text of the event at a place of the ranking in short, the words that counted marked."""
        texts = self.ranking.texts[place]
        placed = PlacedDocument(texts)
        spans: list[list[tuple[int, int]]] = [[] for _ in texts]
        for leaf in self.query.leaves():
            if not leaf.negated:
                for occurrence in placed.occurrences(leaf, _MOST_PLACES):
                    spans[occurrence.element] += occurrence.shown(leaf)
        marked = [element for element, found in enumerate(spans) if found]
        shown: list[Stretch] = []
        for element in marked or range(min(1, len(texts))):
            if shown:
                shown.append(Stretch(" / ", False))
            width = _SNIPPET // max(1, len(marked))
            shown += snippet(texts[element], spans[element], max(width, _SNIPPET // 4))
        return shown

    def alerts(self, threshold: float) -> int:
        """How many alerts the rule would have given with this threshold."""
        return int(np.count_nonzero(self._alerts(threshold)))

    def _alerts(self, threshold: float) -> Flags:
        return self.ranking.always | (self.ranking.score >= threshold)

    def per_day(self, threshold: float) -> pa.Table:
        """The alerts of each day of the history, days without any included: day, alerts.

        UsageError when the history has no field that tells the time.
        """
        if self.first_day is None or self.days is None:
            raise UsageError("no field of the events tells the time: name one, or count alerts instead")
        day = self.ranking.day[self._alerts(threshold)]
        counts = np.bincount(day[day != NO_DAY] - self.first_day, minlength=self.days)
        days = np.arange(self.first_day, self.first_day + self.days, dtype=np.int32)
        return pa.table({"day": pa.array(days).cast(pa.date32()), "alerts": pa.array(counts)})

    @cached_property
    def thresholds(self) -> pa.Table:
        """Thresholds to choose from, with what each would have given: threshold, alerts, alerts a day."""
        scores = self.ranking.score[~self.ranking.always]
        steps = [0.0]
        if len(scores):
            reached = np.quantile(scores, _QUANTILES, method="lower")
            steps += (np.floor(reached * _STEPS_A_UNIT) / _STEPS_A_UNIT).tolist()
        if self.threshold is not None:
            steps.append(self.threshold)
        chosen = [self.choice(step) for step in sorted(set(steps))]
        return pa.Table.from_pylist(chosen, _CHOICES)

    def choice(self, threshold: float) -> dict[str, float | None]:
        """What one threshold would have given: a row of `thresholds`."""
        alerts = self.alerts(threshold)
        a_day = None if self.days is None else alerts / self.days
        return {"threshold": threshold, "alerts": alerts, "alerts a day": a_day}

    def histogram(self, bars: int = 10) -> pa.Table:
        """How many of the events score how much: from, below, events. The last bar has its end too."""
        scores = self.ranking.score
        if not len(scores):
            return _BARS.empty_table()
        edges = np.linspace(scores.min(), scores.max(), bars + 1 if scores.min() < scores.max() else 2)
        place = np.clip(np.searchsorted(edges, scores, side="right"), 1, len(edges) - 1) - 1
        counts = np.bincount(place, minlength=len(edges) - 1)
        return pa.table({"from": edges[:-1], "below": edges[1:], "events": counts})

    def warning(self, threshold: float) -> str | None:
        """What is odd about a threshold of this query, if anything is."""
        return threshold_warning(self.query, threshold)

    def write(self, threshold: float) -> Path:
        """Write the threshold into the rule's file, which is changed nowhere else.

        UsageError when there is no such file or it is of another kind; InputError when the rule no longer
        stands where it was read.
        """
        rules, row = self.place.rules, self.place.row
        file = Path(check_rewritable(self.file))
        changed = self.place.condition(threshold_text(threshold))
        data = rewritten(file.read_bytes(), rules, row, changed)
        with draft_of(file, AS_USUAL) as draft:
            draft.write_bytes(data)
            draft.chmod(file.stat().st_mode)
        return file
