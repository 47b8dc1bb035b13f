"""Recursion, semi-naive: each round joins what came in the last one with all that is there.

    new(0) = what the steps give that need nothing of the component
    new(i) = what the steps give from new(i - 1), each tuple once, without what is there; until it is empty

What is there is a list of stored pieces. When there are many, the last one is merged with those before it
that are not much larger, so that there are few of them and each tuple is stored anew only now and then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from tocsin.datalog.machine.normal_form import head_of, reads
from tocsin.datalog.spark.batch.component_plan import Component
from tocsin.datalog.spark.batch.join_rule import BROADCAST_ROWS
from tocsin.datalog.spark.batch.step_frames import Steps
from tocsin.datalog.spark.batch.stored_frames import Frame, Storage
from tocsin.datalog.spark.batch.value_columns import FAILURE, without_failure
from tocsin.errors import DerivationError

MOST_ROUNDS = 10_000
"""A recursion that has not ended by then computes ever new values."""

_FEW = 8
"""So many pieces are left as they are."""

_MERGED = 2
"""A piece is merged with one that has at most so many times its rows."""


def united(plans: Sequence[DataFrame]) -> DataFrame:
    """All rows of several DataFrames of the same columns, of which some have failures."""
    if any(FAILURE in plan.columns for plan in plans):
        plans = [plan if FAILURE in plan.columns else without_failure(plan) for plan in plans]
    return reduce(DataFrame.unionAll, plans)


class Recursion:
    """A component while it is worked out. `outside` are the relations that it needs of other components."""

    def __init__(
        self, component: Component, steps: Steps, storage: Storage, outside: Mapping[str, Frame]
    ) -> None:
        self._component = component
        self._steps = steps
        self._storage = storage
        self._outside = outside
        self._pieces: dict[str, list[Frame]] = {name: [] for name in component.members}
        self.rounds = 0

    def finish(
        self, given: Mapping[str, Sequence[DataFrame]], check: Callable[[int], None]
    ) -> dict[str, Frame]:
        """Go on from what is given until nothing new comes; `check` is told how many tuples there are."""
        members = set(self._component.members)
        plans = {name: list(given.get(name, ())) for name in self._component.members}
        for step in self._component.steps:
            if not reads(step) & members:
                plans[head_of(step)] += self._steps.given(step, self._outside)
        new = self._stored(plans)
        while any(frame.rows for frame in new.values()):
            check(sum(_rows(piece) for pieces in self._pieces.values() for piece in pieces))
            self.rounds += 1
            if self.rounds > MOST_ROUNDS:
                raise DerivationError(f"no end after {MOST_ROUNDS:,} rounds of recursion")
            new = self._round(new)
        return {name: self._all(name) for name in self._component.members}

    def _round(self, new: Mapping[str, Frame]) -> dict[str, Frame]:
        frames = {**self._outside, **{name: self._all(name) for name in self._component.members}}
        plans: dict[str, list[DataFrame]] = {}
        for step in self._component.steps:
            if any(name in new and not new[name].is_empty for name in reads(step)):
                plans.setdefault(head_of(step), []).extend(self._steps.given(step, frames, new))
        return self._stored(plans)

    def _stored(self, plans: Mapping[str, Sequence[DataFrame]]) -> dict[str, Frame]:
        """Store what plans give that is not there yet."""
        candidates = {name: united(given).distinct() for name, given in plans.items() if given}
        large = {name: plan for name, plan in candidates.items() if self._is_large(name)}
        counted = self._storage.store(large)
        new = {
            name: self._not_there(name, counted.get(name) or Frame(plan, None, distinct=True))
            for name, plan in candidates.items()
        }
        found = self._storage.store(new)
        for frame in counted.values():
            self._storage.let_go(frame)
        for name, frame in found.items():
            if not frame.is_empty:
                self._add(name, frame)
        return found

    def _is_large(self, name: str) -> bool:
        return sum(map(_rows, self._pieces[name])) > BROADCAST_ROWS

    def _not_there(self, name: str, candidates: Frame) -> DataFrame:
        """The candidates without what is there, which is not shuffled where either of them is small."""
        if not self._pieces[name]:
            return candidates.data
        known, names = self._all(name).data, self._steps.columns[name].names
        if not self._is_large(name):
            known = F.broadcast(known)
        elif _rows(candidates) <= BROADCAST_ROWS:
            known = F.broadcast(known.join(F.broadcast(candidates.data), names, "left_semi"))
        return candidates.data.join(known, names, "left_anti")

    def _add(self, name: str, frame: Frame) -> None:
        """One more piece; when there are many, it is merged with those before it that are not much larger."""
        pieces = self._pieces[name]
        pieces.append(frame)
        last = 1
        while last < len(pieces) and _rows(pieces[-last - 1]) <= _MERGED * sum(map(_rows, pieces[-last:])):
            last += 1
        if last > 1 and len(pieces) > _FEW:
            plan = united([piece.data for piece in pieces[-last:]])
            merged = self._storage.store({name: plan})[name]
            for piece in pieces[-last:-1]:
                self._storage.let_go(piece)
            pieces[-last:] = [merged]

    def _all(self, name: str) -> Frame:
        pieces = self._pieces[name]
        if not pieces:
            return self._steps.empty(name)
        return Frame(united([piece.data for piece in pieces]), sum(map(_rows, pieces)), distinct=True)


def _rows(frame: Frame) -> int:
    if frame.rows is None:
        raise AssertionError("what is stored is counted")
    return frame.rows
