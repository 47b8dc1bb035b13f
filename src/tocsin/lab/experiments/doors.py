"""Engines by name, through the door that everybody uses: built, timed, and held to one answer.

An engine that refuses rules is built of the others. What it gives is compared with atree's answer on
the rules that it took; a time counts only when they agree.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tocsin.errors import RuleError, TocsinError, UnsupportedError, each_error
from tocsin.lab.experiments.timing import timed
from tocsin.monitor.building import build

Event = Mapping[str, object]

JUDGE = "atree"
WARMING_RULES = 50


@dataclass(frozen=True)
class Door:
    """An engine that is ready. `index` is None when it refused every rule.

    taken       int64[...]   the places among all rules of those it took, ascending
    seconds     processor time from an Arrow table of rules to the index
    refusals    how many rules were refused for which reason
    """

    engine: str
    index: Any
    taken: NDArray[np.int64]
    seconds: float
    refusals: Mapping[str, int]

    @property
    def refused(self) -> int:
        """How many rules it did not take."""
        return sum(self.refusals.values())

    @property
    def bytes_matching(self) -> int | None:
        """What matching needs in memory; None when the engine cannot tell."""
        try:
            return int(sum(self.index.stats().bytes_matching.values()))
        except UnsupportedError:
            return None

    @property
    def phases(self) -> Mapping[str, float]:
        """Seconds of building by phase, where the engine tells them."""
        try:
            return dict(self.index.stats().seconds)
        except UnsupportedError:
            return {}


def open_door(rules: pa.Table, engine: str) -> Door:
    """Build, without the rules that the engine refuses; the time is that of building the others."""
    gc.collect()
    every = np.arange(rules.num_rows)
    try:
        index, seconds = timed(lambda: build(rules, engine))
        return Door(engine, index, every, seconds, {})
    except RuleError as error:
        errors = each_error(error)
    refused = {each.rule for each in errors}
    taken = every[[rule not in refused for rule in rules["id"].to_pylist()]]
    reasons = Counter({each.rule: each.reason for each in errors}.values())
    if not len(taken):
        return Door(engine, None, taken, 0.0, reasons)
    few = rules.take(pa.array(taken))
    index, seconds = timed(lambda: build(few, engine))
    return Door(engine, index, taken, seconds, reasons)


def open_doors(rules: pa.Table, engines: Sequence[str]) -> dict[str, Door]:
    """Build all of them; atree is among them, as it is the judge."""
    return {engine: open_door(rules, engine) for engine in with_judge(engines)}


def with_judge(engines: Sequence[str]) -> list[str]:
    """These engines, and atree before them if it is none of them."""
    return list(engines) if JUDGE in engines else [JUDGE, *engines]


def warm(rules: pa.Table, events: Sequence[Event], engines: Sequence[str]) -> None:
    """Compile what will be timed."""
    for door in open_doors(rules.slice(0, WARMING_RULES), engines).values():
        if door.index is not None:
            for event in events[:2]:
                door.index.match(event)


def hold_to_judge(doors: Mapping[str, Door], events: Sequence[Event]) -> list[int]:
    """Compare every engine's matches with atree's, rule by rule; atree's number of matches per event.

    TocsinError names the first difference.
    """
    judge = doors[JUDGE].index
    answers = [judge.match(event).numbers for event in events]
    for door in doors.values():
        if door.index is not None and door.engine != JUDGE:
            for number, (event, answer) in enumerate(zip(events, answers, strict=True)):
                found = door.taken[door.index.match(event).numbers]
                expected = answer[np.isin(answer, door.taken)] if door.refused else answer
                if not np.array_equal(found, expected):
                    raise TocsinError(_difference(door.engine, number, found, expected))
    return [len(each) for each in answers]


def _difference(engine: str, event: int, found: NDArray[np.int64], expected: NDArray[np.int64]) -> str:
    wrong = np.setxor1d(found, expected)
    return (
        f"the engine {engine} and {JUDGE} differ on event {event}: {len(found):,} and {len(expected):,} "
        f"matches, first on rule {wrong[0] if len(wrong) else 'order'}"
    )


def refusal_note(door: Door, rules: int) -> str:
    """How many rules an engine refused, and why."""
    reasons = "; ".join(f"{count:,}: {reason}" for reason, count in Counter(door.refusals).most_common(3))
    return f"{door.engine} refused {door.refused:,} of {rules:,} rules ({reasons})"
