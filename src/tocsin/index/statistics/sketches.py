"""The words of a field with their sketches: which documents of history hold each, by a sample."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.index.text.dictionary import Dictionary


class Sketch(NamedTuple):
    """A set of documents: how many, and the least of their hashes, ascending; all when there are few."""

    documents: float
    hashes: NDArray[np.int64]

    @property
    def is_whole(self) -> bool:
        """Whether these are the hashes of all its documents."""
        return len(self.hashes) >= self.documents


class WordSketches(NamedTuple):
    """Sketches of a dictionary's words, in the order of its arrays. W words.

    dictionary
    size      how many hashes a sketch has at most
    start     int64[W+1]   hashes of word w: hash[start[w] : start[w+1]], ascending
    hash      int64[...]
    """

    dictionary: Dictionary
    size: int
    start: NDArray[np.int64]
    hash: NDArray[np.int64]

    def at(self, place: int) -> Sketch:
        """The sketch of the word at a place of the dictionary's arrays."""
        hashes = self.hash[self.start[place] : self.start[place + 1]]
        return Sketch(float(self.dictionary.arrays.documents[place]), hashes)
