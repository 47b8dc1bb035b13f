"""What free text means to rules: whose scores a match carries, and what is asked only at the end."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.jit import kernel


class TextRules(NamedTuple):
    """The text queries of each rule. Where no rule has any, both starts are of length 1.

    score_start      int32[R+1]   a match of rule r carries the largest score among
    score_query      int32[...]       score_query[score_start[r] : score_start[r+1]]
    deferred_start   int32[R+1]   conjuncts of rule r that the graph does not have, in the order to ask
    deferred         int32[...]       them: 2 * query, and one more when the query must be known to fail
    """

    score_start: NDArray[np.int32]
    score_query: NDArray[np.int32]
    deferred_start: NDArray[np.int32]
    deferred: NDArray[np.int32]


@kernel
def keep_matches(rule: NDArray[np.int32], per_event: NDArray[np.int64], keeps: NDArray[np.bool_]) -> int:
    """Leave out matches in place, and out of the counts of their events; how many are left."""
    kept = 0
    at = 0
    for event in range(per_event.size):
        end = at + per_event[event]
        before = kept
        for place in range(at, end):
            if keeps[place]:
                rule[kept] = rule[place]
                kept += 1
        at = end
        per_event[event] = kept - before
    return kept
