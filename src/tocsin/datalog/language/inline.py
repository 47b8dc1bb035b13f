"""Relations that are declared inline and have no end of tuples are put in where they are used.

    .decl below(x: number, y: number) inline        p(x) :- q(x, y), below(x, y).
    below(x, y) :- x < y.                           p(x) :- q(x, y), x < y.

A relation whose variables all have values is worked out as any other, inline or not: its tuples are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, count

from tocsin.datalog.language import syntax
from tocsin.datalog.language.conjunctions import Literal, TooManyError, alternatives_of, body_of, grounded
from tocsin.datalog.language.functors import OPPOSITE
from tocsin.datalog.language.outline import Block
from tocsin.datalog.language.scopes import OWN_MARK
from tocsin.datalog.language.sources import Problems
from tocsin.datalog.language.tree_walk import Putting, Rewriter, variables_in, variables_outside, walk


def inlined_rules(block: Block, problems: Problems) -> list[syntax.Rule]:
    """The rules of a program without those of endless inline relations, which are in their places."""
    shown = {directive.relation for directive in block.directives}
    inline = [each.name for each in block.relations if "inline" in each.qualifiers and each.name not in shown]
    rules = list(block.rules)
    try:
        while name := next((name for name in inline if _is_endless(name, rules)), None):
            inline.remove(name)
            rules = _expanded(name, rules, problems)
    except TooManyError:
        return rules  # which is told where the rule is checked
    return rules


def _is_endless(name: str, rules: Sequence[syntax.Rule]) -> bool:
    """Whether a variable of a rule of this relation has no value, and the relation does not need itself."""
    own = [(rule, head) for rule in rules for head in rule.heads if head.relation == name]
    if any(name in _relations_in(rule.body) for rule, _ in own):
        return False
    return any(
        {variable.name for variable in variables_outside(*literals, *head.arguments)} - grounded(literals, ())
        for rule, head in own
        for literals in alternatives_of(rule.body)
    )


def _relations_in(body: syntax.Body) -> set[str]:
    return {node.atom.relation for node in walk(body) if isinstance(node, syntax.Positive | syntax.Negation)}


def _expanded(name: str, rules: Sequence[syntax.Rule], problems: Problems) -> list[syntax.Rule]:
    definitions = [(rule, head) for rule in rules for head in rule.heads if head.relation == name]
    expanding = _Expanding(name, definitions, problems)
    found = []
    for rule in rules:
        heads = tuple(head for head in rule.heads if head.relation != name)
        if heads and (len(heads) < len(rule.heads) or name in _relations_in(rule.body)):
            rule = replace(rule, heads=heads, body=expanding.body(rule.body))
        if heads:
            found.append(rule)
    return found


class _Expanding(Rewriter):
    """Puts the bodies of a relation's rules in the place of its atoms."""

    def __init__(
        self, name: str, definitions: Sequence[tuple[syntax.Rule, syntax.Atom]], problems: Problems
    ) -> None:
        self._name = name
        self._definitions = definitions
        self._problems = problems
        self._numbers = count()
        self._within = 0

    def copied(self, aggregate: syntax.Aggregate) -> syntax.Aggregate:
        self._within += 1
        copy = super().copied(aggregate)
        self._within -= 1
        return copy

    def body(self, body: syntax.Body) -> syntax.Body:
        if not isinstance(body, syntax.Positive | syntax.Negation) or body.atom.relation != self._name:
            return super().body(body)
        if len(body.atom.arguments) != len(self._definitions[0][1].arguments):
            return body  # which is told where the atom is checked
        atom = self.atom(body.atom)
        if isinstance(body, syntax.Positive):
            parts = [part for rule, head in self._definitions for part in self._parts(rule, head, atom)]
            return body_of(parts)
        negated = [self._parts(rule, head, atom, negated=True) for rule, head in self._definitions]
        none_holds = (syntax.Disjunction(tuple(map(_opposite, part))) for part in chain(*negated))
        return syntax.Conjunction(tuple(none_holds))

    def _parts(
        self, rule: syntax.Rule, head: syntax.Atom, atom: syntax.Atom, negated: bool = False
    ) -> list[list[Literal]]:
        """The alternatives of a rule with the arguments of an atom in the place of those of its head."""
        meant: dict[str, syntax.Argument] = {}
        equations: list[tuple[syntax.Argument, syntax.Argument]] = []
        for written, given in zip(head.arguments, atom.arguments, strict=True):
            if isinstance(given, syntax.Anonymous):
                given = self._fresh("any", given)
            if isinstance(written, syntax.Variable) and written.name not in meant:
                meant[written.name] = given
            else:
                equations.append((written, given))
        own = {variable.name: variable for variable in variables_in(rule.body)}.keys() - meant.keys()
        if own and (negated or self._within):
            where = "negated" if negated else "used in an aggregate"
            reason = f"'{self._name}' is inline and cannot be {where}: its rule has variables of its own"
            self._problems.add(atom.place, reason)
        meant |= {name: self._fresh(name, atom) for name in own}
        putting = Putting(lambda variable: meant.get(variable.name, variable))
        tests = [
            syntax.Comparison("=", putting.argument(left), right, atom.place) for left, right in equations
        ]
        return [[*part, *tests] for part in alternatives_of(putting.body(rule.body))]

    def _fresh(self, name: str, at: syntax.Anonymous | syntax.Atom) -> syntax.Variable:
        return syntax.Variable(f"{name}{OWN_MARK}i{next(self._numbers)}", at.place)


def _opposite(literal: Literal) -> syntax.Body:
    if isinstance(literal, syntax.Positive):
        return syntax.Negation(literal.atom, literal.atom.place)
    if isinstance(literal, syntax.Negation):
        return syntax.Positive(literal.atom)
    if isinstance(literal, syntax.Truth):
        return syntax.Truth(not literal.holds, literal.place)
    return replace(literal, operator=OPPOSITE[literal.operator])
