"""Contracts and visits as the engines are given them: expressions over literals, and literals that hold.

Every conjunction is an AND of its own, also one below an AND: these are the leaves that the first
paper's trees have. (Conditions that go through tocsin.build lose this: there an AND below an AND is one.)

The paper and the system that it builds on let a visit that does not tell an attribute satisfy `not in`;
the language of tocsin does not. Which of the two holds is for `held_literals` to say, as it makes no
difference to the expressions.
"""

from __future__ import annotations

import numpy as np

from tocsin.arrays.dtypes import Ints
from tocsin.arrays.lists import Lists
from tocsin.engines import Expressions
from tocsin_lab.contracts.attributes import Attribute
from tocsin_lab.contracts.contracts import Contracts, is_and, parts_of
from tocsin_lab.contracts.targets import Targets, targets_of
from tocsin_lab.contracts.visits import Visits


def expressions_of(contracts: Contracts, attributes: tuple[Attribute, ...]) -> Expressions:
    """Contracts over literals: of T targets, that target t is met, t; that it is not, T + t.

    The literals from T on are there only if a contract has a `not in`.
    """
    targets = int(targets_of(attributes).start[-1])
    negates = any((level.predicate & 1).any() for level in contracts)
    literals = 2 * targets if negates else targets
    first, below = literals, 0
    ands, starts, children = [], [np.zeros(1, np.int64)], []
    for depth in reversed(range(len(contracts))):
        level = contracts[depth]
        literal = (level.predicate >> 1) + (level.predicate & 1) * targets
        start, child = parts_of(level, literal.astype(np.int32), below)
        ands.append(is_and(level, depth))
        starts.append(starts[-1][-1] + start[1:])
        children.append(child)
        below, first = first, first + level.size
    return Expressions(
        literals,
        np.concatenate(ands),
        np.concatenate(starts).astype(np.int32),
        np.concatenate(children),
        np.arange(below, first, dtype=np.int32),
    )


def held_literals(visits: Visits, literals: int, *, untold_satisfies_not_in: bool = False) -> Lists:
    """For each visit those of an expression's literals that hold, ascending."""
    targets = targets_of(visits.attributes)
    negations = (False, True) if literals > targets.start[-1] else (False,)
    holding = [
        _of_values(targets, number, negated, untold_satisfies_not_in)
        for negated in negations
        for number in range(len(visits.attributes))
    ]
    values = np.tile(visits.value, len(negations)).tolist()
    parts = [lists[value] for row in values for lists, value in zip(holding, row, strict=True)]
    lengths = np.array([len(part) for part in parts], np.int64).reshape(visits.size, len(holding)).sum(axis=1)
    start = np.concatenate([[0], np.cumsum(lengths)])
    return Lists(start, np.concatenate([np.zeros(0, np.int32), *parts]))


def _of_values(targets: Targets, attribute: int, negated: bool, untold: bool) -> list[Ints]:
    """For each value of an attribute, and last for none, the literals of the attribute that hold."""
    holds = targets.holds[attribute]
    first = targets.start[attribute]
    if negated:
        first = first + targets.start[-1]
        holds = ~holds
        holds[:, -1] = untold
    return [(first + np.flatnonzero(column)).astype(np.int32) for column in holds.T]
