"""Pairs of a document and a query, asked with a bound on what one call of a kernel does."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tocsin.text.kernels.dictionary import DictionaryWords
from tocsin.text.kernels.document_words import DocumentWords
from tocsin.text.kernels.documents import Documents
from tocsin.text.kernels.pair_queries import ask_pairs
from tocsin.text.kernels.query_code import QueryCode, Terms

_WORK_AT_ONCE = 1 << 27
"""Bytes of documents, times the words that queries look for in them, for a call: Ctrl-C waits for it."""


def ask(
    code: QueryCode,
    terms: Terms,
    dictionary: DictionaryWords,
    documents: Documents,
    document: NDArray[np.int32],
    query: NDArray[np.int32],
    words: DocumentWords,
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """What ask_pairs gives. A document that many pairs ask for much may be read several times."""
    looked_for = code.term_start[code.leaf_start[query + 1]] - code.term_start[code.leaf_start[query]]
    if documents.data.size * int(looked_for.sum()) <= _WORK_AT_ONCE:
        return ask_pairs(code, terms, dictionary, documents, document, query, words)
    sizes = np.diff(documents.start[documents.elements])
    work = np.cumsum(sizes[document] * looked_for.astype(np.int64))
    cuts = np.flatnonzero(np.diff(work // _WORK_AT_ONCE)) + 1
    answers = [
        ask_pairs(code, terms, dictionary, documents, document[first:end], query[first:end], words)
        for first, end in pairwise([0, *cuts.tolist(), len(query)])
    ]
    holds, scores = zip(*answers, strict=True)
    return np.concatenate(holds), np.concatenate(scores)
