"""Rules compiled in several goes: layers, the oldest and largest at the bottom, all for one engine.

    top      a few rules, compiled a moment ago
             ...
    bottom   the main index

The numbers of a layer's rules are all larger than those of the layers below it, so what an event
matches is in order when the layers' matches are put one behind the other.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tocsin.arrays.dtypes import Doubles, Ints, Longs
from tocsin.conditions.graph.compiled_index import CompiledIndex, compile_beside
from tocsin.conditions.graph.index_file import save_index
from tocsin.conditions.language.tree import Path
from tocsin.conditions.live.change_requests import Change
from tocsin.conditions.live.index_statistics import GRAPH_ENGINE, Statistics, statistics_of
from tocsin.conditions.matching.matcher import BatchMatches, LayerMatcher, Matcher
from tocsin.events import EventBatch
from tocsin.rules import Rules
from tocsin.text import Dictionary, EventDocuments

if TYPE_CHECKING:
    from tocsin.conditions.live.index import Index


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """Some rules, compiled.

    numbers    int32[n]   of each rule its number among all rules, ascending; None when its place is it
    """

    compiled: CompiledIndex
    matcher: LayerMatcher
    numbers: Ints | None = None

    @property
    def engine(self) -> str:
        """Which engine finds the rules."""
        return GRAPH_ENGINE

    def like(self, compiled: CompiledIndex, numbers: Ints | None = None) -> Layer:
        """A layer of other rules for the same engine; RuleError or RuleErrors when it cannot take some."""
        return Layer(compiled, Matcher(compiled), numbers)

    def reweighed(self, dictionaries: Mapping[Path, Dictionary], stop_words: Collection[str]) -> Layer:
        """The same rules under the same numbers, with words that weigh otherwise: nothing is compiled."""
        texts = self.compiled.texts.reweighed(dictionaries, stop_words)
        compiled = self.compiled._replace(texts=texts)
        return replace(self, compiled=compiled, matcher=self.matcher.with_texts(compiled))

    def check_taken(self, changes: Sequence[Change]) -> None:
        """RuleError or RuleErrors for rules to add that the engine cannot take. The A-Tree takes all."""

    def statistics(self) -> Statistics:
        """What it consists of, in numbers."""
        return statistics_of(self.compiled)

    @property
    def opener(self) -> Callable[[str], Index]:
        """What opens a file that `save` has written, with all checks."""
        from tocsin.conditions.live.index import open_file

        return open_file

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write its rules to one file, whole or not at all."""
        save_index(self.compiled, path)

    def __len__(self) -> int:
        return self.compiled.rule_count

    def match_event(self, event: Mapping[str, object], documents: EventDocuments) -> Ints:
        """The numbers of the rules that an event satisfies. Its documents are told to `documents`."""
        found = self.matcher.match_event(event, documents)
        return found if self.numbers is None else self.numbers[found]

    def match(self, batch: EventBatch, documents: EventDocuments) -> BatchMatches:
        """The matches of a batch, in numbers; `documents` are the batch's."""
        found = self.matcher.match_batch(batch, documents)
        return found if self.numbers is None else BatchMatches(self.numbers[found.rule], found.per_event)

    def match_slices(
        self, batch: EventBatch, documents: EventDocuments, most_matches: int | None, *, kept: bool
    ) -> Iterator[BatchMatches]:
        """The same, some events at a time: see LayerMatcher.match_slices."""
        for found in self.matcher.match_slices(batch, documents, most_matches=most_matches, kept=kept):
            yield found if self.numbers is None else found._replace(rule=self.numbers[found.rule])

    def count(self, batch: EventBatch, per_rule: Longs) -> BatchMatches:
        """The matches of a batch, only counted; `per_rule`, by number, is added to."""
        if self.numbers is None:
            return self.matcher.match_batch(batch, write=False, per_rule=per_rule[: len(self)])
        counts = np.zeros(len(self), np.int64)
        found = self.matcher.match_batch(batch, write=False, per_rule=counts)
        per_rule[self.numbers] += counts
        return found

    def scores(self, documents: EventDocuments, number: Ints) -> Doubles:
        """The scores of matches of a single event, all of this layer, the main one."""
        return self.matcher.texts.scores(documents, np.zeros(len(number), np.int64), number)

    def fill_scores(self, documents: EventDocuments, row: Longs, number: Ints, score: Doubles) -> None:
        """Write the scores of those matches, of event row[i] with rule number[i], that are this layer's."""
        if self.numbers is None:
            own = np.flatnonzero(number < len(self))
            rule = number[own]
        else:
            place = np.minimum(np.searchsorted(self.numbers, number), len(self) - 1)
            own = np.flatnonzero(self.numbers[place] == number)
            rule = place[own].astype(np.int32)
        score[own] = self.matcher.texts.scores(documents, row[own], rule)

    def moved(self, by: int) -> Layer:
        """The same rules under other numbers."""
        if self.numbers is None:
            raise ValueError("the main index keeps its numbers")
        return replace(self, numbers=self.numbers + np.int32(by))


class Stack:
    """Layers that are matched together, and the fields that any of them names."""

    __slots__ = ("fields", "has_scores", "layers")

    def __init__(self, layers: tuple[Layer, ...], like: Stack | None = None) -> None:
        """`like` is a stack with some of these layers: when it knows all fields, they are used again."""
        self.layers = layers
        self.has_scores = any(each.matcher.texts.has_scores for each in layers)
        self.fields: dict[Path, None]
        known = set() if like is None else {id(each) for each in like.layers}
        fields = [path for each in layers if id(each) not in known for path in each.matcher.fields]
        if like is not None and like.fields.keys() >= set(fields):
            self.fields = like.fields
        else:
            self.fields = dict.fromkeys(path for each in layers for path in each.matcher.fields)


def main_layer(compiled: CompiledIndex) -> Layer:
    """The layer at the bottom."""
    return Layer(compiled, Matcher(compiled))


def compile_layer(rules: Rules, numbers: Longs, like: Layer) -> Layer:
    """A layer of the rules with these numbers, beside another one."""
    return like.like(compile_beside(like.compiled, rules), numbers.astype(np.int32))
