"""The dictionaries of an index as one table of words for kernels."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.arrays.lookup import find_text, hash_texts
from tocsin.arrays.packed import joined, text_arrays
from tocsin.text.dictionary import Dictionary
from tocsin.text.kernels.dictionary import DictionaryWords

_SMALLEST_TABLE = 8


def words_for_kernels(
    dictionaries: Sequence[Dictionary], stop_words: Collection[str] = ()
) -> DictionaryWords:
    """The words of each text group, its dictionary standing at the group's number.

    A group without a dictionary has an empty one. Stop words are words of every group and weigh nothing.
    """
    stops = pa.array(sorted(stop_words), pa.large_string())
    words, idfs, groups = [pa.array([], pa.large_string())], [], []
    for group, dictionary in enumerate(dictionaries):
        known = dictionary.arrays.word
        is_stop = pc.is_in(known, stops).to_numpy(zero_copy_only=False)
        more = stops.filter(pc.invert(pc.is_in(stops, known)))
        words += [known, more]
        idfs += [np.where(is_stop, 0.0, dictionary.idfs), np.zeros(len(more))]
        groups.append(np.full(len(known) + len(more), group, np.int32))
    group_of = joined(groups, np.int32)
    start, data = text_arrays(pa.concat_arrays(words))
    table = np.full(_table_size(len(group_of)), -1, np.int32)
    hash_texts(group_of, start, data, table)
    unknown = np.array([dictionary.unknown_idf for dictionary in dictionaries], np.float64)
    return DictionaryWords(group_of, start, data, joined(idfs, np.float64), table, unknown)


def _table_size(words: int) -> int:
    """A power of two, at least twice the number of words: see arrays/lookup.py."""
    return max(_SMALLEST_TABLE, 1 << (2 * words - 1).bit_length()) if words else _SMALLEST_TABLE


def appended(words: DictionaryWords, more: DictionaryWords) -> DictionaryWords:
    """The words of both, the groups of `more` numbered behind those of `words`."""
    unknown = np.concatenate((words.unknown, more.unknown))
    if not len(more.group):
        return words._replace(unknown=unknown)
    group = np.concatenate((words.group, more.group + np.int32(len(words.unknown))))
    start = np.concatenate((words.start, words.start[-1] + more.start[1:]))
    data = np.concatenate((words.data, more.data))
    table = np.full(_table_size(len(group)), -1, np.int32)
    hash_texts(group, start, data, table)
    return DictionaryWords(group, start, data, np.concatenate((words.idf, more.idf)), table, unknown)


def idf_of_word(words: DictionaryWords, group: int, word: str) -> float:
    """The idf of one word in a text group."""
    text = np.frombuffer(bytearray(word.encode()), np.uint8)
    found = find_text(words.table, words.group, words.start, words.data, group, text, 0, len(text))
    return float(words.idf[found] if found >= 0 else words.unknown[group])
