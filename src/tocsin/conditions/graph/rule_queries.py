"""Which text queries each rule has: whose scores its matches carry, and what is asked at the end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.packed import starts
from tocsin.conditions.graph.condition_reader import Steps
from tocsin.conditions.planner.planner import Deferred
from tocsin.text.kernels.rule_queries import TextRules


def text_rules(
    parts: Sequence[Steps],
    query_of: NDArray[np.int32],
    has_threshold: NDArray[np.bool_],
    deferred: Deferred,
    rules: int,
) -> TextRules:
    """The queries that each rule is scored by, the one with a threshold or else all; and what is deferred.

    Parts are the conditions as written. query_of is by leaf as reading numbers them, -1 for a leaf that is
    no free text.
    """
    rule, query = queries_of_rules(parts, query_of)
    if not len(rule):
        return TextRules(np.zeros(1, np.int32), query, np.zeros(1, np.int32), query)
    decided = np.zeros(rules, np.bool_)
    decided[rule[has_threshold[query]]] = True
    counts = ~decided[rule] | has_threshold[query]
    pairs = np.unique(np.stack((rule[counts], query[counts]), axis=1), axis=0)
    return TextRules(
        starts(np.bincount(pairs[:, 0], minlength=rules), np.int32),
        pairs[:, 1].astype(np.int32),
        starts(np.bincount(deferred.rule, minlength=rules), np.int32),
        deferred.asked,
    )


def queries_of_rules(
    parts: Sequence[Steps], query_of: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Rule and query of every place where free text stands in a condition."""
    rules = [np.empty(0, np.int64)]
    queries = [np.empty(0, np.int32)]
    for part in parts:
        at = np.flatnonzero(part.step >= 0)
        query = query_of[(part.ref[part.step[at]] >> 1) - 1]
        at, query = at[query >= 0], query[query >= 0]
        rules.append(part.number[np.searchsorted(part.start, at, side="right") - 1])
        queries.append(query)
    return np.concatenate(rules), np.concatenate(queries)
