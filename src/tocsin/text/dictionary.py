"""The words of one field: how many documents hold each, and so how much finding one says.

    dictionary = Dictionary.count(["a golf trophy", "golf", "a day"])
    dictionary.idf("golf")                       # ln(3 / 2)
    dictionary.merge(Dictionary.count(["tennis"])).with_idf({"trophy": 9.0})

A dictionary is never changed: every operation gives another one with a higher version, so a batch that
holds one scores all its documents alike, and again when it is run again.
"""

from __future__ import annotations

import math
import os
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.arrays.dtypes import Doubles, Longs
from tocsin.arrays.packed import text_arrays
from tocsin.display import SHOWN, Display, Displayed, Grid
from tocsin.errors import UsageError
from tocsin.text.tokenizer import words_of

LEAST_IDF, LARGEST_IDF = 1e-100, 1e100
"""The idfs that can be given by hand, besides 0: no weight is lost to rounding, none squares to infinity."""


_WORDS_FOR_A_LOOK_UP = 32
"""Sorting so many words takes about as long as looking one up."""


class WordArrays(NamedTuple):
    """The words of a dictionary, ascending by their UTF-8 bytes. W words.

    word        string[W]    each once
    documents   int64[W]     how many documents hold it; 0 for a word that was only given by hand
    given       float64[W]   the idf given by hand, NaN where none was
    """

    word: pa.LargeStringArray
    documents: Longs
    given: Doubles


def _no_words() -> WordArrays:
    return WordArrays(pa.array([], pa.large_string()), np.empty(0, np.int64), np.empty(0, np.float64))


