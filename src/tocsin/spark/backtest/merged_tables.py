"""What tasks count of events, and how Spark merges it into the tables of an overview.

Counts are summed by rule and key; then the rules are finished some thousands at a time, in the tasks, by the
same code that finishes them without Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyspark.sql.functions as F  # noqa: N812  (as everybody writes it)
from pyspark.sql import DataFrame, Window
from pyspark.sql.pandas.types import from_arrow_schema

from tocsin.conditions.language import Path
from tocsin.errors import InputError, TocsinError
from tocsin.events import Slice, portions_of_slice, texts_of_columns
from tocsin.history.overview import MONDAY, Tally, TallySettings, rule_tables, task_tally
from tocsin.spark.event_columns import Layout
from tocsin.spark.failures import on_spark
from tocsin.spark.index_shipment import ShippedRules
from tocsin.spark.match_worker import cells_of_batch
from tocsin.spark.numbered_tasks import each_number, partition_number

RULES_TOGETHER = 4_096
"""Rules that one task finishes at a time."""

ROWS_OF_A_PARTITION = 1 << 40
"""A row's place in a history without numbers: partition by partition, more apart than any is long."""


# ---- In a worker: events in, what was counted of them out


def tally_batches(
    shipped: ShippedRules, settings: TallySettings, layout: Layout, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Count the events of one partition of a DataFrame."""
    tally = Tally(shipped.open().version, settings)
    first = partition_number() * ROWS_OF_A_PARTITION
    for batch in batches:
        places = np.arange(first, first + batch.num_rows, dtype=np.int64)
        texts = texts_of_columns({name: batch.column(column) for column, name in layout.kept})
        yield from tally.add(cells_of_batch(tally.fields, layout, batch), places, texts)
        first += batch.num_rows
    yield from tally.rest()


def tally_slices(
    shipped: ShippedRules,
    settings: TallySettings,
    slices: Sequence[Slice],
    show: Sequence[str] | None,
    batches: Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Count the events of the slices whose numbers come; a slice that cannot be read says why."""
    tally = Tally(shipped.open().version, settings)
    for number in each_number(batches):
        try:
            for portion in portions_of_slice(slices[number], tally.fields, show=show):
                tally.rejects += portion.rejects
                yield from tally.add(portion.events, portion.rows, portion.texts)
        except TocsinError as error:  # an error of the input is no reason to try again
            yield task_tally.fact_rows(task_tally.FAILURE, text=[str(error)])
    yield from tally.rest()


# ---- Merged


def history_facts(partials: DataFrame, fields: list[Path], width: int | None) -> rule_tables.Facts:
    """What is known of the history as a whole; InputError when a part of it could not be read."""
    fact = F.col("fact")
    keys = ["fact", "rule", "key", "place", "text"]
    small = partials.where(fact.isin(task_tally.TOTAL, task_tally.TIME, task_tally.FAILURE)).groupBy(*keys)
    summed: pa.Table = run(small.agg(F.sum("number").alias("number")).toArrow)
    failures = summed.filter(pc.equal(summed.column("fact"), task_tally.FAILURE)).column("text")
    if len(failures):
        raise InputError(min(failures.to_pylist()))
    seen = (
        partials.where(fact == task_tally.SEEN)
        .select("rule", "text")
        .groupBy("rule")
        .applyInArrow(rule_tables.merged_seen, "rule int, text string")
    )
    return rule_tables.facts_of(summed, run(seen.toArrow), fields, width)


def rules_frame(partials: DataFrame, shipped: ShippedRules, facts: rule_tables.Facts) -> DataFrame:
    """RULES, of all rules."""

    def finish(counted: pa.Table) -> pa.Table:
        rules = shipped.open().version
        numbers = np.unique(counted.column("rule").to_numpy()).astype(np.int64)
        return rule_tables.rule_rows(rules, numbers, counted, facts)

    session = partials.sparkSession
    every = session.range(shipped.open().version.count).select(
        F.lit(task_tally.HITS).alias("fact"),
        F.col("id").cast("int").alias("rule"),
        F.lit(0).cast("bigint").alias("key"),
        F.lit(0).cast("bigint").alias("number"),
    )
    together = _counted(partials, facts).unionByName(every)
    block = F.floor(F.col("rule") / RULES_TOGETHER)
    return together.groupBy(block).applyInArrow(finish, from_arrow_schema(rule_tables.RULES))


def over_time_frame(partials: DataFrame, shipped: ShippedRules, facts: rule_tables.Facts) -> DataFrame:
    """OVER_TIME, of all rules."""

    def name(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        names = shipped.open().version.names
        for batch in batches:
            rule, start, hits = (batch.column(place).to_numpy() for place in range(3))
            yield from rule_tables.over_time_rows(names.column(rule), start, hits, facts).to_batches()

    buckets = (
        _counted(partials, facts).where(F.col("fact") == task_tally.BUCKET).select("rule", "key", "number")
    )
    return buckets.mapInArrow(name, from_arrow_schema(rule_tables.OVER_TIME))


def samples_frame(partials: DataFrame, shipped: ShippedRules, count: int, numbered: bool) -> DataFrame:
    """SAMPLES, of all rules; `numbered` when the place of an event is its row number."""

    def name(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        names = shipped.open().version.names
        for batch in batches:
            rule, place, text = batch.columns
            shown = place if numbered else pa.nulls(len(place), pa.int64())
            columns = [names.column(rule.to_numpy()), shown, text.cast(pa.string())]
            yield pa.RecordBatch.from_arrays(columns, schema=rule_tables.SAMPLES)

    fact = F.col("fact")
    by_hash = Window.partitionBy("rule").orderBy("key")
    chosen = (
        partials.where(fact == task_tally.SAMPLE)
        .groupBy("rule", "key")
        .agg(F.min("place").alias("place"))
        .withColumn("behind", F.row_number().over(by_hash))
        .where(F.col("behind") <= count)
    )
    # By the hash too: what a lost executor had counted is counted again, with rows perhaps in other places.
    events = partials.where(fact == task_tally.EVENT).select("key", "place", "text")
    shown = chosen.join(events, ["key", "place"]).select("rule", "place", "text")
    return shown.mapInArrow(name, from_arrow_schema(rule_tables.SAMPLES))


def _counted(partials: DataFrame, facts: rule_tables.Facts) -> DataFrame:
    """Counts of rules, summed, by stretches of time of the width that the history has."""
    key = F.coalesce(F.col("key"), F.lit(0).cast("bigint"))
    if facts.width is not None:
        wide = F.floor((key - MONDAY) / facts.width) * facts.width + MONDAY
        key = F.when(F.col("fact") == task_tally.BUCKET, wide).otherwise(key)
    counted = partials.where(F.col("fact").isin(*task_tally.COUNTED)).withColumn("key", key.cast("bigint"))
    return counted.groupBy("fact", "rule", "key").agg(F.sum("number").alias("number"))


def run(work: Callable[[], Any]) -> Any:
    """Do something on Spark; its failure as an error of ours."""
    return on_spark(work, "test the rules")


def in_schema(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """What Spark gave, in the types that it was made of."""
    columns = [pc.cast(table.column(field.name), field.type) for field in schema]
    return pa.table(columns, schema=schema)
