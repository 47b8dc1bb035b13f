"""What may be asked of arrays that come from a file, before kernels are given them.

A checksum says that a file is as somebody wrote it, not what it holds. Each saved structure is checked with
these by the room that knows what it should be.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any, NoReturn, get_args, get_type_hints

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tocsin.arrays.packed import Texts, arrow_texts
from tocsin.errors import IndexFileError

Array = NDArray[Any]

SOUND = -1
"""What a kernel gives that looked for a place which makes no sense, and found none."""


@cache
def types_of(parts: Any) -> dict[str, np.dtype[Any]]:
    """The types of a tuple's arrays, as it declares them."""
    hints = get_type_hints(parts)
    return {name: np.dtype(get_args(get_args(hints[name])[1])[0]) for name in parts._fields}


class Check:
    """What may be asked of the arrays of a file; everything that is not so is an IndexFileError."""

    def __init__(self, file: str) -> None:
        self._file = file

    def fail(self, array: str, what: str) -> NoReturn:
        """Say what is wrong with an array."""
        raise IndexFileError(f"{self._file} is damaged: the array {array} {what}")

    def that(self, array: str, is_so: bool, what: str) -> None:
        """Say what is wrong unless it is so."""
        if not is_so:
            self.fail(array, what)

    def length(self, name: str, array: Array, length: int) -> None:
        """So many entries."""
        self.that(name, len(array) == length, f"has {len(array):,} entries and should have {length:,}")

    def offsets(self, name: str, start: Array, pieces: int, end: int) -> None:
        """So many pieces of something that has this end."""
        self.length(name, start, max(pieces, 0) + 1)
        ascend = start[0] == 0 and start[-1] == end and bool((start[1:] >= start[:-1]).all())
        self.that(name, bool(ascend), f"does not ascend from 0 to {end:,}")

    def references(self, name: str, array: Array, count: int, *, least: int = 0) -> None:
        """Numbers of something of which there are so many."""
        if len(array) and not (least <= int(array.min()) and int(array.max()) < count):
            bad = int(np.flatnonzero((array < least) | (array >= count))[0])
            self.fail(name, f"refers to {int(array[bad])} at {bad:,}, and there are {count:,}")

    def table(self, name: str, table: Array, count: int) -> None:
        """Open addressing: a power of two, numbers + 1, and 0 for free places, one of them at least."""
        self.that(
            name,
            len(table) > 0 and len(table) & (len(table) - 1) == 0,
            "has a length that is not a power of two",
        )
        self.references(name, table, count + 1)
        self.that(name, int(table.min()) == 0, "has no free place")

    def sound(self, name: str, place: int) -> None:
        """What a kernel found."""
        self.that(name, place == SOUND, f"is inconsistent at {place:,}")

    def texts(self, name: str, texts: Texts, count: int) -> None:
        """So many texts in UTF-8."""
        self.offsets(f"{name}.start", texts.start, count, len(texts.data))
        try:
            arrow_texts(*texts).validate(full=True)
        except pa.ArrowException:
            self.fail(f"{name}.data", "is not UTF-8")


def typed(file: str, name: str, parts: Any, arrays: dict[str, Array]) -> Any:
    """A tuple of a file's arrays, each of the type that it declares."""
    return parts(
        *(typed_array(file, f"{name}.{field}", kind, arrays) for field, kind in types_of(parts).items())
    )


def typed_array(file: str, name: str, kind: np.dtype[Any], arrays: dict[str, Array]) -> Array:
    """One array of a file; IndexFileError when it is not there, or of another type."""
    if name not in arrays:
        raise IndexFileError(f"{file} is damaged: it lacks the array {name}")
    if arrays[name].dtype != kind:
        raise IndexFileError(
            f"{file} is damaged: the array {name} is of type {arrays[name].dtype}, not {kind}"
        )
    return arrays[name]


def check_paths(file: str, name: str, paths: Any) -> list[tuple[str, ...]]:
    """Fields as a header lists them."""
    lists = isinstance(paths, list) and all(isinstance(path, list) and path for path in paths)
    if lists and all(is_text(step) for path in paths for step in path):
        return [tuple(path) for path in paths]
    raise IndexFileError(f"{file} is damaged: its header's {name} are not lists of names")


def check_facts(file: str, facts: Any) -> dict[str, float]:
    """What a header says of how an index was made: seconds by phase."""
    if isinstance(facts, dict) and all(is_text(name) and is_amount(facts[name]) for name in facts):
        return facts
    raise IndexFileError(f"{file} is damaged: its header's facts are not numbers from 0 on")


def is_text(value: object) -> bool:
    """JSON may have halves of characters, which no text has."""
    return isinstance(value, str) and value.encode(errors="replace") == value.encode(errors="surrogatepass")


def is_amount(value: object) -> bool:
    """Whether a value is a number from 0 on that a float can be."""
    return type(value) in (int, float) and 0 <= value <= sys.float_info.max  # type: ignore[operator]
