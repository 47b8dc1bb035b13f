"""Queries asked of single documents, one by one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

import numpy as np

from tocsin.arrays.dtypes import Doubles, Flags, Ints
from tocsin.text.kernels.dictionary import DictionaryWords
from tocsin.text.kernels.document_words import DocumentWords, no_document_words, room_for
from tocsin.text.kernels.documents import Documents
from tocsin.text.kernels.query_code import QueryCode, Terms
from tocsin.text.kernels.trie_matches import ask_pairs

_WORK_AT_ONCE = 1 << 27
"""Bytes of documents, times the words that queries look for in them, for a call: Ctrl-C waits for it."""

_SMALLEST = 1 << 12
LARGEST_KEPT = 1 << 20
"""Memory for longer documents than this is given back at once: it is many times their size."""


class ReadingRoom:
    """The memory in which documents are read, over so many terms. Threads may share it."""

    def __init__(self, terms: int) -> None:
        self._terms = terms
        self._idle: list[DocumentWords] = []

    @contextmanager
    def lent(self, documents: Documents) -> Iterator[DocumentWords]:
        """Memory for the longest of these documents, for the caller alone."""
        room = room_for(documents)
        try:
            words = self._idle.pop()
        except IndexError:
            words = no_document_words(self._terms, max(room, _SMALLEST))
        if words.room < room:
            words = no_document_words(self._terms, max(room, 2 * words.room))
        yield words
        if words.room <= LARGEST_KEPT:
            self._idle.append(words)


class DocumentQueries:
    """Queries that documents are asked for. Threads may share it."""

    def __init__(self, code: QueryCode, terms: Terms, dictionary: DictionaryWords) -> None:
        self.code = code
        self.terms = terms
        self.dictionary = dictionary
        self._reading = ReadingRoom(len(terms.group))

    def is_short(self, documents: Documents, query: Ints) -> bool:
        """Whether to ask these documents for queries takes so little that Ctrl-C can wait for it."""
        return documents.data.size * int(self._looked_for(query).sum()) <= _WORK_AT_ONCE

    def _looked_for(self, query: Ints) -> Ints:
        """How many words each of some queries looks for."""
        code = self.code
        return code.term_start[code.leaf_start[query + 1]] - code.term_start[code.leaf_start[query]]

    def ask(self, documents: Documents, document: Ints, query: Ints) -> tuple[Flags, Doubles]:
        """The Boolean reading and the score of query[i] in document[i].

        Pairs of one document stand together. One that many pairs ask for much may be read several times.
        """
        code = self.code
        cuts = np.empty(0, np.int64)
        if not self.is_short(documents, query):
            looked_for = self._looked_for(query)
            sizes = np.diff(documents.start[documents.elements])
            work = np.cumsum(sizes[document] * looked_for.astype(np.int64))
            cuts = np.flatnonzero(np.diff(work // _WORK_AT_ONCE)) + 1
        with self._reading.lent(documents) as words:
            answers = [
                ask_pairs(
                    code, self.terms, self.dictionary, documents, document[at:end], query[at:end], words
                )
                for at, end in pairwise([0, *cuts.tolist(), len(query)])
            ]
        if len(answers) == 1:
            return answers[0]
        holds, scores = zip(*answers, strict=True)
        return np.concatenate(holds), np.concatenate(scores)
