"""What the statistics of a history need done for every value and word."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.distinct_texts import hash_span
from tocsin.kernels.jit import kernel


@kernel
def hash_texts_evenly(start: NDArray[np.int64], data: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """A hash of each text data[start[i] : start[i + 1]], spread evenly over all numbers."""
    value = np.empty(start.size - 1, np.uint64)
    for i in range(value.size):
        value[i] = hash_span(data, start[i], start[i + 1])
    return value


@kernel
def count_and_sketch(
    order: NDArray[np.int64],
    document_hash: NDArray[np.int64],
    text_start: NDArray[np.int64],
    text: NDArray[np.int64],
    word_start: NDArray[np.int64],
    word: NDArray[np.int32],
    words: int,
    size: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """For each word how many documents hold it, and the `size` least of their hashes, ascending.

    order          int64[D]     the documents, ascending by document_hash
    text_start     int64[D+1]   texts of document d: text[text_start[d] : text_start[d+1]]
    word_start     int64[T+1]   words of text t: word[word_start[t] : word_start[t+1]]

    Gives documents int64[W], start int64[W+1] and the hashes of word w: hash[start[w] : start[w+1]].
    """
    documents = np.zeros(words, np.int64)
    last_seen = np.full(words, -1, np.int64)
    for d in range(text_start.size - 1):
        for t in range(text_start[d], text_start[d + 1]):
            for i in range(word_start[text[t]], word_start[text[t] + 1]):
                if last_seen[word[i]] != d:
                    last_seen[word[i]] = d
                    documents[word[i]] += 1
    start = np.zeros(words + 1, np.int64)
    for w in range(words):
        start[w + 1] = start[w] + min(documents[w], size)
    filled = start[:-1].copy()
    hashes = np.empty(start[words], np.int64)
    last_seen[:] = -1
    for d in order:
        for t in range(text_start[d], text_start[d + 1]):
            for i in range(word_start[text[t]], word_start[text[t] + 1]):
                w = word[i]
                if last_seen[w] != d and filled[w] < start[w + 1]:
                    last_seen[w] = d
                    hashes[filled[w]] = document_hash[d]
                    filled[w] += 1
    return documents, start, hashes
