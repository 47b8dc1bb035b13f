"""tocsin.backtest: rules tried on a history; all of them, one of them, or beside what they were before."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, overload

from tocsin.conditions.language import field_named, parse_condition
from tocsin.conditions.live import Index, Preparation
from tocsin.errors import UnknownRuleError, UsageError, telling
from tocsin.events import Events, EventSource, event_source, time_field
from tocsin.history.comparison import Comparison, compare_indexes, compare_runs
from tocsin.history.overview.overview import DEFAULT_SAMPLES, index_of, run_overview, settings_for
from tocsin.history.overview.overview_result import Overview
from tocsin.history.trial.event_run import run_on_events
from tocsin.history.trial.joined_run import JoinedRun
from tocsin.history.trial.test_run import TestRun
from tocsin.history.trial.tried_rule import READ, TriedRule
from tocsin.history.trial.why_never import WhyNever, why_never
from tocsin.printable import number_of
from tocsin.rules import Rules, RuleSource, print_joined, read_rules
from tocsin.saved import is_saved

if TYPE_CHECKING:
    from tocsin.history.statistics.history import History
    from tocsin.text import Dictionary

PathLike = str | os.PathLike[str]
Tables = Mapping[str, EventSource]
"""Events of several kinds: the rows of each table."""


@overload
def backtest(
    rules: RuleSource | PathLike | Index,
    events: Events | Mapping[str, Events],
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
    rules: RuleSource | PathLike | Index,
    events: Events | Mapping[str, Events],
    *,
    compare: RuleSource | PathLike | Index,
    rule: str | None = None,
    samples: int = DEFAULT_SAMPLES,
    history: History | PathLike | None = None,
    dictionaries: Mapping[str, Dictionary | PathLike] | None = None,
    stop_words: Iterable[str] = (),
    text_threshold: float = 0.0,
) -> Comparison: ...
@overload
def backtest(
    rules: RuleSource | PathLike | Index,
    events: Events | Mapping[str, Events],
    *,
    time: str | None = None,
    bucket: str | timedelta | None = None,
    samples: int = DEFAULT_SAMPLES,
    keep: Sequence[str] | None = None,
    history: History | PathLike | None = None,
    dictionaries: Mapping[str, Dictionary | PathLike] | None = None,
    stop_words: Iterable[str] = (),
    text_threshold: float = 0.0,
) -> Overview: ...
@telling("trying rules on a history")
def backtest(
    rules: RuleSource | PathLike | Index,
    events: Events | Mapping[str, Events],
    *,
    rule: str | None = None,
    compare: RuleSource | PathLike | Index | None = None,
    time: str | None = None,
    top: int | None = None,
    bucket: str | timedelta | None = None,
    samples: int = DEFAULT_SAMPLES,
    keep: Sequence[str] | None = None,
    history: History | PathLike | None = None,
    dictionaries: Mapping[str, Dictionary | PathLike] | None = None,
    stop_words: Iterable[str] = (),
    text_threshold: float = 0.0,
) -> TestRun | Comparison | Overview:
    """What rules would have done on a history; with `rule` one of them, ranked by score where it has free
    text; with `compare` what is different from what other rules would have done.

    rules       a path, or whatever `tocsin.build` takes; without `rule` an index or a saved one too
    events      a file or folder, a table of any kind (Arrow, pandas, polars, DuckDB), or dictionaries; for a
                trigger over several tables, and one rule alone, all that by the name of the table:
                {"video": "video.csv", "viewed_by": [...]}
    history, dictionaries, stop_words, text_threshold   as for `tocsin.build`, when the rules are not built

    All rules, in memory (tocsin.spark.backtest is for what is larger):
    bucket      how long a stretch of time is: '1 day'; without it the history chooses, up to 60 of them
    samples     how many events are shown for each rule
    keep        the top-level fields that are shown of an event; without it all
    time        the field that tells an event's time; without it the first that looks like one

    One rule:
    rule        its id. Of several `contains` the one with a threshold is tried
    top         how many events keep their text to be shown; without it all do
    time        as above; of several tables a field of the event table

    Two sets of rules:
    compare     the other rules, in any form that `rules` may have: new hits are those that they do not have
    rule        only this one of both
    samples     how many new hits, and how many lost ones, are named for each rule

    Raises UsageError for what makes no sense together, UnknownRuleError when there is no such rule, RuleError
    when a condition cannot be read.
    """
    if top is not None and top < 0:
        raise UsageError(f"top is how many texts to keep, not {top}")
    preparation = Preparation.of(history, dictionaries, stop_words, text_threshold)
    sources = sources_of(events)
    if compare is not None:
        return run_comparison(rules, compare, sources, preparation, rule=rule, samples=samples)
    if rule is not None:
        return run_backtest(rules_of(rules), sources, rule, preparation, time=time, top=top)
    if isinstance(sources, Mapping):
        raise UsageError("events of several tables are for one rule: name it with rule")
    found_time = time_field(sources) if time is None else field_named(time)
    settings = settings_for(found_time, bucket, samples)
    return run_overview(index_of(rules, preparation), sources, settings, keep=keep)


def sources_of(events: object) -> EventSource | Tables:
    """Events of one kind, or the rows of several tables by their names."""
    if isinstance(events, Mapping):
        return {str(table): event_source(rows) for table, rows in events.items()}
    return event_source(events)


def rules_of(rules: object) -> Rules:
    """Rules that are not built: the path of files, or what tocsin.build takes."""
    return read_rules(rules) if isinstance(rules, str | os.PathLike) else Rules.of(rules)


# ---- One rule


def run_backtest(
    rules: Rules,
    events: EventSource | Tables,
    rule: str,
    preparation: Preparation,
    *,
    time: str | None = None,
    top: int | None = None,
    advance: Callable[[int], None] | None = None,
) -> TestRun:
    """Try one rule on what is read already; `advance` is called with how many events are done."""
    return _run(
        TriedRule.of(rules, rule, preparation.base.settings()), events, preparation, time, top, advance
    )


def _run(
    tried: TriedRule,
    events: EventSource | Tables,
    preparation: Preparation,
    time: str | None = None,
    top: int | None = None,
    advance: Callable[[int], None] | None = None,
    is_explained: bool = True,
) -> TestRun:
    """The run of one rule; why it never matched is looked for only if it is to be explained."""
    sources = _sources(tried, events)
    joined: JoinedRun | None = None
    if tried.is_joined:
        joined = JoinedRun(tried, sources, preparation, advance)
        run = joined.result(time, top)
    else:
        run = run_on_events(tried, sources[0], preparation, time, top, advance)
    if run.hits or not is_explained:
        return run
    if joined is not None:
        return replace(run, why=_why_not_joined(joined, sources, preparation))
    read = tried.matched_rules().condition(READ)
    return replace(run, why=why_never(read, tried.text, sources[0], preparation))


def _sources(tried: TriedRule, events: EventSource | Tables) -> list[EventSource]:
    """The events that a rule is over, or the rows of each of its tables."""
    trigger = tried.trigger
    named = [] if trigger is None else [table.name for table in trigger.sources]
    if isinstance(events, Mapping):
        if not named and len(events) == 1:
            return list(events.values())
        if not named:
            raise UsageError(f"the rule {tried.rule!r} names no table: give it events of one kind")
        missing = [name for name in named if name not in events]
        if missing:
            raise UsageError(
                f"the rule {tried.rule!r} is over the table {missing[0]}, which has no rows here"
            )
        return [events[name] for name in named]
    if len(named) > 1:
        raise UsageError(
            f"the rule {tried.rule!r} is over several tables: give the rows of each"
            f" ({', '.join(dict.fromkeys(named))}), as TABLE=FILE or a mapping"
        )
    return [events]


def _why_not_joined(joined: JoinedRun, sources: Sequence[EventSource], preparation: Preparation) -> WhyNever:
    """Why no rows satisfy a trigger: what is asked of each table, then what two fields are asked together."""
    text = joined.tried.text
    found = WhyNever()
    if text is not None:
        found = why_never(None, text, sources[joined.event], preparation)
    reasons: list[str] = []
    is_one = len(sources) == 1
    for alias, position, source, table in zip(
        joined.aliases, joined.positions, sources, joined.tables, strict=True
    ):
        if not table.events:
            reasons.append("there are no events" if is_one else f"{alias}: the table has no rows")
        if not table.events or table.entered or position.selection is None:
            continue
        selection = parse_condition(position.selection)
        alone = why_never(selection, None, source, preparation)
        reasons += [line if is_one else f"{alias}: {line}" for line in alone.lines()]
    if not reasons and is_one:
        (table,) = joined.tables
        old_of = None if joined.tried.trigger is None else joined.tried.trigger.old_of
        asked = " and ".join(print_joined(each, old_of) for each in joined.filters)
        rest = "" if table.entered == table.events else f", of which {table.entered:,} satisfy the rest"
        rest += "" if table.olds else ": none has an object old"
        reasons = [f"{asked} never holds in {number_of(table.events, 'event')}{rest}"]
    if not reasons:
        entered = ", ".join(
            f"{table.entered:,} of {table.events:,} rows of {alias}"
            for alias, table in zip(joined.aliases, joined.tables, strict=True)
        )
        reasons = [
            f"{entered} are what is asked of each alone, and no combination of them satisfies the rest"
        ]
    return replace(found, reasons=tuple(reasons))


# ---- Two sets of rules


def run_comparison(
    rules: object,
    other: object,
    events: EventSource | Tables,
    preparation: Preparation,
    *,
    rule: str | None = None,
    samples: int = DEFAULT_SAMPLES,
    advance: Callable[[int], None] | None = None,
) -> Comparison:
    """Compare the hits of rules with those of others; `advance` is called with how many events are done."""
    if rule is not None:
        both = [_as_it_is(each, rule, preparation) for each in (other, rules)]
        if both == [None, None]:
            raise UnknownRuleError(rule)
        run = partial(
            _run, events=events, preparation=preparation, top=0, advance=advance, is_explained=False
        )
        runs = [None if each is None else run(each) for each in both]
        runs = [each if each is None or not each.tried.is_disabled else each.without_hits() for each in runs]
        return compare_runs(runs[0], runs[1], samples, isinstance(events, Mapping) and len(events) > 1)
    if isinstance(events, Mapping):
        raise UsageError("events of several tables are for one rule: name it with rule")
    mine, others = index_of(rules, preparation), index_of(other, preparation)
    return compare_indexes(mine, others, events, samples, advance)


def _as_it_is(rules: object, rule: str, preparation: Preparation) -> TriedRule | None:
    """One of the rules with the threshold that it has; None when there is none of this id."""
    if isinstance(rules, Index) or (isinstance(rules, str | os.PathLike) and is_saved(rules)):
        raise UsageError(
            "a rule of an index is compared with all the others: leave out rule, or give its file"
        )
    try:
        return replace(TriedRule.of(rules_of(rules), rule, preparation.base.settings()), text=None)
    except UnknownRuleError:
        return None
