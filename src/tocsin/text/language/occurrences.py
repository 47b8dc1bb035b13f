"""Where the words and phrases of a query stand in a document: every place, for those who show them.

text/meaning.py only asks whether a phrase occurs. Here a document is kept by word, so that asking many
leaves of a long document stays quick.

    elements   placed words of each element of the field
    places     word -> its places, as numbers that rise through the elements; a phrase never crosses
               the border of an element because the numbers there leap further than any gap
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from tocsin.text.language.highlights import PlacedWord, Span, placed_words
from tocsin.text.language.query import ANY_GAP, Leaf, Word

_LEAP = 1 << 32


class Occurrence(NamedTuple):
    """One place of a word or phrase: the element of the field, and its words' spans in that text."""

    element: int
    spans: tuple[Span, ...]

    def shown(self, leaf: Leaf) -> tuple[Span, ...]:
        """What to mark: adjacent words with what is between them, else each word."""
        return self.spans if leaf.gap else ((self.spans[0][0], self.spans[-1][1]),)


class PlacedDocument:
    """A field's text with the place of every word."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = tuple(texts)
        self.elements: list[list[PlacedWord]] = [placed_words(text) for text in texts]
        self._places: dict[str, list[int]] = {}
        for element, words in enumerate(self.elements):
            for place, placed in enumerate(words):
                self._places.setdefault(placed.word, []).append(element * _LEAP + place)
        self._words = sorted(self._places)

    def ends(self, leaf: Leaf) -> list[int]:
        """The places where a word or phrase ends, whatever its negation; none when it does not occur."""
        return self._steps(leaf)[-1]

    def occurrences(self, leaf: Leaf, most: int | None = None) -> list[Occurrence]:
        """The first places of a word or phrase; of words that could begin it, the nearest ones."""
        steps = self._steps(leaf)
        return [self._traced(end, steps) for end in steps[-1][:most]]

    def _steps(self, leaf: Leaf) -> list[list[int]]:
        """For each word of a phrase the places at which the phrase up to it can end."""
        steps: list[list[int]] = []
        reach = _LEAP // 2 if leaf.gap == ANY_GAP else leaf.gap + 1
        for asked in leaf.words:
            places = self._places_of(asked)
            if steps:
                places = [place for place in places if _nearest(steps[-1], place) >= place - reach]
            steps.append(places)
        return steps

    def _places_of(self, asked: Word) -> list[int]:
        if not asked.is_prefix:
            return self._places.get(asked.text, [])
        found: list[int] = []
        for at in range(bisect_left(self._words, asked.text), len(self._words)):
            if not self._words[at].startswith(asked.text):
                break
            found += self._places[self._words[at]]
        return sorted(found)

    def _traced(self, end: int, steps: list[list[int]]) -> Occurrence:
        chain = [end]
        for places in reversed(steps[:-1]):
            chain.append(_nearest(places, chain[-1]))
        element = end // _LEAP
        words = [self.elements[element][place % _LEAP] for place in reversed(chain)]
        return Occurrence(element, tuple((word.start, word.end) for word in words))


def _nearest(places: list[int], before: int) -> int:
    """The last of the places that lies before one; further away than any gap when there is none."""
    at = bisect_left(places, before)
    return places[at - 1] if at else before - _LEAP
