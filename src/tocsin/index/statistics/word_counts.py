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
from numpy.typing import NDArray

from tocsin.events.cells import Column
from tocsin.grammar.text.words import words_of
from tocsin.index.packing import joined, starts
from tocsin.kernels.history import count_and_sketch

WORDS = pa.schema([("word", pa.string()), ("documents", pa.int64()), ("sketch", pa.list_(pa.int64()))])

ENOUGH = 1 << 22
"""Words of documents that are noted before they are counted: some hundred megabytes, with their texts."""


class WordCounter:
    """Notes the documents of one field; `documents` is how many there were."""

    def __init__(self, sketch: int) -> None:
        self.documents = 0
        self._sketch = sketch
        self._forget()

    def _forget(self) -> None:
        self._number: dict[str, int] = {}
        self._hashes: list[NDArray[np.int64]] = []
        self._texts_of_document: list[NDArray[np.int64]] = []
        self._texts: list[NDArray[np.int64]] = []
        self._words_of_text: list[NDArray[np.int64]] = []
        self._words: list[NDArray[np.int32]] = []
        self._text_count = 0
        self._noted = 0

    @property
    def is_full(self) -> bool:
        """Whether it is time to count."""
        return self._noted >= ENOUGH

    def add(self, column: Column, row_hash: NDArray[np.int64]) -> None:
        """Note the documents of a batch whose rows have these hashes: texts, and lists with their texts.

        An empty list is a document without words; what holds no text is no document.
        """
        self.documents += len(column.empty)
        strings = column.strings
        if strings is None:
            return
        row, per_document = np.unique(strings.row, return_counts=True)
        self.documents += len(row)
        texts = [self._numbers_of(text) for text in strings.texts.to_pylist()]
        self._hashes.append(row_hash[row])
        self._texts_of_document.append(per_document)
        self._texts.append(strings.code.astype(np.int64) + self._text_count)
        self._words_of_text.append(np.array([len(words) for words in texts], np.int64))
        self._words.append(np.array([word for words in texts for word in words], np.int32))
        self._text_count += len(texts)
        self._noted += len(self._words[-1]) + len(strings.code)

    def _numbers_of(self, text: str) -> list[int]:
        number = self._number
        return [number.setdefault(word, len(number)) for word in set(words_of(text))]

    def count(self) -> pa.Table:
        """The words of the documents noted since the last time, in no order; notes are forgotten."""
        document_hash = joined(self._hashes, np.int64)
        documents, start, hashes = count_and_sketch(
            np.argsort(document_hash),
            document_hash,
            starts(joined(self._texts_of_document, np.int64), np.int64),
            joined(self._texts, np.int64),
            starts(joined(self._words_of_text, np.int64), np.int64),
            joined(self._words, np.int32),
            len(self._number),
            self._sketch,
        )
        sketches = pa.ListArray.from_arrays(pa.array(start.astype(np.int32)), pa.array(hashes))
        words = pa.array(list(self._number), pa.string())
        self._forget()
        return pa.table([words, pa.array(documents), sketches], schema=WORDS)
