"""From a checked program to the normal form that the activation index takes: the order of the passes."""

from __future__ import annotations

from collections import deque

from tocsin.datalog.language.conjunctions import Literal, alternatives_of
from tocsin.datalog.language.syntax import Atom as WrittenAtom
from tocsin.datalog.language.syntax import CheckedProgram, Constant, Rule, Type, Value, arguments_of, type_of
from tocsin.datalog.machine.normal_form import Atom, NormalProgram, Source, Variable
from tocsin.datalog.machine.passes.aggregates import expanded, lifted
from tocsin.datalog.machine.passes.clause import Clause
from tocsin.datalog.machine.passes.clause_reader import Reader, canonical
from tocsin.datalog.machine.passes.program_builder import Made
from tocsin.datalog.machine.passes.text_steps import emit_in_stages
from tocsin.datalog.machine.passes.unification import unified


def normal_program(program: CheckedProgram, local: Value | None = None) -> NormalProgram:
    """The normal form of a program, for the address `local` where one is given.

    Relations of the program keep their names and order; those made on the way follow. Raises RuleError when
    a rule's aggregates cannot be worked out here, and DerivationError when a fact has no value (`p(1 / 0).`).
    """
    made = Made(program, local)
    recursive = {name: stratum for stratum in program.strata for name in stratum}
    for rule in program.rules:
        if rule.is_fact and all(isinstance(each, Constant) for each in arguments_of(rule.heads)):
            for head in rule.heads:  # a program may have a million of them
                constants = (argument for argument in head.arguments if isinstance(argument, Constant))
                made.fact(head.relation, tuple(canonical(each.value, type_of(each)) for each in constants))
            continue
        for literals in alternatives_of(rule.body):
            for head in rule.heads:
                _normalise(_read(rule, head, literals, recursive[head.relation], made), made)
    for relation in program.relations.values():
        if relation.eqrel:
            made.equivalence(relation.name, Source(f".decl {relation.name} eqrel", relation.place))
    return made.program()


def _read(
    rule: Rule, head: WrittenAtom, literals: list[Literal], recursive: frozenset[str], made: Made
) -> Clause | None:
    """One alternative of a rule as a clause, None when it cannot hold."""
    types: dict[Variable, Type] = {}
    clause = Clause(Atom(head.relation, ()), Source(rule.text, rule.place), recursive, types)
    reader = Reader(clause, made, [*literals, *head.arguments])
    if not all(reader.literal(literal) for literal in literals):
        return None
    clause.head = Atom(head.relation, tuple(map(reader.term, head.arguments)))
    return clause


def _normalise(clause: Clause | None, made: Made) -> None:
    """Take a clause, and those that its aggregates make, through the passes."""
    waiting = deque([clause])
    while waiting:
        read = waiting.popleft()
        simple = None if read is None else unified(read)
        if simple is None:
            continue
        waiting += lifted(simple, made)
        for variant in expanded(simple, made):
            last = unified(variant)
            if last is not None:
                emit_in_stages(last, made)
