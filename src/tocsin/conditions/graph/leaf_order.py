"""The order of the leaves: those that are set together lie together.

Reading numbers predicates as they come. Matching goes from group to group, and within a group from
literal to literal and from bound to bound; numbered in that order, the leaves it sets are neighbours
in memory.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.conditions.graph.leaf_families import Families


def put_in_order(families: Families) -> tuple[Families, NDArray[np.int64]]:
    """The families with their leaves renumbered, and which leaf each new number was before."""
    count = len(families.group_of)
    ranges = families.ranges
    visits = np.concatenate(
        (
            families.null_leaf[families.null_leaf >= 0],
            families.posting_leaf,
            ranges.prefix_leaf,
            ranges.suffix_leaf,
            ranges.middle_leaf,
        )
    )
    visit = np.full(count, len(visits), np.int64)
    visit[visits[::-1]] = np.arange(len(visits) - 1, -1, -1)
    order = np.lexsort((visit, families.group_of))
    number = np.empty(count, np.int32)
    number[order] = np.arange(count, dtype=np.int32)
    null_leaf = families.null_leaf.copy()
    null_leaf[null_leaf >= 0] = number[null_leaf[null_leaf >= 0]]
    return families._replace(
        group_of=families.group_of[order],
        null_leaf=null_leaf,
        posting_leaf=number[families.posting_leaf],
        pattern_leaf=np.sort(number[families.pattern_leaf]),
        text_leaf=np.sort(number[families.text_leaf]),
        ranges=ranges._replace(
            prefix_leaf=number[ranges.prefix_leaf],
            suffix_leaf=number[ranges.suffix_leaf],
            middle_leaf=number[ranges.middle_leaf],
        ),
    ), order
