"""Constraint elements: a rule's body as equations, each between two arguments or an argument and a constant.

All of them together are the SCE. It says much twice (S.2 = T.1 and T.1 = S.2, or S.2 = T.1, T.1 = W.1 and
S.2 = W.1), and every element costs an index; the MCE is the least that says the same: for each variable a
*main* argument that all others equal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, permutations
from typing import NamedTuple

from tocsin.datalog.machine.normal_form import Atom, Constant, Variable

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
        elements += [VariableConstraint(left, right) for left, right in permutations(arguments, 2)]
    return elements + constants_of(body)


def least_elements(body: Sequence[Atom], cardinalities: Cardinalities) -> list[ConstraintElement]:
    """The MCE of a body: along its join tree, and what a circle of joins has beyond a tree.

    So each atom but the first of a tree is tied to one other by all the variables they share: as many
    elements as Algorithm 1 leaves. Around a variable they make a star where one atom is the largest.
    """
    elements: list[ConstraintElement] = []
    tree = join_tree(body, cardinalities)
    for arguments in variables_of(body).values():
        tied: dict[int, Argument] = {argument.atom: argument for argument in arguments}
        group = {atom: {atom} for atom in tied}
        for main, other in tree:
            if main in tied and other in tied:
                elements.append(VariableConstraint(tied[other], tied[main]))
                _unite(group, main, other)
        for other in tied:
            main = arguments[0].atom
            if other not in group[main]:
                elements.append(VariableConstraint(tied[other], tied[main]))
                _unite(group, main, other)
    return elements + constants_of(body)


def join_tree(body: Sequence[Atom], cardinalities: Cardinalities) -> list[tuple[int, int]]:
    """Pairs of atoms, the main one first, that connect all atoms which variables connect.

    Pairs that share most variables come first, so that a rule without circles is decided by its pairs alone;
    among those, pairs with the relation that has most tuples, so that one index serves many.
    """
    variables = [{term for term in atom.terms if isinstance(term, Variable)} for atom in body]
    sizes = [cardinalities.get(atom.relation, 0) for atom in body]

    def merit(pair: tuple[int, int]) -> tuple[int, int]:
        left, right = pair
        return -len(variables[left] & variables[right]), -max(sizes[left], sizes[right])

    pairs = [pair for pair in combinations(range(len(body)), 2) if merit(pair)[0]]
    pairs.sort(key=merit)
    group = {atom: {atom} for atom in range(len(body))}
    tree: list[tuple[int, int]] = []
    for left, right in pairs:
        if right not in group[left]:
            _unite(group, left, right)
            tree.append((left, right) if sizes[left] >= sizes[right] else (right, left))
    return tree


def _unite(group: dict[int, set[int]], left: int, right: int) -> None:
    group[left] |= group[right]
    for member in group[left]:
        group[member] = group[left]


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
