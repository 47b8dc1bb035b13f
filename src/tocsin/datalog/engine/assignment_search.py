"""The assignments that satisfy a list of literals, found one by one: what `why` looks for.

Literals are taken in an order in which each is found by as many known columns as possible, and the search
goes back where one has no partner. It asks for matching tuples only, so that it works on any store of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

from tocsin.datalog.language import conjunctions, syntax
from tocsin.datalog.meaning import Evaluator
from tocsin.errors import DerivationError


class Known(Protocol):
    """What holds, in Python values."""

    def holds(self, relation: str, values: conjunctions.Tuple) -> bool:
        """Whether a tuple is there."""

    def matching(self, relation: str, columns: Mapping[int, syntax.Value]) -> Iterator[conjunctions.Tuple]:
        """The tuples that have these values in these columns, counted from 0."""

    def rank(self, relation: str, values: conjunctions.Tuple) -> int:
        """Every derived tuple has a derivation whose tuples of its relation's circle are of lower ranks."""

    def circle(self, relation: str) -> frozenset[str]:
        """The relations that depend on this one and it on them, itself among them. Only within one are ranks
        to be compared."""

    def is_given(self, relation: str, values: conjunctions.Tuple) -> bool:
        """Whether a tuple is a fact that was given, not only derived."""


Below = tuple[frozenset[str], int]
"""Tuples of these relations are only looked at when their rank is lower than this one."""


class Step(NamedTuple):
    """A literal in the order of a search; a positive one is also an atom with nothing computed in it.

    One that is an equation to be solved for a variable of a sum is also the solved equation.
    """

    literal: conjunctions.Literal
    atom: syntax.Atom | None = None
    solved: syntax.Comparison | None = None


@dataclass(slots=True)
class Furthest:
    """How far a search without a result came: the literal that nothing satisfied, and what was known by then.

    `fuel` is how many more tuples it may look at.
    """

    fuel: int
    depth: int = -1
    literal: conjunctions.Literal | None = None
    binding: Mapping[str, syntax.Value] | None = None


class Search(Evaluator):
    """Finds assignments over what is known, for one local address."""

    def __init__(self, known: Known, local: syntax.Value | None = None) -> None:
        super().__init__(local)
        self._known = known

    def solutions(
        self,
        steps: Sequence[Step],
        start: conjunctions.Binding,
        names: conjunctions.Names,
        below: Below | None = None,
        furthest: Furthest | None = None,
    ) -> Iterator[conjunctions.Binding]:
        """Every assignment that extends `start`, which binds what the steps were ordered for.

        `names` are the variables known outside aggregates.
        """
        if not steps:
            yield start
            return
        open_steps = [self._extensions(steps[0], start, names, below)]
        found_any = [False]
        bindings: list[conjunctions.Binding] = [start]
        while open_steps:
            extended = next(open_steps[-1], None)
            depth = len(open_steps) - 1
            if extended is None or (furthest is not None and furthest.fuel <= 0):
                if furthest is not None and not found_any[-1] and depth > furthest.depth:
                    furthest.depth, furthest.literal = depth, steps[depth].literal
                    furthest.binding = bindings[-1]
                for stack in (open_steps, found_any, bindings):
                    stack.pop()
                continue
            found_any[-1] = True
            if furthest is not None:
                furthest.fuel -= 1
            if len(open_steps) == len(steps):
                yield extended
                continue
            open_steps.append(self._extensions(steps[len(open_steps)], extended, names, below))
            found_any.append(False)
            bindings.append(extended)

    def assignments(
        self, literals: Sequence[conjunctions.Literal], start: conjunctions.Binding, names: conjunctions.Names
    ) -> Iterator[conjunctions.Binding]:
        """The same, for literals in any order."""
        return self.solutions(in_order(literals, start, names), start, names)

    def matching(self, relation: str, columns: Mapping[int, syntax.Value]) -> Iterator[conjunctions.Tuple]:
        """The tuples that have these values in these columns."""
        return self._known.matching(relation, columns)

    def _extensions(
        self, step: Step, binding: conjunctions.Binding, names: conjunctions.Names, below: Below | None
    ) -> Iterator[conjunctions.Binding]:
        try:
            if step.atom is not None:
                yield from self._partners(step.atom, binding, below)
            elif isinstance(step.literal, syntax.Negation | syntax.Comparison):
                yield from self.extensions(step.solved or step.literal, binding, binding, names)
            elif isinstance(step.literal, syntax.Truth) and step.literal.holds:
                yield binding
        except (DerivationError, conjunctions.NoResultError):
            return

    def _partners(
        self, atom: syntax.Atom, binding: conjunctions.Binding, below: Below | None
    ) -> Iterator[conjunctions.Binding]:
        columns: dict[int, syntax.Value] = {}
        for column, argument in enumerate(atom.arguments):
            if isinstance(argument, syntax.Variable) and argument.name in binding:
                columns[column] = binding[argument.name]
            elif isinstance(argument, syntax.Constant):
                columns[column] = argument.value
            elif conjunctions.is_located(argument) and self.local is not None:
                columns[column] = self.local
        ranked, rank = below or (frozenset(), 0)
        for held in self._known.matching(atom.relation, columns):
            if atom.relation in ranked and self._known.rank(atom.relation, held) >= rank:
                continue
            extended = conjunctions.matched(atom, held, binding, self.local)
            if extended is not None:
                yield extended


