"""What a normal program of joins and closures means: each rule is tried on all tuples until none is new."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product

from tocsin.datalog.language import Value
from tocsin.datalog.machine import Atom, JoinRule, NormalProgram, Variable
from tocsin.datalog.machine.normal_form import ClosureRule, Constant

Row = tuple[Value, ...]
Contents = dict[str, set[Row]]


def contents_of(program: NormalProgram, facts: Iterable[tuple[str, Row]]) -> Contents:
    """All tuples of all relations. Facts of a closure's head go where the closure says."""
    facts_of = {step.head: step.facts for step in program.steps if isinstance(step, ClosureRule)}
    contents: Contents = {relation.name: set() for relation in program.relations}
    for name, row in (*program.facts, *facts):
        contents[facts_of.get(name) or name].add(row)
    before = -1
    while before != sum(map(len, contents.values())):
        before = sum(map(len, contents.values()))
        for step in program.steps:
            if isinstance(step, ClosureRule):
                contents[step.head] |= contents[step.arc]
                contents[step.head] |= {
                    (x, z) for x, y in contents[step.head] for also, z in contents[step.arc] if y == also
                }
            else:
                assert isinstance(step, JoinRule)
                contents[step.head.relation] |= derived(step, contents)
    return contents


def derived(rule: JoinRule, contents: Mapping[str, set[Row]]) -> set[Row]:
    """The heads for which the body holds."""
    assert rule == JoinRule(rule.head, rule.body, source=rule.source), "only plain joins"
    found = set()
    for rows in product(*(contents[atom.relation] for atom in rule.body)):
        values: dict[Variable, Value] = {}
        if all(fits(atom, row, values) for atom, row in zip(rule.body, rows, strict=True)):
            found.add(tuple(values[term] for term in rule.head.terms if isinstance(term, Variable)))
    return found


def fits(atom: Atom, row: Row, values: dict[Variable, Value]) -> bool:
    """Whether a row can stand for an atom, given the values of variables so far; notes those of new ones."""
    for term, value in zip(atom.terms, row, strict=True):
        if isinstance(term, Constant) and term.value != value:
            return False
        if isinstance(term, Variable) and values.setdefault(term, value) != value:
            return False
    return True
