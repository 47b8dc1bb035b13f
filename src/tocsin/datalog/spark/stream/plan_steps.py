"""The way of a row through a plan: which steps there are, and to which buckets of each a row goes.

    lives 0         facts that have a time to live          a bucket of facts
    join 0          the units of level 0                    unit, and a bucket of keys
    count 0         the counted relations of level 0        relation, and a bucket of tuples
    join 1          ...

A row goes to every bucket that takes it, and past a step (PASS) when a later one takes it, or when it is
a result. So the steps stand in one line, and each has its state once.
"""

from __future__ import annotations

import pickle
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import pyarrow as pa

from tocsin.datalog.spark.stream.buckets import bucket_of
from tocsin.datalog.spark.stream.step_rows import Kind, Moved, Texts
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
        takes = {(kind, name): [Route(numbers[name], TUPLE, name)] for name in counted for kind in kinds}
        works.append(("count", level, takes))
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


_ARROW = pa.schema([("unit", pa.int32()), ("bucket", pa.int32()), ("rows", pa.binary())])

RESULTS = pa.schema(
    [
        ("op", pa.string()),
        ("relation", pa.string()),
        ("tuple", pa.list_(pa.string())),
        ("seq", pa.int64()),
        ("reason", pa.string()),
    ]
)
"""The columns of results, and of rows that are refused."""


class Packed(NamedTuple):
    """Rows that go to one bucket of a unit."""

    unit: int
    bucket: int
    rows: bytes


class Router:
    """Packs rows for a step; behind the last one there is none, and what arrives there is a result."""

    def __init__(self, step: Step | None) -> None:
        self._step = step
        self._known: dict[Taken, list[Route]] = {}

    def pack(self, rows: Iterable[Moved]) -> Iterator[Packed]:
        """The rows, each once for every bucket that it goes to."""
        going: dict[tuple[int, int], list[tuple[object, ...]]] = {}
        for row in rows:
            for route in self._routes((row.kind, row.relation)):
                passes = route.unit == PASS
                bucket = (row.seq or 0) % PASSING_BUCKETS if passes else route.bucket(row.tuple)
                packed = (row.kind, row.op, route.port, row.tuple, row.seq, row.time, row.reason)
                going.setdefault((route.unit, bucket), []).append(packed)
        for (unit, bucket), some in going.items():
            yield Packed(unit, bucket, pickle.dumps(some, pickle.HIGHEST_PROTOCOL))

    def _routes(self, taken: Taken) -> list[Route]:
        found = self._known.get(taken)
        if found is None:
            passing = [Route(PASS, 0, taken[1])]
            found = self._known[taken] = passing if self._step is None else self._step.routes(taken)
        return found


def unpack(packed: Iterable[bytes]) -> list[Moved]:
    """The rows that were packed."""
    return [Moved._make(row) for rows in packed for row in pickle.loads(rows)]


def pack_batches(router: Router, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Batches with the columns of rows (reading.ROWS), packed."""
    for batch in batches:
        columns = [column.to_pylist() for column in batch.columns]
        columns[3] = [texts if texts is None else tuple(texts) for texts in columns[3]]
        packed = list(router.pack(map(Moved._make, zip(*columns, strict=True))))
        yield pa.RecordBatch.from_arrays(
            [pa.array([getattr(each, field.name) for each in packed], field.type) for field in _ARROW],
            schema=_ARROW,
        )


def results(outputs: Iterable[str], batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The results among rows that leave the last step, and those that were refused, with the op '!'."""
    reported = frozenset(outputs)
    for batch in batches:
        found: list[tuple[object, ...]] = []
        for row in unpack(batch.column("rows").to_pylist()):
            if row.kind == "refused":
                found.append(("!", row.relation, row.tuple, row.seq, row.reason))
            elif row.kind == "net" and row.relation in reported:
                found.append((row.op, row.relation, row.tuple, row.seq, None))
        if found:
            columns = zip(*found, strict=True)
            arrays = [pa.array(column, field.type) for column, field in zip(columns, RESULTS, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=RESULTS)
