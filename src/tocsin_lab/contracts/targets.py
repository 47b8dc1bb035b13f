"""Everything that contracts can ask for, numbered: the targets of all attributes, one after the other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Doubles, Flags, Longs
from tocsin_lab.contracts.attributes import Attribute


class Targets(NamedTuple):
    """T targets of A attributes.

    start    int64[A+1]            attribute a has the targets start[a] .. start[a+1]-1
    holds    one bool[T_a, V_a+1] for each attribute: whether a target of it has a value; the last column,
             for a visit that does not tell the attribute, is False
    chance   float64[T]            a + (the chance of this target or one before it, of attribute a)
    """

    start: Longs
    holds: list[Flags]
    chance: Doubles


def targets_of(attributes: tuple[Attribute, ...]) -> Targets:
    """Number the targets of some attributes."""
    holds = []
    chance = []
    for number, attribute in enumerate(attributes):
        place = {value: at for at, value in enumerate(attribute.values)}
        has = np.zeros((len(attribute.targets), len(place) + 1), np.bool_)
        for target, values in enumerate(attribute.targets):
            has[target, [place[value] for value in values]] = True
        holds.append(has)
        weights = np.cumsum(list(attribute.targets.values()))
        chance.append(number + weights / weights[-1])
    counts = [len(attribute.targets) for attribute in attributes]
    return Targets(np.concatenate([[0], np.cumsum(counts)]), holds, np.concatenate(chance))
