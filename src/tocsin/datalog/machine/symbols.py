"""Texts as numbers: the activation index works on 64-bit words alone.

    number      the word itself
    unsigned    its bits
    float       its bits; -0.0 is written 0.0, so that equal floats are equal words, and NaN is none
    symbol      the number under which its text was first met, from 0

A text once met keeps its number, so that two symbols are equal where their words are. Words of number
are ordered as their values are; of the other types only equality can be seen from the words.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.dtypes import Longs
from tocsin.datalog.language.syntax import TEXT_LIMIT, Type, Value
from tocsin.errors import DerivationError

SMALLEST, LARGEST = -(2**63), 2**63 - 1
LARGEST_UNSIGNED = 2**64 - 1

_FLOAT = struct.Struct("<d")
_WORD = struct.Struct("<q")


class Unfit(ValueError):
    """A Python value that is none of the type asked for; its text says what is wanted."""


class Symbols:
    """All texts that an engine has met, each with its number.

    `made` counts the bytes of those that rules made; there may be `limit` of them.
    """

    def __init__(self, texts: Iterable[str] = (), *, limit: int = TEXT_LIMIT) -> None:
        self.limit = limit
        self.made = 0
        self._numbers = _Numbers()
        self.texts: list[str] = self._numbers.texts
        """The texts in the order of their numbers."""
        self.number: Callable[[str], int] = self._numbers.__getitem__
        for text in texts:
            self.number(text)

    def __len__(self) -> int:
        return len(self.texts)

    def count_made(self, before: int, rule: str | None) -> None:
        """Count the texts from this number on as made by a rule. DerivationError when there are too many."""
        self.made += sum(len(text.encode()) for text in self.texts[before:])
        if self.made > self.limit:
            raise too_much_text(self.limit, rule)

    def forget(self, before: int, made: int) -> None:
        """Give up the texts from this number on, which nothing may hold any more: as if never met."""
        for text in self.texts[before:]:
            del self._numbers[text]
        del self.texts[before:]
        self.made = made

    def word(self, value: object, kind: Type) -> int:
        """The word of a value; Unfit when it is none of this type."""
        return self.writer(kind)(value)

    def value(self, word: int, kind: Type) -> Value:
        """The value of a word."""
        return self.reader(kind)(word)

    def writer(self, kind: Type) -> Callable[[object], int]:
        """The function that makes words of values of this type; it raises Unfit for any other value."""
        return {
            Type.NUMBER: word_of_number,
            Type.UNSIGNED: word_of_unsigned,
            Type.FLOAT: word_of_float,
            Type.SYMBOL: self._word_of_symbol,
        }[kind]

    def reader(self, kind: Type) -> Callable[[int], Value]:
        """The function that makes values of words of this type."""
        readers: dict[Type, Callable[[int], Value]] = {
            Type.NUMBER: int,
            Type.UNSIGNED: unsigned_of_word,
            Type.FLOAT: float_of_word,
            Type.SYMBOL: self._numbers.texts.__getitem__,
        }
        return readers[kind]

    def values(self, words: Longs, kind: Type) -> list[Value]:
        """The values of a column of words."""
        if kind is Type.SYMBOL:
            return list(map(self._numbers.texts.__getitem__, words.tolist()))
        return typed_words(words, kind).tolist()  # type: ignore[no-any-return]

    def order(self, words: Longs, kind: Type) -> NDArray[np.int64 | np.uint64 | np.float64]:
        """Numbers, one a word, that are ordered as the values are: symbols by their characters."""
        if kind is not Type.SYMBOL:
            return typed_words(words, kind)
        numbers, places = np.unique(words, return_inverse=True)
        texts = self.values(numbers, kind)
        rank = np.empty(len(numbers), np.int64)
        rank[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(numbers))
        return rank[places]

    def _word_of_symbol(self, value: object) -> int:
        try:
            return self._numbers[value]  # type: ignore[index]
        except TypeError:
            raise Unfit("a string") from None


def too_much_text(limit: int, rule: str | None) -> DerivationError:
    """The error of a rule that makes more texts than may be."""
    return DerivationError(f"more than {limit:,} bytes of texts are made, which is the limit", rule=rule)


class _Numbers(dict[str, int]):
    """The number of each text; one that is looked up for the first time gets the next."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def __missing__(self, text: str) -> int:
        if type(text) is not str:
            if not isinstance(text, str):
                raise Unfit("a string")
            text = str(text)
        try:
            text.encode()
        except UnicodeEncodeError:
            raise Unfit("a string without lone surrogates") from None
        number = len(self.texts)
        self.texts.append(text)
        self[text] = number
        return number


def word_of_number(value: object) -> int:
    """The word of a number: an integer of 64 bits."""
    if type(value) is int and SMALLEST <= value <= LARGEST:
        return value
    return _integer(value, SMALLEST, LARGEST)


def word_of_unsigned(value: object) -> int:
    """The word of an integer from 0 to 2^64 - 1."""
    if type(value) is int and 0 <= value <= LARGEST_UNSIGNED:
        number = value
    else:
        number = _integer(value, 0, LARGEST_UNSIGNED)
    return number if number <= LARGEST else number - 2**64


def word_of_float(value: object) -> int:
    """The word of a float or an integer; an integer is rounded to the nearest float."""
    if type(value) is not float:
        if not isinstance(value, float | int) or isinstance(value, bool):
            value = _index(value, "a float")
        try:
            value = float(value)
        except OverflowError:
            raise Unfit("a float, and an integer as large as this has none") from None
    if value != value:
        raise Unfit("a float that is not NaN")
    word: int = _WORD.unpack(_FLOAT.pack(value + 0.0))[0]
    return word


def unsigned_of_word(word: int) -> int:
    """The integer whose bits these are."""
    return word if word >= 0 else word + 2**64


def float_of_word(word: int) -> float:
    """The float whose bits these are."""
    value: float = _FLOAT.unpack(_WORD.pack(word))[0]
    return value


def are_floats(words: Longs) -> bool:
    """Whether all words are such as `word_of_float` gives."""
    return not np.isnan(typed_words(words, Type.FLOAT)).any() and bool((words != SMALLEST).all())


def typed_words(words: Longs, kind: Type) -> NDArray[np.int64 | np.uint64 | np.float64]:
    """A column of words as what they stand for, symbols as their numbers."""
    if kind is Type.UNSIGNED:
        return np.ascontiguousarray(words).view(np.uint64)
    if kind is Type.FLOAT:
        return np.ascontiguousarray(words).view(np.float64)
    return words


def _integer(value: object, smallest: int, largest: int) -> int:
    wanted = f"an integer from {smallest} to {largest}"
    number = _index(value, wanted)
    if not smallest <= number <= largest:
        raise Unfit(wanted)
    return number


def _index(value: object, wanted: str) -> int:
    """Any kind of integer, NumPy's too, as Python's; but true and false are none."""
    if isinstance(value, bool):
        raise Unfit(wanted)
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise Unfit(wanted) from None
