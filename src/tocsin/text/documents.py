"""The documents of events: each different text of a field once, as kernels cut it into words."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from tocsin.arrays.byte_copy import gather_spans
from tocsin.arrays.dtypes import Bytes, Flags, Ints, Longs
from tocsin.arrays.packed import packed_bytes, starts, text_arrays
from tocsin.events import EventBatch, Path, StringCells
from tocsin.fork_locks import CACHE, fork_safe_lock
from tocsin.text.kernels.documents import Documents, texts_beyond_ascii
from tocsin.text.kernels.tokenizer import IN_WORD, PAGE, SEPARATOR, WORD_ALONE, Characters
from tocsin.text.kernels.trie_matches import FoundQueries
from tocsin.text.tokenizer import is_word_alone, is_word_character, normalised

_ASCII_ALONE = Characters(np.empty(0, np.int32), np.empty(0, np.uint8))
"""For texts that are all ASCII: the kernels know by themselves what to make of these."""

_NOT_MADE = -1


class FieldDocuments(NamedTuple):
    """The documents of a field, and which event has which.

    row        int32[n]   events that have a string in the field, ascending
    document   int32[n]   the document of each; equal texts are one document
    """

    documents: Documents
    row: Ints
    document: Ints

    def at(self, rows: Longs) -> Ints:
        """The documents of some events, -1 for an event that has none."""
        of_row = np.full(max(int(rows.max(initial=-1)), int(self.row[-1])) + 1, -1, np.int32)
        of_row[self.row] = self.document
        return of_row[rows]


class SearchedEvent(NamedTuple):
    """What a filter found in a single event: its documents, the text group of each, and the queries."""

    groups: Ints
    documents: Documents
    found: FoundQueries


class EventDocuments:
    """The documents of some events: however many layers of rules and scores need them, each is made once.

    batch          the events; None of a single one, of which there are
    strings        all strings that it has at a path; none are an empty list
    wants_scores   whether the scores of what is found are worth keeping
    found          what filters found, by filter (its identity) and field, for the scores of matches
    searched       the same of a single event, by filter
    """

    def __init__(self, batch: EventBatch | None = None, *, wants_scores: bool = False) -> None:
        self.batch = batch
        self.wants_scores = wants_scores
        self.found: dict[tuple[int, Path], FoundQueries] = {}
        self.searched: dict[int, SearchedEvent] = {}
        self._fields: dict[Path, FieldDocuments] = {}
        self.strings: dict[Path, list[str]] = {}

    def field(self, path: Path) -> FieldDocuments | None:
        """The documents at a path; None when no event has a string there."""
        if path not in self._fields:
            column = None if self.batch is None else self.batch.columns.get(path)
            if column is not None and column.strings is not None and len(column.strings.row):
                self._fields[path] = documents_of(column.strings)
            elif strings := self.strings.get(path):
                only = np.zeros(1, np.int32)
                self._fields[path] = FieldDocuments(documents_of_texts([strings]), only, only)
        return self._fields.get(path)

    def is_empty(self, path: Path, rows: Longs) -> Flags:
        """Which of the events have an empty list there: a document without words."""
        if self.batch is None:
            return np.full(len(rows), self.strings.get(path) == [])
        column = self.batch.columns.get(path)
        return np.isin(rows, column.empty) if column is not None else np.zeros(len(rows), np.bool_)


def documents_of(cells: StringCells) -> FieldDocuments:
    """The documents of a field.

    Events with one equal text share a document; a list of several texts is a document of its own. Texts
    that stand only in lists are no documents.
    """
    start, data = text_arrays(cells.texts)
    texts = _normalised(start, data)
    first = np.flatnonzero(np.diff(cells.row, prepend=np.int32(-1)))
    row = cells.row[first]
    sizes = np.diff(first, append=len(cells.row))
    if (sizes == 1).all():
        return FieldDocuments(texts, row, cells.code)
    lone = np.unique(cells.code[first[sizes == 1]])
    lists = np.flatnonzero(sizes > 1)
    document = np.empty(len(first), np.int32)
    document[sizes == 1] = np.searchsorted(lone, cells.code[first[sizes == 1]])
    document[lists] = len(lone) + np.arange(len(lists))
    code = np.concatenate((lone, cells.code[np.repeat(sizes > 1, sizes)]))
    element_start, element_data = gather_spans(texts.data, texts.start[code], texts.start[code + 1])
    elements = starts(np.concatenate((np.ones(len(lone), np.int64), sizes[lists])), np.int64)
    documents = Documents(element_start, element_data, elements, texts.characters)
    return FieldDocuments(documents, row, document)


def documents_of_texts(texts: Sequence[Sequence[str]]) -> Documents:
    """A document for each inner list: the texts of one field."""
    ready = [text if text.isascii() else normalised(text) for text in chain.from_iterable(texts)]
    start, data = packed_bytes([text.encode() for text in ready])
    characters = characters_of("".join(text for text in ready if not text.isascii()))
    return Documents(start, data, starts([len(each) for each in texts], np.int64), characters)


def _normalised(start: Longs, data: Bytes) -> Documents:
    """Each text a document: ASCII as it came, everything else normalised and put in its place."""
    elements = np.arange(len(start), dtype=np.int64)
    changed = texts_beyond_ascii(start, data)
    if not len(changed):
        return Documents(start, data, elements, _ASCII_ALONE)
    normal = [normalised(data[start[i] : start[i + 1]].tobytes().decode()) for i in changed.tolist()]
    pieces: list[bytes] = []
    sizes = np.diff(start)
    before = 0
    whole = data.tobytes()
    for place, text in zip(changed.tolist(), normal, strict=True):
        encoded = text.encode()
        pieces += [whole[before : start[place]], encoded]
        before = start[place + 1]
        sizes[place] = len(encoded)
    pieces.append(whole[before:])
    return Documents(
        starts(sizes, np.int64),
        np.frombuffer(bytearray(b"".join(pieces)), np.uint8),
        elements,
        characters_of("".join(normal)),
    )


class _Pages:
    """What each character is to words, as a table made of the grammar's own functions.

    A page of it is made when a text first needs it: most texts need a few of thousands. A table that was
    given away never changes.
    """

    def __init__(self) -> None:
        self._lock = fork_safe_lock(CACHE)
        self._table = Characters(
            np.full((sys.maxunicode + 1) // PAGE, _NOT_MADE, np.int32), np.empty(0, np.uint8)
        )

    def for_text(self, text: str) -> Characters:
        codes = np.frombuffer(text.encode("utf-32-le"), np.uint32)
        needed = np.unique(np.append(codes // PAGE, 0))
        with self._lock:
            missing = needed[self._table.page[needed] == _NOT_MADE].tolist()
            if missing:
                page, role = self._table
                page = page.copy()
                page[missing] = len(role) // PAGE + np.arange(len(missing))
                made = [_role(chr(PAGE * number + i)) for number in missing for i in range(PAGE)]
                self._table = Characters(page, np.append(role, np.array(made, np.uint8)))
            return self._table


def _role(character: str) -> int:
    if not is_word_character(character):
        return SEPARATOR
    return WORD_ALONE if is_word_alone(character) else IN_WORD


_PAGES = _Pages()


def characters_of(text: str) -> Characters:
    """A table that knows every character of a text."""
    return _ASCII_ALONE if text.isascii() else _PAGES.for_text(text)
