"""Conjunctions of keys, found by the keys that are held: the first paper's index of conjunctions."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tocsin.arrays.dtypes import Ints
from tocsin.arrays.lists import Lists
from tocsin.arrays.packed import starts
from tocsin.arrays.radix_sort import no_tally
from tocsin.arrays.scratch import Scratch
from tocsin.engines.conjunction_delta import ConjunctionDelta
from tocsin.engines.kernels.conjunction_cursors import no_cursors
from tocsin.engines.kernels.conjunctions import (
    Postings,
    SearchRoom,
    distinct_counts,
    search_postings,
    turned_over,
)
from tocsin.engines.kernels.delta_search import joined_living

_FEW_CHANGES = 1_024
"""Changes that are kept beside the index, whatever its size ..."""

_SHARE_OF_CHANGES = 16
"""... and one for every so many conjunctions."""


class ConjunctionIndex:
    """Conjunction c holds when all of its keys are held and none of its negated keys is.

    `conjunctions` has a list of keys for each conjunction, `negated` one of negated keys; keys are numbers
    below `keys` and mean nothing here. So a conjunction without keys holds unless a negated key is held.

    Conjunctions may be inserted and deleted: the next search knows. They are kept beside the index, and now
    and then folded into it; numbers stay. Threads may search together, but not while another changes it.
    """

    def __init__(self, conjunctions: Lists, keys: int, negated: Lists | None = None) -> None:
        count = len(conjunctions.start) - 1
        if negated is None:
            negated = Lists(np.zeros(count + 1, np.int64), np.empty(0, np.int32))
        every = np.arange(count, dtype=np.int32)
        self._start_with(_postings_of(conjunctions, negated, every, every, keys, count))

    def _start_with(self, postings: Postings) -> None:
        """Have these conjunctions, and nothing beside them."""
        self._postings = postings
        self._scratch = Scratch(lambda: _search_room(postings))
        self._delta = ConjunctionDelta(postings.numbers)
        self._dead = np.ones(postings.numbers, np.uint8)
        self._dead[_numbers_of(postings)] = 0
        self._deleted = 0

    def __len__(self) -> int:
        return len(self._postings.size) + len(self._delta) - self._deleted

    def search(self, held: Lists) -> Lists:
        """For each event the conjunctions that hold, ascending, given the keys that are held, all different.

        Keys that the index has never seen may be among them.
        """
        with self._scratch.lent() as room:
            found = search_postings(self._postings, held, room)
        if len(self._delta) or self._deleted:
            found = joined_living(found, self._delta.search(held), self._dead)
        return found

    def insert(self, keys: Iterable[int], negated: Iterable[int] = ()) -> int:
        """Add a conjunction, which may have keys of its own, and give its number."""
        number = self._delta.add(sorted(set(keys)), sorted(set(negated)))
        if number == len(self._dead):
            self._dead = np.concatenate([self._dead, np.ones(number + 16, np.uint8)])
        self._dead[number] = 0
        self._fold_when_due()
        return number

    def delete(self, number: int) -> None:
        """Take a conjunction out; KeyError when there is none of this number."""
        if not 0 <= number < len(self._dead) or self._dead[number]:
            raise KeyError(number)
        self._dead[number] = 1
        self._deleted += 1
        self._fold_when_due()

    def fold(self) -> None:
        """Make one index of all."""
        old, delta = self._postings, self._delta
        count = len(old.size)
        by_key = np.arange(len(old.start) - 1, dtype=np.int32)
        keys, negated = delta.lists()
        keys = _joined(turned_over(Lists(old.start, old.item), by_key, count), keys)
        negated = _joined(turned_over(Lists(old.negative_start, old.negative_item), by_key, count), negated)
        number = np.concatenate([_numbers_of(old), np.arange(delta.first, delta.end, dtype=np.int32)])
        living = np.flatnonzero(self._dead[number] == 0).astype(np.int32)
        self._start_with(_postings_of(keys, negated, living, number, max(len(by_key), delta.keys), delta.end))

    def _fold_when_due(self) -> None:
        if len(self._delta) + self._deleted > max(_FEW_CHANGES, len(self) // _SHARE_OF_CHANGES):
            self.fold()

    def bytes_of_parts(self) -> dict[str, int]:
        """The memory that its arrays take, by part."""
        arrays = [each for each in self._postings if isinstance(each, np.ndarray)]
        beside = self._delta.nbytes + self._dead.nbytes
        return {"conjunction index": sum(array.nbytes for array in arrays) + beside}


def _postings_of(
    conjunctions: Lists, negated: Lists, which: Ints, number: Ints, keys: int, numbers: int
) -> Postings:
    """The postings of some of the conjunctions: list i has the number number[i], below `numbers`."""
    size = distinct_counts(conjunctions, keys)
    order = which[np.argsort(size[which], kind="stable")]
    largest = max(1, int(size.max(initial=0)))
    its_number = number[order]
    if np.array_equal(its_number, np.arange(numbers)):
        its_number = np.empty(0, np.int32)
    return Postings(
        starts(np.bincount(size[order], minlength=largest + 1), np.int32),
        size[order].astype(np.min_scalar_type(largest)),
        numbers,
        its_number,
        *turned_over(conjunctions, order, keys),
        *turned_over(negated, order, keys),
    )


def _numbers_of(postings: Postings) -> Ints:
    count = len(postings.size)
    return postings.number if len(postings.number) == count else np.arange(count, dtype=np.int32)


def _joined(some: Lists, others: Lists) -> Lists:
    return Lists(
        np.concatenate([some.start, some.start[-1] + others.start[1:]]),
        np.concatenate([some.item, others.item]),
    )


def _search_room(postings: Postings) -> SearchRoom:
    count = len(postings.size)
    return SearchRoom(postings.size.copy(), np.zeros(count, np.uint8), no_cursors(), no_tally())
