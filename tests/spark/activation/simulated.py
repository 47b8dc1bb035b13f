"""The plan of a program run without Spark: the same steps, keys and state, in plain dictionaries.

Several workers share the keys at random, as Spark's do, and some tasks fail when they have done their work:
what they wrote is lost, what they remember is wrong, and the work is done again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from random import Random

from tocsin.monitor.programs.changes import Tuple
from tocsin.spark.activation.counting import Count, count_at_start, counted
from tocsin.spark.activation.initial import Setting
from tocsin.spark.activation.keyed import Head, KeyedEngine
from tocsin.spark.activation.lifetimes import Life, Timed, life_at_start, lived
from tocsin.spark.activation.rows import Change, Moved
from tocsin.spark.activation.steps import PASS, Step, key_of, results, steps_of
from tocsin.spark.activation.texts import Texts, fact_of_text, texts_of

Given = tuple[str, str, Tuple, int, int]
"""op, relation, tuple, seq, time"""


Times = Mapping[tuple[str, Texts, int | None, str], int]
"""The event time of each row that came."""


class DictState:
    """The state of a key."""

    def __init__(self, head: Head | None = None, facts: Iterable[str] = ()) -> None:
        self._head = head
        self.kept = set(facts)

    def head(self) -> Head | None:
        return None if self._head is None else Head.from_json(self._head.to_json())

    def facts(self) -> Iterable[str]:
        return sorted(self.kept)

    def write(self, head: Head, changed: Mapping[str, bool]) -> None:
        self._head = head
        for fact, given in changed.items():
            (self.kept.add if given else self.kept.discard)(fact)

    def is_empty(self) -> bool:
        return not self.kept

    def clear(self) -> None:
        self._head = None
        self.kept = set()

    def copy(self) -> DictState:
        return DictState(self._head, self.kept)


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
        self._workers: list[dict[int, KeyedEngine]] = [{} for _ in range(workers)]
        self._fails = workers > 1
        self.keys: dict[tuple[int, str], DictState] = {}
        self._counts: dict[str, Count] = {}
        self._lives: dict[str, Life] = {}

    def batch(self, changes: Sequence[Given], watermark: int = 0) -> set[tuple[str, str, Tuple, int | None]]:
        """One micro-batch: what comes out of it, tuples as texts."""
        times: Times = {
            (relation, texts_of(values), seq, op): time for op, relation, values, seq, time in changes
        }
        rows = [
            Moved("given", op, relation, texts_of(values), seq) for op, relation, values, seq, _ in changes
        ]
        for step in self.steps:
            rows = self._step(step, rows, times, watermark)
        found = results(self.setting.plan, rows)
        assert len(set(found)) == len(found)
        return {(row.op, row.relation, row.tuple, row.seq) for row in found}

    def _step(self, step: Step, rows: list[Moved], times: Times, watermark: int) -> list[Moved]:
        out: list[Moved] = []
        arrived: dict[tuple[int, str], list[Change]] = {}
        self._random.shuffle(rows)
        for row in rows:
            for route in step.routes((row.kind, row.relation)):
                if route.unit == PASS:
                    out.append(row)
                    continue
                change = Change(row.kind, row.op, route.port, row.tuple, row.seq)
                arrived.setdefault((route.unit, key_of(route, row.tuple)), []).append(change)
        if step.work == "lives":
            return out + self._live(arrived, times, watermark)
        for (unit, key), changes in arrived.items():
            out += self._join(unit, key, changes) if step.work == "join" else self._count(key, changes)
        return out

    def _join(self, unit: int, key: str, changes: list[Change]) -> list[Moved]:
        state = self.keys.setdefault((unit, key), DictState())
        if self._fails and self._random.random() < 0.2:
            self._engine(unit).change(key, state.copy(), changes)
        return self._engine(unit).change(key, state, changes)

    def _engine(self, unit: int) -> KeyedEngine:
        worker = self._random.choice(self._workers)
        if unit not in worker:
            worker[unit] = KeyedEngine(self.setting, self.setting.plan.units[unit])
        return worker[unit]

    def _count(self, key: str, changes: list[Change]) -> list[Moved]:
        relation, texts = fact_of_text(key)
        count = self._counts.get(key, count_at_start(self.setting.initial, relation, texts))
        self._counts[key], moved = counted(relation, texts, count, changes)
        assert self._counts[key].derivations >= 0
        return moved

    def _live(
        self,
        arrived: Mapping[tuple[int, str], list[Change]],
        times: Times,
        watermark: int,
    ) -> list[Moved]:
        changes = {key: each for (_, key), each in arrived.items()}
        due = [key for key, life in self._lives.items() if life.until is not None and life.until <= watermark]
        out: list[Moved] = []
        for key in {*changes, *due}:
            relation, texts = fact_of_text(key)
            life = self._lives.get(key, life_at_start(self.setting.initial, relation, texts))
            timed = [
                Timed(each, times[each.port, each.tuple, each.seq, each.op]) for each in changes.get(key, [])
            ]
            self._lives[key], moved = lived(relation, texts, life, timed, self._ttl[relation], watermark)
            out += moved
        return out
