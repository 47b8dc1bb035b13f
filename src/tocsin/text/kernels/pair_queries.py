"""Single questions: pairs of a document and a query."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.jit import kernel
from tocsin.text.kernels.dictionary import DictionaryWords
from tocsin.text.kernels.document_words import DocumentWords, read_document
from tocsin.text.kernels.documents import Documents
from tocsin.text.kernels.query_code import QueryCode, Terms
from tocsin.text.kernels.verdicts import query_holds, room_to_judge, write_scores


@kernel
def ask_pairs(
    code: QueryCode,
    terms: Terms,
    dictionary: DictionaryWords,
    documents: Documents,
    document: NDArray[np.int32],
    query: NDArray[np.int32],
    words: DocumentWords,
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """The Boolean reading and the score of query[i] in document[i], whatever threshold it has.

    A document is read once when its pairs, of which all queries are of its group, come together.
    """
    count = document.size
    holds = np.zeros(count, np.bool_)
    score = np.zeros(count, np.float64)
    room = room_to_judge(code, query)
    first = 0
    while first < count:
        last = first
        while last < count and document[last] == document[first]:
            last += 1
        group = np.int64(code.group[query[first]])
        read_document(documents, np.int64(document[first]), terms, group, words)
        for i in range(first, last):
            holds[i] = query_holds(code, np.int64(query[i]), words, room)
        write_scores(code, query, first, last, dictionary, terms, words, room, score)
        first = last
    return holds, score
