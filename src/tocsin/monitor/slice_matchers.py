"""The engines as matchers of slices: what each wants to read, and how it matches that."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from tocsin.events.cells import Path
from tocsin.events.files import EventChunk
from tocsin.events.json_lines import parse_lines
from tocsin.grammar.conditions import parse_condition
from tocsin.grammar.rules import Rules
from tocsin.grammar.tree import Predicate
from tocsin.monitor.index import Index
from tocsin.monitor.kept import JSON
from tocsin.monitor.matcher import BatchMatches
from tocsin.monitor.scan import ScanIndex


class IndexOnSlices:
    """The shared index: it wants cells."""

    columns: Sequence[str] = ()

    def __init__(self, index: Index) -> None:
        self.index = index
        self.fields: Sequence[Path] = index.fields

    def __len__(self) -> int:
        return len(self.index)

    def names(self) -> pa.StringArray:
        """The rules' ids, by their numbers."""
        numbers = np.arange(len(self))
        return self.index.rows_of(numbers, numbers.astype(np.int32)).column("rule")

    def match(self, chunk: EventChunk, _columns: Mapping[str, pa.Array]) -> BatchMatches:
        """Match the cells of a chunk."""
        return self.index.match_cells(chunk.events)


class ScanOnSlices:
    """The engine scan: it wants the values of whole columns, as Python objects."""

    def __init__(self, index: ScanIndex, rules: Rules) -> None:
        self._index = index
        taken = [row for row, rule in enumerate(rules.ids.to_pylist()) if rule in index]
        self._rules = rules.take(np.array(taken, np.int64))
        self.fields: Sequence[Path] = _fields(self._rules)
        self.columns: Sequence[str] = sorted({path[0] for path in self.fields})

    def __len__(self) -> int:
        return len(self._index)

    def names(self) -> pa.StringArray:
        """The rules' ids, by their numbers."""
        return self._rules.ids.cast(pa.string())

    def match(self, chunk: EventChunk, columns: Mapping[str, pa.Array]) -> BatchMatches:
        """Match the rows of the columns one by one."""
        wanted = {name: columns[name] for name in self.columns if name in columns}
        found = [self._index.match(event).numbers for event in _events(wanted, len(chunk.rows))]
        rule = np.concatenate([np.zeros(0, np.int32), *found])
        return BatchMatches(rule, np.array([len(each) for each in found], np.int64))


def _fields(rules: Rules) -> list[Path]:
    fields: dict[Path, None] = {}
    for row, text in enumerate(rules.whens.to_pylist()):
        steps = parse_condition(text, rules.aliases.get(row)).steps
        fields.update((step.field, None) for step in steps if isinstance(step, Predicate))
    return list(fields)


def _events(columns: Mapping[str, pa.Array], length: int) -> Iterable[Mapping[str, object]]:
    """The rows of columns; JSON texts are read by the parser that read them before."""
    texts = {name: column.storage.to_pylist() for name, column in columns.items() if column.type == JSON}
    values = {
        name: column.to_pylist(maps_as_pydicts="lossy")
        for name, column in columns.items()
        if name not in texts
    }
    for row in range(length):
        members = [
            f"{json.dumps(name)}: {column[row]}" for name, column in texts.items() if column[row] is not None
        ]
        (event,) = parse_lines([f"{{{', '.join(members)}}}".encode()]).events
        yield event | {name: column[row] for name, column in values.items()}
