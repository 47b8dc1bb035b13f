"""An array of objects, as many tools write JSON, read as lines of JSON: one element after the other.

    [ {"a": 1},            {"a": 1}
      {"b": [2,      ->    {"b": [2,  3]}
       3]} ]

It is cut without being parsed, some of it in memory at a time; what an element holds is the reader of lines
to judge. What follows the array are lines already.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from itertools import chain
from typing import IO, cast

LONGEST_ELEMENT = 64 << 20
_AT_ONCE = 1 << 18
_FIRST = 1 << 17
"""So many bytes have the beginning by which an array is known."""

_BEGINS = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*\[[ \t\r\n]*(?:[{\]]|\Z)")
_STRING = rb'"(?:[^"\\]++|\\.)*+"'
_BRACKET = re.compile(rb'[^\[\]{}"]*+(?:' + _STRING + rb'[^\[\]{}"]*+)*+[\[\]{}]', re.DOTALL)
_AT_TOP = re.compile(rb'[^\[\]{}",]*+(?:' + _STRING + rb'[^\[\]{}",]*+)*+[\[\]{},]', re.DOTALL)
_WHOLE_STRING = re.compile(_STRING, re.DOTALL)
_BLANKS = bytes.maketrans(b"\r\n", b"  ")
_BROKEN = bytes.maketrans(b"\r\n", b"\x0b\x0b")
"""A line end in a string stays what it is: no JSON."""


def is_array(beginning: bytes) -> bool:
    """Whether a text that begins so is an array of objects."""
    return _BEGINS.match(beginning) is not None


def lines_of_array(stream: IO[bytes]) -> IO[bytes]:
    """The elements of an array as lines."""
    return cast(IO[bytes], io.BufferedReader(_Lines(stream), _AT_ONCE))


def elements(stream: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """The elements of an array, each with the line that it begins in; then the lines that follow the array.

    EOFError when the array breaks off, after the elements before that.
    """
    reader = _Elements(stream)
    yield from reader.elements()
    for line, rest in enumerate(chain(io.BytesIO(reader.rest + stream.readline()), stream), reader.line):
        if rest.strip():
            yield line, rest.rstrip(b"\r\n")


class _Elements:
    """Cuts an array; `line` is where it has come to, `rest` what was read beyond its end."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._data = stream.read(max(_AT_ONCE, _FIRST))
        self._at = self._data.index(b"[") + 1
        self.line = 1 + self._data.count(b"\n", 0, self._at)
        self.rest = b""

    def elements(self) -> Iterator[tuple[int, bytes]]:
        """The elements, blank ones left out."""
        while True:
            end = self._end()
            element, closing = self._data[self._at : end - 1], self._data[end - 1 : end]
            text = element.lstrip(b" \t\r\n")
            if text:
                yield self.line + element.count(b"\n", 0, len(element) - len(text)), text.rstrip(b" \t\r\n")
            self.line += element.count(b"\n")
            self._at = end
            if closing == b"]":
                self.rest = self._data[end:]
                return

    def _end(self) -> int:
        """The place behind the comma or bracket that ends an element."""
        place, depth = self._at, 0
        while True:
            found = (_BRACKET if depth else _AT_TOP).match(self._data, place)
            if found is None:
                place -= self._more()
                continue
            place = found.end()
            mark = self._data[place - 1]
            if mark in b"[{":
                depth += 1
            elif depth:
                depth -= 1
            elif mark in b",]":
                return place

    def _more(self) -> int:
        """Read on; how far what is there already has moved."""
        moved = self._at
        waiting = self._data[moved:]
        if len(waiting) > LONGEST_ELEMENT:
            raise EOFError(f"line {self.line}: an element is longer than {LONGEST_ELEMENT:,} bytes")
        more = self._stream.read(max(_AT_ONCE, len(waiting)))
        if not more:
            line = self.line + waiting.rstrip().count(b"\n")
            raise EOFError(f"line {line}: the array breaks off: its closing ] is missing")
        self._data, self._at = waiting + more, 0
        return moved


class _Lines(io.RawIOBase):
    """The elements as a file has lines."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._lines = map(_as_line, elements(stream))
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        ready = self._ready or next(self._lines, b"")
        size = min(len(buffer), len(ready))
        buffer[:size] = ready[:size]
        self._ready = ready[size:]
        return size

    def close(self) -> None:
        self._stream.close()
        super().close()


def _as_line(element: tuple[int, bytes]) -> bytes:
    _, text = element
    if b"\n" in text or b"\r" in text:
        text = _WHOLE_STRING.sub(lambda found: found[0].translate(_BROKEN), text).translate(_BLANKS)
    return text + b"\n"
