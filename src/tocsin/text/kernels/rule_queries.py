"""What free text means to rules: whose scores a match carries, and what is asked only at the end."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Doubles, Flags, Ints, Longs
from tocsin.arrays.jit import kernel
from tocsin.text.kernels.trie_matches import FoundQueries


class TextRules(NamedTuple):
    """The text queries of each rule. Where no rule has any, both starts are of length 1.

    score_start      int32[R+1]   a match of rule r carries the largest score among
    score_query      int32[...]       score_query[score_start[r] : score_start[r+1]]
    deferred_start   int32[R+1]   conjuncts of rule r that the graph does not have, in the order to ask
    deferred         int32[...]       them: 2 * query, and one more when the query must be known to fail
    """

    score_start: Ints
    score_query: Ints
    deferred_start: Ints
    deferred: Ints


ELSEWHERE = -1
UNSEARCHED = -2


@kernel
def take_scores(
    document: Ints,
    at: Ints,
    rule: Ints,
    rules: TextRules,
    query_group: Ints,
    is_decided: Flags,
    found: FoundQueries,
    score: Doubles,
) -> tuple[Longs, Ints]:
    """Raise score[i] to the largest of the queries of rule[i] that its event satisfies.

    A query of text group g is looked up among those of document[i] + at[g], unless at[g] is ELSEWHERE;
    document[i] is -1 where an event has none. What is left to be asked comes back as pairs of a match and a
    query: those that were not found, though it may be only their threshold that failed, and those of groups
    that are UNSEARCHED.
    """
    most = 0
    for match in range(rule.size):
        most += rules.score_start[rule[match] + 1] - rules.score_start[rule[match]]
    left_match = np.empty(most, np.int64)
    left_query = np.empty(most, np.int32)
    left = 0
    for match in range(rule.size):
        if document[match] < 0:
            continue
        for i in range(rules.score_start[rule[match]], rules.score_start[rule[match] + 1]):
            query = rules.score_query[i]
            begin = at[query_group[query]]
            if begin == ELSEWHERE:
                continue
            if begin != UNSEARCHED:
                place = document[match] + begin
                low, high = found.start[place], found.start[place + 1]
                low += np.searchsorted(found.query[low:high], query)
                if low < high and found.query[low] == query:
                    score[match] = max(score[match], found.score[low])
                    continue
                if is_decided[query]:
                    continue
            left_match[left] = match
            left_query[left] = query
            left += 1
    return left_match[:left], left_query[:left]
