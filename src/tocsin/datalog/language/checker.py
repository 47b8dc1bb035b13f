"""From the text of a program to a program without errors, or to all of its errors at once.

    parsing       text -> outline
    components    every .init is replaced by what it stands for
    types         declared types
    here          relations, directives, and rule by rule:
      alternatives    a body as conjunctions: of several, each is checked by itself
      scoping         own variables of aggregates; every variable has a value
      inference       types of all arguments
      fitting         declared types of variables
    strata        the order of relations

In the rules of a checked program a Disjunction stands only at the top of a body, and its parts are
conjunctions of atoms, comparisons and truths; in each of these, equal names are equal values.
"""

from __future__ import annotations

import operator
from dataclasses import replace

from tocsin.datalog.language import syntax
from tocsin.datalog.language.components import instantiated
from tocsin.datalog.language.conjunctions import MOST, TooManyError, alternatives_of, body_of, is_located
from tocsin.datalog.language.directives import mistakes_in
from tocsin.datalog.language.fact_parser import BARE, placed
from tocsin.datalog.language.inline import inlined_rules
from tocsin.datalog.language.outline import Block, RelationDeclaration
from tocsin.datalog.language.parser import parse_program
from tocsin.datalog.language.range_functor import with_ranges
from tocsin.datalog.language.scopes import RuleScope, without_head_aggregates
from tocsin.datalog.language.sources import Problems, Reader, read_sources
from tocsin.datalog.language.strata import stratify
from tocsin.datalog.language.tree_walk import walk
from tocsin.datalog.language.type_inference import Inference, filled_constant, is_in_range
from tocsin.datalog.language.types import Columns, Declared, Types
from tocsin.errors import raise_all
from tocsin.printable import number_of


def check_program(text: str, file: str | None = None, read: Reader | None = None) -> syntax.CheckedProgram:
    """The program that a text says; raises RuleError, or RuleErrors with every error of the text.

    `read` reads what it includes; the text of the result has it all.
    """
    sources = read_sources(text, file, read)
    problems = Problems(sources)
    block = instantiated(parse_program(sources.text, problems), problems)
    program = _Checking(block, problems).program()
    raise_all(problems.errors())
    return replace(program, file=file, files=sources.files, text=sources.text)


