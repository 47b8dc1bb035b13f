"""Two sets of rules over one history: which hits are new, which are lost, and how the rate changes.

Rules are the same when their ids are. Each batch is matched by both sets, a hit is a number of event and
rule, and what only one side has is a difference of sorted numbers; so nothing is held but counts and a few
samples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from tocsin.arrays.dtypes import Flags, Longs
from tocsin.conditions.live import Index, Snapshot
from tocsin.display import SHOWN, Display, Displayed, Grid
from tocsin.errors import UsageError
from tocsin.events import EventBatch, EventSource
from tocsin.history.trial.test_run import TestRun
from tocsin.printable import number_of

BATCH = 4_096
"""Events that are matched by both sets at a time."""

NEW, LOST = "new", "lost"
Hit = tuple[tuple[str, int], ...]
"""The number of an event; of joined rows that of each with its table, whatever their order in `from`."""

_RULES = pa.schema(
    [
        ("rule", pa.string()),
        ("other_hits", pa.int64()),
        ("hits", pa.int64()),
        ("new", pa.int64()),
        ("lost", pa.int64()),
        ("other_rate", pa.float64()),
        ("rate", pa.float64()),
        ("difference", pa.float64()),
    ]
)
_SAMPLES = pa.schema([("rule", pa.string()), ("change", pa.string()), ("event", pa.int64())])


@dataclass(frozen=True, repr=False)
class Comparison(Displayed):
    """What rules give and other rules do not, and the other way round.

    events, other_events   how many events there are for the rules and for the others: the same, but for one
              rule with another event table in each, of which it is the table's rows
    rejects   how many records were no events
    rules     a row for each rule of either: rule, other_hits, hits (null where there is no such rule), new,
              lost, other_rate, rate, difference. A rate is hits over the events of that side
    samples   the first new and lost hits of each rule: rule, change (new or lost), event; a lost one has the
              number that the other rule's event table gives it
    """

    events: int
    other_events: int
    rejects: int
    rules: pa.Table
    samples: pa.Table

    def __repr__(self) -> str:
        rules, events = number_of(len(self.rules), "rule"), number_of(self.events, "event")
        return f"<tocsin.Comparison: {rules}, {events}, {self.new:,} new and {self.lost:,} lost hits>"

    def __str__(self) -> str:
        return self._display().text()

    def _display(self) -> Display:
        names = ["rule", "other_hits", "hits", "new", "lost"]
        rows = self.changed.select(names).slice(0, SHOWN).to_pylist()
        heads = ("rule", "hits of the others", "hits", "new", "lost")
        grid = Grid.of(heads, [tuple(row.values()) for row in rows], len(self.changed))
        return Display(repr(self)[1:-1], [("", grid)])

    @cached_property
    def changed(self) -> pa.Table:
        """The rules with new or lost hits, those with most first."""
        new, lost = (self.rules.column(name).to_numpy() for name in (NEW, LOST))
        order = np.argsort(-(new + lost), kind="stable")
        return self.rules.take(pa.array(order[: np.count_nonzero(new + lost)]))

    @property
    def new(self) -> int:
        """New hits of all rules."""
        return int(self.rules.column(NEW).to_numpy().sum())

    @property
    def lost(self) -> int:
        """Lost hits of all rules."""
        return int(self.rules.column(LOST).to_numpy().sum())


class Differences:
    """What was counted so far of the rules of either side, numbered together."""

    def __init__(self, ids: Sequence[str], is_other: Flags, is_mine: Flags, samples: int) -> None:
        if isinstance(samples, bool) or not isinstance(samples, int) or samples < 0:
            raise UsageError(f"samples is how many hits are named for each rule, not {samples!r}")
        self._ids = ids
        self._is_other, self._is_mine = is_other, is_mine
        self._most = samples
        self._hits = np.zeros((2, len(ids)), np.int64)
        self._only = {change: np.zeros(len(ids), np.int64) for change in (NEW, LOST)}
        self._samples: list[tuple[int, str, int]] = []

    def add(self, other: tuple[Longs, Longs], mine: tuple[Longs, Longs]) -> None:
        """Hits as rule numbers and event numbers, each pair once, of events that come once."""
        for side, (rule, _) in enumerate((other, mine)):
            self._hits[side] += np.bincount(rule, minlength=len(self._ids))
        for change, here, there in ((NEW, mine, other), (LOST, other, mine)):
            rule, event = _without(here, there)
            before = self._only[change][rule]
            start = np.searchsorted(rule, rule)
            shown = before + np.arange(len(rule)) - start < self._most
            numbers = zip(rule[shown].tolist(), event[shown].tolist(), strict=True)
            self._samples += [(number, change, each) for number, each in numbers]
            self._only[change] += np.bincount(rule, minlength=len(self._ids))

    def result(
        self, events: tuple[int, int], rejects: int, event_of: tuple[Longs, Longs] | None = None
    ) -> Comparison:
        """All that was counted, with how many events there were for the others and for mine. `event_of` has
        the event of each number for the others and for mine, where the numbers are no events'."""
        rates = self._hits / np.maximum(1, events)[:, None]
        arrays = [
            pa.array(self._ids, pa.string()),
            pa.array(self._hits[0], mask=~self._is_other),
            pa.array(self._hits[1], mask=~self._is_mine),
            pa.array(self._only[NEW]),
            pa.array(self._only[LOST]),
            pa.array(rates[0], mask=~self._is_other),
            pa.array(rates[1], mask=~self._is_mine),
            pa.array(rates[1] - rates[0]),
        ]
        samples = sorted(self._samples, key=lambda each: (each[0], each[1] == LOST, each[2]))
        rows = [
            (self._ids[number], change, event if event_of is None else int(event_of[change == NEW][event]))
            for number, change, event in samples
        ]
        columns = list(zip(*rows, strict=True)) or [(), (), ()]
        named = [pa.array(column, each.type) for column, each in zip(columns, _SAMPLES, strict=True)]
        return Comparison(
            events[1],
            events[0],
            rejects,
            pa.Table.from_arrays(arrays, schema=_RULES),
            pa.Table.from_arrays(named, schema=_SAMPLES),
        )


