"""What an engine holds, in Python values: what `why` asks about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tocsin.datalog.engine.changes import Tuple
from tocsin.datalog.engine.machines import Started
from tocsin.datalog.language.syntax import Value
from tocsin.datalog.machine.tuples import TupleCode


class Held:
    """The relations of a machine, by name."""

    def __init__(self, started: Started, codes: Mapping[str, TupleCode]) -> None:
        self._machine = started.machine
        self._taking = started.taking
        self._codes = codes

    def holds(self, relation: str, values: Tuple) -> bool:
        """Whether a tuple is there."""
        return self._machine.holds(self._machine.relation(relation), self._codes[relation].encode(values))

    def matching(self, relation: str, columns: Mapping[int, Value]) -> Iterator[Tuple]:
        """The tuples that have these values in these columns, counted from 0."""
        number, code = self._machine.relation(relation), self._codes[relation]
        if len(columns) == len(code.types):
            values = tuple(columns[column] for column in range(len(columns)))
            return iter([values] if self.holds(relation, values) else [])
        if columns:
            wanted = dict(sorted(columns.items()))
            key = tuple([code.word(column, value) for column, value in wanted.items()])
            rows = self._machine.lookup(number, tuple(wanted), key)
        else:
            rows = self._machine.rows(number)
        return iter(code.decode_rows(rows))

    def rank(self, relation: str, values: Tuple) -> int:
        """Every derived tuple of a recursive relation has a derivation from tuples of lower ranks."""
        return self._machine.rank(self._machine.relation(relation), self._codes[relation].encode(values))

    def is_given(self, relation: str, values: Tuple) -> bool:
        """Whether a tuple is a fact that was given, not only derived."""
        taking = self._taking.get(relation)
        if taking is None:
            return False
        return self._machine.is_given(self._machine.relation(taking), self._codes[relation].encode(values))
