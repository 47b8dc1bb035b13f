"""The scores of matches, from what a search found and scored already."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.jit import kernel


@kernel
def take_scores(
    document: NDArray[np.int32],
    rule: NDArray[np.int32],
    group: int,
    score_start: NDArray[np.int32],
    score_query: NDArray[np.int32],
    query_group: NDArray[np.int32],
    is_decided: NDArray[np.bool_],
    found_start: NDArray[np.int64],
    found_query: NDArray[np.int32],
    found_score: NDArray[np.float64],
    score: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Raise score[i] to the largest of the queries of rule[i], of a text group, that document[i] satisfies.

    document is -1 where an event has none there. What is left to be asked comes back as pairs of a match and
    a query: those that were not found, though it may be only their threshold that failed. When nothing was
    searched (found_start is empty), that is all of them.
    """
    left_match = np.empty(16, np.int64)
    left_query = np.empty(16, np.int32)
    left = 0
    for match in range(rule.size):
        at = document[match]
        if at < 0:
            continue
        for i in range(score_start[rule[match]], score_start[rule[match] + 1]):
            query = score_query[i]
            if query_group[query] != group:
                continue
            if found_start.size > 0:
                low = found_start[at]
                high = found_start[at + 1]
                while low < high:
                    middle = (low + high) >> 1
                    if found_query[middle] < query:
                        low = middle + 1
                    else:
                        high = middle
                if low < found_start[at + 1] and found_query[low] == query:
                    score[match] = max(score[match], found_score[low])
                    continue
                if is_decided[query]:
                    continue
            if left == left_match.size:
                longer_match = np.empty(2 * left, np.int64)
                longer_query = np.empty(2 * left, np.int32)
                longer_match[:left] = left_match
                longer_query[:left] = left_query
                left_match, left_query = longer_match, longer_query
            left_match[left] = match
            left_query[left] = query
            left += 1
    return left_match[:left], left_query[:left]
