"""An index in parts, opened: every question goes to all parts, or to the one that has the rule."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path as FilePath

import numpy as np
import pyarrow as pa

from tocsin.conditions.graph.shards import read_parts
from tocsin.conditions.language.tree import Path
from tocsin.conditions.live.explanation import Explanation
from tocsin.conditions.live.index import Index, open_file
from tocsin.conditions.live.index_statistics import Statistics, sum_of_statistics
from tocsin.conditions.live.sharded_snapshot import VersionInParts
from tocsin.conditions.live.table_matcher import TableMatching
from tocsin.conditions.matching.missing_fields import warn_of_missing_fields
from tocsin.conditions.matching.results import MATCH_SCHEMA, Counts, Match
from tocsin.errors import IndexFileError, UnknownRuleError, UnsupportedError, UsageError, telling
from tocsin.rules.rule_set import Rule

EVENTS_AT_ONCE = 16_384
"""Events that go past all parts together, so that their matches come by event."""


class IndexInParts:
    """The rules of several indexes, each rule in one of them: what ts.build writes when it is given shards.

    It answers as an Index of all rules does, in the order of the parts. Its rules cannot be changed: each
    part is an ordinary index, and `parts` has them.
    """

    engine = Index.engine

    def __init__(self, parts: list[Index]) -> None:
        self.parts = tuple(parts)

    @property
    def version(self) -> VersionInParts:
        """The rules of all parts as they are now, and stay in what this gives."""
        return VersionInParts([part.version for part in self.parts])

    @cached_property
    def fields(self) -> list[Path]:
        """The fields that the rules name."""
        return self.version.fields

    @property
    def ids(self) -> pa.LargeStringArray:
        """The rules' ids, part by part."""
        return pa.concat_arrays([pa.array([], pa.large_string()), *(part.ids for part in self.parts)])

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    def __contains__(self, rule: object) -> bool:
        return any(rule in part for part in self.parts)

    def __repr__(self) -> str:
        return f"<tocsin.IndexInParts of {len(self):,} rules in {len(self.parts)} parts>"

    def rule(self, rule: str) -> Rule:
        """A rule by its id; UnknownRuleError when there is none."""
        return self._part_with(rule).rule(rule)

    @telling("explaining a rule")
    def explain(self, rule: str, event: Mapping[str, object]) -> Explanation:
        """Why the rule matches the event, or why not; UnknownRuleError when there is no such rule."""
        return self._part_with(rule).explain(rule, event)

    @telling("matching an event")
    def match(self, event: Mapping[str, object]) -> list[Match]:
        """The rules that one event satisfies."""
        return [match for part in self.parts for match in part.match(event)]

    @telling("matching a table")
    def match_table(
        self,
        table: pa.Table | pa.RecordBatch | pa.RecordBatchReader,
        *,
        count: bool = False,
        threads: int | None = None,
    ) -> pa.Table | pa.RecordBatchReader | Counts:
        """Match every row of a table: see Index.match_table."""
        if not isinstance(table, pa.Table | pa.RecordBatch | pa.RecordBatchReader):
            raise UsageError(f"match_table takes an Arrow table or reader, not {type(table).__name__}")
        warn_of_missing_fields(self.fields, table.schema)
        if count:
            return self._counts(table, threads)
        if isinstance(table, pa.RecordBatchReader):
            return pa.RecordBatchReader.from_batches(MATCH_SCHEMA, self._matches(table, threads))
        whole = pa.Table.from_batches([table]) if isinstance(table, pa.RecordBatch) else table
        return pa.Table.from_batches(self._matches(whole, threads), MATCH_SCHEMA)

    def stats(self) -> Statistics:
        """The sum over the parts, with what two of them share counted twice."""
        return sum_of_statistics([part.stats() for part in self.parts])

    def insert(self, *_: object, **__: object) -> None:
        """Not here: UnsupportedError."""
        raise UnsupportedError("the rules of an index in parts cannot be changed: build it anew")

    replace = delete = apply = compact = reweighed = insert

    def save(self, path: str | os.PathLike[str]) -> None:
        """Not here: UnsupportedError."""
        raise UnsupportedError(f"cannot write {path}: an index in parts is a folder that ts.build writes")

    def _part_with(self, rule: str) -> Index:
        for part in self.parts:
            if rule in part:
                return part
        raise UnknownRuleError(rule)

    def _matches(
        self, table: pa.Table | pa.RecordBatchReader, threads: int | None
    ) -> Iterator[pa.RecordBatch]:
        """The matches by event, for some events after the other."""
        first = 0
        for rows in _portions(table):
            matchings = [TableMatching(part.version, rows, threads) for part in self.parts]
            found = pa.Table.from_batches(
                [batch for each in matchings for batch in each.matches()], MATCH_SCHEMA
            )
            events = found.column("event").to_numpy()
            ordered = found.take(pa.array(np.argsort(events, kind="stable")))
            places = pa.array(ordered.column("event").to_numpy() + first)
            yield from ordered.set_column(0, MATCH_SCHEMA.field("event"), places).to_batches()
            first += rows.num_rows

    def _counts(self, table: pa.Table | pa.RecordBatch | pa.RecordBatchReader, threads: int | None) -> Counts:
        whole = table.read_all() if isinstance(table, pa.RecordBatchReader) else table
        counts = [TableMatching(part.version, whole, threads).counts() for part in self.parts]
        per_event = np.sum([each.per_event.to_numpy() for each in counts], axis=0, dtype=np.int64)
        return Counts(pa.array(per_event), pa.concat_arrays([each.per_rule for each in counts]))


RuleIndex = Index | IndexInParts
"""An index of rules, whole or in parts."""


def open_parts(path: str | os.PathLike[str], *, verify: bool = True) -> IndexInParts:
    """Open an index in parts; IndexFileError when a part is damaged, missing or not the one of the others."""
    opened = []
    for part in read_parts(path):
        opened.append(open_file(FilePath(path) / part.file, verify=verify))
        if len(opened[-1]) != part.rules:
            raise IndexFileError(
                f"{path} is damaged: {part.file} has {len(opened[-1]):,} rules and should have {part.rules:,}"
            )
    return IndexInParts(opened)


def _portions(table: pa.Table | pa.RecordBatchReader) -> Iterator[pa.Table]:
    """Some rows at a time."""
    tables = [table] if isinstance(table, pa.Table) else (pa.Table.from_batches([batch]) for batch in table)
    for whole in tables:
        for first in range(0, whole.num_rows, EVENTS_AT_ONCE):
            yield whole.slice(first, min(EVENTS_AT_ONCE, whole.num_rows - first))
