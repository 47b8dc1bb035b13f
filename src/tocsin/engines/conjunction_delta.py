"""Conjunctions that came after an index was made, until they are folded into it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tocsin.arrays.dtypes import Ints
from tocsin.arrays.lists import Lists
from tocsin.arrays.packed import starts
from tocsin.engines.kernels.delta_search import Chains, search_chains


class ConjunctionDelta:
    """Conjunctions in the order in which they came, numbered from `first`; their keys are below `keys`."""

    def __init__(self, first: int) -> None:
        self.first = first
        self.keys = 0
        self._keys: list[Sequence[int]] = []
        self._negated: list[Sequence[int]] = []
        self._entries = 0
        self._chains = Chains(*(np.full(16, -1, np.int32) for _ in Chains._fields))

    def __len__(self) -> int:
        return len(self._keys)

    @property
    def end(self) -> int:
        """The number that the next one will have."""
        return self.first + len(self)

    def add(self, keys: Sequence[int], negated: Sequence[int]) -> int:
        """Add a conjunction of different keys; its number."""
        if any(key < 0 for key in (*keys, *negated)):
            raise ValueError("keys are numbers from 0")
        here = len(self)
        self.keys = max([self.keys, *(key + 1 for key in (*keys, *negated))])
        wanted, newest, before, conjunction = self._chains
        entries = self._entries + len(keys) + len(negated)
        self._chains = chains = Chains(
            _longer(wanted, here + 1),
            _longer(newest, self.keys),
            _longer(before, entries),
            _longer(conjunction, entries),
        )
        chains.wanted[here] = len(keys)
        for entry, some in ((here, keys), (~here, negated)):
            for key in some:
                chains.before[self._entries] = chains.newest[key]
                chains.conjunction[self._entries] = entry
                chains.newest[key] = self._entries
                self._entries += 1
        self._keys.append(keys)
        self._negated.append(negated)
        return self.first + here

    def search(self, held: Lists) -> Lists:
        """For each event the conjunctions that hold, ascending."""
        return search_chains(self._chains, len(self), held, self.first)

    def lists(self) -> tuple[Lists, Lists]:
        """The keys of all conjunctions, and their negated keys."""
        return _packed(self._keys), _packed(self._negated)

    @property
    def nbytes(self) -> int:
        """The memory that its arrays take."""
        return sum(array.nbytes for array in self._chains)


def _longer(array: Ints, needed: int) -> Ints:
    if needed <= len(array):
        return array
    return np.concatenate([array, np.full(max(needed, 2 * len(array)) - len(array), -1, np.int32)])


def _packed(some: Sequence[Sequence[int]]) -> Lists:
    flat = np.array([key for keys in some for key in keys], np.int32)
    return Lists(starts([len(keys) for keys in some], np.int64), flat)
