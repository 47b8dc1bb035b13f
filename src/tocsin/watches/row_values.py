"""Values of rows as bytes, and back: exactly the same values, of the same types, or a clear refusal.

A value is a tag of one byte and what belongs to it; lists, objects and the like say how many values follow
them. Nothing calls itself, so that depth costs no stack, and what is read is only ever data: a length beyond
the end is an error before anything is made.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from itertools import chain
from math import prod
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from tocsin.events import type_name

_LONG = struct.Struct("<Q")
_WORD = struct.Struct("<q")
_FLOAT = struct.Struct("<d")

_NONE, _TRUE, _FALSE, _INT, _LARGE, _REAL, _TEXT = b"N", b"T", b"F", b"i", b"I", b"f", b"s"
_LIST, _OBJECT, _SET, _ARRAY, _SCALAR, _OBJECTS, _MOMENT, _STAMP = (bytes([tag]) for tag in b"loSAGOtP")
_NOT_A_TIME, _NOT_AVAILABLE, _TIME = b"p", b"q", b"h"
_CONSTANTS: dict[bytes, object] = {_NONE: None, _TRUE: True, _FALSE: False}
_PLAIN_ARRAYS = "biufcmMUS"
_TYPE = re.compile(r"[<>|][biufcmMUS][0-9]{1,10}(\[[0-9]{0,10}[A-Za-z]{1,2}\])?")
"""Types as NumPy writes them. It reads more than that, and does not survive all of it (`M8[s/0]`)."""
_LARGEST_CHARACTER = 0x10FFFF
_DEEPEST_ARRAY = 100
"""Arrays of arrays of arrays: freeing some thousands of them overflows the stack in NumPy."""

_WRITTEN: dict[type, tuple[bytes, Callable[[Any], bytes]]] = {
    bytes: (b"b", bytes),
    Decimal: (b"D", lambda value: str(value).encode()),
    date: (b"d", lambda value: value.isoformat().encode()),
    timedelta: (b"m", lambda value: f"{value.days} {value.seconds} {value.microseconds}".encode()),
    np.str_: (b"u", lambda value: value.encode("utf-8", "surrogatepass")),
    np.bytes_: (b"c", bytes),
}
"""Texts and bytes of NumPy's are no arrays of one: these cannot be empty, or end in a zero."""
_READ: dict[bytes, Callable[[bytes], object]] = {
    _TEXT: lambda data: data.decode("utf-8", "surrogatepass"),
    _LARGE: lambda data: int.from_bytes(data, "little", signed=True),
    b"b": bytes,
    b"D": lambda data: Decimal(data.decode()),
    b"d": lambda data: date.fromisoformat(data.decode()),
    b"m": lambda data: timedelta(*map(int, data.decode().split())),
    b"u": lambda data: np.str_(data.decode("utf-8", "surrogatepass")),
    b"c": np.bytes_,
    _TIME: lambda data: time.fromisoformat(data.decode()),
}


class Unkept(ValueError):
    """A value of a type that has no bytes here; its text names the type."""


def encode(value: object) -> bytes:
    """The bytes of a value; Unkept when it has none."""
    parts: list[bytes] = []
    unread: list[Iterator[object]] = [iter((value,))]
    arrays: list[int] = []
    while unread:
        for each in unread[-1]:
            kind = type(each)
            if kind is str:
                _sized(parts, _TEXT, each.encode("utf-8", "surrogatepass"))  # type: ignore[attr-defined]
            elif kind is int:
                _integer(parts, each)  # type: ignore[arg-type]
            elif kind is float:
                parts.append(_REAL + _FLOAT.pack(each))
            elif each is None:
                parts.append(_NONE)
            elif kind is bool:
                parts.append(_TRUE if each else _FALSE)
            else:
                inside = _other(parts, each)
                if inside is not None:
                    unread.append(inside)
                    if kind is np.ndarray:
                        arrays.append(len(unread))
                        if len(arrays) > _DEEPEST_ARRAY:
                            raise Unkept(f"arrays that are nested more than {_DEEPEST_ARRAY} deep")
                    break
        else:
            if arrays and arrays[-1] == len(unread):
                arrays.pop()
            unread.pop()
    return b"".join(parts)


