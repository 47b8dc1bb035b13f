"""An overview made in this process."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import timedelta

import pyarrow as pa

from tocsin.conditions.graph import compile_rules
from tocsin.conditions.language import Path, print_field
from tocsin.conditions.live import Index, Preparation
from tocsin.errors import UsageError
from tocsin.events import EventSource
from tocsin.history.overview.overview_result import LocalOverview
from tocsin.history.overview.rule_tables import tables_of
from tocsin.history.overview.tally import Tally, TallySettings
from tocsin.history.overview.task_tally import table_of
from tocsin.rules import Rules, parse_throttle, read_rules
from tocsin.saved import is_saved, open_rules

DEFAULT_SAMPLES = 5
MOST_SAMPLES = 100


def index_of(rules: object, preparation: Preparation) -> Index:
    """An index as it is, a saved one opened, rules of any other form built into one."""
    if isinstance(rules, Index) and rules.engine == Index.engine:
        return rules
    if isinstance(rules, str | os.PathLike):
        if is_saved(rules):
            return open_rules(rules)
        rules = read_rules(rules)
    return Index(compile_rules(Rules.of(rules), base=preparation.base, planner=preparation.planner))


def settings_for(time: Path | None, bucket: str | timedelta | None, samples: int) -> TallySettings:
    """What is wanted; UsageError when it makes no sense."""
    if isinstance(samples, bool) or not isinstance(samples, int) or not 0 <= samples <= MOST_SAMPLES:
        raise UsageError(f"samples is from 0 to {MOST_SAMPLES} events for each rule, not {samples}")
    if bucket is not None and time is None:
        raise UsageError("a bucket needs the field that tells an event's time")
    return TallySettings(time, None if bucket is None else _seconds(bucket), samples)


def _seconds(bucket: str | timedelta) -> int:
    """How long a stretch of time is to be."""
    try:
        length = bucket if isinstance(bucket, timedelta) else timedelta(microseconds=parse_throttle(bucket))
    except ValueError as error:
        raise UsageError(f"{bucket!r} is not a length of a bucket: {error}") from None
    seconds, rest = divmod(length, timedelta(seconds=1))
    if rest or seconds < 1:
        raise UsageError(f"a bucket is a whole number of seconds, from 1 on, not {bucket}")
    return seconds


def run_overview(
    index: Index,
    source: EventSource,
    settings: TallySettings,
    *,
    keep: Sequence[str] | None = None,
    advance: Callable[[int], None] | None = None,
) -> LocalOverview:
    """Count the matches of all events; `advance` is called with how many are done.

    `keep` names what is kept of an event that is shown, by default all of it.
    """
    rules = index.version
    tally = Tally(rules, settings)
    batches: list[pa.RecordBatch] = []
    done = 0
    for portion in source.portions(tally.fields, show=keep if settings.samples else ()):
        tally.rejects += portion.rejects
        batches += tally.add(portion.events, portion.rows, portion.texts)
        done += len(portion.rows) + portion.rejects
        if advance is not None:
            advance(done)
    batches += tally.rest()
    tables = tables_of(rules, table_of(batches), settings.width, settings.samples)
    return LocalOverview(tables, None if settings.time is None else print_field(settings.time), rules.fields)
