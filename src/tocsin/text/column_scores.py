"""The scores of a whole column of documents for one query."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tocsin.errors import InputError
from tocsin.events.arrow_tables import batch_of_table
from tocsin.events.arrow_types import TEXTS, is_list
from tocsin.text.dictionary import Dictionary
from tocsin.text.dictionary_words import words_for_kernels
from tocsin.text.document_queries import ask
from tocsin.text.document_scratch import ReadingRoom
from tocsin.text.documents import documents_of
from tocsin.text.kernels.documents import Documents
from tocsin.text.language.query import TextQuery
from tocsin.text.query_arrays import query_code
from tocsin.text.settings import TextSettings

_FIELD = ("text",)


class ColumnScores:
    """One query, ready to be asked of columns. Threads may share it."""

    def __init__(
        self, query: TextQuery, dictionary: Dictionary | None = None, stop_words: Iterable[str] = ()
    ) -> None:
        stops = TextSettings(stop_words=frozenset(stop_words)).stop_words
        self._words = words_for_kernels([dictionary or Dictionary()], stops)
        self._code, self._terms = query_code([query], [0], [np.nan], self._words)
        self._room = ReadingRoom(len(self._terms.group))

    def scores(self, texts: pa.Array) -> pa.DoubleArray:
        """The score of each row: of a text, of a list of texts as one document, null of a null.

        Raises InputError when the column holds anything else, EventError for a text that is not UTF-8.
        """
        _check_type(texts.type)
        column = batch_of_table(pa.table({_FIELD[0]: texts}), [_FIELD]).columns.get(_FIELD)
        score = np.zeros(len(texts), np.float64)
        is_missing = np.ones(len(texts), np.bool_)
        if column is not None:
            is_missing[column.present] = False
            if column.strings is not None:
                documents, row, document = documents_of(column.strings)
                score[row] = self._asked(documents, document)
        return pa.array(score, mask=is_missing)

    def _asked(self, documents: Documents, document: NDArray[np.int32]) -> NDArray[np.float64]:
        """Each different document is asked once."""
        distinct, place = np.unique(document, return_inverse=True)
        query = np.zeros(len(distinct), np.int32)
        with self._room.lent(documents) as memory:
            _, score = ask(self._code, self._terms, self._words, documents, distinct, query, memory)
        return score[place]


def _check_type(data_type: pa.DataType) -> None:
    innermost = data_type
    while is_list(innermost):
        innermost = innermost.value_type
    if innermost.id not in TEXTS and not pa.types.is_null(innermost):
        raise InputError(f"a score is of strings or lists of strings, not of the type {data_type}")
