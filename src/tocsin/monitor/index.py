"""The index that users hold: rules that are ready to be matched."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tocsin.errors import UnknownRuleError, UsageError
from tocsin.events.arrow import batch_of_table
from tocsin.events.cells import EventBatch
from tocsin.events.values import FieldPlan
from tocsin.grammar.conditions import parse_condition
from tocsin.grammar.rules import Rule
from tocsin.grammar.tree import Path
from tocsin.index.compiled import CompiledIndex, rule_ids, rule_metadata
from tocsin.index.file import open_index, save_index
from tocsin.monitor.explaining import Explanation, explain_condition
from tocsin.monitor.matcher import BatchMatches, Matcher
from tocsin.monitor.missing import warn_of_missing_fields
from tocsin.monitor.portions import BYTES_OF_ROW, cuts, first_size, next_size
from tocsin.monitor.results import MATCH_SCHEMA, Counts, Matches, match_batch
from tocsin.monitor.statistics import Statistics, statistics_of

BYTES_AT_ONCE = 1 << 26
"""Bytes in a batch of results, at most, but for a single row that is larger."""


class Index:
    """Rules compiled into one shared graph (`engine="atree"`). Made by tocsin.build or tocsin.open."""

    engine = "atree"

    def __init__(self, compiled: CompiledIndex) -> None:
        self._compiled = compiled
        self._matcher = Matcher(compiled)
        self._plan = FieldPlan(self._matcher.fields)
        self._ids = rule_ids(compiled)
        self._number_of: dict[str, int] | None = None
        self._metadata: pa.Table | None = None

    @property
    def fields(self) -> list[Path]:
        """The fields that the rules name: nothing else of an event is looked at."""
        return self._matcher.fields

    @property
    def ids(self) -> pa.LargeStringArray:
        """The rules' ids, in the rules' order."""
        return self._ids

    def __len__(self) -> int:
        return self._compiled.rule_count

    def __contains__(self, rule: object) -> bool:
        return rule in self._numbers()

    def __repr__(self) -> str:
        return f"<tocsin.Index of {len(self):,} rules>"

    def rule(self, rule: str) -> Rule:
        """A rule by its id; UnknownRuleError when there is none."""
        if rule not in self._numbers():
            raise UnknownRuleError(rule)
        number = self._numbers()[rule]
        if self._metadata is None:
            self._metadata = rule_metadata(self._compiled)
        row = self._metadata.slice(number, 1).to_pylist()[0]
        metadata = {name: value for name, value in row.items() if value is not None}
        return Rule(rule, self._compiled.rule_text.text(number), metadata)

    def match(self, event: Mapping[str, object]) -> Matches:
        """The rules that one event satisfies, in the rules' order."""
        return Matches(self._matcher.match_one(self._plan.batch([event])), self._ids)

    def match_table(
        self, table: pa.Table | pa.RecordBatch | pa.RecordBatchReader, *, count: bool = False
    ) -> pa.Table | pa.RecordBatchReader | Counts:
        """Match every row of a table: event (the row number), rule, score, by event and rule.

        A RecordBatchReader is read as the result is, and gives a RecordBatchReader. With `count`
        no match is written out: only how many there are for each event and for each rule.
        """
        if not isinstance(table, pa.Table | pa.RecordBatch | pa.RecordBatchReader):
            raise UsageError(f"match_table takes an Arrow table or reader, not {type(table).__name__}")
        warn_of_missing_fields(self.fields, table.schema)
        batches: Iterable[pa.Table | pa.RecordBatch]
        batches = table if isinstance(table, pa.RecordBatchReader) else [table]
        if count:
            return self._count(batches)
        found = self._match_batches(batches)
        if isinstance(table, pa.RecordBatchReader):
            return pa.RecordBatchReader.from_batches(MATCH_SCHEMA, found)
        return pa.Table.from_batches(found, MATCH_SCHEMA)

    def match_cells(self, batch: EventBatch) -> BatchMatches:
        """Match events that are cells already; rules are given by their number."""
        return self._matcher.match_batch(batch)

    def rows_of(self, events: NDArray[np.int64], rules: NDArray[np.int32]) -> pa.RecordBatch:
        """Numbers of events and rules as rows of the result."""
        return match_batch(events, rules, self._ids)

    def explain(self, rule: str, event: Mapping[str, object]) -> Explanation:
        """Why the rule matches the event, or why not; UnknownRuleError when there is no such rule."""
        return explain_condition(rule, parse_condition(self.rule(rule).when), event)

    def stats(self) -> Statistics:
        """Rules, nodes by kind and level, sharing, bytes by part, build seconds by phase."""
        return statistics_of(self._compiled)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the index to one file, whole or not at all."""
        save_index(self._compiled, path)

    def _numbers(self) -> dict[str, int]:
        if self._number_of is None:
            self._number_of = {rule: number for number, rule in enumerate(self._ids.to_pylist())}
        return self._number_of

    def _portions(
        self,
        batches: Iterable[pa.Table | pa.RecordBatch],
        *,
        write: bool,
        per_rule: NDArray[np.int64] | None = None,
    ) -> Iterator[BatchMatches]:
        """The matches of the batches' events, a portion after the other.

        A table is cut by events, not by its chunks, which may be as small as one row.
        """
        size = first_size(len(self))
        for batch in batches:
            start = 0
            while start < batch.num_rows:
                rows = min(size, batch.num_rows - start)  # Arrow would slice a table without columns too far
                piece = batch_of_table(batch.slice(start, rows), self.fields)
                found = self._matcher.match_batch(piece, write=write, per_rule=per_rule)
                yield found
                start += piece.length
                size = next_size(size, piece.length, len(found.rule))

    def _match_batches(self, batches: Iterable[pa.Table | pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        id_bytes = BYTES_OF_ROW + np.diff(self._compiled.rule_id.start)
        first = 0
        for found in self._portions(batches, write=True):
            numbers = np.arange(first, first + len(found.per_event), dtype=np.int64)
            events = np.repeat(numbers, found.per_event)
            for begin, end in cuts(id_bytes[found.rule], BYTES_AT_ONCE):
                yield self.rows_of(events[begin:end], found.rule[begin:end])
            first += len(numbers)

    def _count(self, batches: Iterable[pa.Table | pa.RecordBatch]) -> Counts:
        per_rule = np.zeros(len(self), np.int64)
        portions = self._portions(batches, write=False, per_rule=per_rule)
        per_event = [np.empty(0, np.int64), *(found.per_event for found in portions)]
        return Counts(pa.array(np.concatenate(per_event)), pa.array(per_rule))


def open_file(path: str | os.PathLike[str], *, verify: bool = True) -> Index:
    """Open a saved index; IndexFileError when it is damaged, foreign or of another version."""
    return Index(open_index(path, verify=verify))
