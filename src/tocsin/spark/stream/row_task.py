"""In a worker: rows of a DataFrame to found rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.events.arrow_tables import batch_of_table
from tocsin.events.cells import EventBatch
from tocsin.spark.event_columns import Layout
from tocsin.spark.stream.alert_values import keys_of, mended
from tocsin.spark.stream.batch_counts import Tally
from tocsin.spark.stream.found_rows import Wanted
from tocsin.spark.stream.frame_source import KAFKA_PLACE
from tocsin.spark.stream.match_task import Events, Finder, Rejected
from tocsin.spark.stream.rule_version import RuleVersion

UNKNOWN_PLACE = "?"
"""The place of a row that has no key."""


class RowReader:
    """Finds what one task's rows match; made for each task, as its columns are known with its first batch."""

    def __init__(self, layout: Layout, rules: RuleVersion, wanted: Wanted) -> None:
        self._layout = layout
        self._rules = rules
        self._wanted = wanted
        self._finder: Finder | None = None

    @property
    def tally(self) -> Tally:
        """What was counted."""
        return Tally(tasks=1) if self._finder is None else self._finder.tally

    def rows(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """The found rows of a batch. Rows with texts that are not valid UTF-8 are rejects."""
        kept = self._layout.kept[: len(self._wanted.keep)]
        looked_at = self._layout.kept[len(kept) :]
        if self._finder is None:
            schema = pa.schema([batch.schema.field(column).with_name(name) for column, name in kept])
            self._finder = Finder(self._rules, self._wanted, schema)
        finder = self._finder
        columns = {name: batch.column(column) for column, name in looked_at}
        place, ordinal = self._places(columns, batch.num_rows)
        unreadable = _without_place(place)
        cells = self._cells(finder, batch, unreadable)
        if unreadable:
            bad = sorted(unreadable)
            yield from finder.rejected(
                Rejected(place[row].as_py() or UNKNOWN_PLACE, ordinal[row].as_py() or "", unreadable[row])
                for row in bad
            )
            good = np.delete(np.arange(batch.num_rows), bad)
            yield from self.rows(batch.take(pa.array(good)))
            return
        others = {name: batch.column(column) for column, name in kept}
        yield from finder.rows(Events(cells, place, ordinal, columns, others))

    def _cells(self, finder: Finder, batch: pa.RecordBatch, unreadable: dict[int, str]) -> EventBatch:
        if not self._layout.tested:
            return EventBatch(batch.num_rows, {})
        arrays = [batch.column(column) for column, _ in self._layout.tested]
        table = pa.RecordBatch.from_arrays(arrays, names=[name for _, name in self._layout.tested])
        return batch_of_table(table, finder.fields, unreadable)

    def _places(self, columns: dict[str, pa.Array], count: int) -> tuple[pa.Array, pa.Array]:
        """Where each row stands: Kafka's place, or else its key."""
        if self._wanted.key is None:
            topic, partition, offset = (columns[name].cast(pa.string()) for name in KAFKA_PLACE)
            place = pc.binary_join_element_wise(topic, partition, offset, "/")
            padded = pc.utf8_lpad(partition, 10, "0"), pc.utf8_lpad(offset, 20, "0")
            return place, pc.binary_join_element_wise(topic, *padded, "/")
        column, _ = mended(columns[self._wanted.key[0]])
        key, _ = keys_of(column, self._wanted.key, count)
        known = key.fill_null(UNKNOWN_PLACE)
        return known, known


def _without_place(place: pa.Array) -> dict[int, str]:
    """Rows that nobody could name: of Kafka's columns, which are to tell them apart, one is null."""
    if not place.null_count:
        return {}
    reason = f"without a key, {', '.join(KAFKA_PLACE)} tell rows apart, and one of them is missing"
    return dict.fromkeys(np.flatnonzero(place.is_null().to_numpy(zero_copy_only=False)).tolist(), reason)
