"""What a test run found: the hits of a rule on a history, and how many alerts a threshold gives."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tocsin.arrays.dtypes import Doubles, Flags, Ints, Longs
from tocsin.conditions.language import threshold_text
from tocsin.display import SHOWN, Display, Displayed, Grid
from tocsin.errors import UsageError
from tocsin.history.trial.event_days import NO_DAY
from tocsin.history.trial.printed_scores import printed_scores
from tocsin.history.trial.tried_rule import TriedRule, TriedText
from tocsin.history.trial.why_never import WhyNever
from tocsin.printable import number_of, one_line
from tocsin.rules import check_rewritable, rewritten
from tocsin.storage import AS_USUAL, draft_of
from tocsin.text import PlacedDocument, Stretch, TextQuery, snippet, threshold_warning, with_marks

_QUANTILES = (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1)
_STEPS_A_UNIT = 1000
_CHOICES = pa.schema([("threshold", pa.float64()), ("alerts", pa.int64()), ("alerts a day", pa.float64())])
_BARS = pa.schema([("from", pa.float64()), ("below", pa.float64()), ("events", pa.int64())])
_MOST_PLACES = 50
_SNIPPET = 160


class Ranking(NamedTuple):
    """What satisfies a rule when its `contains` has no threshold, the best first; of a rule without a
    `contains` to try, its hits.

    event      int64[n]     the row number of the event; of joined rows that of the event table's row
    score      float64[n]   NaN where there is no free text
    always     bool[n]      whether it is an alert whatever the threshold: another part of the condition,
                            joined by `or`, holds
    day        int32[n]     days since 1970, NO_DAY where unknown
    rows       int64[n, k]  of joined rows the row number in each of the k tables; k is 0 with one table
    texts      of the first what is to be shown, as far as it was kept: the document, or the event as JSON
    """

    event: Longs
    score: Doubles
    always: Flags
    day: Ints
    rows: Longs
    texts: list[tuple[str, ...]]

    def sorted(self) -> Ranking:
        """The same by score, the largest first, then by row numbers. The texts are in that order already."""
        minus = np.where(np.isnan(self.score), 0.0, -self.score)
        order = np.lexsort((*self.rows.T[::-1], self.event, minus))
        score, always, day = self.score[order], self.always[order], self.day[order]
        return Ranking(self.event[order], score, always, day, self.rows[order], self.texts)


@dataclass(frozen=True, repr=False)
class TestRun(Displayed):
    """A rule tried on a history.

    events      how many events the history has; of several tables the event table's rows
    rejects     how many of its records were no events
    time        the field that tells an event's day; None when there is none
    first_day, last_day   of the history, in days since 1970; None when no time is known
    tables      how many rows each table has, by alias; of a rule over one table none
    olds        how many of the events tell the row before the change, as their object `old`; None when the
                rule does not ask for it
    why         of a rule that never matched why it did not
    """

    __test__ = False  # not a test class, whatever pytest thinks of its name

    tried: TriedRule
    events: int
    rejects: int
    time: str | None
    first_day: int | None
    last_day: int | None
    ranking: Ranking
    tables: dict[str, int] = field(default_factory=dict)
    olds: int | None = None
    why: WhyNever | None = None

    def __repr__(self) -> str:
        hits, events = number_of(self.hits, "hit"), number_of(self.events, "event")
        return f"<tocsin.TestRun: {one_line(self.rule, 80)}, {hits} in {events}>"

    def __str__(self) -> str:
        return self._display().text()

    def _display(self) -> Display:
        rows = self.head(SHOWN).to_pylist()
        best = [(row["event"], row["score"], row["text"]) for row in rows]
        grids = [("best hits", Grid.of(("event", "score", "text"), best, len(self.ranking.event)))]
        if self.tried.text is not None:
            thresholds = [tuple(row.values()) for row in self.thresholds.to_pylist()]
            grids.append(("what a threshold gives", Grid.of(_CHOICES.names, thresholds, len(thresholds), 20)))
        if self.why is not None:
            lines = self.why.lines()
            grids.append(("why it never matched", Grid.of(("",), [(line,) for line in lines], len(lines))))
        return Display(repr(self)[1:-1], grids)

    @property
    def rule(self) -> str:
        """The rule's id."""
        return self.tried.rule

    @property
    def file(self) -> str | None:
        """The file that the rule came from."""
        return self.tried.file

    @property
    def query(self) -> TextQuery | None:
        """The query of the `contains` that is tried."""
        return None if self.tried.text is None else self.tried.text.query

    @property
    def threshold(self) -> float | None:
        """The threshold that the rule has now; None when it has none, or its Boolean reading decides."""
        return None if self.tried.text is None else self.tried.text.threshold

    def _text(self) -> TriedText:
        if self.tried.text is None:
            raise UsageError(self.tried.untried_reason)
        return self.tried.text

    @property
    def days(self) -> int | None:
        """How many days the history spans."""
        if self.first_day is None or self.last_day is None:
            return None
        return self.last_day - self.first_day + 1

    @cached_property
    def table(self) -> pa.Table:
        """What was found: event, score, always, day and, as far as texts were kept, the text with the words
        that counted in brackets. Of joined rows `rows` has the row number in each table, by alias."""
        return self.head(len(self.ranking.event))

    def head(self, count: int) -> pa.Table:
        """The first rows of `table`."""
        found = self.ranking
        score, day = found.score[:count], found.day[:count]
        texts = [with_marks(self.shown(place)) for place in range(min(count, len(found.texts)))]
        columns = {
            "event": pa.array(found.event[:count]),
            "score": pa.array(score, mask=np.isnan(score)),
            "always": pa.array(found.always[:count]),
            "day": pa.array(day, mask=day == NO_DAY).cast(pa.date32()),
            "text": pa.array([*texts, *[None] * (len(day) - len(texts))], pa.string()),
        }
        if self.tables:
            numbers = [pa.array(column[:count]) for column in found.rows.T]
            columns["rows"] = pa.StructArray.from_arrays(numbers, list(self.tables))
        return pa.table(columns)

    def printed_scores(self, count: int) -> list[str]:
        """The first scores as they can be read and used: a threshold of this text takes in what stands there
        and above, and nothing below."""
        return printed_scores(self.ranking.score, count)

    def shown(self, place: int) -> list[Stretch]:
        """The text of the event at a place of the ranking in short, the words that counted marked."""
        texts = self.ranking.texts[place]
        spans: list[list[tuple[int, int]]] = [[] for _ in texts]
        if self.query is not None:
            placed = PlacedDocument(texts)
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

    def pick(self, event: int) -> float:
        """The score of an event: the largest threshold with which it is an alert still.

        UsageError when it does not satisfy the rule, or its score does not matter.
        """
        self._text()
        places = np.flatnonzero(self.ranking.event == event)
        if not len(places):
            raise UsageError(
                f"event {event} does not satisfy the rule {self.rule!r}, whatever the threshold: pick one of"
                " those that are listed"
            )
        if self.ranking.always[places].all():
            raise UsageError(
                f"event {event} satisfies the rule {self.rule!r} without its contains: its score decides"
                " nothing"
            )
        return float(self.ranking.score[places[0]])

    def html(self, path: str | os.PathLike[str], *, threshold: float | None = None) -> None:
        """Write one HTML page that needs nothing else: the ranking as far as texts were kept, and what
        thresholds give, among them one of yours."""
        from tocsin.history.trial.ranking_page import ranking_page

        with draft_of(Path(path), AS_USUAL) as draft:
            draft.write_text(ranking_page(self, threshold), encoding="utf-8")

    def without_hits(self) -> TestRun:
        """The same with nothing found, as of a disabled rule."""
        event, score, always, day, rows, texts = self.ranking
        nothing = Ranking(event[:0], score[:0], always[:0], day[:0], rows[:0], texts[:0])
        return replace(self, ranking=nothing)

    @property
    def hits(self) -> int:
        """How many alerts the rule would have given as it is, or, if it is disabled, enabled."""
        return self.alerts(None)

    def alerts(self, threshold: float | None) -> int:
        """How many alerts the rule would have given with this threshold; None is the one it has."""
        return int(np.count_nonzero(self._alerts(threshold)))

    def _alerts(self, threshold: float | None) -> Flags:
        if threshold is None:
            threshold = self.threshold or 0.0
        elif self.tried.text is None:
            self._text()
        return self.ranking.always | (self.ranking.score >= threshold)

    def per_day(self, threshold: float | None = None) -> pa.Table:
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
        self._text()
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

    def choices(self, threshold: float | None = None) -> list[tuple[dict[str, float | None], str]]:
        """The rows of `thresholds` and one of yours, and of each whether it is what the rule has now."""
        rows = {row["threshold"]: row for row in self.thresholds.to_pylist()}
        if threshold is not None:
            rows[threshold] = self.choice(threshold)
        notes = (("now", self.threshold or 0), ("yours", threshold))
        return [(rows[step], ", ".join(note for note, at in notes if at == step)) for step in sorted(rows)]

    def histogram(self, bars: int = 10) -> pa.Table:
        """How many of the events score how much: from, below, events. The last bar has its end too."""
        scores = self.ranking.score[~np.isnan(self.ranking.score)]
        if not len(scores):
            return _BARS.empty_table()
        edges = np.linspace(scores.min(), scores.max(), bars + 1 if scores.min() < scores.max() else 2)
        place = np.clip(np.searchsorted(edges, scores, side="right"), 1, len(edges) - 1) - 1
        counts = np.bincount(place, minlength=len(edges) - 1)
        return pa.table({"from": edges[:-1], "below": edges[1:], "events": counts})

    def warning(self, threshold: float) -> str | None:
        """What is odd about a threshold of this query, if anything is."""
        return threshold_warning(self._text().query, threshold)

    def write(self, threshold: float) -> Path:
        """Write the threshold into the rule's file, which is changed nowhere else.

        UsageError when there is no such file or it is of another kind; InputError when the rule no longer
        stands where it was read.
        """
        self._text()
        file = Path(check_rewritable(self.file))
        changed = self.tried.with_threshold(threshold_text(threshold))
        data = rewritten(file.read_bytes(), self.tried.rules, self.tried.row, changed)
        with draft_of(file, AS_USUAL) as draft:
            draft.write_bytes(data)
            draft.chmod(file.stat().st_mode)
        return file
