"""Constraint elements: a rule's body as equations, each between two arguments or an argument and a constant.

All of them together are the SCE. It says much twice (S.2 = T.1 and T.1 = S.2, or S.2 = T.1, T.1 = W.1 and
S.2 = W.1), and every element costs an index; the MCE is the least that says the same: for each variable a
*main* argument that all others equal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tocsin.index.activation.normal_form import Atom, Constant, Variable

Cardinalities = Mapping[str, int]
"""How many tuples each relation has, or is expected to have; 0 where nothing is known."""


class Argument(NamedTuple):
    """A column of a body atom, both counted from 0."""

    atom: int
    column: int


class ConstantConstraint(NamedTuple):
    """The argument has one value. It filters: a tuple without it never enters the index."""

    argument: Argument
    constant: Constant


class VariableConstraint(NamedTuple):
    """Two arguments of different atoms are equal: `left` is tied to `right`, the main argument."""

    left: Argument
    right: Argument


ConstraintElement = ConstantConstraint | VariableConstraint


def all_elements(body: Sequence[Atom]) -> list[ConstraintElement]:
    """The SCE of a body: every constant, and every ordered pair of arguments that share a variable."""
    elements: list[ConstraintElement] = []
    for arguments in variables_of(body).values():
        elements += [
            VariableConstraint(left, right)
            for left in arguments
            for right in arguments
            if left.atom != right.atom
        ]
    return elements + constants_of(body)


def least_elements(body: Sequence[Atom], cardinalities: Cardinalities) -> list[ConstraintElement]:
    """The MCE of a body: Algorithm 1, with the main argument chosen by cardinality.

    The main argument of a variable is that of the atom with most tuples, the first one where several have
    equally many. Where a variable occurs twice in one atom, its first column stands for both.
    """
    elements: list[ConstraintElement] = []
    for arguments in variables_of(body).values():
        main = _largest(arguments, body, cardinalities)
        elements += [VariableConstraint(argument, main) for argument in arguments if argument != main]
    return elements + constants_of(body)


def spread_elements(body: Sequence[Atom], cardinalities: Cardinalities) -> list[ConstraintElement]:
    """An MCE in which, as far as possible, no atom is the main one of two variables (section 5.1).

    One data index serves all atoms of a variable; so that its size is not that of one relation each time, the
    largest that has none yet is chosen.
    """
    elements: list[ConstraintElement] = []
    used: set[int] = set()
    for arguments in variables_of(body).values():
        if len(arguments) == 1:
            continue
        unused = [argument for argument in arguments if argument.atom not in used]
        main = _largest(unused or arguments, body, cardinalities)
        used.add(main.atom)
        elements += [VariableConstraint(argument, main) for argument in arguments if argument != main]
    return elements + constants_of(body)


def variables_of(body: Sequence[Atom]) -> dict[int, list[Argument]]:
    """For each variable, the first column of each atom that has it, in the order of the body."""
    found: dict[int, list[Argument]] = {}
    for number, atom in enumerate(body):
        for column, term in enumerate(atom.terms):
            if isinstance(term, Variable):
                arguments = found.setdefault(term.number, [])
                if not arguments or arguments[-1].atom != number:
                    arguments.append(Argument(number, column))
    return found


def constants_of(body: Sequence[Atom]) -> list[ConstraintElement]:
    """The constant constraints of a body."""
    return [
        ConstantConstraint(Argument(number, column), term)
        for number, atom in enumerate(body)
        for column, term in enumerate(atom.terms)
        if isinstance(term, Constant)
    ]


def _largest(arguments: Sequence[Argument], body: Sequence[Atom], cardinalities: Cardinalities) -> Argument:
    return max(arguments, key=lambda argument: cardinalities.get(body[argument.atom].relation, 0))