def in_order(
    literals: Sequence[conjunctions.Literal], start: Collection[str], names: conjunctions.Names
) -> list[Step]:
    """The order of a search that starts with some variables: what can be tested, then the best known atom."""
    bound = set(start)
    atoms, others = conjunctions.flat(literals)
    positive = [literal for literal in literals if isinstance(literal, syntax.Positive)]
    waiting = [Step(literal, atom) for literal, atom in zip(positive, atoms, strict=True)]
    order = [Step(literal) for literal in literals if isinstance(literal, syntax.Truth)]
    while waiting or others:
        ready = _next_other(others, bound, names)
        if ready is not None:
            others = [other for other in others if other is not ready.literal]
            order.append(ready)
            if isinstance(ready.literal, syntax.Comparison):
                bound.update(conjunctions.unbound_sides(ready.solved or ready.literal, bound))
            continue
        step = max(waiting, key=lambda step: _bound_columns(step, bound))
        waiting.remove(step)
        order.append(step)
        if step.atom is not None:
            bound.update(
                argument.name for argument in step.atom.arguments if isinstance(argument, syntax.Variable)
            )
    return order


def _next_other(
    others: Sequence[syntax.Negation | syntax.Comparison], bound: Collection[str], names: conjunctions.Names
) -> Step | None:
    """A literal that needs no tuples: it can be tested or gives a value, as it stands or solved."""
    for other in others:
        if conjunctions.is_ready(other, bound, names):
            return Step(other)
    for other in others:
        solved = _inverted(other, bound, names) if isinstance(other, syntax.Comparison) else None
        if solved is not None:
            return Step(other, solved=solved)
    return None


def _bound_columns(step: Step, bound: set[str]) -> int:
    if step.atom is None:
        return 0
    return sum(not isinstance(part, syntax.Variable) or part.name in bound for part in step.atom.arguments)


def _inverted(
    comparison: syntax.Comparison, bound: Collection[str], names: conjunctions.Names
) -> syntax.Comparison | None:
    """An equation that says the same as this one, with a variable that is not yet bound alone on its left.

    None when it is no equation of a known value with a sum or a difference that has one such operand: what
    `7 = x + 1` says about x. Whole numbers wrap, so that there is always exactly one such x, and a search
    from a head to its body has a value to look for, where it would else go through all tuples.
    """
    if comparison.operator != "=":
        return None
    for result, side in ((comparison.left, comparison.right), (comparison.right, comparison.left)):
        if isinstance(side, syntax.Operation) and conjunctions.needed(result, names).issubset(bound):
            return _alone(side, result, bound, names)
    return None


def _alone(
    operation: syntax.Operation, result: syntax.Argument, bound: Collection[str], names: conjunctions.Names
) -> syntax.Comparison | None:
    if operation.functor not in ("+", "-") or operation.type not in (
        syntax.Type.NUMBER,
        syntax.Type.UNSIGNED,
    ):
        return None
    result = replace(result, type=operation.type)
    left, right = operation.operands
    if _is_open(left, bound) and conjunctions.needed(right, names).issubset(bound):
        other_way = "-" if operation.functor == "+" else "+"
        return syntax.Comparison("=", left, replace(operation, functor=other_way, operands=(result, right)))
    if _is_open(right, bound) and conjunctions.needed(left, names).issubset(bound):
        known = (result, left) if operation.functor == "+" else (left, result)
        return syntax.Comparison("=", right, replace(operation, functor="-", operands=known))
    return None


def _is_open(operand: syntax.Argument, bound: Collection[str]) -> bool:
    return isinstance(operand, syntax.Variable) and operand.name not in bound
