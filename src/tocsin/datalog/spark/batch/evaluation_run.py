"""An evaluation while it runs: one component after the other, each by the strategy that suits it.

    inputs small             as many components in a row as are small: in one worker
    a transitive closure     workers with all arcs contract components and write pairs
    recursive                in rounds
    anything else            joins; stored, unless a single rule reads it and nothing can go wrong with it

"Small" is decided by counts, and all that is counted is stored by then. What turns out to derive too much for
one worker is worked out by another strategy after all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from tocsin.datalog.language.syntax import TEXT_LIMIT, Value
from tocsin.datalog.machine.closures import closure_steps
from tocsin.datalog.machine.machine import too_many_tuples
from tocsin.datalog.machine.normal_form import ClosureRule, NormalProgram, Relation
from tocsin.datalog.spark.batch import component_plan
from tocsin.datalog.spark.batch.component_plan import Component, Decision
from tocsin.datalog.spark.batch.one_worker import Job, TooMany, finish_in_one_worker
from tocsin.datalog.spark.batch.semi_naive import Recursion, united
from tocsin.datalog.spark.batch.step_frames import Steps
from tocsin.datalog.spark.batch.stored_frames import Frame, Storage
from tocsin.datalog.spark.batch.transitive_closure import closed, closed_in_parts, split_arcs
from tocsin.datalog.spark.batch.value_columns import columns_inside, inside
from tocsin.datalog.spark.batch.worker_batches import ARROW
from tocsin.printable import number_of

_SPREAD = 4
"""So many times as many parts as are needed: some get more arcs than others."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """What decides: tuples that one worker takes and may derive, arcs that each worker takes, the limits."""

    one_worker: int
    derived_in_one_worker: int
    arcs: int
    limit: int
    text_limit: int = TEXT_LIMIT


class Run:
    """A program at work; `shown` are the relations that are wanted of it. Facts are given before `finish`."""

    def __init__(
        self,
        session: SparkSession,
        program: NormalProgram,
        storage: Storage,
        sizes: Sizes,
        shown: Iterable[str],
    ) -> None:
        self._session = session
        self._program = program
        self.storage = storage
        self._sizes = sizes
        self._shown = tuple(shown)
        self._steps = Steps(session, program, sizes.text_limit)
        self._counts = component_plan.reading_counts(program)
        self._given: dict[str, list[Frame]] = {}
        for name, frame in facts_as_frames(session, program).items():
            self.give(name, frame)
        self._components = component_plan.components_of(program)
        self.components = len(self._components)
        """How many there are to work out."""
        self._derived = 0
        self.frames: dict[str, Frame] = {}
        self.decisions: list[Decision] = []

    def give(self, relation: str, facts: Frame) -> None:
        """Facts of a relation, stored and counted."""
        self._given.setdefault(relation, []).append(facts)

    def finish(self, advance: Callable[[int], None] = lambda _done: None) -> dict[str, Frame]:
        """The relations that are wanted, each tuple once. `advance` is told how many components are done."""
        waiting = list(self._components)
        while waiting:
            advance(self.components - len(waiting))
            small = self._small_ones(waiting)
            while small and not self._in_one_worker(waiting[:small]):
                small //= 2  # one of them derives too much: fewer may do
            if not small:
                self._on_spark(self._program, waiting[0])
            del waiting[: small or 1]
        return {name: self._counted(name) for name in self._shown}

    def _small_ones(self, waiting: Sequence[Component]) -> int:
        """How many of the next components have inputs that are small enough, all together, for one worker.

        None, when there is nothing to work out for them.
        """
        if not self._sizes.one_worker:
            return 0
        taken: set[str] = set()
        rows = 0.0
        small: list[Component] = []
        for component in waiting:
            new = {*component.inputs, *component.members} - taken
            rows += sum(frame.most for name in new for frame in self._known(name))
            if rows > self._sizes.one_worker:
                break
            taken |= new
            small.append(component)
        return len(small) if any(component.steps for component in small) else 0

    def _known(self, name: str) -> list[Frame]:
        """What there is of a relation: all of it, or the facts given before it is worked out."""
        return [self.frames[name]] if name in self.frames else self._given.get(name, [])

    def _in_one_worker(self, components: Sequence[Component]) -> bool:
        """Work out small components; whether they were."""
        program = component_plan.part_of(self._program, components)
        members = [name for component in components for name in component.members]
        derived = [name for component in components if component.steps for name in component.members]
        needed = {name for component in components for name in (*component.inputs, *component.members)}
        given = [each.name for each in program.relations if each.name in needed and self._known(each.name)]
        limit = min(self._sizes.derived_in_one_worker, self._sizes.limit)
        wanted = [name for name in derived if self._is_needed_after(name, components)]
        frames = {name: [frame.data for frame in self._known(name)] for name in given}
        job = Job(program, tuple(given), tuple(wanted), limit, self._sizes.text_limit)
        try:
            found = finish_in_one_worker(self._session, self.storage, job, frames)
        except TooMany:
            if limit == self._sizes.limit:
                raise too_many_tuples(limit) from None
            return False
        for name in members:
            if name not in derived:
                self.frames[name] = self._facts_of(name)
        self.frames.update(found)
        rows = sum(frame.rows or 0 for frame in found.values())
        self._count(rows)
        self.decisions.append(Decision(tuple(derived), "in one worker", rows))
        return True

    def _is_needed_after(self, name: str, components: Sequence[Component]) -> bool:
        own = component_plan.reading_counts(component_plan.part_of(self._program, components))
        return name in self._shown or self._counts[name] > own[name]

    def _on_spark(self, program: NormalProgram, component: Component) -> None:
        """Work out one component by joins."""
        if not component.steps:
            self.frames[component.members[0]] = self._facts_of(component.members[0])
        elif not component.is_recursive:
            self._join(component)
        else:
            given = [name for name in component.members if self._given.get(name)]
            alone = closure_steps(component_plan.part_of(program, [component]), given)
            closure = next((step for step in alone.steps if isinstance(step, ClosureRule)), None)
            if closure is None or not self._close(closure, alone):
                self._recur(component)

    def _join(self, component: Component) -> None:
        (name,) = component.members
        plans = [plan for step in component.steps for plan in self._steps.given(step, self.frames)]
        plans += [frame.data for frame in self._given.get(name, [])]
        if not plans:
            self.frames[name] = self._steps.empty(name)
        elif component.can_fail or name in self._shown or self._counts[name] > 1:
            self._store(name, united(plans).distinct(), "joined")
        else:
            self.frames[name] = Frame(united(plans), None, distinct=False)
            self.decisions.append(Decision((name,), "joined where it is read", None))

    def _store(self, name: str, plan: DataFrame, strategy: str) -> None:
        self.frames |= self.storage.store({name: plan})
        self.decisions.append(Decision((name,), strategy, self.frames[name].rows))
        self._count(self.frames[name].rows or 0)

    def _recur(self, component: Component) -> None:
        outside = {name: self._counted(name) for name in sorted(component.inputs)}
        recursion = Recursion(component, self._steps, self.storage, outside)
        given = {name: [frame.data for frame in self._given.get(name, [])] for name in component.members}
        found = recursion.finish(given, self._check)
        self.frames.update(found)
        rows = sum(frame.rows or 0 for frame in found.values())
        strategy = f"in {recursion.rounds} rounds"
        self.decisions.append(Decision(component.members, strategy, rows))
        self._count(rows)

    def _close(self, closure: ClosureRule, program: NormalProgram) -> bool:
        """Work out a closure, after what its arcs are; False when a part of them is too much for a worker."""
        if closure.facts is not None:
            self._given[closure.facts] = self._given.get(closure.head, [])
        self._steps = Steps(self._session, _with_relations(self._program, program.relations))
        for component in component_plan.components_of(program):
            if closure.head not in component.members and component.members[0] not in self.frames:
                self._on_spark(program, component)
        arcs = self._counted(closure.arc)
        columns, limit = self._steps.columns[closure.head], self._sizes.limit
        told = f"from {number_of(arcs.rows or 0, 'arc')}"
        if arcs.most <= self._sizes.arcs:
            pairs = closed(self._session, arcs.data, columns, limit)
            self._store(closure.head, pairs, f"closed in all workers, {told}")
            return True
        labelled, most = split_arcs(self.storage, arcs.data)
        if most > self._sizes.arcs:
            return False
        spread = _SPREAD * (arcs.rows or 0) // self._sizes.arcs
        parts = max(self._session.sparkContext.defaultParallelism, spread)
        pairs = closed_in_parts(labelled, parts, columns, limit)
        self._store(closure.head, pairs, f"closed in {number_of(parts, 'part')}, {told}")
        return True

    def _counted(self, name: str) -> Frame:
        """A relation that is stored, now if it was not."""
        frame = self.frames[name]
        if frame.rows is None or not frame.distinct:
            self.frames |= self.storage.store({name: frame.once()})
        return self.frames[name]

    def _facts_of(self, name: str) -> Frame:
        """A relation that no rule gives."""
        frames = self._given.get(name, [])
        if not frames:
            return self._steps.empty(name)
        if len(frames) == 1:
            return frames[0]
        rows = sum(frame.rows or 0 for frame in frames)
        return Frame(united([frame.data for frame in frames]), rows, distinct=False)

    def _check(self, rows: int) -> None:
        if self._derived + rows > self._sizes.limit:
            raise too_many_tuples(self._sizes.limit)

    def _count(self, rows: int) -> None:
        self._check(rows)
        self._derived += rows


def _with_relations(program: NormalProgram, relations: Sequence[Relation]) -> NormalProgram:
    known = {relation.name for relation in program.relations}
    more = tuple(relation for relation in relations if relation.name not in known)
    return NormalProgram((*program.relations, *more), program.steps, program.facts)


def facts_as_frames(session: SparkSession, program: NormalProgram) -> dict[str, Frame]:
    """The facts that stand in a program."""
    by_relation: dict[str, list[tuple[Value, ...]]] = {}
    for name, values in program.facts:
        by_relation.setdefault(name, []).append(values)
    types = {relation.name: relation.types for relation in program.relations}
    frames = {}
    for name, tuples in by_relation.items():
        columns = columns_inside(types[name])
        rows = [values or (0,) for values in tuples]
        arrays = [
            pa.array([inside(row[place], kind) for row in rows], ARROW[kind])
            for place, kind in enumerate(columns.types)
        ]
        table = pa.Table.from_arrays(arrays, names=columns.names)
        frames[name] = Frame(session.createDataFrame(table, schema=columns.schema), len(rows), distinct=True)
    return frames
