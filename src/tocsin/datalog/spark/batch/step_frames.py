"""One step of the normal form as a DataFrame over the relations that it reads.

Of aggregates there is a result for each group that there is:

    count, min, max         by Spark
    sum of integers         by Spark, as decimals wide enough for all of it, then wrapped to 64 bits
    mean of integers        the same sum and the count, divided in a worker, where integers have no limit
    sum, mean of floats     a group at a time in a worker: rounded once, which needs all of its values
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from functools import partial

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import DecimalType, LongType

from tocsin.datalog.language.syntax import TEXT_LIMIT, Type
from tocsin.datalog.machine.normal_form import AggregateRule, JoinRule, MapRule, NormalProgram, Step
from tocsin.datalog.spark.batch.component_plan import can_fail
from tocsin.datalog.spark.batch.join_rule import joined
from tocsin.datalog.spark.batch.stored_frames import Frame
from tocsin.datalog.spark.batch.value_columns import Columns, columns_inside, ordered, whole_number
from tocsin.datalog.spark.batch.worker_batches import aggregate_floats, divide, map_rows


class Steps:
    """The steps of a program, which knows the types of its relations."""

    def __init__(self, session: SparkSession, program: NormalProgram, text_limit: int = TEXT_LIMIT) -> None:
        self._session = session
        self._text_limit = text_limit
        self._types: dict[str, tuple[Type, ...]] = {each.name: each.types for each in program.relations}
        self.columns: dict[str, Columns] = {
            name: columns_inside(types) for name, types in self._types.items()
        }

    def empty(self, relation: str) -> Frame:
        """A relation without tuples."""
        return Frame(self._session.createDataFrame([], self.columns[relation].schema), 0, distinct=True)

    def given(
        self, step: Step, frames: Mapping[str, Frame], new: Mapping[str, Frame] | None = None
    ) -> list[DataFrame]:
        """The tuples that a step gives, some of them more than once; with a failure where it can fail.

        With `new`, the tuples that came last to some relations, only what needs one of them: a plan for each
        place in the body where one may stand.
        """
        if isinstance(step, JoinRule):
            return self._joins(step, frames, new)
        if isinstance(step, AggregateRule):
            return [aggregated(step, frames[step.origin], self.columns[step.head])]
        if isinstance(step, MapRule):
            return [self._map(step, (frames if new is None else new)[step.origin])]
        raise TypeError("a closure is not a single step")

    def _joins(
        self, rule: JoinRule, frames: Mapping[str, Frame], new: Mapping[str, Frame] | None
    ) -> list[DataFrame]:
        body = [frames[atom.relation] for atom in rule.body]
        negated = [frames[atom.relation] for atom in rule.negated]
        if new is None:
            is_empty = any(frame.is_empty for frame in body)
            return [] if is_empty else [joined(rule, body, negated, self.columns)]
        plans = []
        for place, atom in enumerate(rule.body):
            if atom.relation in new and not new[atom.relation].is_empty:
                with_new = [*body[:place], new[atom.relation], *body[place + 1 :]]
                if not any(frame.is_empty for frame in with_new):
                    plans.append(joined(rule, with_new, negated, self.columns, place))
        return plans

    def _map(self, rule: MapRule, origin: Frame) -> DataFrame:
        types = self._types[rule.origin], self._types[rule.head]
        task = partial(map_rows, rule, *types, text_limit=self._text_limit)
        return origin.data.mapInArrow(task, self.columns[rule.head].failing_schema)


_WORDS, _SIGN = 2**64, 2**63
_SUM = DecimalType(38, 0)
_TUPLES, _TOTAL = "tuples", "total"


def aggregated(rule: AggregateRule, origin: Frame, head: Columns) -> DataFrame:
    """The group and the result of each group, as columns inside; a failure if it can fail."""
    keys = [F.col(f"c{place}") for place in range(rule.group)]
    value = F.col(f"c{rule.group}")
    grouped = origin.once().groupBy(*keys)
    if can_fail(rule):
        return grouped.applyInArrow(lambda group: aggregate_floats(rule, group), head.failing_schema)
    counted = F.count(F.lit(1)).alias(_TUPLES)
    if rule.function == "mean":
        total = F.sum(whole_number(value, rule.type)).cast(_SUM).alias(_TOTAL)
        sums = grouped.agg(total, counted).where(F.col(_TUPLES) > 0)
        return sums.mapInArrow(partial(divide, rule.group), head.schema)
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