def _without(here: tuple[Longs, Longs], there: tuple[Longs, Longs]) -> tuple[Longs, Longs]:
    """The hits of one side that the other does not have, in the order of rules and events."""
    rule, event = here
    wide = max((int(each[1].max()) + 1 for each in (here, there) if len(each[1])), default=1)
    keys = np.setdiff1d(rule * wide + event, there[0] * wide + there[1], assume_unique=False)
    return keys // wide, keys % wide


def compare_indexes(
    mine: Index,
    other: Index,
    source: EventSource,
    samples: int,
    advance: Callable[[int], None] | None = None,
) -> Comparison:
    """Match all events with both; `advance` is called with how many are done."""
    both = [other.version, mine.version]
    ids = [rules.ids_of(rules.numbers()).to_pylist() for rules in both]
    names = list(dict.fromkeys([*ids[1], *ids[0]]))
    place = {name: at for at, name in enumerate(names)}
    places: list[Longs] = []
    present = np.zeros((2, len(names)), np.bool_)
    for side, rules in enumerate(both):
        together = np.zeros(rules.count, np.int64)
        together[rules.numbers()] = [place[name] for name in ids[side]]
        places.append(together)
        present[side, together[rules.numbers()]] = True
    found = Differences(names, present[0], present[1], samples)
    fields = list(dict.fromkeys(path for rules in both for path in rules.fields))
    events = rejects = 0
    for portion in source.portions(fields, BATCH):
        events += len(portion.rows)
        rejects += portion.rejects
        found.add(
            *(_hits(rules, portion.events, at, portion.rows) for rules, at in zip(both, places, strict=True))
        )
        if advance is not None:
            advance(events + rejects)
    return found.result((events, events), rejects)


def _hits(rules: Snapshot, events: EventBatch, places: Longs, rows: Longs) -> tuple[Longs, Longs]:
    found = rules.match_cells(events)
    return places[found.rule], np.repeat(rows, found.per_event)


def compare_runs(
    other: TestRun | None, mine: TestRun | None, samples: int, by_table: bool = False
) -> Comparison:
    """The same of one rule that was tried in both forms; None where there is no such rule.

    Joined rows are the same hit when they are the same rows of the same tables; with `by_table`, where there
    are several tables, the rows of a rule over one of them too.
    """
    runs = [run for run in (mine, other) if run is not None]
    tables = [[] if run.tried.trigger is None else run.tried.trigger.tables for run in runs]
    by_alias = len({frozenset((each.alias, each.name) for each in some) for some in tables}) == 1
    found = [{} if run is None else _numbered(run, by_alias, by_table) for run in (other, mine)]
    every = sorted({**found[0], **found[1]}, key=lambda hit: (found[hit in found[1]][hit], hit))
    number = {hit: at for at, hit in enumerate(every)}
    hits = [np.array([number[hit] for hit in each], np.int64) for each in found]
    is_other, is_mine = (np.array([run is not None]) for run in (other, mine))
    differences = Differences([runs[0].rule], is_other, is_mine, samples)
    others, mines = ((np.zeros(len(each), np.int64), each) for each in hits)
    differences.add(others, mines)
    event_of = [np.array([side.get(hit, -1) for hit in every], np.int64) for side in found]
    events = [(run or runs[0]).events for run in (other, mine)]
    return differences.result((events[0], events[1]), runs[0].rejects, (event_of[0], event_of[1]))


def _numbered(run: TestRun, by_alias: bool, by_table: bool) -> dict[Hit, int]:
    """The event of each hit. Both rules may name their tables in another order; where aliases tell which
    is which, they decide, for a table may stand there twice."""
    trigger = run.tried.trigger
    events = run.ranking.event.tolist()
    if not run.tables or trigger is None:
        name = trigger.sources[0].name if by_table and trigger is not None else ""
        return {((name, event),): event for event in events}
    tables = trigger.tables
    order = sorted(range(len(tables)), key=lambda at: (tables[at].name, tables[at].alias if by_alias else ""))
    return {
        tuple((tables[at].name, numbers[at]) for at in order): event
        for event, numbers in zip(events, run.ranking.rows.tolist(), strict=True)
    }
