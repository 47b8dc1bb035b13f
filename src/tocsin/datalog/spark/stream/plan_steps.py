"""The way of a row through a plan: which steps there are, and to which buckets of each a row goes.

    lives 0         facts that have a time to live          a bucket of facts
    join 0          the units of level 0                    unit, and a bucket of keys
    count 0         the counted relations of level 0        relation, and a bucket of tuples
    join 1          ...

A row goes to every bucket that takes it, and past a step (PASS) when a later one takes it, or when it is
a result. So the steps stand in one line, and each has its state once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from tocsin.datalog.spark.stream.buckets import bucket_of
from tocsin.datalog.spark.stream.step_rows import Kind
from tocsin.datalog.spark.stream.tuple_texts import Texts
from tocsin.datalog.spark.stream.units import Plan, Port

PASS = -1
"""The number that stands for no unit: the row goes on as it is."""

WHOLE, TUPLE = -1, -2
"""In the place of a key's column: all tuples go to one bucket, and each tuple is a key."""

PASSING_BUCKETS = 16
"""Rows that pass are spread over so many buckets."""


class Route(NamedTuple):
    """Where a row goes: the number of a unit (of a relation, where tuples are keys), and what its key is.

    `port` is the name that its relation has there.
    """

    unit: int
    column: int
    port: str

    def bucket(self, texts: Texts) -> int:
        """The bucket that a tuple goes to."""
        if self.column == TUPLE:
            return bucket_of(*texts)
        return 0 if self.column == WHOLE else bucket_of(texts[self.column])


Taken = tuple[Kind, str]
"""The kind of a row, and its relation."""


@dataclass(frozen=True)
class Step:
    """A stage of the plan. `takes` are the rows that it works on, `passes` those that go on as they are."""

    work: Literal["lives", "join", "count"]
    level: int
    takes: Mapping[Taken, list[Route]]
    passes: frozenset[Taken]

    def routes(self, taken: Taken) -> list[Route]:
        """All ways that a row takes."""
        goes_on = taken in self.passes or taken[0] == "refused"
        return [*self.takes.get(taken, []), *[Route(PASS, WHOLE, taken[1])] * goes_on]


def bucket_of_port(port: Port, texts: Texts) -> int:
    """The bucket that a tuple goes to which comes through a port of a unit."""
    return _route(0, port).bucket(texts)


def steps_of(plan: Plan, mortal: Collection[str] = ()) -> list[Step]:
    """The steps of a plan, `mortal` being the relations whose facts have a time to live."""
    numbers = {name: number for number, name in enumerate(plan.program.relations)}
    works: list[tuple[Literal["lives", "join", "count"], int, dict[Taken, list[Route]]]] = []
    if mortal:
        works.append(("lives", 0, {("given", name): [Route(numbers[name], TUPLE, name)] for name in mortal}))
    for level in range(plan.levels):
        works.append(("join", level, _joined(plan, level)))
        counted = [name for name, at in plan.counted.items() if at == level]
        kinds: tuple[Kind, ...] = ("given", "support")
        works.append(
            (
                "count",
                level,
                {(kind, name): [Route(numbers[name], TUPLE, name)] for name in counted for kind in kinds},
            )
        )
    steps: list[Step] = []
    wanted: set[Taken] = {("net", name) for name in plan.program.outputs}
    for work, level, takes in reversed(works):
        if takes:
            passes = wanted - takes.keys() if work == "lives" else wanted
            steps.append(Step(work, level, takes, frozenset(passes)))
            wanted = wanted | takes.keys()
    return steps[::-1]


def _joined(plan: Plan, level: int) -> dict[Taken, list[Route]]:
    """What the units of a level take: facts of their own relations and of inputs, net changes of others."""
    takes: dict[Taken, list[Route]] = {}
    for unit in plan.units:
        if unit.level != level:
            continue
        own = set(unit.gives.values()) - plan.counted.keys()
        for port in unit.takes:
            kind: Kind = "given" if port.relation in own or port.relation not in plan.made else "net"
            takes.setdefault((kind, port.relation), []).append(_route(unit.number, port))
    return takes


def _route(unit: int, port: Port) -> Route:
    return Route(unit, WHOLE if port.column is None else port.column, port.name)
