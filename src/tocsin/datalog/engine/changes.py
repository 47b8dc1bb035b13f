"""What a change brought about: tuples that came and tuples that went, by relation.

    changes = engine.insert("arc", (1, 2))
    changes.added["path"]           a set of tuples, in typed order
    if changes: ...                 false when nothing came or went

Tuples are decoded when somebody looks at them. Those of a relation that is kept implicit (a closure) are
even worked out only then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, overload

import numpy as np
import pyarrow as pa

from tocsin.datalog.language.syntax import Type, Value
from tocsin.datalog.machine.closure_change import ClosureChange
from tocsin.datalog.machine.machine import Machine
from tocsin.datalog.machine.symbols import Symbols
from tocsin.datalog.machine.tuples import Rows, TupleCode

Tuple = tuple[Value, ...]


class Tuples(Set[Tuple]):
    """A set of tuples that goes through them in typed order; equal to any set or list of the same ones.

    Those of a closure are a part of its change: whether there are any and how many may be told without
    working them out.
    """

    __slots__ = ("_code", "_members", "_ordered", "_rows")

    def __init__(self, rows: Rows | tuple[ClosureChange, int], code: TupleCode) -> None:
        self._rows = rows
        self._code = code
        self._ordered: list[Tuple] | None = None
        self._members: frozenset[Tuple] | None = None

    @property
    def rows(self) -> Rows:
        """The tuples as words, in no order."""
        return self._rows[0].pairs()[self._rows[1]] if isinstance(self._rows, tuple) else self._rows

    def table(self) -> pa.Table:
        """The tuples as an Arrow table, in typed order."""
        return self._code.table(self._code.in_order(self.rows))

    def __len__(self) -> int:
        return self._rows[0].counts[self._rows[1]] if isinstance(self._rows, tuple) else len(self._rows)

    def __bool__(self) -> bool:
        return self._rows[0].any[self._rows[1]] if isinstance(self._rows, tuple) else len(self._rows) > 0

    def __iter__(self) -> Iterator[Tuple]:
        return iter(self._list())

    def __contains__(self, member: object) -> bool:
        if self._members is None:
            self._members = frozenset(self._list())
        return member in self._members

    @overload
    def __getitem__(self, place: int) -> Tuple: ...

    @overload
    def __getitem__(self, place: slice) -> list[Tuple]: ...

    def __getitem__(self, place: int | slice) -> Tuple | list[Tuple]:
        return self._list()[place]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, list | tuple):
            return sorted(self._list()) == sorted(other)
        return super().__eq__(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self[:20]))
        more = len(self) - 20
        return f"{{{shown}, ... and {more:,} more}}" if more > 0 else f"{{{shown}}}"

    @classmethod
    def _from_iterable(cls, tuples: Iterable[Any]) -> frozenset[Any]:
        """What `&`, `|` and `-` give: an ordinary set."""
        return frozenset(tuples)

    def __reduce__(self) -> tuple[Any, ...]:
        return _tuples_again, (self._code.relation, self._code.types, self._code.columns, self._list())

    def _list(self) -> list[Tuple]:
        if self._ordered is None:
            self._ordered = self._code.decode_rows(self._code.in_order(self.rows))
        return self._ordered


def _tuples_again(
    relation: str, types: Sequence[Type], columns: Sequence[str], tuples: Sequence[Tuple]
) -> Tuples:
    """What was pickled, without the engine that it came from."""
    code = TupleCode(relation, types, Symbols(), columns)
    return Tuples(code.rows(tuples), code)


class Changed(Mapping[str, Tuples]):
    """Tuples by relation. Only relations that have some are keys; asked for another one, there are none."""

    __slots__ = ("_none", "_tuples")

    def __init__(self, tuples: dict[str, Tuples], none: Mapping[str, Tuples]) -> None:
        self._tuples = tuples
        self._none = none

    def __getitem__(self, relation: str) -> Tuples:
        return self._tuples.get(relation) or self._none[relation]

    def __iter__(self) -> Iterator[str]:
        return (relation for relation, tuples in self._tuples.items() if tuples)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, relation: object) -> bool:
        return relation in self._tuples and bool(self._tuples[relation])

    def __bool__(self) -> bool:
        return any(self._tuples.values())

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{relation!r}: {tuples!r}" for relation, tuples in self.items()) + "}"


def no_tuples(codes: Mapping[str, TupleCode]) -> dict[str, Tuples]:
    """The empty set of each relation: what `Changed` gives for those that did not change."""
    return {name: Tuples(np.empty((0, len(code.types)), np.int64), code) for name, code in codes.items()}


class Changes:
    """The net change of one call: `added` and `removed`, each a mapping from relation to tuples."""

    __slots__ = ("added", "removed")

    def __init__(self, added: Mapping[str, Set[Tuple]], removed: Mapping[str, Set[Tuple]]) -> None:
        self.added = added
        self.removed = removed

    def __bool__(self) -> bool:
        return bool(self.added) or bool(self.removed)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Changes):
            return NotImplemented
        return self.added == other.added and self.removed == other.removed

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Changes(added={self.added!r}, removed={self.removed!r})"


class NoChanges(Changes):
    """What most changes bring about; one is enough for an engine."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return False


