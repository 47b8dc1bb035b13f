"""Which text queries each rule has: for the scores that its matches carry."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tocsin.index.packing import starts
from tocsin.index.reading import Steps
from tocsin.kernels.text.rules import TextRules

NO_TEXT_RULES = TextRules(*(np.zeros(1, np.int32), np.empty(0, np.int32)) * 2)
"""The arrays of rules without free text."""


def scored_queries(
    parts: Sequence[Steps], query_of: NDArray[np.int32], has_threshold: NDArray[np.bool_], rules: int
) -> TextRules:
    """The queries that each rule is scored by: the one with a threshold, or else all of them.

    query_of is by leaf as reading numbers them, -1 for a leaf that is no free text.
    """
    rule, query = _queries_of_rules(parts, query_of)
    decided = np.zeros(rules, np.bool_)
    decided[rule[has_threshold[query]]] = True
    counts = ~decided[rule] | has_threshold[query]
    pairs = np.unique(np.stack((rule[counts], query[counts]), axis=1), axis=0)
    return TextRules(
        starts(np.bincount(pairs[:, 0], minlength=rules), np.int32),
        pairs[:, 1].astype(np.int32),
        np.zeros(rules + 1, np.int32),
        np.empty(0, np.int32),
    )


def _queries_of_rules(
    parts: Sequence[Steps], query_of: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rule and query of every place where free text stands in a condition."""
    rules: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
    queries: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
    for part in parts:
        at = np.flatnonzero(part.step >= 0)
        query = query_of[(part.ref[part.step[at]] >> 1) - 1]
        at, query = at[query >= 0], query[query >= 0]
        rules.append(part.number[np.searchsorted(part.start, at, side="right") - 1])
        queries.append(query.astype(np.int64))
    return np.concatenate(rules), np.concatenate(queries)
