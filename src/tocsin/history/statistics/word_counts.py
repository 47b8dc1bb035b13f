"""The words of documents: in how many each is, and a sketch of which these are.

A sketch holds the least hashes of the documents that hold the word, a bounded number of them: Broder's
min-wise sample of a set. It is the whole set for a seldom word, costs one comparison per word and
document, and sketches of two sets of documents make that of both: put together, the least ones kept.

    word       string         each once
    documents  int64          documents that hold it
    sketch     list<int64>    ascending; all of their hashes when there are few enough

Documents are noted as they come and counted together, since a sketch is quickest made of many: taken in
the order of their hashes, the first documents that hold a word are its sketch.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tocsin.arrays.distinct_texts import no_texts
from tocsin.arrays.dtypes import Flags, Ints, Longs
from tocsin.arrays.packed import arrow_texts, joined, starts
from tocsin.events import Column
from tocsin.text import ReadingRoom, bytes_of_words, count_and_sketch, documents_of, number_words

WORDS = pa.schema([("word", pa.string()), ("documents", pa.int64()), ("sketch", pa.list_(pa.int64()))])

ENOUGH = 1 << 22
"""Words of documents that are noted before they are counted: some ten megabytes of notes."""

_FIRST_ROOM = 1 << 10


class WordCounter:
    """Notes the documents of one field; `documents` is how many there were."""

    def __init__(self, sketch: int) -> None:
        self.documents = 0
        self._sketch = sketch
        self._room = ReadingRoom(0)
        self._forget()

    def _forget(self) -> None:
        self._distinct = no_texts(_FIRST_ROOM, _FIRST_ROOM)
        self._hashes: list[Longs] = []
        self._document: list[Longs] = []
        self._sizes: list[Longs] = []
        self._words: list[Ints] = []
        self._document_count = 0
        self._noted = 0

    @property
    def is_full(self) -> bool:
        """Whether it is time to count."""
        return self._noted >= ENOUGH

    def add(self, column: Column, row_hash: Longs, counts: Flags | None = None) -> None:
        """Note the documents of a batch whose rows have these hashes: texts, and lists with their texts.

        An empty list is a document without words; what holds no text is no document. `counts` says which rows
        are looked at; without it all are.
        """
        self.documents += len(column.empty) if counts is None else int(counts[column.empty].sum())
        if column.strings is None:
            return
        documents, row, document = documents_of(column.strings)
        if counts is not None:
            row, document = row[counts[row]], document[counts[row]]
        with self._room.lent(documents) as memory:
            self._distinct, start, words = number_words(self._distinct, documents, memory)
        self.documents += len(row)
        self._hashes.append(row_hash[row])
        self._document.append(document.astype(np.int64) + self._document_count)
        self._sizes.append(np.diff(start))
        self._words.append(words)
        self._document_count += len(start) - 1
        self._noted += len(words) + len(row)

    def count(self) -> pa.Table:
        """The words of the documents noted since the last time, in no order; notes are forgotten."""
        row_hash = joined(self._hashes, np.int64)
        order = np.argsort(row_hash)
        word_start, word_bytes = bytes_of_words(self._distinct)
        documents, start, hashes = count_and_sketch(
            row_hash[order],
            joined(self._document, np.int64)[order],
            starts(joined(self._sizes, np.int64), np.int64),
            joined(self._words, np.int32),
            len(word_start) - 1,
            self._sketch,
        )
        sketches = pa.ListArray.from_arrays(pa.array(start.astype(np.int32)), pa.array(hashes))
        words = arrow_texts(word_start, word_bytes).cast(pa.string())
        self._forget()
        return pa.table([words, pa.array(documents), sketches], schema=WORDS)
