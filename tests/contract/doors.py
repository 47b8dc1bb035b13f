"""Every way from events to matches, and what each has to give: the judge is conditions/meaning.py."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from tests.cases import Event

from tocsin import Index, build, build_good
from tocsin.conditions.language import Condition, print_condition
from tocsin.conditions.matching import match_batch
from tocsin.conditions.meaning import matches
from tocsin.events import FieldPlan, plan_slices, read_slice
from tocsin.matches import FewRules, few_events
from tocsin.rules import Rules

RuleSet = Sequence[tuple[str, Condition]]
Found = list[tuple[int, str]]
"""(event, rule), by event and then in the rules' order."""


def indexed(rules: Any, engine: str = "atree") -> Any:
    """An index of rules in any form; of any type, so that a test may ask it anything."""
    return build(rules, engine=engine)


def built(rules: RuleSet, engine: str = "atree") -> Any:
    """An index of the rules, from their texts."""
    return indexed([(name, print_condition(condition)) for name, condition in rules], engine)


def taken(rules: RuleSet, engine: str) -> tuple[Any, RuleSet]:
    """An index of the rules that the engine takes, and these rules; the others it refuses by name."""
    texts = [(name, print_condition(condition)) for name, condition in rules]
    index, errors = build_good(texts, engine)
    refused = {error.rule for error in errors}
    assert not refused or engine != "atree"
    for error in errors:
        assert error.reason.startswith(f"the engine {engine} cannot take this rule: ")
    return index, [(name, condition) for name, condition in rules if name not in refused]


def expected(rules: RuleSet, events: Sequence[Event]) -> Found:
    """The right answer."""
    return [
        (number, name)
        for number, event in enumerate(events)
        for name, condition in rules
        if matches(condition, event)
    ]


def by_event(index: Any, events: Sequence[Event]) -> Found:
    """One event after the other."""
    return [(number, match.rule) for number, event in enumerate(events) for match in index.match(event)]


def by_cells(index: Index, events: Sequence[Event]) -> Found:
    """All events at once, in blocks, as cells made from Python objects."""
    version = index.version
    matched = version.match_cells(FieldPlan(version.fields).batch(events))
    at = np.repeat(np.arange(len(events)), matched.per_event)
    return rows(pa.Table.from_batches([match_batch(at, matched.rule, version.names)]))


def rows(result: pa.Table) -> Found:
    """A result as pairs; scores are all null without free text."""
    assert result.schema.names == ["event", "rule", "score"]
    assert result["score"].null_count == result.num_rows
    return list(zip(result["event"].to_pylist(), result["rule"].to_pylist(), strict=True))


def by_table(index: Any, table: pa.Table | pa.RecordBatch) -> Found:
    """A whole table at once."""
    return rows(index.match_table(table))


def by_reader(index: Any, table: pa.Table, batch_rows: int) -> Found:
    """A stream of batches."""
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=batch_rows))
    result = index.match_table(reader)
    assert isinstance(result, pa.RecordBatchReader)
    return rows(result.read_all())


def by_file(index: Index, path: Path, batch_rows: int = 8_192, slice_bytes: int = 2**20) -> Found:
    """A file or folder of events, as the command line and Spark read it."""
    found: Found = []
    version = index.version
    for piece in plan_slices(path, slice_bytes):
        for chunk in read_slice(piece, version.fields, batch_rows=batch_rows):
            matched = version.match_cells(chunk.events)
            result = match_batch(np.repeat(chunk.rows, matched.per_event), matched.rule, version.names)
            found += rows(pa.Table.from_batches([result]))
    return found


def by_few(rules: RuleSet, path: Path) -> Found:
    """A small file or folder, as the command line matches it without an index."""
    read = Rules.of([(name, print_condition(condition)) for name, condition in rules])
    slices = plan_slices(path)
    events = few_events(slices, 1)
    assert events is not None
    few = FewRules(read, events)
    found: Found = []
    for piece in slices:
        for chunk in read_slice(piece, few.fields, batch_rows=7):
            matched = few.match_rows(chunk.rows)
            names = few.names.take(pa.array(matched.rule))
            result = [
                pa.array(np.repeat(chunk.rows, matched.per_event)),
                names,
                pa.nulls(len(names), pa.float64()),
            ]
            assert matched.score is None
            found += rows(pa.table(result, names=["event", "rule", "score"]))
    return found


def counted(rules: RuleSet, events: int, found: Found) -> tuple[list[int], list[int]]:
    """Matches per event and per rule."""
    per_event = [0] * events
    per_rule = {name: 0 for name, _ in rules}
    for event, rule in found:
        per_event[event] += 1
        per_rule[rule] += 1
    return per_event, list(per_rule.values())
