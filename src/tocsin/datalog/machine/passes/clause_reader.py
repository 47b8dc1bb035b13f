"""An alternative of a rule, or the body of an aggregate, becomes a clause."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tocsin.datalog.language import syntax
from tocsin.datalog.language.conjunctions import Literal, is_located
from tocsin.datalog.language.syntax import Type, Value, type_of
from tocsin.datalog.language.tree_walk import Node, variables_in, walk_outside_aggregates
from tocsin.datalog.machine import normal_form as nf
from tocsin.datalog.machine.passes.clause import Clause, Pending, folded
from tocsin.datalog.machine.passes.program_builder import Made

DEEPEST = 16
"""How many calls stand within one another at most: what is deeper gets a variable on the way."""


class Reader:
    """Reads the parts of one level of a rule into a clause.

    `known` are the names that an outer level has terms for. With `keep_anonymous`, each `_` of a positive
    atom is a variable: within an aggregate it tells assignments apart.
    """

    def __init__(
        self,
        clause: Clause,
        made: Made,
        level: Sequence[Node],
        known: Mapping[str, nf.Term] | None = None,
        keep_anonymous: bool = False,
    ) -> None:
        self._clause = clause
        self._made = made
        self._keep_anonymous = keep_anonymous
        self._terms: dict[str, nf.Term] = dict(known or {})
        for node in walk_outside_aggregates(*level):
            if isinstance(node, syntax.Variable) and node.name not in self._terms:
                self._terms[node.name] = clause.fresh(type_of(node))

    def literal(self, literal: Literal) -> bool:
        """Add a literal to the clause; whether the clause can still hold."""
        if isinstance(literal, syntax.Truth):
            return literal.holds
        if isinstance(literal, syntax.Positive):
            self._clause.atoms.append(self._positive(literal.atom))
        elif isinstance(literal, syntax.Negation):
            self._clause.negated.append(self._negated(literal.atom))
        else:
            left, right = self.expression(literal.left), self.expression(literal.right)
            self._clause.tests.append(nf.Test(literal.operator, left, right, type_of(literal.left)))
        return True

    def term(self, argument: syntax.Argument) -> nf.Variable | nf.Constant:
        """An argument as a term: what is computed becomes a variable and an equation."""
        expression = self.expression(argument)
        return self._named(expression, type_of(argument)) if isinstance(expression, nf.Call) else expression

    def expression(self, argument: syntax.Argument) -> nf.Expression:
        """An argument as an expression, constants folded."""
        built: list[tuple[nf.Expression, int]] = []
        for part in reversed(list(walk_outside_aggregates(argument))):
            if isinstance(part, syntax.Operation):
                operands = [built.pop() for _ in part.operands]
                call = nf.Call(
                    part.functor, type_of(part.operands[0]), tuple(operand for operand, _ in operands)
                )
                value, height = folded(call), 1 + max(height for _, height in operands)
                if isinstance(value, nf.Call) and height > DEEPEST:
                    built.append((self._named(value, type_of(part)), 0))
                else:
                    built.append((value, height))
            else:
                built.append((self._simple(part), 0))
        return built.pop()[0]

    def _simple(self, part: Node) -> nf.Variable | nf.Constant:
        if isinstance(part, syntax.Constant):
            return nf.Constant(canonical(part.value, type_of(part)))
        if isinstance(part, syntax.Variable):
            term = self._terms[part.name]
            if not isinstance(term, nf.Anything):
                return term
        if isinstance(part, syntax.Aggregate):
            return self._aggregate(part)
        raise TypeError(f"not an argument with a value: {part!r}")

    def _named(self, expression: nf.Expression, value_type: Type) -> nf.Variable:
        variable = self._clause.fresh(value_type)
        self._clause.tests.append(nf.Test("=", variable, expression, value_type))
        return variable

    def _aggregate(self, aggregate: syntax.Aggregate) -> nf.Variable:
        inside = {variable.name for variable in variables_in(aggregate)}
        shared = {name: term for name, term in self._terms.items() if name in inside}
        variable = self._clause.fresh(type_of(aggregate))
        self._clause.pending.append(Pending(variable, aggregate, shared))
        return variable

    def _positive(self, atom: syntax.Atom) -> nf.Atom:
        terms: list[nf.Term] = []
        types = self._made.types[atom.relation]
        for argument, column_type in zip(atom.arguments, types, strict=True):
            if isinstance(argument, syntax.Anonymous):
                terms.append(self._clause.fresh(column_type) if self._keep_anonymous else nf.Anything())
                continue
            term = self.term(argument)
            terms.append(term)
            if self._made.local is not None and is_located(argument):
                local = nf.Constant(self._made.local)
                self._clause.tests.append(nf.Test("=", term, local, column_type))
        return nf.Atom(atom.relation, tuple(terms))

    def _negated(self, atom: syntax.Atom) -> nf.Atom:
        terms = tuple(
            nf.Anything() if isinstance(argument, syntax.Anonymous) else self.term(argument)
            for argument in atom.arguments
        )
        held = tuple(column for column, argument in enumerate(atom.arguments) if is_located(argument))
        is_part = bool(held) and self._made.local is not None
        relation = self._made.local_part(atom.relation, held) if is_part else atom.relation
        return nf.Atom(relation, terms)


def canonical(value: Value, value_type: Type) -> Value:
    """A constant as its type has it: a float that is written `1` is 1.0, and minus zero is zero."""
    return float(value) + 0.0 if value_type is Type.FLOAT else value
