"""The words of a field as matching needs them: their idf, found by hash."""

from __future__ import annotations

from typing import NamedTuple

from tocsin.arrays.dtypes import Bytes, Doubles, Ints, Longs
from tocsin.arrays.jit import inner_kernel
from tocsin.arrays.text_table import find_text


class DictionaryWords(NamedTuple):
    """The words that were counted in each text group. W words of all groups.

    group     int32[W]     the text group of each word
    start     int64[W+1]   its bytes, normalised: data[start[w] : start[w+1]]
    data      uint8[...]
    idf       float64[W]   0 for stop words
    table     int32[2^k]   word + 1, or 0: see arrays/text_table.py
    unknown   float64[G]   for each text group the idf of a word that is not among these
    """

    group: Ints
    start: Longs
    data: Bytes
    idf: Doubles
    table: Ints
    unknown: Doubles


@inner_kernel
def idf_of(dictionary: DictionaryWords, group: int, data: Bytes, start: int, end: int) -> float:
    """The idf of the word data[start:end] in a text group."""
    word = find_text(
        dictionary.table, dictionary.group, dictionary.start, dictionary.data, group, data, start, end
    )
    return dictionary.idf[word] if word >= 0 else dictionary.unknown[group]
