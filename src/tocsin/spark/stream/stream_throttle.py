"""Throttles across the batches of a stream: which matches become alerts.

    matches with a throttle ──> by group, sorted ──> decided ──> sent
                                                        └──> runs: CHECKPOINT/throttle/

Every group (rule and dedup value) is decided by one task, which looks up when its last alert was sent, by
the runs of the batches before, and leaves a run with what it sends (matches/throttle.py and
matches/sent_alerts.py). A batch that is done again looks at the same runs, and so decides the same; it does
not see what it wrote itself.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyspark.sql.functions as F  # noqa: N812  (as everybody writes it)
from pyspark.sql import DataFrame

from tocsin.matches import Alerts, Throttling, merge_runs, read_run, run_name, runs_before, write_run
from tocsin.spark.event_columns import by_place
from tocsin.spark.numbered_tasks import partition_number

_GROUP, _HASH = "throttle group", "throttle hash"
"""Columns that are there only between Spark and the tasks; they stand behind all others."""


@contextlib.contextmanager
def throttled(found: DataFrame, state: Path, batch: int, now: int) -> Iterator[DataFrame]:
    """Of the found rows of a batch those that are sent; rows without a throttle all are.

    One job decides, and when this is entered its outcome is written down in `state`, a folder that the
    driver and all workers can write to; so whatever is done with the rows, the next batch knows of them.
    `found` must give the same rows each time. `now` is the recorded time of the batch, in microseconds.
    The rows can be read until the end of the `with`.
    """
    state.mkdir(parents=True, exist_ok=True)
    runs = [
        str(file) for stretch in merge_runs(state, runs_before(state, batch), now) for file in stretch.files
    ]
    task = partial(_decide_in_worker, runs, str(state), batch, now, found.columns)
    held = _by_group(found.where(F.col("throttle").isNotNull()))
    sent = held.mapInArrow(task, found.schema).persist()
    try:
        sent.count()
        yield found.where(F.col("throttle").isNull()).union(sent)
    finally:
        sent.unpersist()


def _by_group(rows: DataFrame) -> DataFrame:
    """The rows of each group in one partition, in the order in which they are decided.

    A dedup value is JSON, in which no zero byte can stand; so the text of a group is that of no other.
    """
    group = F.concat(F.coalesce(F.col("dedup"), F.lit("")), F.lit("\0"), F.col("rule"))
    grouped = rows.withColumn(_GROUP, group).withColumn(_HASH, F.xxhash64(F.col(_GROUP)))
    ordered = grouped.repartition(_HASH).sortWithinPartitions(_HASH, _GROUP, "time", "ordinal", "key", "text")
    return by_place(ordered)


def _decide_in_worker(
    runs: list[str], state: str, batch: int, now: int, columns: list[str], batches: Iterable[Any]
) -> Iterator[Any]:
    """Of sorted rows those that are sent, without the two columns behind.

    Columns go by the places of their names: mapInArrow does not take every name.
    """
    own, time, throttle = len(columns), columns.index("time"), columns.index("throttle")
    throttling = Throttling([piece for run in runs for piece in read_run(Path(run))], now)
    for rows in batches:
        alerts = Alerts(
            rows.column(own + 1).to_numpy(),
            rows.column(own).cast(pa.large_string()),
            rows.column(time).cast(pa.int64()).to_numpy(),
            rows.column(throttle).to_numpy(),
        )
        yield rows.select(range(own)).filter(pa.array(throttling.decide(alerts)))
    entries = throttling.entries()
    if entries.num_rows:
        write_run(Path(state), run_name(batch, partition_number()), [entries])
