"""Any streaming DataFrame as a source of events: a row is an event.

Only the columns that rules, key, time, kept fields and alerts' texts name are brought to the workers. A row
has no place of its own, so one of its columns has to be the key; rows of Kafka's have topic, partition
and offset.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pyspark.sql.functions as F  # noqa: N812  (as everybody writes it)
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.types import IntegralType, StringType, StructField, VariantType

from tocsin.errors import InputError, UsageError
from tocsin.spark.event_columns import Layout, by_place, plan_shipment, ship_columns
from tocsin.spark.event_columns import Path as FieldPath
from tocsin.spark.stream.batch_counts import TallyAccumulator
from tocsin.spark.stream.found_rows import Wanted, found_schema
from tocsin.spark.stream.rule_version import RuleVersion
from tocsin.spark.stream.task_output import Onward

KAFKA_PLACE = ("topic", "partition", "offset")


class _Needed(NamedTuple):
    """What a version of the rules needs of the events: one column `event`, and how it is made up."""

    rules: RuleVersion
    column: Column
    layout: Layout
    kept: Sequence[StructField]


@dataclass(slots=True)
class TableSource:
    """A streaming DataFrame."""

    events: DataFrame
    carried: Sequence[StructField] = ()
    joins: bool = False
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

    def found(
        self, batch: DataFrame, rules: RuleVersion, wanted: Wanted, tally: TallyAccumulator, onward: Onward
    ) -> DataFrame:
        """One pass over the columns that are needed."""
        needed = self._needed_by(rules, wanted)
        schema = onward.schema(found_schema(self.carried, needed.kept))
        task = _task(needed.layout, rules, wanted, tally, onward)
        return batch.select(needed.column).mapInArrow(task, schema)

    def committed(self, batch: int) -> None:
        """Spark keeps track of what was read."""

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


def _task(layout: Layout, rules: RuleVersion, wanted: Wanted, tally: TallyAccumulator, onward: Onward) -> Any:
    def find(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        from tocsin.spark.stream.row_task import RowReader

        reader = RowReader(layout, rules, wanted)
        for batch in batches:
            yield from reader.rows(pa.RecordBatch.from_struct_array(batch.column(0)))
        tally.add(reader.tally)

    return lambda batches: onward.rows(find(batches))
