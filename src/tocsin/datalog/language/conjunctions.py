"""Bodies as conjunctions without a disjunction in them: which variables their literals give a value, and what
they need before they can be looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence, Set
from dataclasses import replace
from itertools import count

from tocsin.datalog.language import syntax
from tocsin.datalog.language.functors import EACH
from tocsin.datalog.language.tree_walk import Node, variables_in, variables_outside

Literal = syntax.Positive | syntax.Negation | syntax.Comparison | syntax.Truth

MOST = 10_000
"""How many alternatives a body may have."""


class TooManyError(Exception):
    """A body has more than MOST alternatives."""


def alternatives_of(body: syntax.Body) -> list[list[Literal]]:
    """The conjunctions of which one must hold; raises TooManyError."""
    if not isinstance(body, syntax.Disjunction | syntax.Conjunction):
        return [[body]]
    found: list[list[Literal]] = [[]] if isinstance(body, syntax.Conjunction) else []
    for choices in map(alternatives_of, body.parts):
        if isinstance(body, syntax.Disjunction):
            found += choices
        elif len(choices) == 1:
            for alternative in found:
                alternative.extend(choices[0])
        elif len(found) * len(choices) <= MOST:
            found = [[*alternative, *choice] for alternative in found for choice in choices]
        else:
            raise TooManyError
        if len(found) > MOST:
            raise TooManyError
    return found


def body_of(alternatives: Sequence[Sequence[syntax.Body]]) -> syntax.Body:
    """The body that says the same as these alternatives."""
    bodies: list[syntax.Body] = [
        literals[0] if len(literals) == 1 else syntax.Conjunction(tuple(literals))
        for literals in alternatives
    ]
    return bodies[0] if len(bodies) == 1 else syntax.Disjunction(tuple(bodies))


Ready = Callable[[syntax.Aggregate, Set[str]], bool]
"""Whether an aggregate has a result when these variables have values."""


def grounded(
    literals: Sequence[Literal], given: Collection[str], ready: Ready = lambda _aggregate, _known: True
) -> set[str]:
    """The variables that are given, stand in a positive atom, or equal something that has a value.

    An equation gives a value to a variable that is one of its sides; none is turned round to find out
    what `x` in `x + 1` is. Those still waiting are gone through in turns from the front and from the back,
    as a chain of them is mostly written in one of these orders.
    """
    known = set(given)
    equations: list[tuple[syntax.Argument, syntax.Argument]] = []
    for literal in literals:
        if isinstance(literal, syntax.Positive):
            known.update(
                argument.name for argument in literal.atom.arguments if isinstance(argument, syntax.Variable)
            )
        elif isinstance(literal, syntax.Comparison) and literal.operator == "=":
            equations += [(literal.left, literal.right), (literal.right, literal.left)]
        elif isinstance(literal, syntax.Comparison) and literal.operator == EACH:
            equations.append((literal.left, literal.right))
    while True:
        waiting: list[tuple[syntax.Argument, syntax.Argument]] = []
        for variable, value in equations:
            if not isinstance(variable, syntax.Variable) or variable.name in known:
                continue
            if _has_value(value, known, ready):
                known.add(variable.name)
            else:
                waiting.append((variable, value))
        if len(waiting) in (0, len(equations)):
            return known
        equations = waiting[::-1]


def _has_value(argument: syntax.Argument, known: Set[str], ready: Ready) -> bool:
    if isinstance(argument, syntax.Variable):
        return argument.name in known
    if isinstance(argument, syntax.Constant):
        return True
    if isinstance(argument, syntax.Operation):
        return all(_has_value(operand, known, ready) for operand in argument.operands)
    return not isinstance(argument, syntax.Anonymous) and ready(argument, known)


Tuple = tuple[syntax.Value, ...]
Binding = dict[str, syntax.Value]
Names = frozenset[str]

HIDDEN = "="
"""What the name of a variable that stands for a computed argument starts with."""


class NoResultError(Exception):
    """An aggregate over nothing that has no result."""


def flat(literals: Sequence[Literal]) -> tuple[list[syntax.Atom], list[syntax.Negation | syntax.Comparison]]:
    """Positive atoms with nothing but variables and constants in them, and all other literals.

    Each `_` becomes a variable, a computed argument a variable and an equation.
    """
    atoms: list[syntax.Atom] = []
    others: list[syntax.Negation | syntax.Comparison] = []
    number = count()
    for literal in literals:
        if isinstance(literal, syntax.Negation | syntax.Comparison):
            others.append(literal)
        if not isinstance(literal, syntax.Positive):
            continue
        plain: list[syntax.Argument] = []
        for column, argument in enumerate(literal.atom.arguments):
            if isinstance(argument, syntax.Anonymous):
                plain.append(syntax.Variable(anonymous_name(literal, column)))
            elif isinstance(argument, syntax.Operation | syntax.Aggregate):
                plain.append(syntax.Variable(f"{HIDDEN}{next(number)}"))
                others.append(syntax.Comparison("=", plain[-1], argument))
            else:
                plain.append(argument)
        atoms.append(replace(literal.atom, arguments=tuple(plain)))
    return atoms, others


def anonymous_name(literal: syntax.Positive, column: int) -> str:
    """The name of the variable that a `_` stands for: another one each time it is written."""
    return f"_{id(literal)}:{column}"


def matched(atom: syntax.Atom, held: Tuple, binding: Binding, local: syntax.Value | None) -> Binding | None:
    """The assignment with the atom's variables added, None when the tuple does not match."""
    extended = dict(binding)
    for argument, value in zip(atom.arguments, held, strict=True):
        if is_located(argument) and local is not None and value != local:
            return None
        if isinstance(argument, syntax.Variable):
            if extended.setdefault(argument.name, value) != value:
                return None
        elif isinstance(argument, syntax.Constant) and argument.value != value:
            return None
    return extended


def unbound_sides(comparison: syntax.Comparison, bound: Collection[str]) -> list[str]:
    """The variable that an equation gives a value: its left side, or its right side, when not yet bound."""
    if comparison.operator not in ("=", EACH):
        return []
    sides = (comparison.left, comparison.right)
    return [side.name for side in sides if isinstance(side, syntax.Variable) and side.name not in bound]


def is_ready(literal: syntax.Negation | syntax.Comparison, bound: Collection[str], names: Names) -> bool:
    """Whether a literal can be looked at once these variables are bound, binding at most one more."""
    if isinstance(literal, syntax.Negation):
        return all(needed(argument, names).issubset(bound) for argument in literal.atom.arguments)
    open_sides = [side for side in (literal.left, literal.right) if not needed(side, names).issubset(bound)]
    gives = literal.operator in ("=", EACH) and all(isinstance(side, syntax.Variable) for side in open_sides)
    return not open_sides or (len(open_sides) == 1 and gives)


def level_names(*nodes: Node) -> Names:
    """The variables that occur in these parts, outside the aggregates in them."""
    return frozenset(variable.name for variable in variables_outside(*nodes))


def needed(argument: syntax.Argument, names: Names) -> Names:
    """The variables that must have a value before the argument has: in an aggregate, those known outside."""
    inside = {variable.name for variable in variables_in(argument)}
    return level_names(argument) | (inside & names)


def is_located(argument: syntax.Argument) -> bool:
    """Whether it is held to the local address."""
    return isinstance(argument, syntax.Variable | syntax.Constant) and argument.located
