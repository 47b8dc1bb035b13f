"""A program cut into units: each as large as it can be and still be spread over keys.

The components of a program (relations that depend on one another, or single ones) are taken in the order in
which they can be worked out:

1. together with the complete units that it takes tuples from, if one key goes through all of them;
2. by itself, if its rules share a variable that is a column of its relations;
3. a recursive one that has no such variable runs whole, in one place, and so does an equivalence;
4. any other is taken apart into its rules. Each is run by a variable that its atoms share, or whole if they
   share none, and the derivations of each tuple are counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from tocsin.datalog.engine.program import Program
from tocsin.datalog.language.conjunctions import body_of
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
from tocsin.datalog.spark.stream import shared_variables
from tocsin.datalog.spark.stream.shared_variables import Clause, Columns
from tocsin.datalog.spark.stream.units import Plan, Port, Unit


@lru_cache(maxsize=16)
def plan_of_text(text: str) -> Plan:
    """The plan of a program's text; a process makes each only once."""
    return plan(Program.parse(text))


def plan(program: Program) -> Plan:
    """The plan of a program."""
    parts = _parts(program)
    levels = _levels(parts)
    units: list[Unit] = []
    counted: dict[str, int] = {}
    for part, level in zip(parts, levels, strict=True):
        if part.is_taken_apart:
            counted |= dict.fromkeys(part.relations, level)
            units += [
                _counted_unit(program, len(units) + n, level, each) for n, each in enumerate(part.clauses)
            ]
        else:
            units.append(_complete_unit(program, len(units), level, part))
    made = {name for part in parts for name in part.relations}
    counted |= dict.fromkeys([name for name in program.outputs if name not in made], 0)
    return Plan(program, tuple(units), counted)


@dataclass(eq=False)
class _Part:
    """Relations that are made together: by keys in these columns, whole, or rule by rule."""

    relations: list[str]
    clauses: list[Clause]
    columns: Columns | None = None
    is_taken_apart: bool = False
    below: set[str] = field(init=False)

    def __post_init__(self) -> None:
        named = {atom.relation for clause in self.clauses for atom in clause.atoms}
        self.below = named - set(self.relations)


def _parts(program: Program) -> list[_Part]:
    """The parts of a program, each behind those that it takes tuples from."""
    clauses = shared_variables.clauses_of(program.bare)
    parts: list[_Part] = []
    for component in program.checked.strata:
        own = [clause for clause in clauses if clause.head.relation in component]
        is_equivalence = any(program.relations[name].eqrel for name in component)
        if not own and not is_equivalence:
            continue
        names = [name for name in program.relations if name in component]
        part = _Part(names, own)
        if is_equivalence:
            parts.append(part)
            continue
        merged = _merged(part, parts)
        if merged is not None:
            new, taken = merged
            parts = _in_order([each for each in parts if each not in taken] + [new])
            continue
        part.columns = shared_variables.key_columns(own, names)
        is_recursive = any(atom.relation in component for clause in own for atom in clause.atoms)
        part.is_taken_apart = part.columns is None and not is_recursive
        parts.append(part)
    return parts


def _merged(part: _Part, parts: Sequence[_Part]) -> tuple[_Part, list[_Part]] | None:
    """A component as one with all complete parts that it takes from, or with one; and which these are."""
    sources = [each for each in parts if each.columns is not None and part.below & set(each.relations)]
    for taken in [sources, *([each] for each in sources if len(sources) > 1)]:
        if not taken or _is_between(part, taken, parts):
            continue
        names = [name for each in [*taken, part] for name in each.relations]
        clauses = [clause for each in [*taken, part] for clause in each.clauses]
        columns = shared_variables.key_columns(clauses, names)
        if columns is not None:
            return _Part(names, clauses, columns), taken
    return None


def _is_between(part: _Part, taken: Sequence[_Part], parts: Sequence[_Part]) -> bool:
    """Whether something else takes from those and is taken from by this part: they cannot be one then."""
    behind = {name for each in taken for name in each.relations}
    between: set[str] = set()
    for each in parts:
        if each not in taken and each.below & (behind | between):
            between |= set(each.relations)
    return bool(between & (part.below | {name for each in taken for name in each.below}))


def _in_order(parts: Iterable[_Part]) -> list[_Part]:
    """Each part behind those that it takes from."""
    waiting = list(parts)
    made: set[str] = set()
    ordered: list[_Part] = []
    derived = {name for part in waiting for name in part.relations}
    while waiting:
        ready = next(part for part in waiting if part.below & derived <= made)
        waiting.remove(ready)
        ordered.append(ready)
        made |= set(ready.relations)
    return ordered


def _levels(parts: Sequence[_Part]) -> list[int]:
    level_of: dict[str, int] = {}
    levels = []
    for part in parts:
        level = 1 + max((level_of[name] for name in part.below if name in level_of), default=-1)
        level_of |= dict.fromkeys(part.relations, level)
        levels.append(level)
    return levels


def _complete_unit(program: Program, number: int, level: int, part: _Part) -> Unit:
    columns = part.columns
    variables = [
        None if columns is None else shared_variables.key_variable(clause, columns) for clause in part.clauses
    ]
    with_variables = list(zip(part.clauses, variables, strict=True))
    own, ports = complete_program(program, with_variables, columns or {}, set(part.relations))
    gives = {Port(name, (columns or {}).get(name)).name: name for name in part.relations}
    key = None
    if columns is not None:
        key = ", ".join(f"{name}.{program.relations[name].columns[columns[name]]}" for name in part.relations)
    rules = tuple(dict.fromkeys(clause.rule.text for clause in part.clauses))
    return Unit(number, level, own, ports, gives, key, False, rules)


def _counted_unit(program: Program, number: int, level: int, clause: Clause) -> Unit:
    variable = next(iter(clause.shared), None)
    own, name, ports = counted_program(program, clause, variable)
    return Unit(number, level, own, ports, {name: clause.head.relation}, variable, True, (clause.rule.text,))


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
            column = shared_variables.places_of(atom, self._variable)[0] if column < 0 else column
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
