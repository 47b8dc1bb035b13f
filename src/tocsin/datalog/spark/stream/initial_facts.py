"""What holds before the first change: the facts that stand in a program, and what follows from them.

None of it is in any state: a bucket that was never touched has what the program gives it, and so has a tuple
that is counted.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from tocsin.datalog.engine.changes import Tuple
from tocsin.datalog.engine.engine import Engine
from tocsin.datalog.engine.machines import facts_of
from tocsin.datalog.engine.program import DERIVED_LIMIT
from tocsin.datalog.language.syntax import Value
from tocsin.datalog.spark.stream.bucket_journal import Fact
from tocsin.datalog.spark.stream.plan_steps import bucket_of_port
from tocsin.datalog.spark.stream.step_rows import Texts, texts_of
from tocsin.datalog.spark.stream.unit_planner import plan_of_text
from tocsin.datalog.spark.stream.units import Plan, Unit

FORMAT = 1
"""Of the state: another number is another program to a checkpoint."""


@dataclass(frozen=True)
class Setting:
    """All that a worker has to know to do the same as every other one. Made to be pickled.

    text is the program's; local and limit are those of Program.start.
    """

    text: str
    local: Value | None = None
    limit: int = DERIVED_LIMIT

    @property
    def plan(self) -> Plan:
        """The program's plan."""
        return plan_of_text(self.text)

    @property
    def mark(self) -> str:
        """What tells this program from others, in the state that was written for it."""
        told = repr((FORMAT, self.text, self.local))
        return hashlib.blake2b(told.encode(), digest_size=8).hexdigest()

    @property
    def initial(self) -> Initial:
        """What holds at the start."""
        return _initial(self)


@lru_cache(maxsize=16)
def _initial(setting: Setting) -> Initial:
    return Initial(setting)


class Initial:
    """The contents of all relations at the start."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._plan = setting.plan
        self._facts_by_bucket: dict[int, Mapping[int, list[Fact]]] = {}

    def engine(self, unit: Unit) -> Engine:
        """A new engine for a unit, with what it is given at the start."""
        return unit.program.start(self._setting.local, facts=self._given(unit), limit=self._setting.limit)

    def empty_engine(self, unit: Unit) -> Engine:
        """A new engine for a unit that is given nothing."""
        return unit.program.start(self._setting.local, limit=self._setting.limit)

    def facts_of_bucket(self, unit: Unit, bucket: int) -> list[Fact]:
        """What a bucket of a unit is given at the start."""
        return self._by_bucket(unit.number).get(bucket, [])

    def is_fact(self, relation: str, texts: Texts) -> bool:
        """Whether a tuple is a fact that stands in the program."""
        return (relation, texts) in self._fact_texts

    @cached_property
    def supports(self) -> Mapping[tuple[str, Texts], int]:
        """For the tuples of counted relations: how many keys of how many rules derive them at the start."""
        found: Counter[tuple[str, Texts]] = Counter()
        for unit in self._plan.units:
            if unit.counted:
                engine = self.engine(unit)
                for name, relation in unit.gives.items():
                    found.update((relation, texts_of(each[unit.extra :])) for each in engine.query(name))
        return found

    @cached_property
    def _fact_texts(self) -> frozenset[tuple[str, Texts]]:
        return frozenset((name, texts_of(each)) for name, tuples in self._facts.items() for each in tuples)

    @cached_property
    def _facts(self) -> Mapping[str, list[Tuple]]:
        given: dict[str, list[Tuple]] = {}
        for relation, values in facts_of(self._plan.program.checked):
            given.setdefault(relation, []).append(values)
        return given

    @cached_property
    def _contents(self) -> Mapping[str, list[Tuple]]:
        engine = self._plan.program.start(self._setting.local, limit=self._setting.limit)
        return {name: engine.query(name) for name in engine}

    def _given(self, unit: Unit) -> dict[str, list[Tuple]]:
        """By port: of the unit's own relations the facts of the program, of others what they hold."""
        own = set(unit.gives.values()) - set(self._plan.counted)
        return {
            port.name: (self._facts if port.relation in own else self._contents).get(port.relation, [])
            for port in unit.takes
        }

    def _by_bucket(self, number: int) -> Mapping[int, list[Fact]]:
        if number not in self._facts_by_bucket:
            found: dict[int, list[Fact]] = {}
            unit = self._plan.units[number]
            for port, (name, tuples) in zip(unit.takes, self._given(unit).items(), strict=True):
                for texts in map(texts_of, tuples):
                    found.setdefault(bucket_of_port(port, texts), []).append((name, *texts))
            self._facts_by_bucket[number] = found
        return self._facts_by_bucket[number]
