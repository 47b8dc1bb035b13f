"""The rules of an index at one moment: what a reader picks up once and then relies on.

A version is the number of the last change it knows and how many rules had been written by then; it
never changes, whatever is written meanwhile. Rules behind those that are compiled are *fresh*. A few of
them are asked one by one when a single event comes; else the first reader compiles them, perhaps with
the smallest layers, and leaves the result where the readers after it and later versions find it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.dtypes import Doubles, Ints, Longs
from tocsin.arrays.packed import starts
from tocsin.conditions.kernels.layer_matches import interleave, keep_alive
from tocsin.conditions.language.tree import Path
from tocsin.conditions.live.index_statistics import Statistics, statistics_of_layers
from tocsin.conditions.live.layers import Layer, Stack, compile_layer
from tocsin.conditions.live.ledger import Ledger, LedgerSnapshot
from tocsin.conditions.live.merge_policy import absorbed_with
from tocsin.conditions.live.uncompiled_rule import FreshRule
from tocsin.conditions.matching.event_reader import is_plain
from tocsin.conditions.matching.matcher import BatchMatches
from tocsin.conditions.matching.rule_dictionary import MadeDictionary, RuleDictionary
from tocsin.events import EventBatch
from tocsin.text import Dictionary, EventDocuments, TextBase

ASKED_ONE_BY_ONE = 48
"""Fresh rules that are asked one by one, not compiled for one event."""

Number = TypeVar("Number", np.int32, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Compiled:
    """How far the rules are compiled: the first `count` of them, those left out that were dead at `change`.

    claimed    layers, from the bottom, that a reader leaves as they are: someone is at work on them
    """

    stack: Stack
    count: int
    change: int
    claimed: int = 1


class Lineage:
    """Versions that followed one another since someone last worked on the layers.

    `latest` is set by readers without a lock. When two set it at once, the work of one is lost, and
    nothing else: whatever stands there is right for every version that knows its change.
    """

    __slots__ = ("latest",)

    def __init__(self, latest: Compiled) -> None:
        self.latest = latest


@dataclass(slots=True, eq=False)
class LayeredSnapshot(LedgerSnapshot):
    """The rules at one moment.

    change     the last change that this version knows
    count      rules written so far, dead ones included
    live       rules that are alive
    start      what was compiled when the version was made
    compactions   how often everything had been compiled anew
    """

    change: int
    ledger: Ledger
    count: int
    live: int
    lineage: Lineage
    start: Compiled
    compactions: int = 0
    _own: Stack | None = field(default=None, init=False, repr=False)
    _ids: MadeDictionary = field(default_factory=list, init=False, repr=False)

    @staticmethod
    def of(main: Layer) -> LayeredSnapshot:
        """The rules of a layer."""
        count = len(main)
        start = Compiled(Stack((main,)), count, 0)
        return LayeredSnapshot(0, Ledger(main.compiled), count, count, Lineage(start), start)

    @property
    def main(self) -> Layer:
        """The layer at the bottom."""
        return self.start.stack.layers[0]

    @property
    def texts(self) -> TextBase:
        """The dictionaries and settings that free text goes by."""
        return self.main.compiled.texts.base

    @property
    def fields(self) -> list[Path]:
        """The fields that the rules name, and perhaps some that only rules now deleted named."""
        return list(self.settled().fields)

    @property
    def text_fields(self) -> list[Path]:
        """The fields that free text asks, sorted; see `fields`."""
        return sorted({path for layer in self.layers for path in layer.matcher.texts.fields})

    @property
    def layers(self) -> Sequence[Layer]:
        """The layers of all the rules."""
        return self.settled().layers

    @property
    def dictionary(self) -> RuleDictionary:
        """The ids of the rules for tables of matches."""
        return RuleDictionary(self, self._ids)

    @property
    def is_whole(self) -> bool:
        """Whether the main index holds exactly the rules."""
        return self.live == self.count == self.ledger.main_count

    def next(self, live: int) -> LayeredSnapshot:
        """The version after another change, of which the ledger knows already."""
        return replace(
            self, change=self.change + 1, count=self.ledger.count, live=live, start=self.lineage.latest
        )

    def on(self, compiled: Compiled) -> LayeredSnapshot:
        """The same rules, compiled otherwise; a lineage begins."""
        return replace(self, lineage=Lineage(compiled), start=compiled)

    def reweighed(self, dictionaries: Mapping[Path, Dictionary]) -> LayeredSnapshot:
        """The same rules under the same numbers, with other dictionaries: see Index.reweighed."""
        stop_words = self.texts.stop_words
        layers = tuple(each.reweighed(dictionaries, stop_words) for each in self.settled().layers)
        return self.on(Compiled(Stack(layers), self.count, self.change))

    def settled(self) -> Stack:
        """Layers of all the rules: fresh ones are compiled, once, with the smallest layers below them."""
        if self._own is None:
            known = self._compiled_so_far()
            if known.count < self.count:
                known = self._with_fresh(known)
                if self.lineage.latest.change < known.change:
                    self.lineage.latest = known
            self._own = known.stack
        return self._own

    def _compiled_so_far(self) -> Compiled:
        latest = self.lineage.latest
        return latest if latest.change <= self.change else self.start

    def merged(self, layers: tuple[Layer, ...], first_fresh: int) -> Layer | None:
        """A layer of the rules of these younger layers and of the fresh ones; None when none is alive."""
        numbers = [each.numbers for each in layers if each.numbers is not None]
        every = np.concatenate([*numbers, np.arange(first_fresh, self.count)])
        alive = self._alive_among(every)
        return compile_layer(self.ledger.rules(alive), alive, self.main) if len(alive) else None

    def match_event(self, event: Mapping[str, object]) -> tuple[Ints, Doubles | None]:
        """The numbers of the rules that an event satisfies, ascending, and their scores.

        A score is NaN for a rule without free text; None when no rule has any.
        """
        stack, fresh = self._layers_for(event)
        documents = EventDocuments(wants_scores=stack.has_scores)
        found = self._match_one(event, documents, stack, fresh)
        if not stack.has_scores:
            return found, None
        if len(stack.layers) == 1 and not fresh:
            return found, stack.layers[0].scores(documents, found)
        return found, self.scores(stack, documents, np.zeros(len(found), np.int64), found)

    def _match_one(
        self,
        event: Mapping[str, object],
        documents: EventDocuments,
        stack: Stack,
        fresh: list[tuple[int, FreshRule]],
    ) -> Ints:
        main, *younger = [each.match_event(event, documents) for each in stack.layers]
        if self.ledger.dead_in_main:
            main = self._alive_among(main)
        if not younger and not fresh:
            return main
        asked = [
            number
            for number, rule in fresh
            if self.ledger.is_alive(number, self.change) and rule.matches(event)
        ]
        above = self._alive_among(np.concatenate((*younger, np.array(asked, np.int32))))
        return np.concatenate((main, above)) if len(above) else main

    def _layers_for(self, event: Mapping[str, object]) -> tuple[Stack, list[tuple[int, FreshRule]]]:
        """Layers to match one event against, and rules to ask one by one because they are fresh and few.

        Compiling costs as much as asking several rules, and the next change may come before the next
        match. An event that is not plain is left to the layers.
        """
        if self._own is None and type(event) is dict:
            known = self._compiled_so_far()
            if self.count == known.count:
                self._own = known.stack
            elif self.count - known.count <= ASKED_ONE_BY_ONE:
                fresh = [
                    (number, _fresh_rule(self.ledger.when(number)))
                    for number in range(known.count, self.count)
                ]
                odd = {name for name, value in event.items() if not is_plain(value)}
                if all(rule.is_plain and odd.isdisjoint(rule.fields) for _, rule in fresh):
                    return known.stack, fresh
        return self.settled(), []

    def match_cells(self, batch: EventBatch) -> BatchMatches:
        """Match events that are cells already; rules are given by their number."""
        documents = EventDocuments(batch, wants_scores=True)
        *below, top = (self._living(each.match(batch, documents)) for each in self.settled().layers)
        for found in reversed(below):
            top = _behind_each_other(found, top)
        return self._scored(documents, 0, top)

    def match_slices(
        self, batch: EventBatch, most_matches: int | None = None, *, kept: bool = False
    ) -> Iterator[BatchMatches]:
        """The same, some events at a time: see Snapshot.match_slices.

        The younger layers are small, and matched as a whole.
        """
        main, *younger = self.settled().layers
        documents = EventDocuments(batch, wants_scores=True)
        others = [self._living(each.match(batch, documents)) for each in younger]
        place = [starts(other.per_event, np.int64) for other in others]
        first = 0
        kept = kept and not younger  # else they are put together in new memory
        for slice_of_main in main.match_slices(batch, documents, most_matches, kept=kept):
            found = self._living(slice_of_main)
            last = first + len(found.per_event)
            for other, at in zip(others, place, strict=True):
                part = BatchMatches(other.rule[at[first] : at[last]], other.per_event[first:last])
                found = _behind_each_other(found, part)
            yield self._scored(documents, first, found)
            first = last

    def statistics(self) -> Statistics:
        """Rules, nodes by kind and level, sharing, bytes by part, build seconds by phase."""
        return statistics_of_layers([each.statistics() for each in self.layers], self.live, self.compactions)

    def count_cells(self, batch: EventBatch, per_rule: Longs) -> BatchMatches:
        """Count the matches of events; `per_rule`, by number, is added to.

        The rules of the matches are only given when some had to be written out, to leave out dead ones.
        """
        if self.live < self.count:
            found = self.match_cells(batch)
            per_rule += np.bincount(found.rule, minlength=len(per_rule))
            return found
        first, *others = (each.count(batch, per_rule) for each in self.settled().layers)
        for found in others:
            first.per_event[:] += found.per_event
        return first

    def _scored(self, documents: EventDocuments, first: int, found: BatchMatches) -> BatchMatches:
        """The matches of events `first`, `first + 1`, ... with their scores, if any rule has free text."""
        row = np.repeat(np.arange(first, first + len(found.per_event)), found.per_event)
        return found._replace(score=self.scores(self.settled(), documents, row, found.rule))

    @staticmethod
    def scores(stack: Stack, documents: EventDocuments, row: Longs, number: Ints) -> Doubles | None:
        """The scores of matches, of event row[i] with rule number[i]; None when no rule has free text."""
        if not stack.has_scores:
            return None
        layers = [each for each in stack.layers if each.matcher.texts.has_scores]
        score = np.full(len(number), np.nan)
        for each in layers:
            each.fill_scores(documents, row, number, score)
        return score

    def _living(self, found: BatchMatches) -> BatchMatches:
        if self.live == self.count:
            return found
        kept = keep_alive(found.rule, found.per_event, self.ledger.dead_at, self.change)
        return BatchMatches(found.rule[:kept], found.per_event)

    def _alive_among(self, numbers: NDArray[Number]) -> NDArray[Number]:
        dead_at = self.ledger.dead_at
        return numbers[dead_at[numbers] > self.change] if len(dead_at) else numbers

    def _with_fresh(self, known: Compiled) -> Compiled:
        layers = known.stack.layers
        taken = absorbed_with(self.count - known.count, [len(each) for each in layers[known.claimed :]])
        kept = layers[: len(layers) - taken]
        top = self.merged(layers[len(kept) :], known.count)
        stack = Stack(kept if top is None else (*kept, top), known.stack)
        return Compiled(stack, self.count, self.change, known.claimed)


def _behind_each_other(older: BatchMatches, younger: BatchMatches) -> BatchMatches:
    """For each event the matches of older rules, and behind them those of younger ones."""
    rule = np.empty(len(older.rule) + len(younger.rule), np.int32)
    interleave(older.rule, older.per_event, younger.rule, younger.per_event, rule)
    return BatchMatches(rule, older.per_event + younger.per_event)


_fresh_rule = lru_cache(maxsize=8 * ASKED_ONE_BY_ONE)(FreshRule)
