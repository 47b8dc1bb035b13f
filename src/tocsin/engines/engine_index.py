"""The door of the engines beside the A-Tree: rules as they were built, matched by any of them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np
import pyarrow as pa

from tocsin.arrays.packed import joined
from tocsin.conditions.graph.compiled_index import compile_rules
from tocsin.conditions.language.tree import Path
from tocsin.conditions.live.build_settings import Preparation
from tocsin.conditions.live.explanation import Explanation, check_event, explain_rule
from tocsin.conditions.live.index_statistics import EngineStatistics
from tocsin.conditions.live.table_matcher import BYTES_AT_ONCE
from tocsin.conditions.matching.matcher import BatchMatches
from tocsin.conditions.matching.missing_fields import warn_of_missing_fields
from tocsin.conditions.matching.portions import EVENTS_AT_ONCE
from tocsin.conditions.matching.results import MATCH_SCHEMA, Counts, Matches, match_batches
from tocsin.conditions.matching.rule_names import Names
from tocsin.conditions.matching.threads import thread_count
from tocsin.engines.engine import Engine, EngineBuilder, RefusedRules
from tocsin.engines.fixed_rules import FixedRules
from tocsin.engines.kernels.expressions import expressions_of
from tocsin.engines.predicate_stage import PredicateStage
from tocsin.errors import RuleError, UnknownRuleError, UsageError, raise_all, tell, telling
from tocsin.events.arrow_tables import batch_of_table
from tocsin.events.cells import EventBatch
from tocsin.rules.rule_set import Rule, Rules
from tocsin.text.batch_documents import BatchDocuments


class EngineIndex(FixedRules):
    """Rules laid out for one engine. Made by tocsin.build; threads may share it."""

    def __init__(self, engine: str, build: EngineBuilder, rules: Rules, preparation: Preparation) -> None:
        self.engine = engine
        self._rules = rules
        compiled = compile_rules(rules, base=preparation.base)
        expressions = expressions_of(compiled.graph, compiled.leaf_count)
        started = time.perf_counter()
        refused: dict[int, str] = {}
        try:
            self._engine: Engine = build(expressions)
        except RefusedRules as refusal:
            refused = refusal.reasons
        errors = {
            number: RuleError(f"the engine {engine} cannot take this rule: {reason}")
            for number, reason in refused.items()
        }
        raise_all([rules.error(number, error) for number, error in sorted(errors.items())])
        self._stage = PredicateStage(compiled)
        self._seconds = {**compiled.facts, engine: time.perf_counter() - started}
        self._names = Names.of(rules.ids)

    @property
    def fields(self) -> list[Path]:
        """The fields that the rules name: nothing else of an event is looked at."""
        return self._stage.fields

    @property
    def ids(self) -> pa.LargeStringArray:
        """The rules' ids, in the rules' order."""
        return self._rules.ids

    def __len__(self) -> int:
        return len(self._rules)

    def __contains__(self, rule: object) -> bool:
        return isinstance(rule, str | int) and str(rule) in self._number_of

    def __repr__(self) -> str:
        return f"<tocsin index of {len(self):,} rules, engine {self.engine}>"

    def rule(self, rule: str) -> Rule:
        """A rule by its id; UnknownRuleError when there is none."""
        return self._rules[self._number(rule)]

    def match(self, event: Mapping[str, object]) -> Matches:
        """The rules that one event satisfies, in the rules' order."""
        check_event(event)
        try:
            found = self._engine.match(self._stage.of_event(event)).item
        except MemoryError as error:
            tell(error, "matching an event")
        if not self._stage.texts.has_scores:
            return Matches(found, self._names)
        documents = self._stage.documents_of(event)
        scores = self._stage.texts.scores(documents, np.zeros(len(found), np.int64), found)
        return Matches(found, self._names, scores)

    @telling("matching a table")
    def match_table(
        self,
        table: pa.Table | pa.RecordBatch | pa.RecordBatchReader,
        *,
        count: bool = False,
        threads: int | None = None,
    ) -> pa.Table | pa.RecordBatchReader | Counts:
        """Match every row of a table, as Index.match_table does; `threads` is 1, whatever it says."""
        thread_count(threads, ())
        if not isinstance(table, pa.Table | pa.RecordBatch | pa.RecordBatchReader):
            raise UsageError(f"match_table takes an Arrow table or reader, not {type(table).__name__}")
        warn_of_missing_fields(self.fields, table.schema)
        if count:
            return self._counts(table)
        if isinstance(table, pa.RecordBatchReader):
            return pa.RecordBatchReader.from_batches(MATCH_SCHEMA, self._matches(table))
        return pa.Table.from_batches(self._matches(table), MATCH_SCHEMA)

    @telling("explaining a rule")
    def explain(self, rule: str, event: Mapping[str, object]) -> Explanation:
        """Why the rule matches the event, or why not; UnknownRuleError when there is no such rule."""
        return explain_rule(self._rules, self._number(rule), event, self._stage.texts.base.settings())

    def stats(self) -> EngineStatistics:
        """Rules, predicates, bytes by part, build seconds by phase."""
        ids = sum(buffer.size for buffer in self.ids.buffers() if buffer is not None)
        parts = {**self._stage.bytes_of_parts(), **self._engine.bytes_of_parts(), "rule_id": ids}
        return EngineStatistics(self.engine, len(self), self._stage.literals, parts, dict(self._seconds))

    @cached_property
    def _number_of(self) -> dict[str, int]:
        return {rule: number for number, rule in enumerate(self.ids.to_pylist())}

    def _number(self, rule: str) -> int:
        if rule not in self:
            raise UnknownRuleError(rule)
        return self._number_of[str(rule)]

    def match_cells(self, events: EventBatch) -> BatchMatches:
        """Match events that are cells already; rules are given by their number."""
        found = list(self._found(events))
        scores = [each.score for each in found if each.score is not None]
        return BatchMatches(
            joined([each.rule for each in found], np.int32),
            joined([each.per_event for each in found], np.int64),
            joined(scores, np.float64) if self._stage.texts.has_scores else None,
        )

    def _found(self, events: EventBatch) -> Iterator[BatchMatches]:
        """The rules of some events at a time."""
        documents = BatchDocuments(events, wants_scores=True)
        texts = self._stage.texts
        first = 0
        for held in self._stage.of_batch(events, documents):
            found = self._engine.match(held)
            per_event = np.diff(found.start)
            score = None
            if texts.has_scores:
                row = np.repeat(np.arange(first, first + len(per_event)), per_event)
                score = texts.scores(documents, row, found.item)
            first += len(per_event)
            yield BatchMatches(found.item, per_event, score)

    def _matches(self, table: pa.Table | pa.RecordBatch | pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
        first = 0
        for portion in _portions(table):
            for found in self._found(batch_of_table(portion, self.fields)):
                yield from match_batches(first, found, self._names, BYTES_AT_ONCE)
                first += len(found.per_event)

    def _counts(self, table: pa.Table | pa.RecordBatch | pa.RecordBatchReader) -> Counts:
        per_event = [np.empty(0, np.int64)]
        per_rule = np.zeros(len(self), np.int64)
        for portion in _portions(table):
            for found in self._found(batch_of_table(portion, self.fields)):
                per_event.append(found.per_event)
                per_rule += np.bincount(found.rule, minlength=len(self))
        return Counts(pa.array(np.concatenate(per_event)), pa.array(per_rule))


def _portions(
    table: pa.Table | pa.RecordBatch | pa.RecordBatchReader,
) -> Iterator[pa.Table | pa.RecordBatch]:
    """The table by some thousand events; a stream as it comes, its batches cut when they are larger."""
    for batch in table if isinstance(table, pa.RecordBatchReader) else [table]:
        for start in range(0, batch.num_rows, EVENTS_AT_ONCE):
            yield batch.slice(start, min(EVENTS_AT_ONCE, batch.num_rows - start))
