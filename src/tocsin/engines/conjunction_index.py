"""Conjunctions of keys, found by the keys that are held: the first paper's index of conjunctions."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from tocsin.arrays.array_checks import Check
from tocsin.arrays.dtypes import Ints, Longs
from tocsin.arrays.lists import Lists
from tocsin.arrays.packed import starts
from tocsin.arrays.radix_sort import no_tally
from tocsin.arrays.scratch import Scratch
from tocsin.engines.kernels.conjunction_cursors import no_cursors
from tocsin.engines.kernels.conjunctions import (
    Postings,
    SearchRoom,
    distinct_counts,
    search_postings,
    turned_over,
)


class SavedConjunctions(NamedTuple):
    """What a file holds of Postings whose conjunctions came by size and have no negated keys."""

    size_start: Ints
    start: Longs
    item: Ints


class ConjunctionIndex:
    """Conjunction c holds when all of its keys are held and none of its negated keys is.

    Keys are numbers and mean nothing here. Threads may share it.
    """

    def __init__(self, postings: Postings) -> None:
        self._postings = postings
        self._scratch = Scratch(lambda: _search_room(postings))

    @classmethod
    def of(cls, conjunctions: Lists, keys: int, negated: Lists | None = None) -> Self:
        """Index the conjunctions.

        `conjunctions` has a list of keys for each conjunction, `negated` one of negated keys; keys are below
        `keys`. So a conjunction without keys holds unless a negated key is held.
        """
        count = len(conjunctions.start) - 1
        if negated is None:
            negated = Lists(np.zeros(count + 1, np.int64), np.empty(0, np.int32))
        size = distinct_counts(conjunctions, keys)
        order = np.argsort(size, kind="stable").astype(np.int32)
        is_by_size = np.array_equal(order, np.arange(count))
        return cls(
            _postings(
                starts(np.bincount(size, minlength=2), np.int32),
                np.empty(0, np.int32) if is_by_size else order,
                turned_over(conjunctions, order, keys),
                turned_over(negated, order, keys),
            )
        )

    @classmethod
    def of_saved(cls, saved: SavedConjunctions) -> Self:
        """The index that a file holds."""
        size_start, start, item = saved
        nothing = np.empty(0, np.int32)
        return cls(_postings(size_start, nothing, Lists(start, item), Lists(np.zeros_like(start), nothing)))

    def saved(self) -> SavedConjunctions:
        """What a file is to hold of conjunctions that came by size and have no negated keys."""
        return SavedConjunctions(self._postings.size_start, self._postings.start, self._postings.item)

    def __len__(self) -> int:
        return len(self._postings.size)

    def search(self, held: Lists) -> Lists:
        """For each event the conjunctions that hold, ascending, given the keys that are held, all different.

        Keys that the index has never seen may be among them.
        """
        with self._scratch.lent() as room:
            return search_postings(self._postings, held, room)

    def bytes_of_parts(self) -> dict[str, int]:
        """The memory that its arrays take, by part."""
        return {"conjunction index": sum(array.nbytes for array in self._postings)}


def check_conjunctions(check: Check, name: str, saved: SavedConjunctions, keys: int, count: int) -> None:
    """IndexFileError unless these are so many conjunctions of keys below `keys`."""
    size_start, start, item = saved
    check.that(f"{name}.size_start", len(size_start) >= 3, "says nothing of conjunctions of one key")
    check.offsets(f"{name}.size_start", size_start, len(size_start) - 1, count)
    check.offsets(f"{name}.start", start, keys, len(item))
    check.references(f"{name}.item", item, count)
    begins = np.zeros(len(item) + 1, np.bool_)
    begins[start] = True
    check.that(f"{name}.item", bool(((item[1:] > item[:-1]) | begins[1:-1]).all()), "does not ascend")
    sizes = np.repeat(np.arange(len(size_start) - 1), np.diff(size_start))
    has_all = np.array_equal(np.bincount(item, minlength=count), sizes)
    check.that(f"{name}.item", has_all, "has not each conjunction as often as it has keys")


def _postings(size_start: Ints, number: Ints, holding: Lists, rejecting: Lists) -> Postings:
    largest = len(size_start) - 2
    size = np.repeat(np.arange(largest + 1), np.diff(size_start)).astype(np.min_scalar_type(largest))
    return Postings(size_start, size, number, *holding, *rejecting)


def _search_room(postings: Postings) -> SearchRoom:
    count = len(postings.size)
    return SearchRoom(postings.size.copy(), np.zeros(count, np.uint8), no_cursors(), no_tally())
