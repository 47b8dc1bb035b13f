"""The program of a unit: some rules of a program, with ports in the place of relations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tocsin.datalog.engine.program import Program
from tocsin.datalog.language.alternatives import body_of
from tocsin.datalog.language.strata import components_in_order
from tocsin.datalog.language.syntax import (
    Atom,
    CheckedProgram,
    Directive,
    Negation,
    Positive,
    Relation,
    Rule,
    Variable,
    type_of,
)
from tocsin.datalog.language.tree_walk import Rewriter, variables_in, walk
from tocsin.datalog.spark.stream.shared_variables import Clause, places_of
from tocsin.datalog.spark.stream.units import Port

KEY_COLUMN = "the key"


class _ThroughPorts(Rewriter):
    """Copies a rule with the names of ports: by these columns, else by the first one with the variable."""

    def __init__(self, variable: str | None, columns: Mapping[str, int]) -> None:
        self._variable = variable
        self._columns = columns
        self.ports: dict[Port, None] = {}

    def atom(self, atom: Atom) -> Atom:
        column = None
        if self._variable is not None:
            column = self._columns.get(atom.relation, -1)
            column = places_of(atom, self._variable)[0] if column < 0 else column
        port = Port(atom.relation, column)
        self.ports[port] = None
        copied = super().atom(atom)
        return Atom(port.name, copied.arguments, copied.place)


def complete_program(
    program: Program, clauses: Sequence[tuple[Clause, str | None]], columns: Mapping[str, int], made: set[str]
) -> tuple[Program, tuple[Port, ...]]:
    """The program of a unit that makes whole relations, and its ports; rules come with their variables."""
    ports = {Port(name, columns.get(name)): None for name in program.relations if name in made}
    rules = []
    for clause, variable in clauses:
        through = _ThroughPorts(variable, columns)
        rules.append(_rule(clause, through, through.atom(clause.head)))
        ports |= through.ports
    relations = [_renamed(program.relations[port.relation], port.name) for port in ports]
    reported = [port.name for port in ports if port.relation in made]
    return _assembled(relations, rules, reported), tuple(ports)


def counted_program(
    program: Program, clause: Clause, variable: str | None
) -> tuple[Program, str, tuple[Port, ...]]:
    """The program of a unit of one rule, the relation that it reports, and its ports.

    The head has the key in front: a tuple that is derived for two keys is derived twice.
    """
    through = _ThroughPorts(variable, {})
    head = program.relations[clause.head.relation]
    name = f"{head.name}+"
    columns, types, arguments = head.columns, head.types, clause.head.arguments
    if variable is not None:
        key = next(each for each in variables_in(*clause.literals) if each.name == variable)
        columns, types = (KEY_COLUMN, *columns), (type_of(key), *types)
        arguments = (Variable(variable, type=key.type), *arguments)
    rule = _rule(clause, through, Atom(name, arguments, clause.head.place))
    relations = [_renamed(program.relations[port.relation], port.name) for port in through.ports]
    relations.append(Relation(name, columns, types))
    return _assembled(relations, [rule], [name]), name, tuple(through.ports)


def _rule(clause: Clause, through: _ThroughPorts, head: Atom) -> Rule:
    body = through.body(body_of([clause.literals]))
    arguments = tuple(map(through.argument, head.arguments))
    return Rule((Atom(head.relation, arguments, head.place),), body, clause.rule.place, clause.rule.text)


def _renamed(relation: Relation, name: str) -> Relation:
    return Relation(name, relation.columns, relation.types, relation.eqrel, relation.place)


def _assembled(relations: Sequence[Relation], rules: Sequence[Rule], reported: Sequence[str]) -> Program:
    """A checked program: its parts were checked before, only the order of its relations is to be found."""
    edges: dict[str, set[str]] = {relation.name: set() for relation in relations}
    for rule in rules:
        for head in rule.heads:
            edges[head.relation] |= _names(rule)
    strata = components_in_order({name: sorted(below) for name, below in edges.items()})
    directives = tuple(Directive("output", name, {}) for name in reported)
    return Program(CheckedProgram({each.name: each for each in relations}, tuple(rules), directives, strata))


def _names(rule: Rule) -> set[str]:
    return {node.atom.relation for node in walk(rule.body) if isinstance(node, Positive | Negation)}
