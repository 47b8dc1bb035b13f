"""Any streaming DataFrame as a source of events: a row is an event.

Only the columns that rules, key, time, kept fields and alerts' texts name are brought to the workers. A row
has no place of its own, so one of its columns has to be the key; rows of Kafka's have topic, partition
and offset.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyspark.sql.functions as F  # noqa: N812  (as everybody writes it)
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.types import IntegralType, StringType, StructField, VariantType

from tocsin.errors import InputError, UsageError
from tocsin.spark.event_columns import Layout, by_place, plan_shipment, ship_columns
from tocsin.spark.event_columns import Path as FieldPath
from tocsin.spark.match_worker import cells_of_batch
from tocsin.spark.stream.alert_values import keys_of, mended
from tocsin.spark.stream.match_columns import Wanted
from tocsin.spark.stream.match_task import Events, Finder, Rejected
from tocsin.spark.stream.rule_version import RuleVersion
from tocsin.spark.stream.source import Search, Source

KAFKA_PLACE = ("topic", "partition", "offset")
UNKNOWN_PLACE = "?"
"""The place of a row that has no key."""


class _Needed(NamedTuple):
    """What a version of the rules needs of the events: one column `event`, and how it is made up."""

    rules: RuleVersion
    column: Column
    layout: Layout
    kept: Sequence[StructField]


@dataclass
class TableSource(Source):
    """A streaming DataFrame."""

    events: DataFrame
    _needed: _Needed | None = None

    @staticmethod
    def of(events: DataFrame) -> TableSource:
        """UsageError when it is no streaming one."""
        if not events.isStreaming:
            raise UsageError("a stream needs a streaming DataFrame (readStream); ts.match is for the others")
        return TableSource(events)

    @property
    def name(self) -> str:
        """Its columns, the first few."""
        names = self.events.columns
        return f"a DataFrame ({', '.join(names[:5])}{', ...' if len(names) > 5 else ''})"

    def identity(self) -> dict[str, Any]:
        """Nobody can tell where a DataFrame comes from; Spark's checkpoint knows its offsets."""
        return {"kind": "dataframe"}

    def check(self, wanted: Wanted, rules: RuleVersion) -> Sequence[StructField]:
        """Everything that is named is there, and can be brought to a worker."""
        if wanted.key is None and not self._has_places():
            raise UsageError(
                "the rows of a DataFrame have no place that they could be known by: name a key, a column that"
                " tells them apart"
            )
        for what, path in (("key", wanted.key), ("time", wanted.time)):
            if path is not None and path[0] not in self.events.columns:
                raise UsageError(f"the DataFrame has no column {path[0]!r} to be the {what}")
        self._check_variants(wanted, rules)
        _, shipment = ship_columns(self.events, *self._looked_at(rules, wanted))
        kept = shipment.kept[: len(wanted.keep)]
        return [StructField(field.name, field.dataType, True, field.metadata) for field in kept]

    def stream(self, session: SparkSession, checkpoint: Path) -> DataFrame:  # noqa: ARG002
        """The DataFrame, its columns named by their places."""
        return by_place(self.events)

    def found(self, batch: DataFrame, search: Search) -> DataFrame:
        """One pass over the columns that are needed."""
        needed = self._needed_by(search.rules, search.wanted)
        look = partial(_look, needed.layout, search.wanted)
        return search.found(batch.select(needed.column), (), needed.kept, look)

    def _needed_by(self, rules: RuleVersion, wanted: Wanted) -> _Needed:
        """What is needed, as one struct: every column that Python hands to Spark takes calls to Java.

        With some twenty of them, made again for each batch, that would be a good part of a batch's time.
        """
        if self._needed is None or self._needed.rules != rules:
            shipment = plan_shipment(self.events.schema, *self._looked_at(rules, wanted))
            kept = shipment.kept[: len(wanted.keep)]
            self._needed = _Needed(
                rules,
                F.struct(*shipment.columns).alias("event"),
                shipment.layout,
                [StructField(field.name, field.dataType, True) for field in kept],
            )
        return self._needed

    def _check_variants(self, wanted: Wanted, rules: RuleVersion) -> None:
        """A variant comes to a worker as bytes that only Spark reads."""
        variants = {field.name for field in self.events.schema if isinstance(field.dataType, VariantType)}
        if wanted.key is not None and wanted.key[0] in variants:
            raise UsageError(
                f"the column {wanted.key[0]!r} is a variant: select the part of it to be the key"
            )
        for name in sorted(variants.intersection(rules.named)):
            raise InputError(
                f"column {name!r} is a variant: select the parts that texts and dedup fields name"
            )

    def _has_places(self) -> bool:
        """Whether there are Kafka's columns, in types that it could have given them."""
        types = [field.dataType for name in KAFKA_PLACE for field in self.events.schema if field.name == name]
        expected = (StringType, IntegralType, IntegralType)
        return len(types) == len(expected) and all(map(isinstance, types, expected))

    def _looked_at(self, rules: RuleVersion, wanted: Wanted) -> tuple[list[FieldPath], list[str]]:
        """The fields to test, and the columns to bring along; the ones to keep come first."""
        fields = list(rules.open().fields)
        if wanted.time is not None:
            fields.append(wanted.time)
        named = self.events.columns
        looked_at = [*(wanted.key or ())[:1], *(name for name in rules.named if name in named)]
        if wanted.key is None:
            looked_at += KAFKA_PLACE
        return fields, [*wanted.keep, *dict.fromkeys(looked_at)]


