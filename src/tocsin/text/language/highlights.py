"""Where words stand in the text as it was written, and texts with some of them marked.

Words are found in the normalised text, which may be longer or shorter than the written one. Between
ASCII blanks each piece normalises by itself; within a piece each character with the marks that follow
it mostly does too, and where it does not, its words stand for the whole piece.

Where the words and phrases of a query stand, every place, is found here too; text/meaning.py only asks
whether a phrase occurs. A document is kept by word, so that asking many leaves of a long one stays quick:

    elements   placed words of each element of the field
    places     word -> its places, as numbers that rise through the elements; a phrase never crosses
               the border of an element because the numbers there leap further than any gap
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple
from unicodedata import category

from tocsin.text.language.query import ANY_GAP, Leaf, Word
from tocsin.text.tokenizer import cut, normalised

_ASCII_WORD = re.compile("[0-9A-Za-z_]+")
_PIECE = re.compile(r"[^ \t\n\r\f\v]+")
_BLANKS = re.compile(r"\s+")
_GAP = " ... "
_AROUND = 32
"""Characters of a snippet on either side of what it shows."""

_LEAP = 1 << 32

Span = tuple[int, int]
"""From the first character to behind the last."""


class PlacedWord(NamedTuple):
    """A normalised word, and the characters of the written text that it comes from."""

    word: str
    start: int
    end: int


def placed_words(text: str) -> list[PlacedWord]:
    """The words of a text, the same as `words_of` gives, each with its place."""
    if text.isascii():
        return [PlacedWord(found[0].lower(), *found.span()) for found in _ASCII_WORD.finditer(text)]
    return [placed for piece in _PIECE.finditer(text) for placed in _words_in(piece[0], piece.start())]


def _words_in(piece: str, start: int) -> Iterator[PlacedWord]:
    """The words of a piece between blanks, which stands at `start`."""
    whole = normalised(piece)
    written = [*_clusters(piece)]
    each = [normalised(piece[begin:end]) for begin, end in written]
    if "".join(each) != whole:
        written, each = [(0, len(piece))], [whole]
    ends = [*accumulate(map(len, each))]
    at = cluster = 0
    for word in cut(whole):
        begin = whole.index(word, at)
        at = begin + len(word)
        while ends[cluster] <= begin:
            cluster += 1
        first = cluster
        while ends[cluster] < at:
            cluster += 1
        yield PlacedWord(word, start + written[first][0], start + written[cluster][1])


def _clusters(piece: str) -> Iterator[Span]:
    """Each character together with the marks that follow it."""
    start = 0
    for place in range(1, len(piece) + 1):
        if place == len(piece) or category(piece[place])[0] != "M":
            yield start, place
            start = place


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


class Stretch(NamedTuple):
    """A part of a text, marked or not."""

    text: str
    is_marked: bool


def merged(spans: Iterable[Span]) -> list[Span]:
    """The spans in order, those that touch or overlap made one."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def stretches(text: str, spans: Iterable[Span]) -> list[Stretch]:
    """The whole text, cut where marking begins and ends."""
    found: list[Stretch] = []
    at = 0
    for start, end in merged(spans):
        found += [Stretch(text[at:start], False), Stretch(text[start:end], True)]
        at = end
    found.append(Stretch(text[at:], False))
    return [stretch for stretch in found if stretch.text]


def snippet(text: str, spans: Sequence[Span], width: int) -> list[Stretch]:
    """About `width` characters of a text on one line: the first marked places and what is around them.

    A text that is not longer is there whole. What is left out is shown as dots.
    """
    marked = merged(spans)
    if len(text) <= width:
        windows = [(0, len(text))]
    elif marked:
        windows = _windows(text, marked, width)
    else:
        windows = [(0, _at_blank(text, width, -1))]
    found: list[Stretch] = []
    shown_to = 0
    for start, end in windows:
        if start > shown_to:
            found.append(Stretch(_GAP if found else _GAP.lstrip(), False))
        inside = [(max(first, start) - start, min(last, end) - start) for first, last in marked]
        found += stretches(text[start:end], [(first, last) for first, last in inside if first < last])
        shown_to = end
    if shown_to < len(text):
        found.append(Stretch(_GAP.rstrip(), False))
    return [Stretch(_BLANKS.sub(" ", each.text), each.is_marked) for each in found]


def _windows(text: str, marked: Sequence[Span], width: int) -> list[Span]:
    """What a snippet shows: around the first marked places, until the width is used up."""
    around = min(_AROUND, width // 3)
    windows: list[Span] = []
    left = width
    for start, end in marked:
        if left <= 0:
            break
        first = _at_blank(text, start - around, 1) if start > around else 0
        last = _at_blank(text, end + around, -1)
        window = (min(first, start), min(max(last, end), start + width))
        if windows and window[0] <= windows[-1][1]:
            left -= max(0, window[1] - windows[-1][1])
            windows[-1] = (windows[-1][0], max(window[1], windows[-1][1]))
        else:
            left -= window[1] - window[0]
            windows.append(window)
    return windows


def _at_blank(text: str, place: int, step: int) -> int:
    """The nearest end of a word from a place on, backwards or forwards, not far from it."""
    if place >= len(text):
        return len(text)
    for at in range(place, max(0, min(len(text), place + step * _AROUND // 2)), step):
        if text[at].isspace():
            return at + 1 if step > 0 else at
    return place


def with_marks(found: Iterable[Stretch], marks: tuple[str, str] = ("[", "]")) -> str:
    """Stretches as one text, with marks around what is marked."""
    opening, closing = marks
    return "".join(f"{opening}{each.text}{closing}" if each.is_marked else each.text for each in found)
