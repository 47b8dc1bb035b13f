"""The words of a field with their sketches: which documents of history hold each, by a sample."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.arrays.dtypes import Longs
from tocsin.arrays.packed import starts
from tocsin.text import Dictionary, WordArrays


class Sketch(NamedTuple):
    """A set of documents: how many, and the least of their hashes, ascending; all when there are few."""

    documents: float
    hashes: Longs

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
    start: Longs
    hash: Longs

    def at(self, place: int) -> Sketch:
        """The sketch of the word at a place of the dictionary's arrays."""
        hashes = self.hash[self.start[place] : self.start[place + 1]]
        return Sketch(float(self.dictionary.arrays.documents[place]), hashes)


def sketches_of_words(words: pa.Table, documents: int, size: int, version: int = 1) -> WordSketches:
    """The sketches and the dictionary of words as word_counts.py has them, of so many documents.

    ValueError when there are words that so many documents cannot have.
    """
    ordered = words.sort_by("word")
    counts = ordered.column("documents").to_numpy()
    different = pc.count_distinct(ordered.column("word")).as_py()
    if any(column.null_count for column in ordered.columns) or different < len(ordered):
        raise ValueError("a word is there twice, or not at all")
    if len(counts) and not 0 < counts.min() <= counts.max() <= documents:
        raise ValueError("a word is in no document, or in more than there are")
    word = _whole(ordered.column("word").cast(pa.large_string()))
    sketch = ordered.column("sketch")
    hashes = pa.chunked_array([chunk.flatten() for chunk in sketch.chunks], pa.int64())
    arrays = WordArrays(word, counts, np.full(len(word), np.nan))
    return WordSketches(
        Dictionary(arrays, documents, version),
        size,
        starts(pc.list_value_length(sketch).to_numpy(), np.int64),
        hashes.to_numpy(),
    )


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays([pa.array([], column.type), *column.chunks])
