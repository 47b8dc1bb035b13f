"""What an overview should say, by the obvious evaluator: a plain loop over events and rules."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import pyarrow as pa
from tests.cases import Event

from tocsin import Overview
from tocsin.conditions.language import Condition, parse_condition
from tocsin.conditions.meaning import Truth, condition_truth, score
from tocsin.history.overview import SCORES
from tocsin.history.overview.score_codes import QUANTILES

Rules = Sequence[tuple[str, Condition | str]]


class Wanted(NamedTuple):
    """By the rule's id: the numbers of the events that satisfy it, and the scores of those."""

    events: dict[str, list[int]]
    scores: dict[str, list[float]]


def wanted(rules: Rules, events: Sequence[Event]) -> Wanted:
    """What each rule matches."""
    found = Wanted({}, {})
    for name, when in rules:
        condition = parse_condition(when) if isinstance(when, str) else when
        held = [
            number for number, event in enumerate(events) if condition_truth(condition, event) is Truth.TRUE
        ]
        scores = [score(condition, events[number]) for number in held]
        found.events[name] = held
        found.scores[name] = sorted(each for each in scores if each is not None)
    return found


def check_overview(
    overview: Overview,
    rules: Rules,
    events: Sequence[Event],
    hours: Sequence[int | None],
    samples: int,
    tables: tuple[pa.Table, pa.Table, pa.Table],
) -> None:
    """Hold the tables of an overview (rules, over time, samples) to the judge.

    `hours` is when each event happened, in hours since 1970; an event's "number" is its place.
    """
    judged = wanted(rules, events)
    of_rules, over_time, sampled = tables
    rows = {row["rule"]: row for row in of_rules.to_pylist()}
    assert set(rows) == {name for name, _ in rules}
    for name, held in judged.events.items():
        row = rows[name]
        assert row["hits"] == len(held)
        assert row["rate"] == len(held) / max(1, len(events))
        assert (row["why"] is None) == bool(held)
        assert row["could_match"] or not held
        _check_scores([row[each] for each in SCORES], judged.scores[name])
    summary = overview.summary
    hits = [len(held) for held in judged.events.values()]
    assert summary.events == len(events)
    assert summary.matches == sum(hits)
    assert summary.matched == len({number for held in judged.events.values() for number in held})
    assert (summary.rules, summary.never) == (len(rules), hits.count(0))
    assert summary.always == (hits.count(len(events)) if events else 0)
    assert sum(summary.by_hits) == len(rules)
    _check_times(overview, over_time, judged, hours)
    _check_samples(sampled, judged, samples)


def _check_scores(found: list[float | None], scores: list[float]) -> None:
    if not scores:
        assert found == [None] * len(found)
        return
    for share, value in zip(QUANTILES, found, strict=True):
        exact = scores[max(1, math.ceil(share * len(scores) - 1e-9)) - 1]
        assert value is not None
        assert math.isclose(value, exact, rel_tol=0.006, abs_tol=1e-9)


def _check_times(
    overview: Overview, over_time: pa.Table, judged: Wanted, hours: Sequence[int | None]
) -> None:
    width = overview.summary.width
    if width is None:
        assert len(over_time) == 0
        assert not any(hour is not None for hour in hours)
        return

    def bucket(number: int) -> int | None:
        hour = hours[number]
        return None if hour is None else (hour * 3600 + 259_200) // width * width - 259_200

    found = Counter({(row["rule"], _second(row["at"])): row["hits"] for row in over_time.to_pylist()})
    assert found == Counter(
        (rule, bucket(number))
        for rule, held in judged.events.items()
        for number in held
        if bucket(number) is not None
    )
    times = {_second(row["at"]): row["events"] for row in overview.times.to_pylist()}
    assert times == Counter(each for number in range(len(hours)) if (each := bucket(number)) is not None)
    assert len({*times}) <= 60
    for row in over_time.to_pylist():
        assert row["events"] == times[_second(row["at"])]
        assert row["rate"] == row["hits"] / row["events"]


def _second(at: datetime) -> int:
    return round(at.timestamp())


def _check_samples(sampled: pa.Table, judged: Wanted, samples: int) -> None:
    shown: dict[str, list[int]] = {}
    for row in sampled.to_pylist():
        shown.setdefault(row["rule"], []).append(json.loads(row["json"])["number"])
    for rule, held in judged.events.items():
        numbers = shown.get(rule, [])
        assert set(numbers) <= set(held)
        assert len(set(numbers)) == len(numbers) <= samples
        assert bool(numbers) == bool(held and samples)
