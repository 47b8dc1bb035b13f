"""The bytes of a stream, some at a time, with room behind them for loops.

    buffer   [ read and done | at ... size | line feed, spare bytes | as much room again ]

What is not done is moved to the front of a new buffer when more is read, so an array of the old one stays.
"""

from __future__ import annotations

from typing import IO

import numpy as np

from tocsin.arrays.dtypes import Bytes
from tocsin.events.event_chunk import CHUNK_BYTES, READING_FAILS

SPARE = 16
"""Bytes that loops may read behind the end of a text."""

FEW_BYTES = 32 * 2**10
"""A text with fewer is not worth loading a loop for."""
FIRST_BYTES = 4 * 2**20
_LEAST_BYTES = 2**20


def bytes_for(records: int, size: float) -> int:
    """How many bytes to have at hand for so many records, each of about this size."""
    return max(_LEAST_BYTES, min(CHUNK_BYTES, int(records * size * 1.125)))


class TextWindow:
    """Read up to `most` bytes, or all.

    buffer    the bytes; `at` is where the next record begins, `size` where they end
    is_whole  whether they are all that is left
    failure   why nothing more can be read
    """

    def __init__(self, stream: IO[bytes], most: int | None = None) -> None:
        self._stream = stream
        self._unread = most
        self.buffer: Bytes = np.empty(SPARE + 1, np.uint8)
        self.at = 0
        self.size = 0
        self.is_whole = False
        self.failure: Exception | None = None

    @property
    def left(self) -> int:
        """How many bytes are at hand."""
        return self.size - self.at

    @property
    def is_done(self) -> bool:
        """Whether there is nothing to be read any more."""
        return self.is_whole or self.failure is not None

    def fill(self, wanted: int) -> bool:
        """Have so many bytes at hand, or all that can be had; whether there are any."""
        if self.left >= wanted or self.is_done:
            return self.left > 0
        buffer = np.empty(2 * (wanted + SPARE), np.uint8)
        size = self.left
        buffer[:size] = self.buffer[self.at : self.size]
        view = buffer.data
        try:
            while size < wanted and not self.is_whole:
                more = wanted - size if self._unread is None else min(wanted - size, self._unread)
                count = self._stream.readinto1(view[size : size + more]) if more else 0  # type: ignore[attr-defined]
                size += count
                if self._unread is not None:
                    self._unread -= count
                self.is_whole = count == 0
        except READING_FAILS as error:
            self.failure = error
        buffer[size] = ord("\n")
        self.buffer, self.at, self.size = buffer, 0, size
        return size > 0
