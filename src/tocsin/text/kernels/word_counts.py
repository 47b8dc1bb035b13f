"""The different words of many documents, and what is counted of them for statistics."""

from __future__ import annotations

import numpy as np

from tocsin.arrays.bits import LOWER_HALF
from tocsin.arrays.distinct_texts import COUNT, DistinctTexts, number_texts, with_room
from tocsin.arrays.dtypes import Bytes, Ints, Longs
from tocsin.arrays.jit import kernel
from tocsin.arrays.lists import enlarged
from tocsin.text.kernels.document_words import DocumentWords, cut_document
from tocsin.text.kernels.documents import Documents

_TOGETHER = 64


@kernel
def number_words(
    distinct: DistinctTexts, documents: Documents, words: DocumentWords
) -> tuple[DistinctTexts, Longs, Ints]:
    """Number the words of documents: all different ones, with those known before, and each document's.

    Words of document d: word[start[d] : start[d + 1]], repeated as they are in it.
    """
    count = documents.elements.size - 1
    start = np.zeros(count + 1, np.int64)
    word = np.empty(_TOGETHER, np.int32)
    value = np.empty(_TOGETHER, np.uint64)
    used = 0
    for document in range(count):
        size = cut_document(documents, document, words)
        if used + size > word.size:
            longer = np.empty(enlarged(word.size, used + size), np.int32)
            longer[:used] = word[:used]
            word = longer
        for first in range(0, size, _TOGETHER):
            last = min(first + _TOGETHER, size)
            eights = last - first
            for i in range(first, last):
                eights += (words.word_end[i] - words.word_start[i] + 7) >> 3
            distinct = with_room(distinct, last - first, eights)
            number_texts(
                distinct,
                words.folded_bytes,
                words.word_start[first:last],
                words.word_end[first:last],
                last - first,
                word[used + first : used + last],
                value,
            )
        used += size
        start[document + 1] = used
    return distinct, start, word[:used].copy()


@kernel
def bytes_of_words(distinct: DistinctTexts) -> tuple[Longs, Bytes]:
    """The bytes of each word in the order of their numbers: data[start[w] : start[w + 1]]."""
    count = distinct.size[COUNT]
    start = np.zeros(count + 1, np.int64)
    for w in range(count):
        start[w + 1] = start[w] + np.int64(distinct.word[distinct.place[w]] & LOWER_HALF)
    data = np.empty(start[count], np.uint8)
    every = distinct.word.view(np.uint8)
    for w in range(count):
        first = 8 * (distinct.place[w] + 1)
        for i in range(start[w + 1] - start[w]):
            data[start[w] + i] = every[first + i]
    return start, data


@kernel
def count_and_sketch(
    row_hash: Longs, document: Longs, start: Longs, word: Ints, words: int, size: int
) -> tuple[Longs, Longs, Longs]:
    """For each word how many rows hold it, and the `size` least of their hashes, ascending.

    row_hash   int64[R]     the hash of each row, ascending
    document   int64[R]     its document: words word[start[document] : start[document + 1]]

    Gives rows int64[W], begin int64[W+1] and the hashes of word w: hashes[begin[w] : begin[w + 1]].
    """
    rows = np.zeros(words, np.int64)
    last_row = np.full(words, -1, np.int64)
    for r in range(row_hash.size):
        for i in range(start[document[r]], start[document[r] + 1]):
            if last_row[word[i]] != r:
                last_row[word[i]] = r
                rows[word[i]] += 1
    begin = np.zeros(words + 1, np.int64)
    for w in range(words):
        begin[w + 1] = begin[w] + min(rows[w], size)
    filled = begin[:-1].copy()
    hashes = np.empty(begin[words], np.int64)
    last_row[:] = -1
    for r in range(row_hash.size):
        for i in range(start[document[r]], start[document[r] + 1]):
            w = word[i]
            if last_row[w] != r and filled[w] < begin[w + 1]:
                last_row[w] = r
                hashes[filled[w]] = row_hash[r]
                filled[w] += 1
    return rows, begin, hashes
