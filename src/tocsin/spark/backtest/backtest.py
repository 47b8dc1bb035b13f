"""Rules over a history: what each would have done.

    events ──> tasks match and count ──> partials, kept on disk ──> small facts to the driver
                                                              └───> rules, over time, samples: merged by Spark

The history is read once. A task puts out what it counted for each rule, never a row for each match; what
comes to the driver is bounded by the number of fields and of stretches of time. (The few rows that a page
or a terminal shows come there when they are asked for.)
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DateType, TimestampNTZType, TimestampType

from tocsin.errors import UsageError
from tocsin.spark.index_shipment import ship_rules
from tocsin.spark.numbered_tasks import numbers
from tocsin.spark.stage_progress import stages_shown

if TYPE_CHECKING:
    from tocsin.conditions.language import Path
    from tocsin.conditions.live import Index
    from tocsin.events import Slice
    from tocsin.history.overview import TallySettings
    from tocsin.history.statistics import History
    from tocsin.spark.backtest.spark_result import SparkOverview
    from tocsin.text import Dictionary

PARTIAL_COLUMNS = "fact string, rule int, key bigint, place bigint, number bigint, text string"


def backtest(
    events: DataFrame,
    rules: object,
    *,
    time: str | None = None,
    bucket: str | timedelta | None = None,
    samples: int = 5,
    keep: Sequence[str] | None = None,
    path: str | os.PathLike[str] | None = None,
    history: History | str | os.PathLike[str] | None = None,
    dictionaries: Mapping[str, Dictionary | str | os.PathLike[str]] | None = None,
    stop_words: Iterable[str] = (),
    text_threshold: float = 0.0,
) -> SparkOverview:
    """What rules do on a history of events: an overview, whose tables are DataFrames.

    rules       an index, whole or in shards, or the path of a saved one; the path of rule files; or whatever
                `tocsin.build` takes
    time        the field that tells an event's time; without it the first column of a type for times
    bucket      how long a stretch of time is: '1 day'; without it the history chooses, up to 60 of them
    samples     how many events are shown for each rule
    keep        the columns that are shown of an event; without it all that can be
    path        a new folder: the tables are written there as Parquet, and read from there
    history, dictionaries, stop_words, text_threshold   as for `tocsin.build`, when the rules are not built

    The history is read once, here. Without `path` Spark keeps what was counted until the overview is closed.

    Samples are the events of least hash, by what rules see of them, so the same history gives the same
    ones however it is cut. Of events that rules cannot tell apart one is shown.
    """
    from tocsin.conditions.language import field_named
    from tocsin.conditions.live import Preparation
    from tocsin.history.overview import index_of, settings_for
    from tocsin.spark.backtest.merged_tables import tally_batches
    from tocsin.spark.backtest.spark_result import SparkOverview
    from tocsin.spark.event_columns import columns_to_keep, ship_columns

    if not isinstance(events, DataFrame):
        raise UsageError(f"backtest takes a Spark DataFrame, not {type(events).__name__}")
    if events.isStreaming:
        raise UsageError("a backtest is made of a history that has an end, and this DataFrame is a stream")
    found_time = _time_column(events) if time is None else field_named(time)
    settings = settings_for(found_time, bucket, samples)
    preparation = Preparation.of(history, dictionaries, stop_words, text_threshold)
    shipped = ship_rules(events.sparkSession, index_of(rules, preparation))
    fields = shipped.open().fields
    shown: Sequence[str] = ()
    if samples:
        shown = columns_to_keep(events.schema) if keep is None else list(keep)
    tested = [*fields, *([] if found_time is None else [found_time])]
    needed, shipment = ship_columns(events, tested, shown)
    task = partial(tally_batches, shipped, settings, shipment.layout)
    partials = needed.mapInArrow(task, PARTIAL_COLUMNS)
    return SparkOverview.of(shipped, settings, partials, numbered=False, path=path)


def backtest_slices(
    session: SparkSession,
    index: Index,
    slices: Sequence[Slice],
    settings: TallySettings,
    keep: Sequence[str] | None = None,
) -> SparkOverview:
    """The same of event files, which the tasks read as `tocsin match` does.

    Records that are no events are left out, and the summary tells how many. Raises InputError when a file
    cannot be read.
    """
    from tocsin.spark.backtest.merged_tables import tally_slices
    from tocsin.spark.backtest.spark_result import SparkOverview

    shipped = ship_rules(session, index)
    located = [replace(piece, file=os.path.abspath(piece.file)) for piece in slices]  # noqa: PTH100
    show: Sequence[str] | None = keep if settings.samples else ()
    task = partial(tally_slices, shipped, settings, located, show)
    partials = numbers(session, len(located)).mapInArrow(task, PARTIAL_COLUMNS)
    with stages_shown(session, "Matching slices"):
        return SparkOverview.of(shipped, settings, partials, numbered=True)


def _time_column(events: DataFrame) -> Path | None:
    """The first column of a type for times."""
    kinds = TimestampType, TimestampNTZType, DateType
    return next(((column.name,) for column in events.schema if isinstance(column.dataType, kinds)), None)
