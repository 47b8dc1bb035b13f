"""An AggregateRule as a DataFrame: a result for each group that there is.

count, min, max         by Spark
sum of integers         by Spark, as decimals wide enough for all of it, then wrapped to 64 bits
mean of integers        the same sum and the count, divided in a worker, where integers have no limit
sum, mean of floats     a group at a time in a worker: rounded once, which needs all of its values
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import DecimalType, LongType

from tocsin.datalog.machine.normal_form import AggregateRule
from tocsin.datalog.spark.batch.component_plan import can_fail
from tocsin.datalog.spark.batch.stored_frames import Frame
from tocsin.datalog.spark.batch.value_columns import Columns, ordered, whole_number

_WORDS, _SIGN = 2**64, 2**63
_SUM = DecimalType(38, 0)
_TUPLES, _TOTAL = "tuples", "total"


def aggregated(rule: AggregateRule, origin: Frame, head: Columns) -> DataFrame:
    """The group and the result of each group, as columns inside; a failure if it can fail."""
    keys = [F.col(f"c{place}") for place in range(rule.group)]
    value = F.col(f"c{rule.group}")
    tuples = origin.once()
    if can_fail(rule):
        return tuples.groupBy(*keys).applyInArrow(_group_task(rule), head.failing_schema)
    grouped = tuples.groupBy(*keys)
    counted = F.count(F.lit(1)).alias(_TUPLES)
    if rule.function == "mean":
        total = F.sum(whole_number(value, rule.type)).cast(_SUM).alias(_TOTAL)
        sums = grouped.agg(total, counted).where(F.col(_TUPLES) > 0)
        return sums.mapInArrow(_mean_task(rule.group), head.schema)
    results = grouped.agg(_result(rule, value).alias(f"c{rule.group}"), counted).where(F.col(_TUPLES) > 0)
    return results.drop(_TUPLES)


def _result(rule: AggregateRule, value: Column) -> Column:
    if rule.function == "count":
        return F.count(F.lit(1))
    if rule.function == "sum":
        return _wrapped(F.sum(whole_number(value, rule.type)))
    best = F.min if rule.function == "min" else F.max
    return ordered(best(ordered(value, rule.type)), rule.type)


def _wrapped(total: Column) -> Column:
    """The last 64 bits of a decimal, as a bigint."""
    rest = total.cast(_SUM) % _decimal(_WORDS)
    rest = F.when(rest >= _decimal(_SIGN), rest - _decimal(_WORDS)).otherwise(rest)
    rest = F.when(rest < _decimal(-_SIGN), rest + _decimal(_WORDS)).otherwise(rest)
    return rest.cast(LongType())


def _decimal(number: int) -> Column:
    return F.lit(Decimal(number)).cast(_SUM)


def _mean_task(group: int) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def divide_in_worker(batches: Iterable[Any]) -> Iterator[Any]:
        from tocsin.datalog.spark.batch.worker_batches import divide

        return divide(group, batches)

    return divide_in_worker


def _group_task(rule: AggregateRule) -> Callable[[Any], Any]:
    def aggregate_in_worker(group: Any) -> Any:
        from tocsin.datalog.spark.batch.worker_batches import aggregate_floats

        return aggregate_floats(rule, group)

    return aggregate_in_worker
