"""A trigger that no index can take tried on rows: of several tables every combination that satisfies it.

It is the query of the TriggerMan paper, `select ... from video v, viewed_by b where ... order by score desc`:
each combination counts once, whichever of its rows came last and whatever change would fire the trigger.

    entered     the rows of each table that its selection lets through, found a batch at a time
    joined      with each of the event table's rows those that go with it, through the activation index
    filtered    what is asked of joined rows, by its meaning

Without `after` the event table is the first one. A trigger over one table that compares a field with one of
the row before is one without a join: a row that is filtered out is not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tocsin.conditions.language import field_named, print_field
from tocsin.conditions.live import Preparation
from tocsin.conditions.meaning import Event, Truth, document_at, text_score
from tocsin.errors import EventError
from tocsin.events import EventSource, json_text, time_field
from tocsin.history.overview.overview import index_of
from tocsin.history.trial.event_days import EventDays
from tocsin.history.trial.event_run import count_olds
from tocsin.history.trial.test_run import Ranking, TestRun
from tocsin.history.trial.tried_rule import READ, WITHOUT, TriedRule
from tocsin.rules import OLD, JoinedCondition, joined_truth
from tocsin.watches import Joins, Place, Row, Watched, alert_text, entry_of, kept_row, watched

Numbers = tuple[int, ...]
"""A combination of rows: the row number in each table."""


@dataclass(slots=True)
class Entered:
    """The rows of a table that enter a position of the trigger.

    entered  how many rows the selection let through
    olds     how many of all rows tell the row before the change
    rows     by number, those that are kept
    found    by number: which of READ and WITHOUT let it through, and the score of free text in the selection
    """

    events: int = 0
    rejects: int = 0
    entered: int = 0
    olds: int = 0
    rows: dict[int, Row] = field(default_factory=dict)
    found: dict[int, list[tuple[int, float | None]]] = field(default_factory=dict)


class JoinedRun:
    """The tables of a trigger read; `sources` has one for each alias, in order."""

    def __init__(
        self,
        tried: TriedRule,
        sources: Sequence[EventSource],
        preparation: Preparation,
        advance: Callable[[int], None] | None = None,
    ) -> None:
        rules = tried.matched_rules()
        triggers = [watched(rules, row) for row in range(len(rules))]
        self.event = triggers[READ].event or 0
        self.positions = triggers[READ].positions
        self.aliases = [each.key for each in self.positions]
        self.tried = tried
        self._sources = sources
        self._texts = preparation.base.settings()
        self._triggers = [replace(trigger, event=self.event) for trigger in triggers]
        self.tables: list[Entered] = []
        for at, source in enumerate(sources):
            done = sum(table.events for table in self.tables)
            self.tables.append(self._entered(at, source, preparation, done, advance))

    @property
    def filters(self) -> tuple[JoinedCondition, ...]:
        """What is asked of joined rows."""
        return self._triggers[READ].filters

    def combinations(self) -> tuple[dict[Numbers, float | None], set[Numbers]]:
        """Every combination that satisfies READ with its score, and those that satisfy WITHOUT."""
        joins = Joins()
        for trigger in self._triggers:
            joins.prepare(trigger)
        for at, table in enumerate(self.tables):
            if at != self.event:
                for trigger, number, entry in self._entries(at, table):
                    joins.enter(trigger, entry, number)
        found: tuple[dict[Numbers, float | None], ...] = ({}, {})
        for trigger, number, entry in self._entries(self.event, self.tables[self.event]):
            partners = joins.combinations(trigger, entry, number) if len(self.tables) > 1 else [(number,)]
            for numbers in partners:
                if self._passes(trigger, self.joined(numbers)):
                    found[entry.place.trigger][numbers] = self._score(trigger, number, entry.score)
        return found[READ], set(found[WITHOUT])

    def _entries(self, at: int, table: Entered) -> Iterator[tuple[Watched, int, Any]]:
        """What each row of a table carries into its position, for READ and WITHOUT."""
        for number in list(table.found):
            for rule, score in table.found[number]:
                trigger = self._triggers[rule]
                try:
                    entry = entry_of(trigger, Place(rule, at), table.rows[number], score)
                except EventError:
                    table.rejects += 1
                    break
                yield trigger, number, entry

    def _passes(self, trigger: Watched, rows: Mapping[str, Row]) -> bool:
        return all(joined_truth(each, rows, self._texts) is Truth.TRUE for each in trigger.filters)

    def _is_kept(self, row: Row) -> bool:
        """Whether a row that entered can be part of a hit, as far as it tells alone."""
        if len(self.positions) > 1:
            return True
        return any(self._passes(trigger, {self.aliases[0]: row}) for trigger in self._triggers)

    def joined(self, numbers: Numbers) -> dict[str, Row]:
        """The rows of a combination, by alias."""
        rows = (table.rows[number] for table, number in zip(self.tables, numbers, strict=True))
        return dict(zip(self.aliases, rows, strict=True))

    def _score(self, trigger: Watched, number: int, score: float | None) -> float | None:
        if trigger.texts:
            return text_score(trigger.texts, self.tables[self.event].rows[number], self._texts)
        return score

    def result(self, time: str | None, top: int | None) -> TestRun:
        """The run as a whole."""
        scores, always = self.combinations()
        source = self._sources[self.event]
        found_time = time_field(source) if time is None else field_named(time)
        rows = np.array(list(scores), np.int64).reshape(-1, len(self.tables))
        days = EventDays(found_time)
        event = rows[:, self.event]
        ranking = Ranking(
            event,
            np.array([np.nan if score is None else score for score in scores.values()], np.float64),
            np.array([self.tried.text is None or numbers in always for numbers in scores], np.bool_),
            days.of_rows(source, event),
            rows,
            [],
        ).sorted()
        shown = [tuple(numbers) for numbers in ranking.rows[:top].tolist()]
        if len(self.tables) < 2:
            ranking = ranking._replace(rows=rows[:, :0])
        return TestRun(
            tried=self.tried,
            events=self.tables[self.event].events,
            rejects=sum(table.rejects for table in self.tables),
            time=None if found_time is None else print_field(found_time),
            first_day=days.first,
            last_day=days.last,
            ranking=ranking._replace(texts=[self._shown(numbers) for numbers in shown]),
            tables={alias: table.events for alias, table in zip(self.aliases, self.tables, strict=True)}
            if len(self.tables) > 1
            else {},
            olds=self.tables[self.event].olds if self.tried.asks_old else None,
        )

    def _shown(self, numbers: Numbers) -> tuple[str, ...]:
        if self.tried.text is None:
            rows = self.joined(numbers)
            if len(rows) < 2:
                return (json_text(rows[self.aliases[0]]),)
            by_alias: dict[str | None, Event] = dict(rows.items())
            return (alert_text(self._triggers[READ].alert, by_alias, None) or json_text(rows),)
        return tuple(
            document_at(self.tables[self.event].rows[numbers[self.event]], self.tried.text.field) or ()
        )

    def _entered(
        self,
        at: int,
        source: EventSource,
        preparation: Preparation,
        done: int,
        advance: Callable[[int], None] | None,
    ) -> Entered:
        """Find the rows that enter a position, and read those."""
        table = Entered()
        selections = [(rule, trigger.positions[at].selection) for rule, trigger in enumerate(self._triggers)]
        asked = [(str(rule), when) for rule, when in selections if when is not None]
        everywhere = [(rule, None) for rule, when in selections if when is None]
        rules = index_of(asked, preparation).version
        of_number = [int(name) for name, _ in asked]
        olds = [(OLD,)] if at == self.event and self.tried.asks_old else []
        for portion in source.portions([*rules.fields, *olds]):
            table.events += len(portion.rows)
            table.rejects += portion.rejects
            table.olds += count_olds(portion.events)
            found = rules.match_cells(portion.events)
            score = np.full(len(found.rule), np.nan) if found.score is None else found.score
            if everywhere:
                table.found.update((number, list(everywhere)) for number in portion.rows.tolist())
            matched = np.repeat(portion.rows, found.per_event).tolist()
            for number, rule, each in zip(matched, found.rule.tolist(), score.tolist(), strict=True):
                entry = of_number[rule], None if np.isnan(each) else each
                table.found.setdefault(number, []).append(entry)
            if advance is not None:
                advance(done + table.events)
        for number, row in source.rows() if table.found else ():
            if number in table.found:
                try:
                    kept = kept_row(row)
                except EventError:
                    continue
                table.entered += 1
                if self._is_kept(kept):
                    table.rows[number] = kept
        table.rejects += len(table.found) - table.entered
        table.found = {number: table.found[number] for number in table.rows}
        return table
