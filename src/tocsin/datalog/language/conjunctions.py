"""What the literals of a conjunction bind, and what they need before they can be looked at."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import count

from tocsin.datalog.language import functors
from tocsin.datalog.language.alternatives import Literal
from tocsin.datalog.language.syntax import (
    Aggregate,
    Anonymous,
    Argument,
    Atom,
    Comparison,
    Constant,
    Negation,
    Operation,
    Positive,
    Value,
    Variable,
    type_of,
)
from tocsin.datalog.language.tree_walk import Node, variables_in, walk_outside_aggregates
from tocsin.datalog.language.vocabulary import EACH
from tocsin.errors import DerivationError

Tuple = tuple[Value, ...]
Binding = dict[str, Value]
Names = frozenset[str]

HIDDEN = "="
"""What the name of a variable that stands for a computed argument starts with."""


class NoResultError(Exception):
    """An aggregate over nothing that has no result."""


def flat(literals: Sequence[Literal]) -> tuple[list[Atom], list[Negation | Comparison]]:
    """Positive atoms with nothing but variables and constants in them, and all other literals.

    Each `_` becomes a variable, a computed argument a variable and an equation.
    """
    atoms: list[Atom] = []
    others: list[Negation | Comparison] = []
    number = count()
    for literal in literals:
        if isinstance(literal, Negation | Comparison):
            others.append(literal)
        if not isinstance(literal, Positive):
            continue
        plain: list[Argument] = []
        for column, argument in enumerate(literal.atom.arguments):
            if isinstance(argument, Anonymous):
                plain.append(Variable(anonymous_name(literal, column)))
            elif isinstance(argument, Operation | Aggregate):
                plain.append(Variable(f"{HIDDEN}{next(number)}"))
                others.append(Comparison("=", plain[-1], argument))
            else:
                plain.append(argument)
        atoms.append(replace(literal.atom, arguments=tuple(plain)))
    return atoms, others


def anonymous_name(literal: Positive, column: int) -> str:
    """The name of the variable that a `_` stands for: another one each time it is written."""
    return f"_{id(literal)}:{column}"


def matched(atom: Atom, held: Tuple, binding: Binding, local: Value | None) -> Binding | None:
    """The assignment with the atom's variables added, None when the tuple does not match."""
    extended = dict(binding)
    for argument, value in zip(atom.arguments, held, strict=True):
        if is_located(argument) and local is not None and value != local:
            return None
        if isinstance(argument, Variable):
            if extended.setdefault(argument.name, value) != value:
                return None
        elif isinstance(argument, Constant) and argument.value != value:
            return None
    return extended


def unbound_sides(comparison: Comparison, bound: Collection[str]) -> list[str]:
    """The variable that an equation gives a value: its left side, or its right side, when not yet bound."""
    if comparison.operator not in ("=", EACH):
        return []
    sides = (comparison.left, comparison.right)
    return [side.name for side in sides if isinstance(side, Variable) and side.name not in bound]


def is_ready(literal: Negation | Comparison, bound: Collection[str], names: Names) -> bool:
    """Whether a literal can be looked at once these variables are bound, binding at most one more."""
    if isinstance(literal, Negation):
        return all(needed(argument, names).issubset(bound) for argument in literal.atom.arguments)
    open_sides = [side for side in (literal.left, literal.right) if not needed(side, names).issubset(bound)]
    if not open_sides:
        return True
    return len(open_sides) == 1 and literal.operator in ("=", EACH) and isinstance(open_sides[0], Variable)


def level_names(*nodes: Node) -> Names:
    """The variables that occur in these parts, outside the aggregates in them."""
    return frozenset(node.name for node in walk_outside_aggregates(*nodes) if isinstance(node, Variable))


def needed(argument: Argument, names: Names) -> Names:
    """The variables that must have a value before the argument has: in an aggregate, those known outside."""
    inside = {variable.name for variable in variables_in(argument)}
    return level_names(argument) | (inside & names)


def is_located(argument: Argument) -> bool:
    """Whether it is held to the local address."""
    return isinstance(argument, Variable | Constant) and argument.located


def value_of(argument: Argument, binding: Binding, aggregate_value: Callable[[Aggregate], Value]) -> Value:
    """What an argument stands for. Raises DerivationError when there is no such value."""
    values: list[Value] = []
    for part in reversed(list(walk_outside_aggregates(argument))):
        if isinstance(part, Constant):
            values.append(part.value)
        elif isinstance(part, Variable):
            if part.name not in binding:
                raise DerivationError("a value that there is none of is needed")
            values.append(binding[part.name])
        elif isinstance(part, Aggregate):
            values.append(aggregate_value(part))
        elif isinstance(part, Operation):
            operands = [values.pop() for _ in part.operands]
            values.append(functors.apply(part.functor, type_of(part.operands[0]), operands))
    return values.pop()
