"""A transitive closure, without rounds: its arcs go to every task, its pairs come from all of them.

    arcs  ->  to each task: all arcs  ->  strongly connected components contracted  ->  the pairs of its sources

Arcs are few beside the pairs that they make. Each task contracts the components for itself, which takes a
moment, and writes the pairs of every n-th source, piece by piece.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from tocsin.grammar.datalog.syntax import Type
from tocsin.spark.evaluation.values import Columns

SHARE = "share"


def closed(session: SparkSession, arcs: DataFrame, columns: Columns, limit: int) -> DataFrame:
    """All pairs with a path of some arcs, each once, and a failure if there are more than the limit."""
    shares = session.sparkContext.defaultParallelism
    numbers = session.range(shares).select(F.col("id").cast("int").alias(SHARE))
    to_all = arcs.crossJoin(F.broadcast(numbers)).select(SHARE, *columns.names)
    task = _task(shares, columns.types[0], limit)
    return to_all.repartitionById(shares, F.col(SHARE)).mapInArrow(task, columns.failing_schema)


def _task(shares: int, kind: Type, limit: int) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def close_in_worker(batches: Iterable[Any]) -> Iterator[Any]:
        from tocsin.spark.evaluation.reaching import pairs_of_shares

        return pairs_of_shares(shares, kind, limit, batches)

    return close_in_worker
