"""Any streaming DataFrame as a source of events: a row is an event.

Only the columns that rules, key, time, kept fields and alerts' texts name are brought to the workers. A row
has no place of its own, so one of its columns has to be the key; rows of Kafka's have topic, partition
and offset.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructField

from tocsin.errors import UsageError
from tocsin.spark.columns import Layout, ship_columns
from tocsin.spark.streaming.found_rows import Wanted, found_schema
from tocsin.spark.streaming.rule_versions import RuleVersion
from tocsin.spark.streaming.tally import TallyAccumulator

KAFKA_PLACE = ("topic", "partition", "offset")


@dataclass(frozen=True, slots=True)
class TableSource:
    """A streaming DataFrame."""

    events: DataFrame
    carried: Sequence[StructField] = ()
    joins: bool = False

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
        if wanted.key is None and not set(KAFKA_PLACE) <= set(self.events.columns):
            raise UsageError(
                "the rows of a DataFrame have no place that they could be known by: name a key, a column that"
                " tells them apart"
            )
        for what, path in (("key", wanted.key), ("time", wanted.time)):
            if path is not None and path[0] not in self.events.columns:
                raise UsageError(f"the DataFrame has no column {path[0]!r} to be the {what}")
        kept = self._shipped(self.events, rules, wanted)[2][: len(wanted.keep)]
        return [StructField(field.name, field.dataType, True, field.metadata) for field in kept]

    def stream(self, session: SparkSession, checkpoint: Path) -> DataFrame:  # noqa: ARG002
        """The DataFrame itself."""
        return self.events

    def found(
        self, batch: DataFrame, rules: RuleVersion, wanted: Wanted, tally: TallyAccumulator
    ) -> DataFrame:
        """One pass over the columns that are needed."""
        needed, layout, kept = self._shipped(batch, rules, wanted)
        task = _task(layout, rules, wanted, tally)
        nullable = [StructField(field.name, field.dataType, True) for field in kept[: len(wanted.keep)]]
        return needed.mapInArrow(task, found_schema(self.carried, nullable))

    def committed(self, batch: int) -> None:
        """Spark keeps track of what was read."""

    def _shipped(
        self, events: DataFrame, rules: RuleVersion, wanted: Wanted
    ) -> tuple[DataFrame, Layout, list[StructField]]:
        """The columns to send; of those to look at, the ones to keep come first."""
        fields = list(rules.open().fields)
        if wanted.time is not None:
            fields.append(wanted.time)
        looked_at = [*(wanted.key or ())[:1], *(name for name in rules.named if name in events.columns)]
        if wanted.key is None:
            looked_at += KAFKA_PLACE
        return ship_columns(events, fields, [*wanted.keep, *dict.fromkeys(looked_at)])


def _task(layout: Layout, rules: RuleVersion, wanted: Wanted, tally: TallyAccumulator) -> Any:
    def find(batches: Iterable[Any]) -> Iterator[Any]:
        from tocsin.spark.streaming.event_rows import RowReader

        reader = RowReader(layout, rules, wanted)
        for batch in batches:
            yield from reader.rows(batch)
        tally.add(reader.tally)

    return find