# ---- In a worker: rows to found rows


def _look(
    layout: Layout, wanted: Wanted, finder: Finder, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield from _found(layout, wanted, finder, pa.RecordBatch.from_struct_array(batch.column(0)))


def _found(layout: Layout, wanted: Wanted, finder: Finder, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """The found rows of a batch. Rows with texts that are not valid UTF-8 are rejects."""
    kept = layout.kept[: len(wanted.keep)]
    finder.carry(pa.schema([batch.schema.field(column).with_name(name) for column, name in kept]))
    columns = {name: batch.column(column) for column, name in layout.kept[len(kept) :]}
    place, ordinal = _places(wanted, columns, batch.num_rows)
    unreadable = _without_place(place)
    cells = cells_of_batch(finder.fields, layout, batch, unreadable)
    if unreadable:
        bad = sorted(unreadable)
        yield from finder.rejected(
            Rejected(place[row].as_py() or UNKNOWN_PLACE, ordinal[row].as_py() or "", unreadable[row])
            for row in bad
        )
        good = np.delete(np.arange(batch.num_rows), bad)
        yield from _found(layout, wanted, finder, batch.take(pa.array(good)))
        return
    others = {name: batch.column(column) for column, name in kept}
    yield from finder.rows(Events(cells, place, ordinal, columns, others))


def _places(wanted: Wanted, columns: dict[str, pa.Array], count: int) -> tuple[pa.Array, pa.Array]:
    """Where each row stands: Kafka's place, or else its key."""
    if wanted.key is None:
        topic, partition, offset = (columns[name].cast(pa.string()) for name in KAFKA_PLACE)
        place = pc.binary_join_element_wise(topic, partition, offset, "/")
        padded = pc.utf8_lpad(partition, 10, "0"), pc.utf8_lpad(offset, 20, "0")
        return place, pc.binary_join_element_wise(topic, *padded, "/")
    column, _ = mended(columns[wanted.key[0]])
    key, _ = keys_of(column, wanted.key, count)
    known = key.fill_null(UNKNOWN_PLACE)
    return known, known


def _without_place(place: pa.Array) -> dict[int, str]:
    """Rows that nobody could name: of Kafka's columns, which are to tell them apart, one is null."""
    if not place.null_count:
        return {}
    reason = f"without a key, {', '.join(KAFKA_PLACE)} tell rows apart, and one of them is missing"
    return dict.fromkeys(np.flatnonzero(place.is_null().to_numpy(zero_copy_only=False)).tolist(), reason)
