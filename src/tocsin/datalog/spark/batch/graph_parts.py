"""The arcs of a graph by its connected components: what one worker cannot take is closed in parts.

    label(v) = v                                        to begin with
    label(v) = the least label of v and its neighbours, then the label of that label        until none changes

A path never leaves its component, whatever the direction of its arcs. So the closure of a component does not
depend on others, and workers can each take the arcs of some components. Labels of labels double how far a
label gets in a round, so that there are few rounds.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from tocsin.datalog.spark.batch.stored_frames import Frame, Storage

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
    neighbours = storage.store({"": one_way.unionAll(other_way).distinct()}).frames[""].data
    labels = neighbours.select(_NODE).distinct().withColumn(LABEL, F.col(_NODE))
    changed = True
    before: Frame | None = None
    while changed:
        stored = storage.store({"": _next_labels(labels, neighbours)}).frames[""]
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
