"""Facts with a time to live, in event time, before they go anywhere else.

A fact that is given at a time t lives until t + ttl: it goes in the first batch whose watermark has come so
far. Given again, it lives until the later of the two moments. All that goes in one batch goes at once, before
the changes of the batch, and has no seq. A fact that comes when its time is over already is passed
over. What leaves this stage are net changes of facts, so that nothing behind it need know about time. A fact
has an entry while it differs from what the program gives it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from tocsin.datalog.spark.stream.bucket_journal import Entries, Fact
from tocsin.datalog.spark.stream.buckets import Contents, Made
from tocsin.datalog.spark.stream.derivation_counts import FACTS_TO_AN_ENTRY
from tocsin.datalog.spark.stream.initial_facts import Initial
from tocsin.datalog.spark.stream.step_rows import Change, Moved, by_fact, in_turn


class Life(NamedTuple):
    """Whether a fact is given, and until when, in milliseconds; None for ever."""

    given: bool
    until: int | None


NEVER = Life(False, None)


class Lives(Contents):
    """The lives of the facts of a bucket; `ttl` is in milliseconds, by relation."""

    def __init__(self, initial: Initial, ttl: Mapping[str, int]) -> None:
        self._initial = initial
        self._ttl = ttl
        self.fill({})

    @property
    def size(self) -> int:
        """How much memory it takes, in facts of an engine."""
        return FACTS_TO_AN_ENTRY * len(self._ends)

    @property
    def next_end(self) -> int | None:
        """When the first of the facts goes."""
        while self._ends:
            until, fact = self._ends[0]
            if fact in self._lives and self._lives[fact].until == until:
                return until
            heappop(self._ends)
        return None

    def fill(self, entries: Entries) -> None:
        """Hold these entries and no others."""
        self._lives: dict[Fact, Life] = {fact: Life(*life) for fact, life in entries.items()}
        self._ends = [(life.until, fact) for fact, life in self._lives.items() if life.until is not None]
        heapify(self._ends)

    def follow(self, changed: Entries) -> None:
        """Change entries, and report nothing."""
        for fact, life in changed.items():
            if life is None:
                self._lives.pop(fact, None)
                continue
            given, until = life
            self._lives[fact] = Life(given, until)
            if until is not None:
                heappush(self._ends, (until, fact))

    def make(self, changes: Sequence[Change], watermark: int) -> Made:
        """Make the changes of a batch, after what is due."""
        made = Made([], {})
        arrived: dict[Fact, list[Change]] = {fact: [] for fact in self._due(watermark)}
        for fact, of_it in {**arrived, **by_fact(changes)}.items():
            start = Life(self._initial.is_fact(fact[0], fact[1:]), None)
            before = self._lives.get(fact, start)
            after, moved = lived(fact, before, of_it, self._ttl[fact[0]], watermark)
            made.moved.extend(moved)
            if after != before:
                made.changed[fact] = None if after == start else after
        self.follow(made.changed)
        return made

    def _due(self, watermark: int) -> list[Fact]:
        due: list[Fact] = []
        while (end := self.next_end) is not None and end <= watermark:
            due.append(heappop(self._ends)[1])
        return due


def lived(
    fact: Fact, life: Life, changes: Sequence[Change], ttl: int, watermark: int
) -> tuple[Life, list[Moved]]:
    """The life of a fact after a batch, and its net changes."""
    relation, texts = fact[0], fact[1:]
    moved: list[Moved] = []
    if life.until is not None and life.until <= watermark:
        life = NEVER
        moved.append(Moved("given", "-", relation, texts, None))
    times = _latest(changes)
    for seq, together in in_turn(changes):
        before = life.given
        for change in together:
            life = NEVER if change.op == "-" else _given(life, times[seq] + ttl, watermark)
        if life.given != before:
            moved.append(Moved("given", "+" if life.given else "-", relation, texts, seq))
    return life, moved


def _given(life: Life, until: int, watermark: int) -> Life:
    if until <= watermark:
        return life
    if life.until is not None:
        until = max(until, life.until)
    return Life(True, until)


def _latest(changes: Iterable[Change]) -> dict[int | None, int]:
    """The latest time at which the fact is given in each seq."""
    times: dict[int | None, int] = {}
    for change in changes:
        if change.op == "+" and change.time is not None:
            times[change.seq] = max(change.time, times.get(change.seq, change.time))
    return times
