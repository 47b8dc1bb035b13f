"""Rules that an engine beside the A-Tree matches, as a layer of the index that users hold.

                  conditions/live/layers.py
    main layer    an engine of most rules
    others        the same engine of rules that came later: the first paper's "small delta indexes"

What changes, what readers see meanwhile and when all layers become one is decided for them as for the
A-Tree's. An engine only has to be built of rules, again and again, so it knows nothing of changes.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from tocsin.arrays.array_checks import Array
from tocsin.arrays.dtypes import Ints, Longs
from tocsin.arrays.packed import joined
from tocsin.conditions.graph.compiled_index import CompiledIndex, compile_like, compile_rules, rule_ids
from tocsin.conditions.kernels.leaves import OneEvent
from tocsin.conditions.language.tree import Path
from tocsin.conditions.live.build_settings import Preparation
from tocsin.conditions.live.change_requests import Change
from tocsin.conditions.live.index import Index
from tocsin.conditions.live.index_statistics import Statistics, statistics_of
from tocsin.conditions.live.layers import Layer
from tocsin.conditions.matching.matcher import BatchMatches
from tocsin.engines.engine import Engine, RefusedRules
from tocsin.engines.engine_file import read_engine, save_engine
from tocsin.engines.kernels.expressions import expressions_of
from tocsin.engines.predicate_stage import PredicateStage
from tocsin.engines.registry import BUILDERS, REFUSE_ONLY_LARGE_TREES
from tocsin.errors import RuleError, raise_all
from tocsin.events.cells import EventBatch
from tocsin.rules.rule_set import Rules
from tocsin.text import EventDocuments, TextMatcher

SHORT = 2_048
"""Characters of a condition without `xor` and `xnor`: its tree has fewer leaves, and its labels far fewer
numbers than any engine refuses."""

_DOUBLING = re.compile("xn?or", re.IGNORECASE)
"""What may stand for an operator that doubles the trees below it."""


class EngineMatcher:
    """An engine, and the literals that it is given. Threads may share it."""

    def __init__(self, name: str, engine: Engine, compiled: CompiledIndex) -> None:
        self.name = name
        self.engine = engine
        self._stage = PredicateStage(compiled)

    def with_texts(self, index: CompiledIndex) -> EngineMatcher:
        """The same for an index that differs in the weights of words alone."""
        return EngineMatcher(self.name, self.engine, index)

    @property
    def texts(self) -> TextMatcher:
        """The free text of the rules."""
        return self._stage.texts

    @property
    def fields(self) -> list[Path]:
        """The fields that the rules name, in order."""
        return self._stage.fields

    @property
    def most_scratch(self) -> int:
        """Bytes that one thread uses, about: no engine writes to more than it reads."""
        return sum(self.bytes_of_parts().values())

    def match_event(self, event: object, documents: EventDocuments) -> Ints:
        """The rules that an event satisfies, ascending. Its documents are told to `documents`."""
        return self.match_read(self.read_event(event, documents), documents)

    def read_event(self, event: object, documents: EventDocuments) -> OneEvent:
        """The first step of match_event: what the event holds."""
        return self._stage.read_event(event, documents)

    def match_read(self, values: OneEvent, _documents: EventDocuments) -> Ints:
        """The step after reading: the rules that match, ascending."""
        return self.engine.match(self._stage.of_read(values)).item

    def match_batch(
        self,
        batch: EventBatch,
        documents: EventDocuments | None = None,
        *,
        write: bool = True,
        per_rule: Longs | None = None,
    ) -> BatchMatches:
        """Match a batch; `per_rule`, when given, is added to."""
        rules, per_event = [], []
        for found in self.match_slices(batch, documents):
            if per_rule is not None:
                per_rule += np.bincount(found.rule, minlength=len(per_rule))
            rules.append(found.rule if write else found.rule[:0])
            per_event.append(found.per_event)
        return BatchMatches(joined(rules, np.int32), joined(per_event, np.int64))

    def match_slices(
        self, batch: EventBatch, documents: EventDocuments | None = None, *, most_matches: int | None = None
    ) -> Iterator[BatchMatches]:
        """The same, some events at a time: as many as an engine is given together."""
        del most_matches
        for held in self._stage.of_batch(batch, documents):
            found = self.engine.match(held)
            yield BatchMatches(found.item, np.diff(found.start))

    def bytes_of_parts(self) -> dict[str, int]:
        """The memory that matching needs, by part."""
        return {**self._stage.bytes_of_parts(), **self.engine.bytes_of_parts()}


@dataclass(frozen=True, slots=True, eq=False)
class EngineLayer(Layer):
    """Some rules, laid out for an engine. The graph of their conditions is there to be saved."""

    matcher: EngineMatcher

    @property
    def engine(self) -> str:
        """Which engine finds the rules."""
        return self.matcher.name

    def like(self, compiled: CompiledIndex, numbers: Ints | None = None) -> EngineLayer:
        """A layer of other rules for the same engine; RuleError or RuleErrors when it cannot take some."""
        try:
            return engine_layer(self.engine, compiled, numbers)
        except RefusedRules as refusal:
            ids = rule_ids(compiled)
            raise_all(
                [
                    RuleError(error.reason, rule=ids[number].as_py())
                    for number, error in _errors(self.engine, refusal).items()
                ]
            )
            raise

    def check_taken(self, changes: Sequence[Change]) -> None:
        """RuleError or RuleErrors for rules to add that the engine cannot take: it is built of them alone.

        Of what cannot be too large it is not asked: that would take a hundred times as long as the change.
        """
        sure = SHORT if self.engine in REFUSE_ONLY_LARGE_TREES else 0
        added = [
            each for each in changes if each.adds and (len(each.when) > sure or _DOUBLING.search(each.when))
        ]
        if added:
            text = pa.large_string()
            ids, whens = pa.array([each.rule for each in added], text), [each.when for each in added]
            rules = Rules(ids, pa.array(whens, text), lines=np.arange(1, len(added) + 1))
            self.like(compile_like(self.compiled, rules))

    def statistics(self) -> Statistics:
        """Rules, predicates, bytes by part, build seconds by phase."""
        ids = sum(array.nbytes for array in self.compiled.rule_id)
        parts = {**self.matcher.bytes_of_parts(), "rule_id": ids}
        counted = replace(statistics_of(self.compiled), engine=self.engine, bytes_matching=parts)
        return replace(counted, and_nodes=0, or_nodes=0, levels=(), edges=0, uses=0.0, organisations=())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write its rules and what the engine has made of them to one file, whole or not at all."""
        save_engine(self.engine, self.matcher.engine, self.compiled, path)