def decode(data: bytes) -> object:
    """The value of bytes; an error of any kind of ValueError, TypeError or LookupError when they are none."""
    reader = _Reader(data)
    made: list[Any] = []
    waiting: list[tuple[bytes, int, tuple[int, ...], int]] = [(b"", 1, (), 0)]
    arrays = 0
    while True:
        tag, count, shape, first = waiting[-1]
        if len(made) - first < count:
            following = reader.value(made)
            if following is not None:
                waiting.append((*following, len(made)))
                arrays += following[0] == _OBJECTS
                if arrays > _DEEPEST_ARRAY:
                    raise ValueError(f"arrays are nested more than {_DEEPEST_ARRAY} deep")
            continue
        if len(waiting) == 1:
            break
        waiting.pop()
        arrays -= tag == _OBJECTS
        inside = made[first:]
        del made[first:]
        made.append(_together(tag, inside, shape))
    if reader.at != len(data):
        raise ValueError("bytes are left over")
    return made[0]


def _integer(parts: list[bytes], value: int) -> None:
    if -(2**63) <= value < 2**63:
        parts.append(_INT + _WORD.pack(value))
    else:
        _sized(parts, _LARGE, value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True))


def _sized(parts: list[bytes], tag: bytes, data: bytes) -> None:
    parts.append(tag + _LONG.pack(len(data)))
    parts.append(data)


def _other(parts: list[bytes], value: Any) -> Iterator[object] | None:
    """Write what is no simple value; what follows it, if anything does."""
    kind = type(value)
    if kind is dict:
        if not all(type(name) is str for name in value):
            raise Unkept("an object whose members are not named by strings")
        parts.append(_OBJECT + _LONG.pack(2 * len(value)))
        return chain.from_iterable(value.items())
    if kind is list or kind is frozenset:
        parts.append((_LIST if kind is list else _SET) + _LONG.pack(len(value)))
        return iter(list(value))
    if kind is np.ndarray and value.dtype.hasobject:
        parts.append(_OBJECTS + _LONG.pack(value.size) + _shape(value))
        return iter(list(value.ravel()))
    if kind in _WRITTEN:
        tag, written = _WRITTEN[kind]
        _sized(parts, tag, written(value))
    elif (kind is np.ndarray or isinstance(value, np.generic)) and value.dtype.kind in _PLAIN_ARRAYS:
        tag = _ARRAY if kind is np.ndarray else _SCALAR
        _sized(parts, tag, value.dtype.str.encode())
        parts.append(_shape(value))
        _sized(parts, b"", value.tobytes())
    elif kind is datetime:
        parts.append(_MOMENT)
        return iter([value.replace(tzinfo=None).isoformat(), value.fold, _zone(value.tzinfo)])
    elif kind is time and value.tzinfo is None and not value.fold:
        _sized(parts, _TIME, value.isoformat().encode())
    else:
        return _of_pandas(parts, value)
    return None


def _of_pandas(parts: list[bytes], value: Any) -> Iterator[object] | None:
    name = type_name(value)
    if name.startswith("pandas."):
        import pandas as pd

        if value is pd.NaT or value is pd.NA:
            parts.append(_NOT_A_TIME if value is pd.NaT else _NOT_AVAILABLE)
            return None
        if type(value) is pd.Timestamp and not value.fold:
            parts.append(_STAMP)
            return iter([value.asm8, _zone(value.tz)])
    raise Unkept(f"a value of type {name}")


def _shape(array: Any) -> bytes:
    return struct.pack(f"<B{array.ndim}Q", array.ndim, *array.shape)


