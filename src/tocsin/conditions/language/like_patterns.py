"""`like` and `ilike` patterns: what they say, and whether a text satisfies one.

`%` is any run of code points, `_` is exactly one, newlines included, and a backslash makes the next
character plain. The whole text must satisfy the pattern. `ilike` is the same after folding both.

A pattern falls apart at its `%` into segments, and each segment is a fixed number of code points, some
of them plain and some free. The first is anchored at the start and the last at the end; each of the
others may take the leftmost place that is left for it, because an earlier place never spoils a later
segment. So there is no backtracking, whatever the pattern.

Looking for a segment with `_` between plain text costs the text times the segment's length, if only by
the machine word; so there it may have MOST_SPACED code points. Everything else is linear.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

MOST_SPACED = 10_000
"""Code points from the first plain one to the last between two `%`, when there is a `_` between them."""


class Wildcard(Enum):
    """What is not plain in a pattern. The value is how it is written."""

    RUN = "%"
    ONE = "_"


Token = str | Wildcard


def fold(text: str) -> str:
    """Each code point folded where its folding is one code point, else left as it is.

    Folding never makes a text shorter, so when the whole has kept its length, every code point of it
    became one.
    """
    folded = text.casefold()
    if len(folded) == len(text):
        return folded
    singles = (character.casefold() for character in text)
    return "".join(
        single if len(single) == 1 else character for single, character in zip(singles, text, strict=True)
    )


def like_problem(pattern: str) -> str | None:
    """What is wrong with a pattern, or None."""
    backslashes = len(pattern) - len(pattern.rstrip("\\"))
    if backslashes % 2:
        return "the pattern ends in a lone backslash: write \\\\ for a plain one"
    if len(pattern) > MOST_SPACED:
        longest = max((segment.spaced for segment in _segments(pattern)[1:-1]), default=0)
        if longest > MOST_SPACED:
            return (
                f"the pattern has {longest:,} characters with _ among them between two %:"
                f" at most {MOST_SPACED:,} can be looked for"
            )
    return None


def like_tokens(pattern: str) -> tuple[Token, ...]:
    """The pattern as plain texts and wildcards; adjacent plain characters are one text, `%%` is `%`.

    Raises ValueError where like_problem finds one.
    """
    problem = like_problem(pattern)
    if problem is not None:
        raise ValueError(problem)
    return _tokens(pattern)


def _tokens(pattern: str) -> tuple[Token, ...]:
    tokens: list[Token] = []
    plain: list[str] = []
    characters = iter(pattern)
    for character in characters:
        if character not in "%_":
            plain.append(next(characters) if character == "\\" else character)
            continue
        if plain:
            tokens.append("".join(plain))
            plain.clear()
        wildcard = Wildcard(character)
        if wildcard is Wildcard.ONE or tokens[-1:] != [Wildcard.RUN]:
            tokens.append(wildcard)
    if plain:
        tokens.append("".join(plain))
    return tuple(tokens)


@dataclass(frozen=True, slots=True)
class Segment:
    """What stands between two `%`: so many code points, with plain pieces at these offsets."""

    length: int
    pieces: tuple[tuple[int, str], ...]

    @property
    def spaced(self) -> int:
        """How many code points there are from the first plain one to the last, if some between are free."""
        if len(self.pieces) < 2:
            return 0
        offset, piece = self.pieces[-1]
        return offset + len(piece) - self.pieces[0][0]

    def at(self, text: str, start: int) -> bool:
        """Whether the text has this segment at this place, where there is room for it."""
        return all(text.startswith(piece, start + offset) for offset, piece in self.pieces)

    def find(self, text: str, start: int, end: int) -> int:
        """The leftmost place of this segment within text[start:end], or -1."""
        last = end - self.length
        if not self.pieces:
            return start if start <= last else -1
        if len(self.pieces) == 1:
            ((offset, piece),) = self.pieces
            return max(-1, text.find(piece, start + offset, last + offset + len(piece)) - offset)
        reach = 64 + 4 * self.length
        while start <= last:
            places = min(reach, last + 1 - start)
            place = self._first_place(text[start : start + places - 1 + self.length], places)
            if place >= 0:
                return start + place
            start += places
            reach *= 2
        return -1

    def _first_place(self, text: str, places: int) -> int:
        """The first of so many places where all pieces fit, or -1.

        One bit for each place, all places at once: trying them one by one would take time in
        proportion to text times pattern in Python (`a_a_a_a_b` in a long run of `a`).
        """
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        where: dict[str, int] = {}
        alive = (1 << places) - 1
        for offset, piece in self.pieces:
            for index, character in enumerate(piece, offset):
                if character not in where:
                    here = np.packbits(codes == ord(character), bitorder="little")
                    where[character] = int.from_bytes(here.tobytes(), "little")
                alive &= where[character] >> index
                if not alive:
                    return -1
        return (alive & -alive).bit_length() - 1


@dataclass(frozen=True, slots=True)
class Like:
    """A pattern ready to be asked about many texts; `folded` for `ilike`."""

    segments: tuple[Segment, ...]
    folded: bool

    def matches(self, text: str) -> bool:
        """Whether the whole text satisfies the pattern."""
        if self.folded:
            text = fold(text)
        first, last = self.segments[0], self.segments[-1]
        if len(self.segments) == 1:
            return len(text) == first.length and first.at(text, 0)
        end = len(text) - last.length
        if end < first.length or not first.at(text, 0) or not last.at(text, end):
            return False
        start = first.length
        for segment in self.segments[1:-1]:
            place = segment.find(text, start, end)
            if place < 0:
                return False
            start = place + segment.length
        return True


def compile_like(pattern: str, folded: bool) -> Like:
    """Make a pattern ready. Raises ValueError where like_problem finds one."""
    problem = like_problem(pattern)
    if problem is not None:
        raise ValueError(problem)
    return Like(_segments(pattern, folded), folded)


def _segments(pattern: str, folded: bool = False) -> tuple[Segment, ...]:
    segments: list[Segment] = []
    length = 0
    pieces: list[tuple[int, str]] = []
    for token in _tokens(pattern):
        if isinstance(token, str):
            pieces.append((length, fold(token) if folded else token))
            length += len(token)
        elif token is Wildcard.ONE:
            length += 1
        else:
            segments.append(Segment(length, tuple(pieces)))
            length, pieces = 0, []
    segments.append(Segment(length, tuple(pieces)))
    return tuple(segments)
