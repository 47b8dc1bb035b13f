"""Memory in which documents are read: made when needed, lent to one thread at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tocsin.text.kernels.document_words import DocumentWords, no_document_words, room_for
from tocsin.text.kernels.documents import Documents

_SMALLEST = 1 << 12
_LARGEST_KEPT = 1 << 20
"""Memory for longer documents than this is given back at once: it is many times their size."""


class ReadingRoom:
    """The memory for documents over so many terms. Threads may share it."""

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
        if words.room <= _LARGEST_KEPT:
            self._idle.append(words)
