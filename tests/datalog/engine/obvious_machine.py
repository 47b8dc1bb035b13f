"""A machine that works everything out anew after each change, obviously: the judge of the other."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tocsin import Program
from tocsin.datalog.engine.machines import Started
from tocsin.datalog.language import Value
from tocsin.datalog.language.syntax import CheckedProgram
from tocsin.datalog.machine import Machine, Rows, Symbols, TupleCode
from tocsin.datalog.meaning import evaluate
from tocsin.errors import DerivationError

Tuple = tuple[Value, ...]
Contents = dict[str, set[Tuple]]


def start_obvious(
    program: Program,
    fed: Collection[str],
    local: Value | None,
    symbols: Symbols,
    limit: int,
    implicit: bool,
) -> Started:
    machine = ObviousMachine(program.bare, local, symbols, limit)
    return Started(machine, {name: name for name in program.relations})


class ObviousMachine(Machine):
    def __init__(self, program: CheckedProgram, local: Value | None, symbols: Symbols, limit: int) -> None:
        self._program = program
        self._local = local
        self._limit = limit
        self._names = list(program.relations)
        self._coded = [
            TupleCode(name, relation.types, symbols, relation.columns)
            for name, relation in program.relations.items()
        ]
        self._facts: Contents = {name: set() for name in self._names}
        self._before: Contents = {name: set() for name in self._names}
        self._now: Contents = {name: set() for name in self._names}
        self._dead = False

    def relation(self, name: str) -> int:
        return self._names.index(name)

    def change(self, relation: int, rows: Rows, insert: bool) -> None:
        tuples = self._coded[relation].decode_rows(rows)
        held = self._facts[self._names[relation]]
        (held.update if insert else held.difference_update)(tuples)

    def settle(self) -> None:
        assert not self._dead
        try:
            contents = evaluate(self._program, self._facts, self._local, self._limit)
        except DerivationError:
            self._dead = True
            raise
        self._before, self._now = self._now, contents

    def change_one(self, relation: int, row: Sequence[int], insert: bool) -> int:
        self.change(relation, np.array([row], np.int64).reshape(1, len(row)), insert)
        self.settle()
        return sum(len(self._before[name] ^ self._now[name]) for name in self._names)

    @property
    def is_settled(self) -> bool:
        return True

    def number_changer(self, relation: int) -> None:
        return None

    def net_change(self, relation: int) -> tuple[Rows, Rows]:
        before, now = self._before[self._names[relation]], self._now[self._names[relation]]
        code = self._coded[relation]
        return code.rows(now - before), code.rows(before - now)

    def closure_change(self, relation: int) -> None:
        return None

    def rows(self, relation: int) -> Rows:
        return self._coded[relation].rows(self._now[self._names[relation]])

    def size(self, relation: int) -> int:
        return len(self._now[self._names[relation]])

    def given(self, relation: int) -> Rows:
        return self._coded[relation].rows(self._facts[self._names[relation]])

    def is_given(self, relation: int, row: Sequence[int]) -> bool:
        return self._coded[relation].decode(row) in self._facts[self._names[relation]]

    def holds(self, relation: int, row: Sequence[int]) -> bool:
        return self._coded[relation].decode(row) in self._now[self._names[relation]]

    def held(self, relation: int, rows: Rows) -> NDArray[np.bool_]:
        return np.array([self.holds(relation, tuple(row)) for row in rows.tolist()], np.bool_)

    def rank(self, relation: int, row: Sequence[int]) -> int:
        raise NotImplementedError

    def lookup(self, relation: int, columns: tuple[int, ...], key: Sequence[int]) -> Rows:
        rows = self.rows(relation)
        found: Rows = rows[(rows[:, list(columns)] == np.array(key, np.int64)).all(axis=1)]
        return found

    def stats(self) -> dict[str, Any]:
        return {}
