"""The files of a program as one text, and all that is wrong with it, by place.

`.include "other.dl"` is replaced by what the other file holds. `.once` ends a file that was read before. A
place in the one text is a place in one of the files: errors show that.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple, NoReturn

from tocsin.datalog.language.syntax import Place
from tocsin.datalog.language.tokens import TokenKind, tokenize
from tocsin.errors import InputError, RuleError, window_around
from tocsin.syntax import Lines

Reader = Callable[[str, str], tuple[str, str]]
"""From a file and the name that stands in it to the file that this names and its text. Raises InputError."""

MOST_FILES = 1_000
"""How many times files may be included: files that include others twice double at each step."""

MOST_CHARACTERS = 256 << 20
DEPTH = 50


class Source(NamedTuple):
    """A file, if the text came from one, and its text."""

    file: str | None
    text: str


class Sources:
    """The texts of a program, and the one text that they make together, in pieces."""

    def __init__(self, file: str | None) -> None:
        self.file = file
        self._texts: list[Source] = []
        self._written: list[str] = []
        self._pieces: list[tuple[int, int, int]] = []
        """Where a piece starts in the one text, which source it is of, and where it starts there."""
        self._known_lines: dict[int, Lines] = {}
        self.length = 0

    @cached_property
    def text(self) -> str:
        """The one text, once all of it is there."""
        return "".join(self._written)

    @property
    def files(self) -> tuple[str, ...]:
        """The files it was read from."""
        return tuple(dict.fromkeys(source.file for source in self._texts if source.file is not None))

    def source(self, file: str | None, text: str) -> int:
        """The number of a further source."""
        self._texts.append(Source(file, text))
        return len(self._texts) - 1

    def add(self, source: int, start: int, stop: int) -> None:
        """The next piece of the one text; between two pieces a line ends."""
        for written, offset in ((self._texts[source].text[start:stop], start), ("\n", stop)):
            self._pieces.append((self.length, source, offset))
            self._written.append(written)
            self.length += len(written)

    def take_whole(self, file: str | None, text: str) -> None:
        """All there is: one text, of one file at most."""
        self._pieces.append((0, self.source(file, text), 0))
        self._written.append(text)

    def located(self, place: Place) -> tuple[str | None, Place, str]:
        """The file that a place of the one text is in, the place there, and its line."""
        offset = self._lines.offset(place)
        start, source, there = self._pieces[bisect_right(self._pieces, (offset, len(self._texts), 0)) - 1]
        file, text = self._texts[source]
        if source not in self._known_lines:
            self._known_lines[source] = Lines(text)
        lines = self._known_lines[source]
        found = Place(*lines.place(there + offset - start))
        return file, found, lines.line(found.line)

    @cached_property
    def _lines(self) -> Lines:
        return Lines(self.text)

    def line(self, place: Place) -> str:
        """A line as a message names it."""
        file, found, _ = self.located(place)
        return f"line {found.line}" if file == self.file else f"line {found.line} of {file}"


def read_sources(text: str, file: str | None = None, read: Reader | None = None) -> Sources:
    """The program of a text with all that it includes. RuleError at the place of an `.include` that fails."""
    sources = Sources(file)
    if ".include" not in text and ".once" not in text:
        sources.take_whole(file, text)
        return sources
    _Including(sources, read).add(file, text, ())
    return sources


class _Including:
    def __init__(self, sources: Sources, read: Reader | None) -> None:
        self._sources = sources
        self._read = read
        self._once: set[str | None] = set()
        self._files = 0

    def add(self, file: str | None, text: str, above: tuple[str | None, ...]) -> None:
        """Add a file and what it includes; `above` are the files that it is included by."""
        source, number, start = Source(file, text), self._sources.source(file, text), 0
        tokens = tokenize(text, 1 if text.startswith("\ufeff") else 0)
        for token in tokens:
            if token.kind is TokenKind.BAD and token.text.startswith("/*") and above:
                _fail(source, token.offset, token.value)
            if token.kind is not TokenKind.DIRECTIVE or token.text not in (".include", ".once"):
                continue
            self._sources.add(number, start, token.offset)
            start = token.end
            if token.text == ".include":
                name = next(tokens)
                if name.kind is not TokenKind.STRING:
                    _fail(source, name.offset, "expected a file's name in quotes after '.include'")
                self._include(source, token.offset, name.value, (*above, file))
                start = name.end
            elif file in self._once:
                return
            else:
                self._once.add(file)
        self._sources.add(number, start, len(text))

    def _include(self, source: Source, offset: int, name: str, above: tuple[str | None, ...]) -> None:
        if self._read is None or source.file is None:
            _fail(source, offset, "'.include' is for programs that are read from a file")
        try:
            other, more = self._read(source.file, name)
        except InputError as error:
            _fail(source, offset, str(error))
        if other in above:
            _fail(source, offset, f"{other} includes itself")
        self._files += 1
        if self._files > MOST_FILES or len(above) > DEPTH:
            _fail(source, offset, f"more than {MOST_FILES:,} files are included, or {DEPTH} deep")
        if self._sources.length + len(more) > MOST_CHARACTERS:
            _fail(source, offset, f"the program has more than {MOST_CHARACTERS:,} characters")
        self.add(other, more, above)


def _fail(source: Source, offset: int, reason: str) -> NoReturn:
    raise Lines(source.text).error((offset, reason), file=source.file)


class Problems:
    """Collects mistakes; the same one at the same place (of a component used twice) counts once."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._found: dict[tuple[Place, str], None] = {}

    def add(self, place: Place, reason: str) -> None:
        """Note a mistake."""
        self._found[place, reason] = None

    def line(self, place: Place) -> str:
        """A line as a message names it."""
        return self._sources.line(place)

    def errors(self) -> list[RuleError]:
        """Every mistake as an error that shows its line, in the order of the text."""
        errors = []
        for place, reason in sorted(self._found):
            file, (number, column), line = self._sources.located(place)
            excerpt, caret = window_around(line, column)
            error = RuleError(reason, file=file, line=number, column=column, excerpt=excerpt, caret=caret)
            errors.append(error)
        return errors
