"""What becomes of a program: its relations and those made on the way, steps and facts."""

from __future__ import annotations

from collections.abc import Sequence

from tocsin.datalog.language.syntax import CheckedProgram, Type, Value
from tocsin.datalog.machine import normal_form as nf
from tocsin.datalog.machine.passes.clause import Aggregation
from tocsin.errors import DerivationError

ONCE = nf.MADE + "once"
"""A relation of no columns that holds: the positive atom of a rule that has no other."""


def refuse(row: tuple[Value, ...]) -> list[tuple[Value, ...]]:
    """The function of a MapRule over reasons: each is one too many."""
    raise DerivationError(str(row[0]))


class Made:
    """A normal program that grows. `aggregations` are those that another rule may use too.

    `tables` are the relations of their results, and `failures` of the groups for which they fail, which are
    among the tables too.
    """

    def __init__(self, program: CheckedProgram, local: Value | None) -> None:
        self.local = local
        self.types = {relation.name: relation.types for relation in program.relations.values()}
        self._local_parts: dict[tuple[str, tuple[int, ...]], str] = {}
        self.steps: list[nf.Step] = []
        self._facts: dict[tuple[str, tuple[Value, ...]], None] = {}
        self._count = 0
        self.aggregations: dict[object, Aggregation] = {}
        self.tables: set[str] = set()
        self.failures: set[str] = set()
        self._refused: dict[tuple[str, nf.Source], str] = {}

    def relation(self, types: Sequence[Type]) -> str:
        """The name of a new relation."""
        self._count += 1
        name = f"{nf.MADE}{self._count}"
        self.types[name] = tuple(types)
        return name

    def fact(self, relation: str, values: tuple[Value, ...]) -> None:
        """Add a fact."""
        self._facts[relation, values] = None

    def once(self) -> nf.Atom:
        """The atom that always holds."""
        if ONCE not in self.types:
            self.types[ONCE] = ()
            self.fact(ONCE, ())
        return nf.Atom(ONCE, ())

    def refused(self, relation: str, source: nf.Source) -> str:
        """The relation whose tuples are reasons for a rule of this relation to fail."""
        reasons = self._refused.get((relation, source))
        if reasons is None:
            reasons = self.relation([Type.SYMBOL])
            self._refused[relation, source] = self._refused[reasons, source] = reasons
            self.steps.append(nf.MapRule(relation, reasons, refuse, source))
        return reasons

    def local_part(self, relation: str, columns: tuple[int, ...]) -> str:
        """The relation of those tuples that have the local address in these columns."""
        if self.local is None:
            raise TypeError("there is no local address")
        name = self._local_parts.get((relation, columns))
        if name is None:
            types = self.types[relation]
            name = self._local_parts[relation, columns] = self.relation(types)
            terms: tuple[nf.Term, ...] = tuple(
                nf.Constant(self.local) if column in columns else nf.Variable(column)
                for column in range(len(types))
            )
            self.steps.append(nf.JoinRule(nf.Atom(name, terms), (nf.Atom(relation, terms),)))
        return name

    def equivalence(self, relation: str, source: nf.Source) -> None:
        """Make a relation of two columns symmetric and transitive, and so reflexive over what it mentions."""
        x, y, z = nf.Variable(0), nf.Variable(1), nf.Variable(2)
        self.steps.append(nf.JoinRule(nf.Atom(relation, (y, x)), (nf.Atom(relation, (x, y)),), source=source))
        through = (nf.Atom(relation, (x, y)), nf.Atom(relation, (y, z)))
        self.steps.append(nf.JoinRule(nf.Atom(relation, (x, z)), through, source=source))

    def program(self) -> nf.NormalProgram:
        """All of it."""
        relations = tuple(nf.Relation(name, tuple(types)) for name, types in self.types.items())
        return nf.NormalProgram(relations, tuple(self.steps), tuple(self._facts))
