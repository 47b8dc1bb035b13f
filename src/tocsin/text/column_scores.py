"""The scores of a whole column of documents for one query."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from tocsin.arrays.dtypes import Doubles
from tocsin.errors import InputError
from tocsin.events import batch_of_table
from tocsin.tables import TEXTS, is_list
from tocsin.text.dictionary import Dictionary
from tocsin.text.document_queries import DocumentQueries
from tocsin.text.documents import FieldDocuments, documents_of
from tocsin.text.language.query import TextQuery
from tocsin.text.query_arrays import query_code
from tocsin.text.settings import TextSettings
from tocsin.text.text_base import words_for_kernels

_FIELD = ("text",)


class ColumnScores:
    """One query, ready to be asked of columns. Threads may share it."""

    def __init__(
        self, query: TextQuery, dictionary: Dictionary | None = None, stop_words: Iterable[str] = ()
    ) -> None:
        stops = TextSettings(stop_words=frozenset(stop_words)).stop_words
        words = words_for_kernels([dictionary or Dictionary()], stops)
        self._questions = DocumentQueries(*query_code([query], [0], [np.nan], words), words)

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
                field = documents_of(column.strings)
                score[field.row] = self._asked(field)
        return pa.array(score, mask=is_missing)

    def _asked(self, field: FieldDocuments) -> Doubles:
        """Each different document is asked once."""
        distinct, place = np.unique(field.document, return_inverse=True)
        _, score = self._questions.ask(field.documents, distinct, np.zeros(len(distinct), np.int32))
        return score[place]


def _check_type(data_type: pa.DataType) -> None:
    innermost = data_type
    while is_list(innermost):
        innermost = innermost.value_type
    if innermost.id not in TEXTS and not pa.types.is_null(innermost):
        raise InputError(f"a score is of strings or lists of strings, not of the type {data_type}")
