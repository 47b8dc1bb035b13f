"""A transitive closure, without rounds: workers that know all arcs of a component write its pairs.

    arcs fit a worker     all of them to each task; a task writes the pairs of every n-th source
    they do not           split by connected components (graph_parts.py); a task has all arcs of some of these

Arcs are few beside the pairs that they make. In a task, strongly connected components are contracted, which
takes a moment, and pairs are written piece by piece.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from tocsin.datalog.language.syntax import Type
from tocsin.datalog.spark.batch.graph_parts import LABEL
from tocsin.datalog.spark.batch.value_columns import Columns

SHARE = "share"


def closed(session: SparkSession, arcs: DataFrame, columns: Columns, limit: int) -> DataFrame:
    """All pairs with a path of some arcs, each once, and a failure if there are more than the limit."""
    shares = session.sparkContext.defaultParallelism
    numbers = session.range(shares).select(F.col("id").cast("int").alias(SHARE))
    to_all = arcs.crossJoin(F.broadcast(numbers)).select(SHARE, *columns.names)
    task = _task(shares, columns.types[0], limit)
    return to_all.repartitionById(shares, F.col(SHARE)).mapInArrow(task, columns.failing_schema)


def closed_in_parts(labelled: DataFrame, parts: int, columns: Columns, limit: int) -> DataFrame:
    """The same of arcs that have the labels of their components: all with one label are in one part."""
    with_share = labelled.repartition(parts, LABEL).select(F.lit(0).alias(SHARE), *columns.names)
    return with_share.mapInArrow(_task(1, columns.types[0], limit), columns.failing_schema)


def _task(shares: int, kind: Type, limit: int) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def close_in_worker(batches: Iterable[Any]) -> Iterator[Any]:
        from tocsin.datalog.spark.batch.worker_closure import pairs_of_shares

        return pairs_of_shares(shares, kind, limit, batches)

    return close_in_worker
