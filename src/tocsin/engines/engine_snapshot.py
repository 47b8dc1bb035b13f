"""The rules of an engine beside the A-Tree: as they were built, matched by any of them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from tocsin.arrays.dtypes import Doubles, Ints, Longs
from tocsin.arrays.packed import joined
from tocsin.conditions.graph.compiled_index import CompiledIndex, compile_rules
from tocsin.conditions.kernels.plane_links import Links
from tocsin.conditions.language.tree import Path
from tocsin.conditions.live.build_settings import Preparation
from tocsin.conditions.live.explanation import check_event
from tocsin.conditions.live.fixed_rules import FixedRules
from tocsin.conditions.live.index import Index
from tocsin.conditions.live.index_statistics import Statistics, statistics_of
from tocsin.conditions.live.layers import Layer
from tocsin.conditions.live.ledger import Ledger, LedgerSnapshot
from tocsin.conditions.matching.matcher import BatchMatches
from tocsin.conditions.matching.threads import thread_count
from tocsin.engines.engine import Engine, EngineBuilder, RefusedRules
from tocsin.engines.kernels.expressions import expressions_of
from tocsin.engines.predicate_stage import PredicateStage
from tocsin.errors import RuleError, raise_all
from tocsin.events.cells import EventBatch
from tocsin.rules.rule_set import Rules
from tocsin.text import EventDocuments


class EngineSnapshot(LedgerSnapshot):
    """Rules laid out for one engine, and found through their literals."""

    change = 0
    layers: tuple[Layer, ...] = ()

    def __init__(self, name: str, engine: Engine, compiled: CompiledIndex, seconds: dict[str, float]) -> None:
        self._engine = engine
        self._stage = PredicateStage(compiled)
        counted = replace(statistics_of(compiled), engine=name, seconds=seconds)
        self._statistics = replace(counted, and_nodes=0, or_nodes=0, levels=(), edges=0, uses=0.0)
        self.ledger = Ledger(_without_graph(compiled))
        self.count = self.live = compiled.rule_count

    @property
    def fields(self) -> list[Path]:
        """The fields that the rules name: nothing else of an event is looked at."""
        return self._stage.fields

    def match_event(self, event: Mapping[str, object]) -> tuple[Ints, Doubles | None]:
        """The numbers of the rules that an event satisfies, ascending, and their scores."""
        check_event(event)
        documents = EventDocuments(wants_scores=self._stage.texts.has_scores)
        found = self._engine.match(self._stage.of_event(event, documents)).item
        if not documents.wants_scores:
            return found, None
        return found, self._stage.texts.scores(documents, np.zeros(len(found), np.int64), found)

    def match_cells(self, batch: EventBatch) -> BatchMatches:
        """Match events that are cells already; rules are given by their number."""
        found = list(self.match_slices(batch))
        scores = [each.score for each in found if each.score is not None]
        return BatchMatches(
            joined([each.rule for each in found], np.int32),
            joined([each.per_event for each in found], np.int64),
            joined(scores, np.float64) if self._stage.texts.has_scores else None,
        )

    def match_slices(self, batch: EventBatch, most_matches: int | None = None) -> Iterator[BatchMatches]:
        """The same, some events at a time: as many as an engine is given together."""
        del most_matches
        documents = EventDocuments(batch, wants_scores=True)
        texts = self._stage.texts
        first = 0
        for held in self._stage.of_batch(batch, documents):
            found = self._engine.match(held)
            per_event = np.diff(found.start)
            score = None
            if texts.has_scores:
                row = np.repeat(np.arange(first, first + len(per_event)), per_event)
                score = texts.scores(documents, row, found.item)
            first += len(per_event)
            yield BatchMatches(found.item, per_event, score)

    def count_cells(self, batch: EventBatch, per_rule: Longs) -> BatchMatches:
        """Count the matches of events; `per_rule`, by number, is added to."""
        found = self.match_cells(batch)
        per_rule += np.bincount(found.rule, minlength=len(per_rule))
        return found

    def threads(self, asked: int | None) -> int:
        """One, whatever is asked for."""
        thread_count(asked, ())
        return 1

    def statistics(self) -> Statistics:
        """Rules, predicates, bytes by part, build seconds by phase."""
        ids = sum(array.nbytes for array in self.ledger.main.rule_id)
        parts = {**self._stage.bytes_of_parts(), **self._engine.bytes_of_parts(), "rule_id": ids}
        return replace(self._statistics, bytes_matching=parts)


class EngineRules(FixedRules):
    """The store of such rules."""

    shards: tuple[Index, ...] = ()

    def __init__(self, engine: str, version: EngineSnapshot) -> None:
        self.engine = engine
        self.version = version
        self.title = f"tocsin index of {{rules}} rules, engine {engine}"
        self._are_fixed = f"the rules of the engine {engine} cannot be changed: build with engine='atree'"
        self._has_no_file = f"the engine {engine} has no file, build with engine='atree'"


def build_with_engine(name: str, build: EngineBuilder, rules: Rules, preparation: Preparation) -> Index:
    """An index whose rules are matched by an engine; RuleError or RuleErrors when it cannot take some."""
    compiled = compile_rules(rules, base=preparation.base)
    expressions = expressions_of(compiled.graph, compiled.leaf_count)
    started = time.perf_counter()
    try:
        engine = build(expressions)
    except RefusedRules as refusal:
        errors = {
            number: RuleError(f"the engine {name} cannot take this rule: {reason}")
            for number, reason in sorted(refusal.reasons.items())
        }
        raise_all([rules.error(number, error) for number, error in errors.items()])
        raise
    seconds = {**compiled.facts, name: time.perf_counter() - started}
    return Index(EngineRules(name, EngineSnapshot(name, engine, compiled, seconds)))


def _without_graph(compiled: CompiledIndex) -> CompiledIndex:
    """The same rules by their ids and texts; what the engine has no use for is not kept."""
    nothing = np.empty(0, np.int32)
    graph = compiled.graph._replace(false_leaf=nothing, child_start=nothing, child=nothing)
    return compiled._replace(graph=graph, links=Links(*[nothing] * len(Links._fields)))
