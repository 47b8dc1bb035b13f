"""Rows on their way from step to step: packed by the bucket that they go to, many in one row of Spark's.

A row of Spark's is taken apart and put together cell by cell, which takes longer than the work on a change.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pyarrow as pa

from tocsin.datalog.spark.stream.plan_steps import PASS, PASSING_BUCKETS, Route, Step, Taken
from tocsin.datalog.spark.stream.step_rows import Change, Moved

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
                if route.unit == PASS:
                    going.setdefault((PASS, (row.seq or 0) % PASSING_BUCKETS), []).append(tuple(row))
                else:
                    change = (row.kind, row.op, route.port, row.tuple, row.seq, row.time)
                    going.setdefault((route.unit, route.bucket(row.tuple)), []).append(change)
        for (unit, bucket), some in going.items():
            yield Packed(unit, bucket, pickle.dumps(some, pickle.HIGHEST_PROTOCOL))

    def _routes(self, taken: Taken) -> list[Route]:
        found = self._known.get(taken)
        if found is None:
            passing = [Route(PASS, 0, taken[1])]
            found = self._known[taken] = passing if self._step is None else self._step.routes(taken)
        return found


def unpack(packed: Iterable[bytes]) -> list[Change]:
    """The changes that came to a bucket."""
    return [Change._make(change) for rows in packed for change in pickle.loads(rows)]


def unpack_passing(packed: Iterable[bytes]) -> Iterator[Moved]:
    """The rows that pass a step."""
    return (Moved._make(row) for rows in packed for row in pickle.loads(rows))


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
        for row in unpack_passing(batch.column("rows").to_pylist()):
            if row.kind == "refused":
                found.append(("!", row.relation, row.tuple, row.seq, row.reason))
            elif row.kind == "net" and row.relation in reported:
                found.append((row.op, row.relation, row.tuple, row.seq, None))
        if found:
            columns = zip(*found, strict=True)
            arrays = [pa.array(column, field.type) for column, field in zip(columns, RESULTS, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=RESULTS)
