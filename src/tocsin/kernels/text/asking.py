"""Single questions: pairs of a document and a query."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.jit import kernel
from tocsin.kernels.text.dictionary import DictionaryWords
from tocsin.kernels.text.document_words import DocumentWords, read_document
from tocsin.kernels.text.documents import Documents
from tocsin.kernels.text.judging import query_holds, room_to_judge, score_of
from tocsin.kernels.text.query_code import QueryCode, Terms


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
    last = np.int64(-1)
    for i in range(count):
        asked = np.int64(query[i])
        if document[i] != last:
            last = np.int64(document[i])
            read_document(documents, last, terms, np.int64(code.group[asked]), words)
        if query_holds(code, asked, words, room):
            holds[i] = True
            score[i] = score_of(code, asked, dictionary, terms, words, room)
    return holds, score
