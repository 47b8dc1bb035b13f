"""Partials to tables: what the tasks noted, put together by rule.

What concerns all rules (totals, times, what fields held) is small and comes first; with it the rest is
finished some rules at a time, which Spark's tasks do as well as this process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.arrays.dtypes import Flags, Longs
from tocsin.conditions.language import Path, parse_condition
from tocsin.conditions.live import Snapshot
from tocsin.history.overview.samples import least_of_each
from tocsin.history.overview.satisfiability import NOTHING_STANDS_IN_THE_WAY, Satisfiability
from tocsin.history.overview.score_codes import quantiles
from tocsin.history.overview.task_tally import (
    BUCKET,
    COUNTED,
    EVENT,
    EVENTS,
    HITS,
    MATCHED,
    MATCHES,
    REJECTS,
    SAMPLE,
    SCORE,
    SEEN,
    TIME,
    TOTAL,
)
from tocsin.history.overview.time_buckets import MONDAY, width_for
from tocsin.history.overview.value_summaries import FieldSummary
from tocsin.rules import read_enabled

INSTANT = pa.timestamp("us", "UTC")
SCORES = ("score_least", "score_p10", "score_median", "score_p90", "score_largest")
RULES = pa.schema(
    [
        ("rule", pa.string()),
        ("when", pa.string()),
        ("hits", pa.int64()),
        ("rate", pa.float64()),
        ("first", INSTANT),
        ("last", INSTANT),
        *((name, pa.float64()) for name in SCORES),
        ("could_match", pa.bool_()),
        ("why", pa.string()),
    ]
)
"""A row for each rule. `rate` is the share of events that satisfy it; `first` and `last` are the starts
of the first and last stretch of time in which any did; `why` is said of a rule that no event satisfies."""

OVER_TIME = pa.schema(
    [
        ("rule", pa.string()),
        ("at", INSTANT),
        ("hits", pa.int64()),
        ("events", pa.int64()),
        ("rate", pa.float64()),
    ]
)
"""A row for each rule and stretch of time in which it held, and how many events that has."""

TIMES = pa.schema([("at", INSTANT), ("events", pa.int64()), ("matched", pa.int64()), ("matches", pa.int64())])
"""A row for each stretch of time that has events."""

SAMPLES = pa.schema([("rule", pa.string()), ("event", pa.int64()), ("json", pa.string())])
"""A row for each event that is shown for a rule: its row number in the files, and the event."""

_MICROS = 1_000_000
_DATES = (-62_135_596_800, 253_402_300_799)
"""The seconds of the years 1 to 9999, which calendars know: a long stretch of time may begin before."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of the history as a whole. Small, and made to be pickled.

    width   seconds in a stretch of time, None when no event has a time
    times   start of each stretch, and its events, those with a match, and matches
    seen    what the fields that rules name held; fields that no event has are not here
    """

    events: int
    matched: int
    matches: int
    rejects: int
    width: int | None
    times: dict[int, tuple[int, int, int]]
    seen: dict[Path, FieldSummary]


def facts_of(summed: pa.Table, seen: pa.Table, fields: Sequence[Path], width: int | None) -> Facts:
    """The facts, from the totals and times of all tasks and what they saw in fields.

    `width` is that which was asked for; without it the history chooses.
    """
    totals = {EVENTS: 0, MATCHED: 0, MATCHES: 0, REJECTS: 0}
    by_time: list[dict[str, Any]] = []
    for row in summed.to_pylist():
        if row["fact"] == TOTAL:
            totals[row["rule"]] += row["number"]
        else:
            by_time.append(row)
    if by_time and width is None:
        starts = [row["key"] for row in by_time]
        width = width_for(min(starts), max(starts), max(row["place"] for row in by_time))
    times: dict[int, list[int]] = {}
    for row in by_time:
        start = int(_wide(np.array([row["key"]]), width)[0])
        times.setdefault(start, [0, 0, 0])[(EVENTS, MATCHED, MATCHES).index(row["rule"])] += row["number"]
    held: dict[Path, FieldSummary] = {}
    for number, text in zip(seen.column("rule").to_pylist(), seen.column("text").to_pylist(), strict=True):
        held.setdefault(fields[number], FieldSummary()).add(FieldSummary.from_json(text))
    return Facts(
        totals[EVENTS],
        totals[MATCHED],
        totals[MATCHES],
        totals[REJECTS],
        width if times else None,
        {start: (each[0], each[1], each[2]) for start, each in sorted(times.items())},
        held,
    )


def merged_seen(rows: pa.Table) -> pa.Table:
    """What several tasks saw in one field, as one row like theirs."""
    seen = FieldSummary()
    for text in rows.column("text").to_pylist():
        seen.add(FieldSummary.from_json(text))
    return rows.slice(0, 1).set_column(
        rows.schema.get_field_index("text"), "text", pa.array([seen.to_json()], pa.string())
    )


def _wide(starts: Longs, width: int | None) -> Longs:
    """The starts of the stretches of a larger width that hold these."""
    return starts if width is None else (starts - MONDAY) // width * width + MONDAY


def rule_rows(rules: Snapshot, numbers: Longs, counted: pa.Table, facts: Facts) -> pa.Table:
    """The rows of RULES for the rules of these numbers, ascending, given all that was counted of them."""
    place_of = np.searchsorted(numbers, counted.column("rule").to_numpy())
    number = counted.column("number").to_numpy()
    key = pc.fill_null(counted.column("key"), 0).to_numpy()
    is_hits, is_bucket, is_score = (_is(counted, fact) for fact in (HITS, BUCKET, SCORE))
    hits = np.bincount(place_of[is_hits], weights=number[is_hits], minlength=len(numbers)).astype(np.int64)
    score_place, code, count = _summed(place_of[is_score], key[is_score], number[is_score])
    scores = quantiles(score_place, code, count, len(numbers))
    start = key[is_bucket]
    first = np.full(len(numbers), np.iinfo(np.int64).max)
    last = np.full(len(numbers), np.iinfo(np.int64).min)
    np.minimum.at(first, place_of[is_bucket], _wide(start, facts.width))
    np.maximum.at(last, place_of[is_bucket], _wide(start, facts.width))
    timed = first <= last
    whens = rules.whens_of(numbers)
    disabled = set(read_enabled(rules.metadata_of(numbers))[0].tolist())
    could, why = _whys(whens, disabled, hits, facts)
    return pa.table(
        [
            rules.ids_of(numbers).cast(pa.string()),
            whens.cast(pa.string()),
            pa.array(hits),
            pa.array(hits / max(1, facts.events)),
            _instants(first, timed),
            _instants(last, timed),
            *(pa.array(scores[:, place], from_pandas=True) for place in range(len(SCORES))),
            pa.array(could),
            pa.array(why, pa.string()),
        ],
        schema=RULES,
    )


def _summed(rule: Longs, code: Longs, count: Longs) -> tuple[Longs, Longs, Longs]:
    """Counts of equal rule and code added up, in the order of rules and codes."""
    codes, number = np.unique(code, return_inverse=True)
    pairs, place = np.unique(rule * len(codes) + number, return_inverse=True)
    total = np.bincount(place, weights=count, minlength=len(pairs)).astype(np.int64)
    if not len(codes):
        return rule, code, count
    found, at = np.divmod(pairs, len(codes))
    return found, codes[at], total


def _whys(whens: pa.Array, disabled: set[int], hits: Longs, facts: Facts) -> tuple[Flags, list[str | None]]:
    """Whether each rule could match, and of those that never did, why."""
    asked = Satisfiability(facts.events, facts.seen)
    could = np.ones(len(hits), np.bool_)
    why: list[str | None] = [None] * len(hits)
    for place in np.flatnonzero(hits == 0).tolist():
        if place in disabled:
            reason: str | None = "it is disabled (enabled = false)"
        elif facts.events:
            reason = asked.why_never(parse_condition(whens[place].as_py()))
        else:
            reason = "there are no events"
        could[place] = reason is None
        why[place] = NOTHING_STANDS_IN_THE_WAY if reason is None else reason
    return could, why


def _is(table: pa.Table, fact: str) -> Flags:
    found: Flags = pc.equal(table.column("fact"), fact).to_numpy()
    return found.astype(np.bool_)


def _instants(seconds: Longs, known: Flags | None = None) -> pa.Array:
    micros = np.clip(np.where(True if known is None else known, seconds, 0), *_DATES) * _MICROS
    return pa.array(micros, mask=None if known is None else ~known).cast(pa.timestamp("us")).cast(INSTANT)


def over_time_rows(names: pa.Array, start: Longs, hits: Longs, facts: Facts) -> pa.Table:
    """The rows of OVER_TIME for rules of these names in stretches of time that start then."""
    starts = np.array(list(facts.times), np.int64)
    events = np.array([each[0] for each in facts.times.values()], np.int64)
    of_start = events[np.searchsorted(starts, start)] if len(starts) else np.zeros(0, np.int64)
    rate = hits / np.maximum(1, of_start)
    return pa.table(
        [names, _instants(start), pa.array(hits), pa.array(of_start), pa.array(rate)], schema=OVER_TIME
    )


def times_table(facts: Facts) -> pa.Table:
    """The rows of TIMES."""
    starts = _instants(np.array(list(facts.times), np.int64))
    columns = np.array(list(facts.times.values()), np.int64).reshape(-1, 3)
    return pa.table([starts, *(pa.array(columns[:, place]) for place in range(3))], schema=TIMES)


# ---- In one process


@dataclass(frozen=True, slots=True)
class Tables:
    """What an overview is made of."""

    facts: Facts
    rules: pa.Table
    over_time: pa.Table
    samples: pa.Table


def tables_of(rules: Snapshot, partials: pa.Table, width: int | None, samples: int) -> Tables:
    """All tables, from all partials."""
    fact = partials.column("fact")
    fields = rules.fields
    small = partials.filter(pc.is_in(fact, pa.array([TOTAL, TIME])))
    facts = facts_of(small, partials.filter(pc.equal(fact, SEEN)), fields, width)
    counted = partials.filter(pc.is_in(fact, pa.array(COUNTED)))
    return Tables(
        facts,
        rule_rows(rules, rules.numbers(), counted, facts),
        _over_time(rules, counted, facts),
        _samples(rules, partials, samples),
    )


def _over_time(rules: Snapshot, counted: pa.Table, facts: Facts) -> pa.Table:
    buckets = counted.filter(pc.equal(counted.column("fact"), BUCKET))
    start = _wide(buckets.column("key").to_numpy(), facts.width)
    rule, start, hits = _summed(
        buckets.column("rule").to_numpy().astype(np.int64), start, buckets.column("number").to_numpy()
    )
    return over_time_rows(rules.names.column(rule.astype(np.int32)), start, hits, facts)


def _samples(rules: Snapshot, partials: pa.Table, count: int) -> pa.Table:
    fact = partials.column("fact")
    chosen = partials.filter(pc.equal(fact, SAMPLE))
    rules_of, hashes, places_of = (chosen.column(name).to_numpy() for name in ("rule", "key", "place"))
    rule, _, place = least_of_each(rules_of, hashes, places_of, count)
    events = partials.filter(pc.equal(fact, EVENT)).sort_by("place")
    places = events.column("place").to_numpy()
    texts = events.column("text").take(pa.array(np.searchsorted(places, place)))
    if isinstance(texts, pa.ChunkedArray):
        texts = texts.combine_chunks()
    return pa.table([rules.names.column(rule), pa.array(place), texts], schema=SAMPLES)
