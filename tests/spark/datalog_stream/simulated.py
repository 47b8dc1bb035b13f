"""The plan of a program run without Spark: the same steps, buckets and state, in plain dictionaries.

Several workers share the buckets at random, as Spark's do, and some tasks fail when they have done their
work: what they wrote is lost, what they remember is wrong, and the work is done again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from tocsin.datalog.engine.changes import Tuple
from tocsin.datalog.spark.stream.bucket_contents import contents_of
from tocsin.datalog.spark.stream.bucket_journal import Head
from tocsin.datalog.spark.stream.buckets import Bucket
from tocsin.datalog.spark.stream.initial_facts import Setting
from tocsin.datalog.spark.stream.plan_steps import PASS, Router, Step, steps_of, unpack
from tocsin.datalog.spark.stream.step_rows import Moved, texts_of

Given = tuple[str, str, Tuple, int, int]
"""op, relation, tuple, seq, time"""

Place = tuple[str, int, int, int]
"""What a step does, its level, and a bucket of a unit."""


class DictStore:
    """The state of a bucket."""

    def __init__(self) -> None:
        self._head: Head | None = None
        self.pieces: dict[int, str] = {}

    def head(self) -> Head | None:
        return self._head

    def set_head(self, head: Head) -> None:
        self._head = Head._make(list(part) if isinstance(part, list | tuple) else part for part in head)

    def piece(self, number: int) -> str:
        return self.pieces[number]

    def set_piece(self, number: int, text: str) -> None:
        self.pieces[number] = text

    def remove_piece(self, number: int) -> None:
        del self.pieces[number]

    def copy(self) -> DictStore:
        copied = DictStore()
        copied._head, copied.pieces = self._head, dict(self.pieces)
        return copied


class Simulated:
    """A plan at work."""

    def __init__(
        self,
        text: str,
        *,
        workers: int = 1,
        seed: int = 0,
        ttl: Mapping[str, int] | None = None,
    ) -> None:
        self.setting = Setting(text)
        self._ttl = ttl or {}
        self.steps = steps_of(self.setting.plan, self._ttl)
        self._random = Random(seed)
        self._workers: list[dict[Place, Bucket]] = [{} for _ in range(workers)]
        self._fails = workers > 1
        self.stores: dict[Place, DictStore] = {}

    def batch(self, changes: Sequence[Given], watermark: int = 0) -> set[tuple[str, str, Tuple, int | None]]:
        """One micro-batch: what comes out of it, tuples as texts."""
        rows = [
            Moved("given", op, relation, texts_of(values), seq, time)
            for op, relation, values, seq, time in changes
        ]
        for step in self.steps:
            rows = self._step(step, rows, watermark)
        outputs = self.setting.plan.program.outputs
        found = [row for row in rows if row.kind == "net" and row.relation in outputs]
        assert len(set(found)) == len(found)
        return {(row.op, row.relation, row.tuple, row.seq) for row in found}

    def _step(self, step: Step, rows: list[Moved], watermark: int) -> list[Moved]:
        out: list[Moved] = []
        self._random.shuffle(rows)
        arrived: dict[tuple[int, int], list[bytes]] = {}
        for some in (rows[::2], rows[1::2]):
            for packed in Router(step).pack(some):
                arrived.setdefault((packed.unit, packed.bucket), []).append(packed.rows)
        if step.work == "lives":
            due = [place for place in self.stores if place[0] == "lives" and place[2:] not in arrived]
            arrived |= {place[2:]: [] for place in due}
        for (unit, bucket), packed_rows in arrived.items():
            if unit == PASS:
                out += unpack(packed_rows)
            else:
                out += self._change((step.work, step.level, unit, bucket), packed_rows, watermark)
        return out

    def _change(self, place: Place, packed: Sequence[bytes], watermark: int) -> list[Moved]:
        store = self.stores.setdefault(place, DictStore())
        if self._fails and self._random.random() < 0.2:
            self._bucket(place).change(store.copy(), unpack(packed), watermark)
        return self._bucket(place).change(store, unpack(packed), watermark)

    def _bucket(self, place: Place) -> Bucket:
        worker = self._random.choice(self._workers)
        if place not in worker:
            work, _, unit, bucket = place
            worker[place] = Bucket(contents_of(self.setting, work, unit, bucket, self._ttl))
        return worker[place]
