"""An overview made in this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tocsin.errors import UsageError
from tocsin.grammar.printing import print_field
from tocsin.grammar.tree import Path
from tocsin.monitor.event_sources import EventSource
from tocsin.monitor.event_times import time_field
from tocsin.monitor.index import Index
from tocsin.monitor.overview.merging import tables_of
from tocsin.monitor.overview.partials import table_of
from tocsin.monitor.overview.result import LocalOverview
from tocsin.monitor.overview.tally import Tally, TallySettings
from tocsin.monitor.preparing import field_named

SAMPLES = 5
MOST_SAMPLES = 100


def settings_for(
    time: Path | None, bucket: float | None, samples: int
) -> TallySettings:
    """What is wanted; UsageError when it makes no sense. `bucket` is in seconds."""
    if isinstance(samples, bool) or not isinstance(samples, int) or not 0 <= samples <= MOST_SAMPLES:
        raise UsageError(f"samples is from 0 to {MOST_SAMPLES} events for each rule, not {samples}")
    if bucket is not None and (bucket < 1 or bucket != int(bucket)):
        raise UsageError(f"a bucket is a whole number of seconds, from 1 on, not {bucket:g}")
    if bucket is not None and time is None:
        raise UsageError("a bucket needs the field that tells an event's time")
    return TallySettings(time, None if bucket is None else int(bucket), samples)


def run_overview(
    index: Index,
    source: EventSource,
    *,
    time: str | None = None,
    bucket: float | None = None,
    samples: int = SAMPLES,
    keep: Sequence[str] | None = None,
    advance: Callable[[int], None] | None = None,
) -> LocalOverview:
    """Count the matches of all events; `advance` is called with how many are done."""
    found_time = time_field(source) if time is None else field_named(time)
    settings = settings_for(found_time, bucket, samples)
    rules = index.version
    tally = Tally(rules, settings)
    show: Sequence[str] | None = keep if samples else ()
    batches = []
    done = 0
    for portion in source.portions(tally.fields, show=show):
        tally.rejects += portion.rejects
        batches += tally.add(portion.events, portion.rows, portion.texts)
        done += len(portion.rows) + portion.rejects
        if advance is not None:
            advance(done)
    batches += tally.rest()
    tables = tables_of(rules, table_of(batches), settings.width, samples)
    return LocalOverview(tables, None if found_time is None else print_field(found_time), rules.fields)
