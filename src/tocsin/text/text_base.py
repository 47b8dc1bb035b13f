"""What all layers of an index share about free text: the words that were counted, and the settings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tocsin.arrays.dtypes import Flags
from tocsin.arrays.packed import joined, text_arrays
from tocsin.arrays.text_table import find_text, table_of_texts
from tocsin.errors import UsageError
from tocsin.events import Path
from tocsin.text.dictionary import Dictionary
from tocsin.text.kernels.dictionary import DictionaryWords
from tocsin.text.settings import TextSettings, WordWeights


def words_for_kernels(
    dictionaries: Sequence[Dictionary], stop_words: Collection[str] = ()
) -> DictionaryWords:
    """The words of each text group, its dictionary standing at the group's number.

    A group without a dictionary has an empty one. Stop words are words of every group and weigh nothing.
    """
    stops = pa.array(sorted(stop_words), pa.large_string())
    words, idfs, groups = [pa.array([], pa.large_string())], [], []
    for group, dictionary in enumerate(dictionaries):
        place = [dictionary.place_of(word) for word in stops.to_pylist()]
        more = stops.filter(pa.array([at is None for at in place], pa.bool_()))
        idf = dictionary.idfs.copy()
        idf[[at for at in place if at is not None]] = 0.0
        words += [dictionary.arrays.word, more]
        idfs += [idf, np.zeros(len(more))]
        groups.append(np.full(len(dictionary) + len(more), group, np.int32))
    group_of = joined(groups, np.int32)
    start, data = text_arrays(pa.concat_arrays(words))
    table = table_of_texts(group_of, start, data)
    unknown = np.array([dictionary.unknown_idf for dictionary in dictionaries], np.float64)
    return DictionaryWords(group_of, start, data, joined(idfs, np.float64), table, unknown)


def _appended(words: DictionaryWords, more: DictionaryWords) -> DictionaryWords:
    """The words of both, the groups of `more` numbered behind those of `words`."""
    unknown = np.concatenate((words.unknown, more.unknown))
    if not len(more.group):
        return words._replace(unknown=unknown)
    group = np.concatenate((words.group, more.group + np.int32(len(words.unknown))))
    start = np.concatenate((words.start, words.start[-1] + more.start[1:]))
    data = np.concatenate((words.data, more.data))
    table = table_of_texts(group, start, data)
    return DictionaryWords(group, start, data, np.concatenate((words.idf, more.idf)), table, unknown)


@dataclass(frozen=True, slots=True)
class TextBase:
    """Settings and dictionaries as kernels need them; part of the saved index.

    fields      every field that has a dictionary or is asked by free text: its place is its text group
    words       the words of all dictionaries, by text group
    """

    threshold: float = 0.0
    stop_words: frozenset[str] = frozenset()
    fields: tuple[Path, ...] = ()
    words: DictionaryWords = field(default_factory=lambda: words_for_kernels([]), repr=False)

    @staticmethod
    def of(
        dictionaries: Mapping[Path, Dictionary], stop_words: Iterable[str] = (), threshold: float = 0.0
    ) -> TextBase:
        """The base of an index with these dictionaries; UsageError when a setting makes no sense."""
        if isinstance(stop_words, str) or not isinstance(stop_words, Iterable):
            raise UsageError(f"stop words are a list of words, not {stop_words!r}")
        settings = TextSettings(threshold, frozenset(stop_words))
        fields = tuple(sorted(dictionaries))
        words = words_for_kernels([dictionaries[path] for path in fields], settings.stop_words)
        return TextBase(threshold, settings.stop_words, fields, words)

    def with_fields(self, paths: Iterable[Path]) -> TextBase:
        """The same with these fields too; those that are new have no dictionary."""
        new = tuple(sorted(set(paths) - set(self.fields)))
        if not new:
            return self
        words = _appended(self.words, words_for_kernels([Dictionary()] * len(new), self.stop_words))
        return replace(self, fields=self.fields + new, words=words)

    def equals(self, other: TextBase) -> bool:
        """Whether both weigh every word of every field alike."""
        same = (self.threshold, self.stop_words, self.fields) == (
            other.threshold,
            other.stop_words,
            other.fields,
        )
        mine: tuple[NDArray[Any], ...] = self.words
        theirs: tuple[NDArray[Any], ...] = other.words
        return self is other or (same and all(map(np.array_equal, mine, theirs)))

    def is_counted(self) -> Flags:
        """For each text group whether documents were counted: else every word's idf is 1."""
        return np.asarray(self.words.unknown != 1.0)

    def settings(self) -> TextSettings:
        """As the grammar's evaluator takes them."""
        dictionaries: dict[Path, WordWeights] = {
            path: _FieldWeights(self.words, group) for group, path in enumerate(self.fields)
        }
        return TextSettings(self.threshold, self.stop_words, dictionaries)


@dataclass(frozen=True, slots=True)
class _FieldWeights:
    """The weights of one field's words."""

    words: DictionaryWords = field(repr=False)
    group: int

    def idf(self, word: str, /) -> float:
        words, text = self.words, np.frombuffer(bytearray(word.encode()), np.uint8)
        found = find_text(words.table, words.group, words.start, words.data, self.group, text, 0, len(text))
        return float(words.idf[found] if found >= 0 else words.unknown[self.group])