class Dictionary(Displayed):
    """Words with the number of documents that hold them; the weights of one field's words.

    `documents` is the number of all documents that were counted, those without any word included.
    Two dictionaries are equal when they say the same of every word, whatever their versions.
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, arrays: WordArrays | None = None, documents: int = 0, version: int = 0) -> None:
        self.arrays = _no_words() if arrays is None else arrays
        self.documents = documents
        self.version = version

    @staticmethod
    def count(texts: Iterable[str | Sequence[str] | None]) -> Dictionary:
        """The dictionary of these documents: each a text, or a list of texts; None is no document."""
        if isinstance(texts, str):
            raise UsageError("count takes documents, a list of texts, not one text")
        documents_with: Counter[str] = Counter()
        documents = 0
        for text in texts:
            if text is None:
                continue
            documents += 1
            elements = [text] if isinstance(text, str) else text
            if not isinstance(elements, Sequence) or not all(isinstance(each, str) for each in elements):
                raise UsageError(f"document {documents - 1} is neither a text nor a list of texts")
            documents_with.update({word for element in elements for word in words_of(element)})
        return Dictionary.of_counts(documents_with, documents)

    @staticmethod
    def of_counts(documents_with: Mapping[str, int], documents: int, version: int = 1) -> Dictionary:
        """The dictionary of words that were counted elsewhere, in so many documents."""
        for word, count in documents_with.items():
            if not 1 <= count <= documents:
                raise UsageError(f"{word!r} cannot be in {count:,} of {documents:,} documents")
        _check_words(documents_with)
        words = sorted(documents_with, key=str.encode)
        counts = np.array([documents_with[word] for word in words], np.int64)
        arrays = WordArrays(pa.array(words, pa.large_string()), counts, np.full(len(words), np.nan))
        return Dictionary(arrays, documents, version)

    # ---- What it says of a word

    def idf(self, word: str) -> float:
        """How much finding a normalised word says, never negative.

        ln(documents / documents with the word); ln(documents + 1) for a word that is not here; 1 for
        every word when no document was counted. An idf given by hand wins.
        """
        place = self.place_of(word)
        if place is None:
            return self.unknown_idf
        given = float(self.arrays.given[place])
        return self._idf_of(int(self.arrays.documents[place])) if math.isnan(given) else given

    def documents_with(self, word: str) -> int:
        """How many documents hold a normalised word."""
        place = self.place_of(word)
        return 0 if place is None else int(self.arrays.documents[place])

    def __len__(self) -> int:
        return len(self.arrays.word)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self.place_of(word) is not None

    def __iter__(self) -> Iterator[str]:
        """All words, in the order of their bytes."""
        return iter(self.arrays.word.to_pylist())

    def starting_with(self, prefix: str, length: int | None = None) -> Iterator[str]:
        """The words that begin so, in the order of their bytes: what a prefix of a query stands for, in
        capitals too. With a length those of so many characters."""
        if not isinstance(prefix, str):
            raise UsageError(f"a prefix must be a text, not {type(prefix).__name__}")
        if length is not None and (isinstance(length, bool) or not isinstance(length, int) or length < 0):
            raise UsageError(f"length: expected a number of characters, found {length!r:.100}")
        folded = words_of(prefix)
        words = map(self.word_at, self.places_starting_with(folded[0] if len(folded) == 1 else prefix))
        return (word for word in words if length is None or len(word) == length)

    def word_at(self, place: int) -> str:
        """The word at a place of `arrays`."""
        return self._word(place).decode()

    def places_starting_with(self, prefix: str) -> range:
        """Where in `arrays` these words stand."""
        wanted = prefix.encode()
        every = range(len(self))
        first = bisect_left(every, wanted, key=self._word)
        last = bisect_left(every, True, lo=first, key=lambda place: not self._word(place).startswith(wanted))
        return range(first, last)

    @cached_property
    def idfs(self) -> Doubles:
        """float64[W]: the idf of every word in `arrays`."""
        documents, given = self.arrays.documents, self.arrays.given
        counts, place = np.unique(documents, return_inverse=True)
        of_count = [self._idf_of(count) for count in counts.tolist()]
        counted = np.array(of_count, np.float64)[place]
        return np.where(np.isnan(given), counted, given)

    @property
    def unknown_idf(self) -> float:
        """The idf of a word that is not here."""
        return self._idf_of(0)

    def _idf_of(self, count: int) -> float:
        """The one place where an idf is computed, so that it has the same bits everywhere."""
        if self.documents == 0:
            return 1.0
        return math.log(self.documents / count) if count else math.log(self.documents + 1)

    def place_of(self, word: str) -> int | None:
        """Where in `arrays` a normalised word stands, None when it does not."""
        wanted = word.encode(errors="surrogatepass")
        place = bisect_left(range(len(self)), wanted, key=self._word)
        return place if place < len(self) and self._word(place) == wanted else None

    def _word(self, place: int) -> bytes:
        start, data = self._bytes
        return data[start[place] : start[place + 1]]

    @cached_property
    def _bytes(self) -> tuple[memoryview, bytes]:
        """As Python reads them quickest, one by one."""
        start, data = text_arrays(self.arrays.word)
        return start.data, data.tobytes()

    # ---- Another dictionary made of it

    def merge(self, other: Dictionary) -> Dictionary:
        """Both counted together. Of an idf that both give by hand, the other's wins."""
        mine, others = self.arrays, other.arrays
        place = pc.fill_null(pc.index_in(mine.word, value_set=others.word), -1).to_numpy()
        both = np.flatnonzero(place >= 0)
        documents, given = mine.documents.copy(), mine.given.copy()
        documents[both] += others.documents[place[both]]
        from_other = others.given[place[both]]
        given[both] = np.where(np.isnan(from_other), given[both], from_other)
        is_new = np.ones(len(others.word), np.bool_)
        is_new[place[both]] = False
        word = mine.word
        if is_new.any():
            new = others.word.filter(pa.array(is_new))
            order = self._order_with(new)
            word = pa.concat_arrays([word, new]).take(pa.array(order))
            documents = np.concatenate((documents, others.documents[is_new]))[order]
            given = np.concatenate((given, others.given[is_new]))[order]
        arrays = WordArrays(word, documents, given)
        return Dictionary(arrays, self.documents + other.documents, max(self.version, other.version) + 1)

    def _order_with(self, new: pa.LargeStringArray) -> Longs:
        """The places of these words and, behind them, of sorted new ones, in the order of all.

        A few are looked up, as from a batch of a stream; many are sorted with the others.
        """
        if len(new) * _WORDS_FOR_A_LOOK_UP > len(self):
            order: Longs = pc.sort_indices(pa.concat_arrays([self.arrays.word, new])).to_numpy()
            return order.astype(np.int64)
        every = range(len(self))
        before = [bisect_left(every, word.encode(), key=self._word) for word in new.to_pylist()]
        return np.insert(np.arange(len(self)), before, len(self) + np.arange(len(new)))

    def with_idf(self, given: Mapping[str, float]) -> Dictionary:
        """The same with these idfs given by hand, for words that are here and words that are not.

        An idf is 0, or from 1e-100 to 1e100; a word is one word in lower case, as documents hold it.
        """
        _check_words(given)
        for word, idf in given.items():
            if not (idf == 0 or LEAST_IDF <= idf <= LARGEST_IDF):
                raise UsageError(
                    f"the idf of {word!r} is 0, or from {LEAST_IDF} to {LARGEST_IDF}: {idf} is neither"
                )
        in_order = sorted(given, key=str.encode)
        words = pa.array(in_order, pa.large_string())
        idfs = np.array([float(given[word]) for word in in_order], np.float64)
        merged = self.merge(Dictionary(WordArrays(words, np.zeros(len(idfs), np.int64), idfs)))
        return Dictionary(merged.arrays, merged.documents, self.version + 1)

    # ---- On disk

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file, whole or not at all: see dictionary_files.py."""
        from tocsin.text.dictionary_files import save_dictionary

        save_dictionary(self, path)

    @staticmethod
    def open(path: str | os.PathLike[str]) -> Dictionary:
        """Read what save wrote; InputError for a file that is damaged, or no dictionary."""
        from tocsin.text.dictionary_files import open_dictionary

        return open_dictionary(path)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickled without what is computed when needed: dictionaries go to Spark's workers."""
        return Dictionary, (self.arrays, self.documents, self.version)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dictionary):
            return NotImplemented
        mine, others = self.arrays, other.arrays
        return (
            self.documents == other.documents
            and mine.word.equals(others.word)
            and np.array_equal(mine.documents, others.documents)
            and np.array_equal(mine.given, others.given, equal_nan=True)
        )

    def __repr__(self) -> str:
        return f"Dictionary(words={len(self):,}, documents={self.documents:,}, version={self.version})"

    def _display(self) -> Display:
        most = np.argsort(-self.arrays.documents, kind="stable")[:SHOWN]
        words, documents = (
            self.arrays.word.take(pa.array(most)).to_pylist(),
            self.arrays.documents[most].tolist(),
        )
        rows = [(word, count, self.idf(word)) for word, count in zip(words, documents, strict=True)]
        return Display(repr(self), [("", Grid.of(("word", "documents", "idf"), rows, len(self)))])


def _check_words(words: Iterable[str]) -> None:
    for word in words:
        if words_of(word) != [word]:
            raise UsageError(f"{word!r} is not one word in lower case, as documents are cut into words")


def table_of_words(arrays: WordArrays) -> pa.Table:
    """Words as a table, in which an idf that was not given is null."""
    given = pa.array(arrays.given, mask=np.isnan(arrays.given))
    return pa.table({"word": arrays.word, "documents": pa.array(arrays.documents), "given": given})


def words_of_table(table: pa.Table) -> WordArrays:
    """The words of such a table, which are in order."""
    table = table.combine_chunks()
    word = pa.concat_arrays([pa.array([], pa.large_string()), *table.column("word").chunks])
    given = pc.fill_null(table.column("given"), float("nan"))
    return WordArrays(word, table.column("documents").to_numpy(), given.to_numpy())
