"""A transitive closure, without rounds: workers that know all arcs of a component write its pairs.

    arcs fit a worker     all of them to each task; a task writes the pairs of every n-th source
    they do not           split by connected components; a task has all arcs of some of these

Arcs are few beside the pairs that they make. In a task, strongly connected components are contracted, which
takes a moment, and pairs are written piece by piece.

Connected components are found by labels:

    label(v) = v                                        to begin with
    label(v) = the least label of v and its neighbours, then the label of that label        until none changes

A path never leaves its component, whatever the direction of its arcs, so the closure of one does not depend
on others. Labels of labels double how far a label gets in a round, so that there are few rounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from tocsin.datalog.language.syntax import Type
from tocsin.datalog.machine.closure_graph import ClosureGraph
from tocsin.datalog.machine.machine import too_many_tuples
from tocsin.datalog.machine.symbols import Symbols
from tocsin.datalog.machine.tuples import TupleCode
from tocsin.datalog.spark.batch.stored_frames import Frame, Storage
from tocsin.datalog.spark.batch.value_columns import FAILURE, Columns, word_type
from tocsin.datalog.spark.batch.worker_batches import ARROW, failure_of

SHARE = "share"


def closed(session: SparkSession, arcs: DataFrame, columns: Columns, limit: int) -> DataFrame:
    """All pairs with a path of some arcs, each once, and a failure if there are more than the limit."""
    shares = session.sparkContext.defaultParallelism
    numbers = session.range(shares).select(F.col("id").cast("int").alias(SHARE))
    to_all = arcs.crossJoin(F.broadcast(numbers)).select(SHARE, *columns.names)
    task = partial(pairs_of_shares, shares, columns.types[0], limit)
    return to_all.repartitionById(shares, F.col(SHARE)).mapInArrow(task, columns.failing_schema)


def closed_in_parts(labelled: DataFrame, parts: int, columns: Columns, limit: int) -> DataFrame:
    """The same of arcs that have the labels of their components: all with one label are in one part."""
    with_share = labelled.repartition(parts, LABEL).select(F.lit(0).alias(SHARE), *columns.names)
    return with_share.mapInArrow(partial(pairs_of_shares, 1, columns.types[0], limit), columns.failing_schema)


_PIECE = 1 << 16
"""Pairs of a batch that goes out, about."""

_ROOM = 1 << 25
"""The words of 64 bits that a worker may take to remember what reaches what: 256 MB."""


def pairs_of_shares(
    shares: int, kind: Type, limit: int, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The pairs of the shares whose arcs come here: all arcs, for each share."""
    symbols = Symbols()
    code = TupleCode("arc", (word_type(kind),) * 2, symbols)
    graphs: dict[int, ClosureGraph] = {}
    for batch in batches:
        for share in batch.column(0).unique().to_pylist():
            arcs = batch.filter(pa.compute.equal(batch.column(0), share)).select([1, 2])
            graphs.setdefault(share, ClosureGraph(_ROOM)).insert(code.rows_of_table(arcs))
    for share, graph in graphs.items():
        if graph.count() > limit:
            yield _batch([pa.nulls(1, ARROW[kind])] * 2, failure_of(too_many_tuples(limit)))
            return
        for pairs in graph.pairs_of_share(share, shares, _PIECE):
            columns = [column.combine_chunks() for column in code.table(pairs).columns]
            yield _batch(columns, None)


def _batch(columns: list[pa.Array], failure: str | None) -> pa.RecordBatch:
    failures = pa.array([failure], pa.string()) if failure else pa.nulls(len(columns[0]), pa.string())
    return pa.RecordBatch.from_arrays([*columns, failures], names=["c0", "c1", FAILURE])


LABEL = "label"
_NODE, _LEAST, _CHANGED = "node", "least", "changed"


def split_arcs(storage: Storage, arcs: DataFrame) -> tuple[DataFrame, int]:
    """The arcs (c0, c1), each with the label of its component, and how many the largest component has."""
    labels = _labels(storage, arcs)
    labelled = arcs.join(labels.withColumnRenamed(_NODE, "c0"), "c0").select("c0", "c1", LABEL)
    sizes = labelled.groupBy(LABEL).count().agg(F.max("count").alias("most")).collect()
    return labelled, sizes[0]["most"] or 0


def _labels(storage: Storage, arcs: DataFrame) -> DataFrame:
    """Each node with its label."""
    one_way = arcs.select(F.col("c0").alias(_NODE), F.col("c1").alias("other"))
    other_way = arcs.select(F.col("c1").alias(_NODE), F.col("c0").alias("other"))
    neighbours = storage.store({"": one_way.unionAll(other_way).distinct()})[""].data
    labels = neighbours.select(_NODE).distinct().withColumn(LABEL, F.col(_NODE))
    changed = True
    before: Frame | None = None
    while changed:
        stored = storage.store({"": _next_labels(labels, neighbours)})[""]
        changed = bool(stored.data.agg(F.max(_CHANGED).alias(_CHANGED)).collect()[0][_CHANGED])
        labels = stored.data.select(_NODE, LABEL)
        if before is not None:
            storage.let_go(before)
        before = stored
    return labels


def _next_labels(labels: DataFrame, neighbours: DataFrame) -> DataFrame:
    of_others = labels.select(F.col(_NODE).alias("other"), F.col(LABEL).alias(_LEAST))
    nearest = neighbours.join(of_others, "other").groupBy(_NODE).agg(F.min(_LEAST).alias(_LEAST))
    hooked = labels.join(nearest, _NODE).select(
        _NODE, F.col(LABEL).alias("old"), F.least(LABEL, _LEAST).alias(LABEL)
    )
    further = hooked.select(F.col(_NODE).alias(LABEL), F.col(LABEL).alias(_LEAST))
    return hooked.join(further, LABEL).select(
        _NODE, F.col(_LEAST).alias(LABEL), (F.col("old") != F.col(_LEAST)).alias(_CHANGED)
    )
