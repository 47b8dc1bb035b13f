"""The overview of a history on Spark: its tables are DataFrames, and stay there."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path as FilePath
from typing import Any

import pyarrow as pa
import pyspark.sql.functions as F  # noqa: N812  (as everybody writes it)
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession

from tocsin.conditions.language import print_field
from tocsin.history.overview import (
    DECADES,
    OVER_TIME,
    RULES,
    SAMPLES,
    HitCounts,
    Overview,
    Summary,
    TallySettings,
    check_target,
    folder_of_tables,
    summary_of,
    times_table,
)
from tocsin.spark.backtest.merged_tables import (
    history_facts,
    in_schema,
    over_time_frame,
    rules_frame,
    run,
    samples_frame,
)
from tocsin.spark.file_urls import to_read, to_write
from tocsin.spark.index_shipment import ShippedRules

_TIMES_WRITTEN = "spark.sql.parquet.outputTimestampType"


class SparkOverview(Overview):
    """What `tocsin.spark.backtest` found.

    Without a `path` Spark keeps on disk what was counted, for the tables to be made of; `close`, or the end
    of a `with` block, frees it, and the tables are not to be used afterwards.
    """

    def __init__(
        self, frames: dict[str, DataFrame], kept: Sequence[DataFrame], summary: Summary, times: pa.Table
    ):
        self._take(frames)
        self._kept = kept
        self.summary = summary
        self.times = times

    @staticmethod
    def of(
        shipped: ShippedRules,
        settings: TallySettings,
        partials: DataFrame,
        *,
        numbered: bool,
        path: str | os.PathLike[str] | None = None,
    ) -> SparkOverview:
        """Count, and merge what the tasks counted."""
        if path is not None:
            check_target(path)
        fields = shipped.open().fields
        partials = partials.persist(StorageLevel.DISK_ONLY)
        kept = [partials]
        try:
            facts = history_facts(partials, fields, settings.width)
            rules = rules_frame(partials, shipped, facts).persist(StorageLevel.DISK_ONLY)
            kept.append(rules)
            frames = {
                "rules": rules,
                "over_time": over_time_frame(partials, shipped, facts),
                "samples": samples_frame(partials, shipped, settings.samples, numbered),
            }
            time = None if settings.time is None else print_field(settings.time)
            summary = summary_of(facts, _hit_counts(rules, facts.events), time, fields)
            found = SparkOverview(frames, kept, summary, times_table(facts))
            if path is not None:
                found._move_to(path)
        except BaseException:
            for frame in kept:
                frame.unpersist()
            raise
        return found

    def _take(self, frames: dict[str, DataFrame]) -> None:
        self._frames = frames
        self.rules, self.over_time, self.samples = frames["rules"], frames["over_time"], frames["samples"]

    def write(self, folder: str | os.PathLike[str]) -> None:
        """Write the tables as Parquet: rules, over_time, samples, times; the folder is new or empty."""
        session = self.rules.sparkSession
        frames = {**self._frames, "times": session.createDataFrame(self.times)}
        with folder_of_tables(folder) as draft, _instants_with_a_zone(session):
            for name, frame in frames.items():
                run(partial(frame.write.parquet, to_write(draft / name)))

    def _move_to(self, folder: str | os.PathLike[str]) -> None:
        """Write the tables, and go on with what was written."""
        self.write(folder)
        session = self.rules.sparkSession
        target = FilePath(folder).absolute()
        self.close()
        self._take(
            {
                name: session.read.schema(frame.schema).parquet(to_read(target / name))
                for name, frame in self._frames.items()
            }
        )

    def close(self) -> None:
        """Free what Spark keeps for the tables."""
        for frame in self._kept:
            frame.unpersist()
        self._kept = ()

    def __enter__(self) -> SparkOverview:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def _most_hits(self, count: int) -> pa.Table:
        matched = self.rules.where("hits > 0").orderBy(F.desc("hits"), "rule").limit(count)
        return in_schema(run(matched.toArrow), RULES)

    def _never(self, count: int) -> pa.Table:
        never = self.rules.where("hits = 0").orderBy("could_match", "rule").limit(count)
        return in_schema(run(never.toArrow), RULES)

    def _of_rules(self, table: Any, names: Sequence[str]) -> pa.Table:
        schema = OVER_TIME if table is self.over_time else SAMPLES
        return in_schema(run(table.where(F.col("rule").isin(list(names))).toArrow), schema)


@contextlib.contextmanager
def _instants_with_a_zone(session: SparkSession) -> Iterator[None]:
    """Meanwhile Spark writes times as all readers take them for instants; its own way has no zone."""
    before = session.conf.get(_TIMES_WRITTEN)
    session.conf.set(_TIMES_WRITTEN, "TIMESTAMP_MICROS")
    try:
        yield
    finally:
        session.conf.set(_TIMES_WRITTEN, before or "INT96")


def _hit_counts(rules: DataFrame, events: int) -> HitCounts:
    """Counts of a table of rules, in one job."""
    hits = F.col("hits")
    asked = {
        "could_not": ~F.col("could_match"),
        "always": hits == events,
        **{f"decade_{place}": (hits >= low) & (hits < high) for place, (low, high) in enumerate(DECADES)},
    }
    sums = [F.coalesce(F.sum(each.cast("bigint")), F.lit(0)).alias(name) for name, each in asked.items()]
    row = run(rules.groupBy().agg(F.count("*").alias("rules"), *sums).collect)[0]
    by_hits = tuple(row[f"decade_{place}"] for place in range(len(DECADES)))
    return HitCounts(row.rules, row.could_not, row.always, by_hits)
