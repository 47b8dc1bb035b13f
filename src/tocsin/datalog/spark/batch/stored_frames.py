"""DataFrames that are worked out once and then kept: what stands between two steps of an evaluation.

A plan that grew with every round would take ever longer to be planned, and would be worked out again when
somebody looks. So what a step gives is stored, by one job that also counts it and finds what is wrong:

    step's plan  ->  stored on the executors, or as Parquet in a folder  ->  rows, first failure

On the executors (localCheckpoint) it is quick, and lost with an executor; in a folder that all machines see,
it survives. What nobody needs any more is let go at once, not when Spark next looks for garbage.
"""

from __future__ import annotations

import contextlib
import math
import uuid
from collections.abc import Callable, Mapping
from typing import NamedTuple

from py4j.protocol import Py4JError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from tocsin.datalog.spark.batch.value_columns import FAILURE
from tocsin.datalog.spark.batch.worker_batches import error_of

_PLACE, _ROWS = "place", "rows"


class Frame(NamedTuple):
    """Tuples of a relation. `rows` is None until somebody has counted them; `distinct`: no tuple is twice."""

    data: DataFrame
    rows: int | None
    distinct: bool

    def once(self) -> DataFrame:
        """Each tuple once."""
        return self.data if self.distinct else self.data.distinct()

    @property
    def most(self) -> float:
        """How many tuples there are at most, as far as is known."""
        return math.inf if self.rows is None else self.rows

    @property
    def is_empty(self) -> bool:
        """Whether it is known that there are no tuples."""
        return self.rows == 0


class Storage:
    """Where an evaluation keeps what it has worked out: as Parquet in a folder, else on the executors."""

    def __init__(self, session: SparkSession, folder: str | None = None) -> None:
        self._session = session
        self._folder = None if folder is None else f"{folder.rstrip('/')}/evaluation-{uuid.uuid4().hex}"
        self._count = 0

    def store(
        self,
        plans: Mapping[str, DataFrame],
        *,
        distinct: bool = True,
        refuse: Callable[[str], Exception] = error_of,
    ) -> dict[str, Frame]:
        """Work out several DataFrames and count them, each under its name.

        If there are rows with a failure, raises what `refuse` makes of the first in the order of texts.
        """
        kept = {name: self.keep(plan) for name, plan in plans.items()}
        counts: DataFrame | None = None
        for place, data in enumerate(kept.values()):
            failing = F.col(FAILURE) if FAILURE in data.columns else F.lit(None).cast("string")
            found = data.agg(F.count(F.when(failing.isNull(), 1)).alias(_ROWS), F.min(failing).alias(FAILURE))
            counted = found.select(F.lit(place).alias(_PLACE), _ROWS, FAILURE)
            counts = counted if counts is None else counts.unionAll(counted)
        answers = [] if counts is None else counts.collect()
        rows = {answer[_PLACE]: answer[_ROWS] for answer in answers}
        failures = [answer[FAILURE] for answer in answers if answer[FAILURE] is not None]
        if failures:
            raise refuse(min(failures))
        return {
            name: Frame(data.drop(FAILURE), rows[place], distinct)
            for place, (name, data) in enumerate(kept.items())
        }

    def keep(self, plan: DataFrame) -> DataFrame:
        """Have the first job that looks at a DataFrame store it: it does not know its plan any more."""
        if self._folder is None:
            return plan.localCheckpoint(eager=False)
        self._count += 1
        path = f"{self._folder}/{self._count}"
        plan.write.parquet(path)
        return self._session.read.schema(plan.schema).parquet(path)

    def let_go(self, frame: Frame) -> None:
        """Free what a frame takes; it is not looked at again."""
        if self._folder is not None:
            return
        with contextlib.suppress(Py4JError):  # then Spark frees it later
            plan = frame.data._jdf.queryExecution().analyzed()
            while plan.children().size() == 1:
                plan = plan.children().apply(0)
            plan.rdd().unpersist(False)