def engine_layer(name: str, compiled: CompiledIndex, numbers: Ints | None = None) -> EngineLayer:
    """Lay compiled rules out for an engine; RefusedRules when it cannot take some."""
    started = time.perf_counter()
    engine = BUILDERS[name](expressions_of(compiled.graph, compiled.leaf_count))
    seconds = {**compiled.facts, name: time.perf_counter() - started}
    return EngineLayer(
        compiled._replace(facts=seconds), numbers=numbers, matcher=EngineMatcher(name, engine, compiled)
    )


def build_with_engine(name: str, rules: Rules, preparation: Preparation) -> Index:
    """An index whose rules are matched by an engine; RuleError or RuleErrors when it cannot take some."""
    compiled = compile_rules(rules, base=preparation.base)
    try:
        return Index(engine_layer(name, compiled))
    except RefusedRules as refusal:
        raise_all([rules.error(number, error) for number, error in _errors(name, refusal).items()])
        raise


def open_engine(file: str, header: dict[str, Any], arrays: dict[str, Array], *, verify: bool = True) -> Index:
    """The index that a mapped file of an engine holds; IndexFileError when it is damaged."""
    name, engine, compiled = read_engine(file, header, arrays, verify=verify)
    return Index(EngineLayer(compiled, EngineMatcher(name, engine, compiled)))


def _errors(name: str, refusal: RefusedRules) -> dict[int, RuleError]:
    """What is said of the rules that an engine cannot take, by their number."""
    return {
        number: RuleError(f"the engine {name} cannot take this rule: {reason}")
        for number, reason in sorted(refusal.reasons.items())
    }
