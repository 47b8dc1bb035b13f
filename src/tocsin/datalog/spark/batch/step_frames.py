"""One step of the normal form as a DataFrame over the relations that it reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from tocsin.datalog.language.functors import TEXT_LIMIT
from tocsin.datalog.language.syntax import Type
from tocsin.datalog.machine.normal_form import AggregateRule, JoinRule, MapRule, NormalProgram, Step
from tocsin.datalog.spark.batch.aggregates import aggregated
from tocsin.datalog.spark.batch.join_rule import joined
from tocsin.datalog.spark.batch.stored_frames import Frame
from tocsin.datalog.spark.batch.value_columns import Columns, columns_inside


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
        raise TypeError("a closure is no single step")

    def _joins(
        self, rule: JoinRule, frames: Mapping[str, Frame], new: Mapping[str, Frame] | None
    ) -> list[DataFrame]:
        body = [frames[atom.relation] for atom in rule.body]
        negated = [frames[atom.relation] for atom in rule.negated]
        if new is None:
            return (
                [] if any(frame.is_empty for frame in body) else [joined(rule, body, negated, self.columns)]
            )
        plans = []
        for place, atom in enumerate(rule.body):
            if atom.relation in new and not new[atom.relation].is_empty:
                with_new = [*body[:place], new[atom.relation], *body[place + 1 :]]
                if not any(frame.is_empty for frame in with_new):
                    plans.append(joined(rule, with_new, negated, self.columns, place))
        return plans

    def _map(self, rule: MapRule, origin: Frame) -> DataFrame:
        task = _map_task(rule, self._types[rule.origin], self._types[rule.head], self._text_limit)
        return origin.data.mapInArrow(task, self.columns[rule.head].failing_schema)


def _map_task(
    rule: MapRule, origin: tuple[Type, ...], head: tuple[Type, ...], text_limit: int
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def map_in_worker(batches: Iterable[Any]) -> Iterator[Any]:
        from tocsin.datalog.spark.batch.worker_batches import map_rows

        return map_rows(rule, origin, head, batches, text_limit)

    return map_in_worker
