"""What all layers of an index share about free text: the words that were counted, and the settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from tocsin.errors import UsageError
from tocsin.events.cells import Path
from tocsin.text.dictionary import Dictionary
from tocsin.text.dictionary_words import appended, idf_of_word, words_for_kernels
from tocsin.text.kernels.dictionary import DictionaryWords
from tocsin.text.settings import TextSettings, WordWeights


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
        words = appended(self.words, words_for_kernels([Dictionary()] * len(new), self.stop_words))
        return replace(self, fields=self.fields + new, words=words)

    def equals(self, other: TextBase) -> bool:
        """Whether both weigh every word of every field alike."""
        if self is other:
            return True
        same = (self.threshold, self.stop_words, self.fields) == (
            other.threshold,
            other.stop_words,
            other.fields,
        )
        return same and all(
            np.array_equal(getattr(self.words, name), getattr(other.words, name))
            for name in self.words._fields
        )

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
        return idf_of_word(self.words, self.group, word)
