"""How likely each leaf is to hold when no events have been seen: a guess from the rules alone.

Rules speak of the values that occur. A literal is taken to be as likely as the field's other literals,
and a range as likely as the share of the field's bounds that lie within it. Which child wakes an AND
depends on it; whether it matches does not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Doubles
from tocsin.conditions.graph.leaf_families import Families

_PRESENT = 0.5
_NULL = 0.3
_PATTERN = 0.02
_TEXT = 0.01


class Likelihood(NamedTuple):
    """By leaf.

    true    float64[L]
    false   float64[L]
    """

    true: Doubles
    false: Doubles


def guess(families: Families) -> Likelihood:
    """A likelihood for every leaf."""
    group_of, groups = families.group_of, len(families.group_path)
    literals, bounds, ranges = families.literals, families.bounds, families.ranges
    literal_group = literals.groups()
    of_literal = 1.0 / (1.0 + np.bincount(literal_group, minlength=groups))[literal_group]
    slots = 2.0 * (np.diff(bounds.scalar_start) + np.diff(bounds.text_start)) + 1.0
    shares = (
        (families.posting_leaf, np.repeat(of_literal, np.diff(families.posting_start))),
        (ranges.prefix_leaf, (ranges.prefix_to + 1.0) / slots[group_of[ranges.prefix_leaf]]),
        (ranges.suffix_leaf, 1.0 - ranges.suffix_from / slots[group_of[ranges.suffix_leaf]]),
        (
            ranges.middle_leaf,
            (ranges.middle_to - ranges.middle_from + 1.0) / slots[group_of[ranges.middle_leaf]],
        ),
    )
    share = np.zeros(len(group_of))
    for leaf, part in shares:
        share += np.bincount(leaf, part, len(group_of))
    share[families.pattern_leaf] = _PATTERN
    share[families.text_leaf] = _TEXT
    true = _PRESENT * np.minimum(share, 1.0)
    false = _PRESENT - true
    null = families.null_leaf[families.null_leaf >= 0]
    true[null] = _NULL
    false[null] = 1.0 - _NULL
    return Likelihood(true, false)