def _zone(zone: Any) -> object:
    """A time zone as a value: none, a name, or an offset in microseconds, perhaps with a name of its own."""
    if zone is None:
        return None
    if type(zone) is ZoneInfo and zone.key is not None:
        return zone.key
    if type(zone) is timezone:
        offset, *name = zone.__getinitargs__()  # type: ignore[attr-defined]
        return [offset // timedelta(microseconds=1), *name]
    raise Unkept(f"a time in a zone of type {type_name(zone)}")


def _read_zone(zone: Any) -> Any:
    if zone is None:
        return None
    if type(zone) is str:
        try:
            return ZoneInfo(zone)
        except OSError as error:
            raise ValueError(f"there is no time zone {zone!r:.20}") from error
    offset, *name = zone
    if zone == [0]:
        return UTC
    return timezone(timedelta(microseconds=offset), *name)


def _together(tag: bytes, inside: list[Any], shape: tuple[int, ...]) -> object:
    """What several values are together."""
    if tag == _LIST:
        return inside
    if tag == _OBJECT:
        made = dict(zip(inside[::2], inside[1::2], strict=True))
        if 2 * len(made) != len(inside) or not all(type(name) is str for name in made):
            raise ValueError("an object has a member twice, or one without a name")
        return made
    if tag == _SET:
        return frozenset(inside)
    if tag == _OBJECTS:
        array = np.empty(len(inside), object)
        for place, value in enumerate(inside):
            array[place] = value
        return array.reshape(shape)
    if tag == _MOMENT:
        text, fold, zone = inside
        return datetime.fromisoformat(text).replace(fold=fold, tzinfo=_read_zone(zone))
    import pandas as pd

    moment, zone = inside
    if type(moment) is not np.datetime64:
        raise TypeError("a timestamp has no time")
    stamp = pd.Timestamp(moment)
    return stamp if zone is None else stamp.tz_localize("UTC").tz_convert(_read_zone(zone))


class _Reader:
    """Goes through bytes, and never beyond their end."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def value(self, made: list[Any]) -> tuple[bytes, int, tuple[int, ...]] | None:
        """Add the next value to what was made; or say what it is, of how many of the following and in what
        shape."""
        tag = self._take(1)
        if tag in _CONSTANTS:
            made.append(_CONSTANTS[tag])
        elif tag in _READ:
            made.append(_READ[tag](self._sized()))
        elif tag == _INT:
            made.append(_WORD.unpack(self._take(8))[0])
        elif tag == _REAL:
            made.append(_FLOAT.unpack(self._take(8))[0])
        elif tag in (_ARRAY, _SCALAR):
            array = self._array()
            made.append(array if tag == _ARRAY else array.reshape(())[()])
        elif tag in (_LIST, _OBJECT, _SET):
            return tag, self._count(), ()
        elif tag == _OBJECTS:
            return tag, self._count(), self._shape()
        elif tag == _MOMENT:
            return tag, 3, ()
        elif tag == _STAMP:
            return tag, 2, ()
        elif tag in (_NOT_A_TIME, _NOT_AVAILABLE):
            import pandas as pd

            made.append(pd.NaT if tag == _NOT_A_TIME else pd.NA)
        else:
            raise ValueError(f"no value begins with {tag!r}")
        return None

    def _array(self) -> Any:
        written = self._sized().decode("ascii")
        if not _TYPE.fullmatch(written):
            raise ValueError(f"no array is of type {written!r:.20}")
        dtype = np.dtype(written)
        shape = self._shape()
        data = self._sized()
        if dtype.kind not in _PLAIN_ARRAYS or not dtype.itemsize or prod(shape) * dtype.itemsize != len(data):
            raise ValueError(f"an array of {dtype} has {len(data)} bytes")
        if (
            dtype.kind == "U"
            and (np.frombuffer(data, dtype.byteorder.replace("|", "=") + "u4") > _LARGEST_CHARACTER).any()
        ):
            raise ValueError("a text holds what is not a character")
        return np.frombuffer(data, dtype).reshape(shape).copy()

    def _shape(self) -> tuple[int, ...]:
        (dimensions,) = self._take(1)
        return struct.unpack(f"<{dimensions}Q", self._take(8 * dimensions))

    def _count(self) -> int:
        count: int = _LONG.unpack(self._take(8))[0]
        if count > len(self._data) - self.at:
            raise ValueError(f"{count} values have no room")
        return count

    def _sized(self) -> bytes:
        return self._take(_LONG.unpack(self._take(8))[0])

    def _take(self, count: int) -> bytes:
        data = self._data[self.at : self.at + count]
        if len(data) < count:
            raise ValueError("it ends too early")
        self.at += count
        return data
