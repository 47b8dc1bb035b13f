"""Engines by name, through the door that everybody uses: built, timed, and held to one answer.

An engine that refuses rules is built of the others. What it gives is compared with atree's answer on
the rules that it took; a time counts only when they agree.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.arrays.dtypes import Longs
from tocsin.engines.build import build
from tocsin.errors import RuleError, TocsinError, UnsupportedError, each_error
from tocsin.rules import Rules
from tocsin_lab.experiments.clocks import Seconds, in_turns, timed
from tocsin_lab.experiments.event_steps import Event

JUDGE = "atree"
WARMING_RULES = 50
PROBED_RULES = (20, 200)

_NONE = np.empty(0, np.int64)


@dataclass(frozen=True)
class Offer:
    """Rules that engines are offered. All share the texts; `seconds` of reading the table count for each."""

    rules: Rules
    seconds: float

    @classmethod
    def of(cls, table: pa.Table) -> Offer:
        """The rules of a table."""
        return cls(*timed(lambda: Rules.of(table)))

    def first(self, count: int) -> Offer:
        """The first so many rules."""
        return Offer(self.rules.take(np.arange(min(count, len(self.rules)))), 0.0)


@dataclass(frozen=True)
class Door:
    """An engine that is ready, unless it refused too much: then `index` is None.

    offered     how many rules it was offered
    rules       those it took
    taken       int64[...]   their places among all rules, ascending
    spent       processor time from an Arrow table of rules to the index, of each time that it was built
    reading     of them, that of reading the table, which engines share
    refusals    how many rules were refused for which reason
    """

    engine: str
    index: Any
    offered: int
    rules: Rules
    taken: Longs
    spent: tuple[float, ...] = (0.0,)
    reading: float = 0.0
    refusals: Mapping[str, int] = field(default_factory=dict)

    @property
    def seconds(self) -> Seconds:
        """Of building."""
        return Seconds.of(self.spent)

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


def open_door(offer: Offer, engine: str) -> Door:
    """Build, without the rules that the engine refuses; the time is that of building the others.

    An engine may refuse more when the first are gone, as what it shares is then shared otherwise.
    """
    rules, taken = offer.rules, np.arange(len(offer.rules))
    reasons: Counter[str] = Counter()
    while len(rules):
        gc.collect()
        try:
            index, seconds = timed(lambda these=rules: build(these, engine))  # type: ignore[misc]
            spent = (offer.seconds + seconds,)
            return Door(engine, index, len(offer.rules), rules, taken, spent, offer.seconds, reasons)
        except RuleError as error:
            why = {each.rule: each.reason for each in each_error(error)}
        except UnsupportedError as error:
            reasons[str(error)] += len(rules)
            rules, taken = rules.take(_NONE), _NONE
            break
        reasons.update(why.values())
        refused = pc.is_in(rules.ids, pa.array(list(why), rules.ids.type))
        left = np.flatnonzero(~refused.to_numpy(zero_copy_only=False))
        rules, taken = rules.take(left), taken[left]
    return Door(engine, None, len(offer.rules), rules, taken, refusals=reasons)


def open_door_if_it_takes(offer: Offer, engine: str) -> Door:
    """Build only if the engine takes the first few rules, all of them.

    An engine that refuses some of these cannot cope with rules of this kind, and would take long to
    refuse so many.
    """
    for count in PROBED_RULES:
        few = offer.first(count).rules
        try:
            build(few, engine)
        except RuleError as error:
            why = Counter({each.rule: each.reason for each in each_error(error)}.values())
            return Door(engine, None, len(few), few.take(_NONE), _NONE, refusals=why)
    return open_door(offer, engine)


def rebuilt(doors: Sequence[Door], rounds: int) -> list[Door]:
    """The same doors, with the times of building them again in turns beside that of having built them."""
    works = {
        place: partial(build, door.rules, door.engine)
        for place, door in enumerate(doors)
        if door.index is not None
    }
    taken = in_turns(works, rounds)
    return [
        replace(door, spent=(*door.spent, *(door.reading + each for each in taken.get(place, ()))))
        for place, door in enumerate(doors)
    ]


def with_judge(engines: Sequence[str]) -> list[str]:
    """These engines, and atree before them if it is none of them."""
    return list(engines) if JUDGE in engines else [JUDGE, *engines]


def warm(offer: Offer, events: Sequence[Event], engines: Sequence[str]) -> None:
    """Compile what will be timed."""
    for engine in with_judge(engines):
        door = open_door(offer.first(WARMING_RULES), engine)
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


def _difference(engine: str, event: int, found: Longs, expected: Longs) -> str:
    wrong = np.setxor1d(found, expected)
    return (
        f"the engine {engine} and {JUDGE} differ on event {event}: {len(found):,} and {len(expected):,} "
        f"matches, first on rule {wrong[0] if len(wrong) else 'order'}"
    )


def refusal_note(door: Door) -> str:
    """How many rules an engine refused, and why."""
    known = f"the engine {door.engine} cannot take this rule: "
    reasons = "; ".join(
        f"{count:,}: {reason.removeprefix(known)}" for reason, count in Counter(door.refusals).most_common(3)
    )
    built = "" if door.index is not None else ", and was not built"
    return f"{door.engine} refused {door.refused:,} of {door.offered:,} rules ({reasons}){built}"
