"""Pieces of a text, each different one once: found by hash, confirmed by comparison.

Millions of pieces are looked up among hundreds of thousands, so the time goes where memory is waited
for. Different pieces lie close together, as words of eight bytes with a header; a slot says by half a
hash whether a piece is worth a look; and a batch of pieces is looked up in rounds, so that the memory
of one arrives while others are asked for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.bits import HALF, LOWER_HALF, UPPER_HALF, prefetch
from tocsin.arrays.dtypes import Bytes, Ints, Longs, Words
from tocsin.arrays.jit import inner_kernel, kernel
from tocsin.arrays.lists import enlarged
from tocsin.arrays.text_table import hash_span, word_of

COUNT = 0
WORDS = 1


class DistinctTexts(NamedTuple):
    """Different pieces of one text, numbered as they came. Arrays have room to spare.

    size    int64[2]      pieces and words in use
    start   int64[n]      where in the text each was first found,
    end     int64[n]          and where that ends
    hash    uint64[n]
    place   int64[n]      its words: word[place] is its number (upper half) and its bytes' number,
    word    uint64[...]       then its bytes, eight in a word, the last filled up with zeros
    slot    uint64[2^k]   open addressing, at most half full: 0, or the upper half of a hash and one
                          more than the piece's place
    """

    size: Longs
    start: Longs
    end: Longs
    hash: Words
    place: Longs
    word: Words
    slot: Words


@kernel
def no_texts(pieces: int, words: int) -> DistinctTexts:
    """None yet, with room for so many pieces and words."""
    slots = 2
    while slots < 2 * pieces:
        slots *= 2
    return DistinctTexts(
        np.zeros(2, np.int64),
        np.empty(pieces, np.int64),
        np.empty(pieces, np.int64),
        np.empty(pieces, np.uint64),
        np.empty(pieces, np.int64),
        np.empty(words, np.uint64),
        np.zeros(slots, np.uint64),
    )


@inner_kernel
def is_full(texts: DistinctTexts, pieces: int, words: int) -> bool:
    """Whether so many pieces and words more do not fit."""
    return texts.size[COUNT] + pieces > texts.hash.size or texts.size[WORDS] + words > texts.word.size


@kernel
def with_room(texts: DistinctTexts, pieces: int, words: int) -> DistinctTexts:
    """The same pieces, where so many pieces and words more fit."""
    count = texts.size[COUNT]
    used = texts.size[WORDS]
    if not is_full(texts, pieces, words):
        return texts
    larger = no_texts(enlarged(texts.hash.size, count + pieces), enlarged(texts.word.size, used + words))
    larger.size[COUNT] = count
    larger.size[WORDS] = used
    for i in range(used):
        larger.word[i] = texts.word[i]
    mask = np.uint64(larger.slot.size - 1)
    for number in range(count):
        value = texts.hash[number]
        larger.start[number] = texts.start[number]
        larger.end[number] = texts.end[number]
        larger.hash[number] = value
        larger.place[number] = texts.place[number]
        at = value & mask
        while larger.slot[at] != 0:
            at = (at + np.uint64(1)) & mask
        larger.slot[at] = (value & UPPER_HALF) | np.uint64(texts.place[number] + 1)
    return larger


@inner_kernel
def number_texts(
    texts: DistinctTexts, data: Bytes, start: Longs, end: Longs, count: int, number: Ints, value: Words
) -> None:
    """Write the numbers of the first `count` pieces data[start[i] : end[i]], for which there is room.

    `value` is room for as many hashes.
    """
    slot, word = texts.slot, texts.word
    mask = np.uint64(slot.size - 1)
    for i in range(count):
        value[i] = hash_span(data, start[i], end[i])
        prefetch(slot, value[i] & mask)
    for i in range(count):
        prefetch(word, slot[value[i] & mask] & LOWER_HALF)
    for i in range(count):
        tag = value[i] & UPPER_HALF
        size = end[i] - start[i]
        words = (size + 7) >> 3
        at = value[i] & mask
        while True:
            found = slot[at]
            if found == 0:
                fresh = texts.size[COUNT]
                place = texts.size[WORDS]
                texts.start[fresh] = start[i]
                texts.end[fresh] = end[i]
                texts.hash[fresh] = value[i]
                texts.place[fresh] = place
                word[place] = np.uint64(fresh) << HALF | np.uint64(size)
                for j in range(words):
                    word[place + 1 + j] = word_of(data, start[i] + 8 * j, end[i])
                slot[at] = tag | np.uint64(place + 1)
                texts.size[COUNT] = fresh + 1
                texts.size[WORDS] = place + 1 + words
                number[i] = fresh
                break
            if found & UPPER_HALF == tag:
                place = np.int64(found & LOWER_HALF) - 1
                same = word[place] & LOWER_HALF == np.uint64(size)
                j = 0
                while same and j < words:
                    same = word[place + 1 + j] == word_of(data, start[i] + 8 * j, end[i])
                    j += 1
                if same:
                    number[i] = np.int32(word[place] >> HALF)
                    break
            at = (at + np.uint64(1)) & mask


@kernel
def number_pieces(data: Bytes, start: Longs) -> tuple[Ints, Longs, Longs]:
    """Number the different pieces data[start[i] : start[i + 1]].

    Each one's number, and for each number where it is first found and ends.
    """
    count = start.size - 1
    batch = 64
    texts = no_texts(batch, batch)
    number = np.empty(count, np.int32)
    value = np.empty(batch, np.uint64)
    for first in range(0, count, batch):
        last = min(first + batch, count)
        texts = with_room(texts, batch, (start[last] - start[first]) // 8 + 2 * batch)
        number_texts(
            texts, data, start[first:last], start[first + 1 :], last - first, number[first:last], value
        )
    distinct = texts.size[COUNT]
    return number, texts.start[:distinct].copy(), texts.end[:distinct].copy()
