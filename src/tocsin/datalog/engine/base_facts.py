"""The facts that an engine was given: where they go in a machine, and what there was before a change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from tocsin.datalog.engine.expiry import Expiry
from tocsin.datalog.engine.machines import Started, facts_of
from tocsin.datalog.engine.program import Program
from tocsin.datalog.engine.requests import rows_of_words
from tocsin.datalog.language.syntax import Type, Value
from tocsin.datalog.machine.machine import Machine
from tocsin.datalog.machine.symbols import Symbols
from tocsin.datalog.machine.tuples import Rows, TupleCode

Given = dict[str, Rows]
"""The facts that were given, by relation."""


class EngineState(NamedTuple):
    """All that an engine is made of."""

    program: Program
    local: Value | None
    limit: int
    symbols: Symbols
    given: Given
    expiry: Expiry


def first_state(
    program: Program, local: Value | None, limit: int, symbols: Symbols, loaded: Given
) -> EngineState:
    """What an engine starts with: the facts that stand in its program, and those that are loaded."""
    given = joined(rows_of_facts(facts_of(program.checked), program.codes(symbols)), loaded)
    return EngineState(program, local, limit, symbols, given, Expiry())


def rows_of_facts(facts: Iterable[tuple[str, tuple[Value, ...]]], codes: Mapping[str, TupleCode]) -> Given:
    """Facts as rows."""
    by_relation: dict[str, list[tuple[Value, ...]]] = {}
    for name, values in facts:
        by_relation.setdefault(name, []).append(values)
    return {name: codes[name].rows(tuples) for name, tuples in by_relation.items()}


class Door(NamedTuple):
    """A declared relation, as it is reached: `taking` is where its facts go, -1 when it takes none.

    `change` is the quick way for a relation of numbers that takes facts.
    """

    number: int
    code: TupleCode
    encode: Callable[[object], tuple[int, ...]]
    taking: int
    change: Callable[[object, bool], int] | None


def door_of(started: Started, name: str, code: TupleCode) -> Door:
    """The door of a declared relation."""
    machine = started.machine
    taking = machine.relation(started.taking[name]) if name in started.taking else -1
    is_quick = taking >= 0 and all(kind is Type.NUMBER for kind in code.types)
    change = machine.number_changer(taking) if is_quick else None
    return Door(machine.relation(name), code, code.encode, taking, change)


class Past(NamedTuple):
    """What was given before a change, by number of relation: all of it, or whether these rows were."""

    whole: dict[int, Rows]
    rows: dict[int, list[tuple[tuple[int, ...], bool]]]


class Unfinished:
    """In the place of a machine or of its doors, after a change that failed: what was there before.

    Whoever asks for either has it worked out first. So whoever presses Ctrl-C need not wait for that, and may
    press it again meanwhile.
    """

    def __init__(self, restore: Callable[[], None], look: Callable[[], Any]) -> None:
        self._restore = restore
        self._look = look

    def _restored(self) -> Any:
        self._restore()
        return self._look()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._restored(), name)

    def __getitem__(self, name: object) -> Any:
        return self._restored()[name]

    def __contains__(self, name: object) -> bool:
        return name in self._restored()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._restored())


def given_facts(machine: Machine, doors: Mapping[str, Door]) -> Given:
    """The facts that a machine was given."""
    return {
        name: rows_of_words([], door.code) if door.taking < 0 else machine.given(door.taking)
        for name, door in doors.items()
    }


def joined(some: Given, others: Given) -> Given:
    """All facts of both."""
    both = {name: [given[name] for given in (some, others) if name in given] for name in {**some, **others}}
    return {name: np.concatenate(rows) for name, rows in both.items()}


def facts_before(failed: Machine, doors: Mapping[str, Door], past: Past) -> Given:
    """The facts that there were before a change that failed."""
    given = given_facts(failed, doors)
    for name, door in doors.items():
        given[name] = past.whole.get(door.taking, given[name])
        if door.taking in past.rows:
            held = set(map(tuple, given[name].tolist()))
            for row, was_given in past.rows[door.taking]:
                (held.add if was_given else held.discard)(row)
            given[name] = rows_of_words(list(held), door.code)
    return given