class Reported:
    """The relations whose changes are told, each by name, number and code: what came and went of them.

    Those in `implicit` are worked out when they are looked at.
    """

    def __init__(self, machine: Machine, relations: Sequence[tuple[str, int, TupleCode]]) -> None:
        self._machine = machine
        self._watched = [each for each in relations if machine.closure_change(each[1]) is None]
        self.implicit = [each for each in relations if each not in self._watched]
        self.codes = {name: code for name, _, code in relations}
        self._none = no_tuples(self.codes)
        self.nothing = NoChanges(Changed({}, self._none), Changed({}, self._none))

    def changes(self) -> Changes:
        """The net change of the last settling."""
        machine = self._machine
        added: dict[str, Tuples] = {}
        removed: dict[str, Tuples] = {}
        for name, number, code in self._watched:
            came, went = machine.net_change(number)
            if len(came):
                added[name] = Tuples(came, code)
            if len(went):
                removed[name] = Tuples(went, code)
        for name, number, code in self.implicit:
            change = machine.closure_change(number)
            if change is not None:
                added[name], removed[name] = (Tuples((change, part), code) for part in (0, 1))
        if not added and not removed:
            return self.nothing
        return Changes(Changed(added, self._none), Changed(removed, self._none))


def difference(
    machine: Machine, relations: Mapping[str, tuple[int, TupleCode]], before: Mapping[str, Rows]
) -> Changes:
    """How relations of a machine, by number and code, differ from what they were before."""
    codes = {name: code for name, (_, code) in relations.items()}
    added: dict[str, Tuples] = {}
    removed: dict[str, Tuples] = {}
    for name, (number, code) in relations.items():
        held = before.get(name, np.empty((0, len(code.types)), np.int64))
        stayed = machine.held(number, held)
        if not stayed.all():
            removed[name] = Tuples(held[~stayed], code)
        if np.count_nonzero(stayed) < machine.size(number):
            added[name] = Tuples(_others(machine.rows(number), held), code)
    none = no_tuples(codes)
    return Changes(Changed(added, none), Changed(removed, none))


def _others(rows: Rows, known: Rows) -> Rows:
    """The rows that are not among those known; none is in either twice."""
    if not rows.shape[1]:
        return rows[len(known) :]
    both = np.concatenate((known, rows))
    order = np.lexsort(both.T)
    twice = (both[order[1:]] == both[order[:-1]]).all(axis=1)
    alone = np.ones(len(both), np.bool_)
    alone[order[1:][twice]] = alone[order[:-1][twice]] = False
    return rows[alone[len(known) :]]
