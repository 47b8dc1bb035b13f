"""The test run: a rule's `contains` tried on a history of events, to find its threshold.

The rule is matched twice in one index: once with the threshold 0, which is the Boolean reading, and
once with one that no score reaches. The events of the first are ranked by score; those of the second as
well would be alerts whatever the threshold.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tocsin.arrays.dtypes import Doubles, Ints, Longs
from tocsin.conditions.graph.compiled_index import compile_rules
from tocsin.conditions.language.field_names import field_named
from tocsin.conditions.language.printer import print_field
from tocsin.conditions.language.tree import (
    TEXT_TESTS,
    Condition,
    Connective,
    Operator,
    Path,
    Predicate,
    Test,
    has_threshold,
)
from tocsin.conditions.live.build_settings import Preparation
from tocsin.conditions.live.index import Index
from tocsin.conditions.live.snapshot import Snapshot
from tocsin.conditions.meaning import threshold_of
from tocsin.errors import UnknownRuleError, UsageError, telling
from tocsin.events.cells import Column, EventBatch, StringCells
from tocsin.events.event_sources import EventPortion, EventSource, event_source, seconds_of, time_field
from tocsin.history.backtest_result import NO_DAY, Place, Ranking, TestRun
from tocsin.history.overview.overview import SAMPLES, index_of, run_overview, settings_for
from tocsin.history.overview.overview_result import Overview
from tocsin.rules.rule_files import read_rules
from tocsin.rules.rule_set import Rules
from tocsin.text import TextQuery, TextSettings, parse_query

if TYPE_CHECKING:
    from tocsin.history.statistics.history import History
    from tocsin.text import Dictionary

READ, WITHOUT = 0, 1
"""The rules that are matched: with the threshold 0, and with one that no score reaches."""
_UNREACHABLE = "1000000000"
_SECONDS_A_DAY = 86_400

PathLike = str | os.PathLike[str]


@overload
def backtest(
    rules: object,
    events: object,
    *,
    rule: str,
    time: str | None = None,
    top: int | None = None,
    history: History | PathLike | None = None,
    dictionaries: Mapping[str, Dictionary | PathLike] | None = None,
    stop_words: Iterable[str] = (),
    text_threshold: float = 0.0,
) -> TestRun: ...
@overload
def backtest(
    rules: object,
    events: object,
    *,
    time: str | None = None,
    bucket: str | timedelta | None = None,
    samples: int = SAMPLES,
    keep: Sequence[str] | None = None,
    history: History | PathLike | None = None,
    dictionaries: Mapping[str, Dictionary | PathLike] | None = None,
    stop_words: Iterable[str] = (),
    text_threshold: float = 0.0,
) -> Overview: ...
@telling("trying rules on a history")
def backtest(
    rules: object,
    events: object,
    *,
    rule: str | None = None,
    time: str | None = None,
    top: int | None = None,
    bucket: str | timedelta | None = None,
    samples: int = SAMPLES,
    keep: Sequence[str] | None = None,
    history: History | PathLike | None = None,
    dictionaries: Mapping[str, Dictionary | PathLike] | None = None,
    stop_words: Iterable[str] = (),
    text_threshold: float = 0.0,
) -> TestRun | Overview:
    """What rules would have done on a history; with `rule`, its `contains` tried: events ranked by score.

    rules       a path, or whatever `tocsin.build` takes; without `rule` an index or a saved one too
    events      a file or folder, an Arrow table, or dictionaries
    time        the field that tells an event's time; without it the first that looks like one
    history, dictionaries, stop_words, text_threshold   as for `tocsin.build`, when the rules are not built

    All rules, in memory (tocsin.spark.backtest is for what is larger):
    bucket      how long a stretch of time is: '1 day'; without it the history chooses, up to 60 of them
    samples     how many events are shown for each rule
    keep        the top-level fields that are shown of an event; without it all

    One rule:
    rule        its id. Of several `contains` the one with a threshold is tried
    top         how many events keep their text to be shown; without it all do

    Raises UsageError when the rule has no `contains` that could be tried, UnknownRuleError when there is
    no such rule, RuleError when its condition cannot be read.
    """
    if top is not None and top < 0:
        raise UsageError(f"top is how many texts to keep, not {top}")
    preparation = Preparation.of(history, dictionaries, stop_words, text_threshold)
    source = event_source(events)
    if rule is None:
        found_time = time_field(source) if time is None else field_named(time)
        settings = settings_for(found_time, bucket, samples)
        return run_overview(index_of(rules, preparation), source, settings, keep=keep)
    found = read_rules(rules) if isinstance(rules, str | os.PathLike) else Rules.of(rules)
    return run_backtest(found, source, rule, preparation, time=time, top=top)


def run_backtest(
    rules: Rules,
    source: EventSource,
    rule: str,
    preparation: Preparation,
    *,
    time: str | None = None,
    top: int | None = None,
    advance: Callable[[int], None] | None = None,
) -> TestRun:
    """The same for what is read already; `advance` is called with how many events are done."""
    tried = _tried(rules, rule, preparation.base.settings())
    found_time = time_field(source) if time is None else field_named(time)
    run = _Run(tried, _index(tried.place, preparation).version, found_time, top)
    done = 0
    for portion in source.portions(run.fields):
        run.add(portion)
        done += len(portion.rows) + portion.rejects
        if advance is not None:
            advance(done)
    return run.result(None if found_time is None else print_field(found_time))


# ---- Which contains


@dataclass(frozen=True, slots=True)
class _Tried:
    """The `contains` to try."""

    place: Place
    field: Path
    query: TextQuery
    threshold: float | None


def _tried(rules: Rules, rule: str, settings: TextSettings) -> _Tried:
    try:
        row = rules.ids.to_pylist().index(rule)
    except ValueError:
        raise UnknownRuleError(rule) from None
    condition = rules.condition(row)
    step, predicate = _step_to_try(condition, rule)
    query = parse_query(str(predicate.operands[0].value), any_gap=predicate.test is Test.TM_CONTAINS)
    place = Place(rules, row, condition.places[step])
    return _Tried(place, predicate.field, query, threshold_of(predicate, settings))


def _step_to_try(condition: Condition, rule: str) -> tuple[int, Predicate]:
    every = {
        place: step
        for place, step in enumerate(condition.steps)
        if isinstance(step, Predicate) and step.test in TEXT_TESTS
    }
    with_one = [place for place, step in every.items() if has_threshold(step)]
    if not every:
        raise UsageError(f"the rule {rule!r} has no contains, whose threshold a test run could find")
    if len(every) > 1 and not with_one:
        raise UsageError(
            f"the rule {rule!r} has {len(every)} contains and none with a threshold: give one to that which"
            " is to be tried"
        )
    step = with_one[0] if with_one else next(iter(every))
    if step in _negated(condition):
        raise UsageError(
            f"the contains of the rule {rule!r} stands below a not, xor or xnor: there a higher threshold"
            " can give more alerts, which a ranking cannot show"
        )
    return step, every[step]


def _negated(condition: Condition) -> set[int]:
    """The steps somewhere below a connective that a larger truth can make less true."""
    below: set[int] = set()
    operands = condition.operands()
    for place in range(len(condition.steps) - 1, -1, -1):
        step = condition.steps[place]
        if not isinstance(step, Operator):
            continue
        if place in below or step.connective not in (Connective.AND, Connective.OR):
            below.update(operands[place])
    return below


def _index(place: Place, preparation: Preparation) -> Index:
    whens = [place.condition("0"), place.condition(_UNREACHABLE)]
    alias = place.rules.aliases.get(place.row)
    pair = Rules(
        pa.array(["read", "without"], pa.large_string()),
        pa.array(whens, pa.large_string()),
        lines=np.ones(2, np.int64),
        aliases={} if alias is None else {READ: alias, WITHOUT: alias},
    )
    return Index(compile_rules(pair, base=preparation.base))


# ---- When


def _days(column: Column) -> tuple[Ints, Ints]:
    """The events of a column that have a time, ascending, and the day of each since 1970."""
    rows, seconds = seconds_of(column)
    return rows, (seconds // _SECONDS_A_DAY).astype(np.int32)


# ---- What


class _Shown(NamedTuple):
    """A document of the ranking, in the order of the ranking."""

    minus_score: float
    event: int
    texts: tuple[str, ...]


@dataclass(slots=True)
class _Run:
    """A test run under way: what the portions so far gave."""

    tried: _Tried
    rules: Snapshot
    time: Path | None
    top: int | None
    events: int = 0
    rejects: int = 0
    first_day: int | None = None
    last_day: int | None = None
    parts: list[tuple[NDArray[Any], ...]] = field(default_factory=list)
    shown: list[_Shown] = field(default_factory=list)

    @property
    def fields(self) -> list[Path]:
        times = [] if self.time is None else [self.time]
        return list(dict.fromkeys([*sorted(self.rules.fields), self.tried.field, *times]))

    def add(self, portion: EventPortion) -> None:
        """Match a portion, and keep what the ranking needs."""
        self.events += len(portion.rows)
        self.rejects += portion.rejects
        day = self._day_of(portion.events)
        found = self.rules.match_cells(portion.events)
        matched = np.repeat(np.arange(len(found.per_event)), found.per_event)
        always = np.zeros(portion.events.length, np.bool_)
        always[matched[found.rule == WITHOUT]] = True
        is_read = found.rule == READ
        row = matched[is_read]
        score = np.zeros(len(row)) if found.score is None else found.score[is_read]
        event = portion.rows[row]
        self.parts.append((event, score, always[row], day[row]))
        self._show(event, score, row, portion.events)

    def _day_of(self, events: EventBatch) -> Ints:
        day = np.full(events.length, NO_DAY, np.int32)
        column = None if self.time is None else events.columns.get(self.time)
        if column is None:
            return day
        rows, days = _days(column)
        day[rows] = days
        if len(days):
            first, last = int(days.min()), int(days.max())
            self.first_day = first if self.first_day is None else min(first, self.first_day)
            self.last_day = last if self.last_day is None else max(last, self.last_day)
        return day

    def _show(self, event: Longs, score: Doubles, row: Longs, events: EventBatch) -> None:
        """Keep the documents that are among the first so far."""
        best = np.lexsort((event, -score))[: self.top]
        documents = _documents(events, self.tried.field, row[best])
        found = map(_Shown, (-score[best]).tolist(), event[best].tolist(), documents)
        self.shown = (
            sorted([*self.shown, *found])[: self.top] if self.top is not None else [*self.shown, *found]
        )

    def result(self, time: str | None) -> TestRun:
        """The run as a whole."""
        event, score, always, day = (
            np.concatenate([np.empty(0, kind), *(part[place] for part in self.parts)])
            for place, kind in enumerate((np.int64, np.float64, np.bool_, np.int32))
        )
        best = np.lexsort((event, -score))
        texts = [each.texts for each in sorted(self.shown)]
        return TestRun(
            place=self.tried.place,
            query=self.tried.query,
            threshold=self.tried.threshold,
            events=self.events,
            rejects=self.rejects,
            time=time,
            first_day=self.first_day,
            last_day=self.last_day,
            ranking=Ranking(event[best], score[best], always[best], day[best], texts),
        )


def _documents(events: EventBatch, path: Path, rows: Longs) -> list[tuple[str, ...]]:
    """The texts that some events have in a field."""
    column = events.columns.get(path)
    strings: StringCells | None = None if column is None else column.strings
    if strings is None:
        return [()] * len(rows)
    first = np.searchsorted(strings.row, rows)
    last = np.searchsorted(strings.row, rows, side="right")
    return [
        tuple(strings.texts[code].as_py() for code in strings.code[start:end].tolist())
        for start, end in zip(first.tolist(), last.tolist(), strict=True)
    ]
