"""Conjunctions of keys, found by the keys that an event has."""

from __future__ import annotations

import numpy as np

from tocsin.index.scratch import Scratch
from tocsin.kernels.conjunctions import Postings, search_postings, turned_over
from tocsin.kernels.lists import Lists


class ConjunctionIndex:
    """Conjunction c holds when all of its keys are held, and none of its negated keys is.

    `conjunctions` has a list of keys for each conjunction, `negated` one of negated keys; keys are numbers
    from 0 to keys-1 and mean nothing here. A conjunction without keys holds unless a negated one is held.
    Searching is quickest when conjunctions are numbered by size, the small ones first.
    """

    def __init__(self, conjunctions: Lists, keys: int, negated: Lists | None = None) -> None:
        count = len(conjunctions.start) - 1
        if negated is None:
            negated = Lists(np.zeros(count + 1, np.int64), np.empty(0, np.int32))
        positive = turned_over(conjunctions, keys)
        negative = turned_over(negated, keys)
        wanted = np.bincount(positive.item, minlength=count).astype(np.int32)
        self._postings = Postings(wanted, *positive, *negative)
        self._scratch = Scratch(lambda: np.zeros(count, np.int32))

    def search(self, held: Lists) -> Lists:
        """For each event the conjunctions that hold, ascending, given the keys that are held."""
        with self._scratch.lent() as count:
            return search_postings(self._postings, held, count)

    def bytes_of_parts(self) -> dict[str, int]:
        """The memory that its arrays take, by part."""
        return {"conjunction index": sum(array.nbytes for array in self._postings)}
