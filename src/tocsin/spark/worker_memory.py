"""In a worker: memory that one batch has used is kept for the next.

The arrays of a batch are some megabytes, and the C library would take each from the system and give it back.
The system then clears every page again, which can take a fourth of the time of matching.
"""

from __future__ import annotations

import contextlib
import ctypes
from functools import cache

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""The numbers that the GNU C library gives these settings."""

LARGEST_KEPT = 32 << 20
"""Bytes of one array, at most: a larger one is the system's again when it is freed."""

MOST_KEPT = 64 << 20
"""Free bytes at the end of the heap that a process keeps, at most."""


@cache
def keep_freed_memory() -> None:
    """Tell the C library, once in a process; one that knows of no such setting is left as it is."""
    with contextlib.suppress(AttributeError, OSError):
        library = ctypes.CDLL(None)
        library.mallopt(_MMAP_THRESHOLD, LARGEST_KEPT)
        library.mallopt(_TRIM_THRESHOLD, MOST_KEPT)
