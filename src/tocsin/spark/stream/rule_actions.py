"""What rules ask for when they match: the text of an alert, a throttle, a dedup field.

They stand in the rules' metadata, and are read when a rule first matches: most rules never do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

import numpy as np
import pyarrow as pa

from tocsin.arrays.dtypes import Ints, Longs
from tocsin.conditions.live import Snapshot
from tocsin.conditions.matching import Scores
from tocsin.rules import (
    ALERT,
    ALIAS,
    AlertPart,
    FieldPart,
    Throttles,
    aliases_in,
    dedup_text,
    read_alert,
    read_throttles,
)
from tocsin.spark.stream.alert_values import values_at
from tocsin.tables import parsed
from tocsin.watches import alert_text


@dataclass
class RuleActions:
    """The actions of the rules of a version, by the rules' numbers.

    place      int64[numbers]: the row of each rule in what follows
    alerts     the texts of alerts, and the names of tables that they are read with; None when no rule has one
    throttles  see rules/throttles.py
    """

    _place: Longs
    _alerts: pa.ChunkedArray | None
    _aliases: pa.ChunkedArray | None
    throttles: Throttles
    _parts: dict[int, Sequence[AlertPart] | None] = field(default_factory=dict)

    @staticmethod
    def of(version: Snapshot) -> RuleActions:
        """Those of a version's rules."""
        numbers = version.numbers()
        metadata = version.metadata_of(numbers)
        place = np.zeros(version.count, np.int64)
        place[numbers] = np.arange(len(numbers))
        throttles, _ = read_throttles(metadata, len(numbers))
        return RuleActions(place, _texts(metadata, ALERT), _texts(metadata, ALIAS), throttles)

    def named(self) -> tuple[str, ...]:
        """The top-level columns that texts and dedup fields of any rule look at, sorted."""
        paths = set(self.throttles.fields)
        if self._alerts is not None:
            texts = self._alerts.to_pylist()
            aliases = [None] * len(texts) if self._aliases is None else self._aliases.to_pylist()
            for text, alias in set(zip(texts, aliases, strict=True)):
                parts = _read(text, alias) or ()
                paths.update(part.path for part in parts if isinstance(part, FieldPart))
        return tuple(sorted({path[0] for path in paths}))

    def columns(
        self, rule: Ints, event: Longs, score: Scores, columns: Mapping[str, pa.Array]
    ) -> dict[str, pa.Array]:
        """`text`, `throttle` and `dedup` of matches, as far as any rule has them.

        `columns` are those of the events by name; match i is of event[i] with rule[i].
        """
        made: dict[str, pa.Array] = {}
        if self._alerts is not None:
            made["text"] = pa.array(self._alert_texts(rule, event, score, columns), pa.string())
        if self.throttles.any:
            place = self._place[rule]
            length = self.throttles.length[place]
            made["throttle"] = pa.array(length, mask=length == 0)
            if self.throttles.fields:
                made["dedup"] = pa.array(self._dedup_values(place, event, columns), pa.string())
        return made

    def _alert_texts(
        self, rule: Ints, event: Longs, score: Scores, columns: Mapping[str, pa.Array]
    ) -> Iterator[str | None]:
        scores = (
            repeat(None) if score is None else (None if each != each else each for each in score.tolist())
        )
        rows = _Rows(columns)
        for number, at, known in zip(rule.tolist(), event.tolist(), scores, strict=False):
            parts = self._parts_of(number)
            aliases = {part.alias for part in parts or () if isinstance(part, FieldPart)}
            yield alert_text(parts, dict.fromkeys(aliases, rows.row(at) if aliases else {}), known)

    def _parts_of(self, number: int) -> Sequence[AlertPart] | None:
        """The parts of a rule's text, read when it first matches."""
        if number not in self._parts and self._alerts is not None:
            place = int(self._place[number])
            alias = None if self._aliases is None else self._aliases[place].as_py()
            self._parts[number] = _read(self._alerts[place].as_py(), alias)
        return self._parts[number]

    def _dedup_values(self, place: Longs, event: Longs, columns: Mapping[str, pa.Array]) -> list[str | None]:
        fields = self.throttles.field[place]
        found: list[str | None] = [None] * len(event)
        for number in np.unique(fields[fields >= 0]).tolist():
            path = self.throttles.fields[number]
            matches = np.flatnonzero(fields == number)
            events, which = np.unique(event[matches], return_inverse=True)
            column = columns.get(path[0])
            texts = values_at(None if column is None else column.take(pa.array(events)), path, len(events))
            values = [None if text is None else dedup_text(text) for text in texts]
            for match, value in zip(matches.tolist(), which.tolist(), strict=True):
                found[match] = values[value]
        return found


def _texts(metadata: pa.Table | None, name: str) -> pa.ChunkedArray | None:
    """A column of texts, if there is one and anything in it."""
    if metadata is None or name not in metadata.column_names:
        return None
    column = metadata[name]
    is_text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    return column if is_text and column.null_count < len(column) else None


def _read(text: str | None, aliases: str | None) -> Sequence[AlertPart] | None:
    if not text:
        return None
    return read_alert(text, aliases_in(aliases))[0]


class _Rows:
    """The events that texts tell of, as Python values; each made when it is first asked for."""

    def __init__(self, columns: Mapping[str, pa.Array]) -> None:
        self._columns = columns
        self._texts: dict[str, list[str | None]] | None = None
        self._made: dict[int, dict[str, Any]] = {}

    def row(self, at: int) -> dict[str, Any]:
        """One event: the columns that it has a value in."""
        if self._texts is None:
            self._texts = {
                name: values_at(column, (name,), len(column)) for name, column in self._columns.items()
            }
        made = self._made.get(at)
        if made is None:
            row = {name: texts[at] for name, texts in self._texts.items()}
            made = {name: parsed(text) for name, text in row.items() if text is not None}
            self._made[at] = made
        return made
