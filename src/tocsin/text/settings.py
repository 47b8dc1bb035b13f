"""What a rule set says about free text besides its rules: how much each word weighs, and thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from tocsin.errors import UsageError
from tocsin.events import Path
from tocsin.text.tokenizer import words_of


class WordWeights(Protocol):
    """How much finding a word says: its inverse document frequency in one field."""

    def idf(self, word: str, /) -> float:
        """The idf of a normalised word, never negative."""


class NoDictionary:
    """The weights where nothing was counted: every word counts as much as any other."""

    def idf(self, _word: str) -> float:
        """1 for every word."""
        return 1.0


@dataclass(frozen=True, slots=True)
class TextSettings:
    """Settings of a rule set for `contains`.

    threshold       what a `contains` without threshold and without `boolean` asks for
    stop_words      words that weigh nothing; in a phrase they keep their place and must occur
    dictionaries    the words of each field that was counted
    """

    threshold: float = 0.0
    stop_words: frozenset[str] = frozenset()
    dictionaries: Mapping[Path, WordWeights] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 0 <= self.threshold < float("inf"):
            raise UsageError(f"a text threshold is a number from 0 on, not {self.threshold}")
        for word in self.stop_words:
            if not isinstance(word, str) or words_of(word) != [word]:
                raise UsageError(f"the stop word {word!r} is not one word in lower case")

    def weights(self, field: Path) -> WordWeights:
        """The weights of a field's words, stop words included."""
        weights = self.dictionaries.get(field, NoDictionary())
        return _WithStopWords(weights, self.stop_words) if self.stop_words else weights


@dataclass(frozen=True, slots=True)
class _WithStopWords:
    weights: WordWeights
    stop_words: frozenset[str]

    def idf(self, word: str) -> float:
        return 0.0 if word in self.stop_words else self.weights.idf(word)


DEFAULT = TextSettings()
"""No dictionary, no stop words, threshold 0."""