class _Checking:
    """The relations of a program, and its rules held against them."""

    def __init__(self, block: Block, problems: Problems) -> None:
        self._block = block
        self._problems = problems
        self._types = Types(block.types, block.damaged, problems)
        self._columns: dict[str, Columns] = {}
        self._declared = Declared(self._columns, self._types)
        self._relations: dict[str, syntax.Relation] = {}

    def program(self) -> syntax.CheckedProgram:
        """The program, as far as it is right."""
        for declaration in self._block.relations:
            self._declare(declaration)
        rules = [self._rule(rule) for rule in inlined_rules(self._block, self._problems)]
        for directive in self._block.directives:
            self._check_directive(directive)
        declared = self._relations.keys()
        derived = [rule for rule in rules if not isinstance(rule.body, syntax.Truth)]
        known = [rule for rule in derived if declared >= {atom.relation for atom in _atoms_of(rule)}]
        strata = stratify(self._relations, known, self._problems)
        return syntax.CheckedProgram(self._relations, tuple(rules), tuple(self._block.directives), strata)

    def _declare(self, declaration: RelationDeclaration) -> None:
        name, place = declaration.name, declaration.place
        if name in self._relations:
            line = self._problems.line(self._relations[name].place)
            self._problems.add(place, f"the relation '{name}' is declared in {line} already")
            return
        columns: dict[str, None] = {}
        for column in declaration.columns:
            if column.name in columns:
                self._problems.add(column.place, f"'{name}' has two columns '{column.name}'")
            columns[column.name] = None
        types = [self._types.find(column.type) for column in declaration.columns]
        eqrel = "eqrel" in declaration.qualifiers
        if eqrel and (len(types) != 2 or types[0] is not types[1]):
            self._problems.add(place, f"'{name}' is not an equivalence: eqrel needs two columns of one type")
        names = tuple(column.name for column in declaration.columns)
        primitives = tuple(syntax.Type.NUMBER if each is None else each.primitive for each in types)
        self._columns[name] = list(zip(names, types, strict=True))
        self._relations[name] = syntax.Relation(name, names, primitives, eqrel, place)

    def _rule(self, rule: syntax.Rule) -> syntax.Rule:
        """The rule with its types, or as it was if it has errors."""
        if rule.is_fact:
            fact = self._plain_fact(rule)
            if fact is not None:
                return fact
            rule = placed(rule)
        for atom in _atoms_of(rule):
            self._check_atom(atom)
        self._check_locations(rule)
        rule = with_ranges(without_head_aggregates(rule), self._problems)
        try:
            alternatives = alternatives_of(rule.body)
        except TooManyError:
            self._problems.add(rule.place, f"this rule has more than {MOST} alternatives")
            return rule
        heads: tuple[syntax.Atom, ...] = rule.heads
        bodies: list[list[syntax.Body]] = []
        for alternative in alternatives:
            own_heads, literals = RuleScope(rule.heads, alternative, self._problems).scoped()
            heads, typed = Inference(self._declared, self._problems).typed(own_heads, literals)
            bodies.append(typed)
        return replace(rule, heads=heads, body=body_of(bodies))

    def _plain_fact(self, rule: syntax.Rule) -> syntax.Rule | None:
        """A fact of constants that fit their columns; None is for a closer look."""
        head = rule.heads[0]
        columns = self._columns.get(head.relation)
        if columns is None or len(rule.heads) > 1 or len(columns) != len(head.arguments):
            return None
        arguments: list[syntax.Constant] = []
        for argument, (_, declared) in zip(head.arguments, columns, strict=True):
            if not isinstance(argument, syntax.Constant) or declared is None or argument.located:
                return None
            wanted = declared.primitive
            if argument.type is not wanted:
                if argument.type not in BARE or wanted not in (syntax.Type.NUMBER, syntax.Type.FLOAT):
                    return None
                argument = filled_constant(argument, wanted, self._problems)
            elif not is_in_range(argument.value, wanted):
                return None
            arguments.append(argument)
        if all(map(operator.is_, arguments, head.arguments)):
            return rule
        atom = syntax.Atom(head.relation, tuple(arguments), head.place)
        return replace(rule, heads=(atom,))

    def _check_atom(self, atom: syntax.Atom) -> None:
        relation = self._relations.get(atom.relation)
        if relation is None:
            if not self._is_damaged(atom.relation):
                self._problems.add(atom.place, f"there is no relation '{atom.relation}'")
        elif len(relation.columns) != len(atom.arguments):
            self._problems.add(
                atom.place,
                f"'{atom.relation}' has {number_of(len(relation.columns), 'column')},"
                f" and {number_of(len(atom.arguments), 'argument')} here",
            )

    def _is_damaged(self, name: str) -> bool:
        """Whether a declaration that may have declared this relation could not be read."""
        return name in self._block.damaged or name.split(".")[0] in self._block.damaged

    def _check_locations(self, rule: syntax.Rule) -> None:
        """A location is an argument of an atom, and an atom has one at most."""
        right: set[int] = set()
        for atom in _atoms_of(rule):
            marked = [argument for argument in atom.arguments if is_located(argument)]
            right.update(map(id, marked))
            for argument in marked[1:]:
                self._problems.add(argument.place, f"'{atom.relation}' has two locations here")
        for node in walk(*rule.parts):
            if isinstance(node, syntax.Variable | syntax.Constant) and node.located and id(node) not in right:
                self._problems.add(node.place, "a location is an argument of an atom, and nothing else")

    def _check_directive(self, directive: syntax.Directive) -> None:
        if directive.relation not in self._relations and not self._is_damaged(directive.relation):
            self._problems.add(directive.place, f"there is no relation '{directive.relation}'")
        if directive.kind != "printsize":
            for reason in mistakes_in(directive.kind, directive.parameters):
                self._problems.add(directive.place, reason)


def _atoms_of(rule: syntax.Rule) -> list[syntax.Atom]:
    inside = [node.atom for node in walk(*rule.parts) if isinstance(node, syntax.Positive | syntax.Negation)]
    return [*rule.heads, *inside]
