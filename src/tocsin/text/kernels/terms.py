"""Words and prefixes by hash: how terms are numbered, and how the words of documents find them.

A term is a word or prefix of one text group. Its bytes are taken in eights, the first two whether they
are there or not, so that most words are hashed and compared without a branch on their length:

    slot                 hash & mask ->  | half a hash | place + 1 |        0: nothing is here
    record[place]        | term | size in bytes |
    record[place + 1]    | covering | 2 * group, 1 more for a prefix: the term's *owner* |
    record[place + 2]    its bytes in eights, two eights at least; zeros behind the last byte
                         (a zero byte is in no word, so nothing else looks like them)

Which prefixes cover a word that is a term was found out when terms were numbered:

    covering[c]          how many prefixes cover it; they follow. 0 is the place of those that none covers.

Any other word is looked up once for each length at which a prefix may end in it. Which lengths those
are, `prefixes` says: at the hash of a prefix's owner and first five bytes (or fewer,
when it has no more) it has a bit for its length. Different beginnings may share an entry: it may say
too much, never too little. The last entry has the bits of all prefixes.
"""

from __future__ import annotations

import numpy as np

from tocsin.arrays.bits import ALL, HALF, LOWER_HALF, UPPER_HALF, eight_bytes, lowest_bit
from tocsin.arrays.dtypes import Bytes, Ints, Longs, Words
from tocsin.arrays.jit import inner_kernel, kernel
from tocsin.arrays.lists import with_room
from tocsin.arrays.text_table import word_of
from tocsin.text.kernels.dictionary import DictionaryWords, idf_of
from tocsin.text.kernels.query_code import Terms

BEGINNING = 5
"""Bytes of a prefix by which its length is found."""

LONG = 64
"""Prefixes of so many bytes or more share the last bit of an entry."""

_HEADER = 2
_SEED = np.uint64(0x9E37_79B9_7F4A_7C15)
_SPREAD = np.uint64(0xFF51_AFD7_ED55_8CCD)
_SPREAD_AGAIN = np.uint64(0xC4CE_B9FE_1A85_EC53)


@inner_kernel
def owner_of(group: int, is_prefix: int) -> np.uint64:
    """What tells equal bytes apart: whose term they are, and of which kind."""
    return np.uint64(2 * np.int64(group) + np.int64(is_prefix))


@inner_kernel
def first_hash(owner: np.uint64) -> np.uint64:
    """The hash before any byte."""
    return (owner + np.uint64(1)) * _SEED


@inner_kernel
def next_hash(value: np.uint64, eight: np.uint64) -> np.uint64:
    """The hash with eight more bytes."""
    value = (value ^ eight) * _SPREAD
    return value ^ (value >> HALF)


@inner_kernel
def finished_hash(value: np.uint64) -> np.uint64:
    """The hash after the last bytes: both its halves are good."""
    value *= _SPREAD_AGAIN
    return value ^ (value >> HALF)


@inner_kernel
def eights_of(size: int) -> int:
    """How many eights a term of so many bytes is made of."""
    return max((np.int64(size) + 7) >> 3, 2)


@inner_kernel
def first_bytes(eight: np.uint64, size: int) -> np.uint64:
    """The first `size` of eight bytes, 1 at least, zeros behind them."""
    return eight & (ALL >> np.uint64(max(64 - 8 * np.int64(size), 0)))


@inner_kernel
def second_eight(data: Bytes, start: int, size: int) -> np.uint64:
    """The second eight of data[start : start + size]: 0 when there are no more than eight bytes."""
    eight = first_bytes(eight_bytes(data, start + 8), max(size - 8, 1))
    return eight if size > 8 else np.uint64(0)


@inner_kernel
def hash_eights(
    owner: np.uint64, first: np.uint64, second: np.uint64, data: Bytes, start: int, size: int
) -> np.uint64:
    """The hash of data[start : start + size], whose first two eights are given."""
    value = next_hash(next_hash(first_hash(owner), first), second)
    for at in range(16, size, 8):
        value = next_hash(value, first_bytes(eight_bytes(data, start + at), size - at))
    return finished_hash(value)


@inner_kernel
def hash_word(owner: np.uint64, data: Bytes, start: int, size: int) -> np.uint64:
    """The hash of data[start : start + size], one byte at least; 15 more can be read behind it."""
    first = first_bytes(eight_bytes(data, start), size)
    return hash_eights(owner, first, second_eight(data, start, size), data, start, size)


@inner_kernel
def find_record(
    slot: Words,
    record: Words,
    value: np.uint64,
    owner: np.uint64,
    first: np.uint64,
    second: np.uint64,
    data: Bytes,
    start: int,
    size: int,
) -> int:
    """The record of the term data[start : start + size], or -1; its hash and first two eights are given."""
    mask = np.uint64(slot.size - 1)
    tag = value & UPPER_HALF
    at = value & mask
    while True:
        found = slot[at]
        if found == 0:
            return -1
        if found & UPPER_HALF == tag:
            place = (found & LOWER_HALF) - np.uint64(1)
            different = (record[place] ^ np.uint64(size)) & LOWER_HALF
            different |= (record[place + np.uint64(1)] ^ owner) & LOWER_HALF
            different |= record[place + np.uint64(2)] ^ first
            different |= record[place + np.uint64(3)] ^ second
            if different == 0:
                i = 16
                while i < size and record[place + np.uint64(_HEADER + (i >> 3))] == first_bytes(
                    eight_bytes(data, start + i), size - i
                ):
                    i += 8
                if i >= size:
                    return np.int64(place)
        at = (at + np.uint64(1)) & mask


@inner_kernel
def _entry(prefixes: Words, owner: np.uint64, beginning: np.uint64) -> np.int64:
    value = (beginning ^ first_hash(owner)) * _SPREAD
    return np.int64((value >> HALF) & np.uint64(prefixes.size - 2))


@inner_kernel
def prefix_lengths(prefixes: Words, owner: np.uint64, eight: np.uint64, size: int) -> np.uint64:
    """The lengths at which prefixes may end in a word, as bits: bit 0 for length 1, up to LONG."""
    last = prefixes.size - 1
    lengths = np.uint64(0)
    for length in range(1, BEGINNING):
        bit = np.uint64(1) << np.uint64(length - 1)
        if length <= size and prefixes[last] & bit != 0:
            lengths |= prefixes[_entry(prefixes, owner, first_bytes(eight, length))] & bit
    if size >= BEGINNING:
        found = prefixes[_entry(prefixes, owner, first_bytes(eight, BEGINNING))]
        found &= ALL << np.uint64(BEGINNING - 1)
        if size < LONG:
            found &= (np.uint64(1) << np.uint64(size)) - np.uint64(1)
        lengths |= found
    return lengths


@inner_kernel
def find_prefixes(
    slot: Words,
    record: Words,
    owner: np.uint64,
    data: Bytes,
    start: int,
    size: int,
    lengths: np.uint64,
    found: Ints,
    at: int,
) -> int:
    """Write the prefixes that cover data[start : start + size] to found[at] and behind it: how many.

    They are as many as the word has bytes, at most.
    """
    value = next_hash(next_hash(first_hash(owner), eight_bytes(data, start)), eight_bytes(data, start + 8))
    done = 16
    count = 0
    while lengths != 0:
        length = lowest_bit(lengths) + 1
        last = size if length == LONG else length
        lengths &= lengths - np.uint64(1)
        while length <= last:
            while done + 8 < length:
                value = next_hash(value, eight_bytes(data, start + done))
                done += 8
            first = first_bytes(eight_bytes(data, start), length)
            second = second_eight(data, start, length)
            if length <= 16:
                whole = hash_eights(owner, first, second, data, start, length)
            else:
                last_eight = first_bytes(eight_bytes(data, start + done), length - done)
                whole = finished_hash(next_hash(value, last_eight))
            place = find_record(slot, record, whole, owner, first, second, data, start, length)
            if place >= 0:
                found[at + count] = np.int32(record[place] >> HALF)
                count += 1
            length += 1
    return count


@inner_kernel
def _hash_record(record: Words, place: int) -> np.uint64:
    first = place + _HEADER
    value = first_hash(record[place + 1] & LOWER_HALF)
    for i in range(first, first + eights_of(record[place] & LOWER_HALF)):
        value = next_hash(value, record[i])
    return finished_hash(value)


@inner_kernel
def _are_same(record: Words, a: int, b: int) -> bool:
    """Whether two records have the same bytes and owner."""
    different = (record[a] ^ record[b]) | (record[a + 1] ^ record[b + 1])
    if different & LOWER_HALF != 0:
        return False
    for i in range(_HEADER, _HEADER + eights_of(record[a] & LOWER_HALF)):
        if record[a + i] != record[b + i]:
            return False
    return True


@inner_kernel
def _enter(slot: Words, record: Words, place: int) -> int:
    """Let a slot lead to a record, unless one that is the same is known: the place of whichever is found."""
    value = _hash_record(record, place)
    mask = np.uint64(slot.size - 1)
    tag = value & UPPER_HALF
    at = value & mask
    while slot[at] != 0:
        if slot[at] & UPPER_HALF == tag:
            known = np.int64(slot[at] & LOWER_HALF) - 1
            if _are_same(record, known, place):
                return known
        at = (at + np.uint64(1)) & mask
    slot[at] = tag | np.uint64(place + 1)
    return place


@kernel
def _slots_for(record: Words, terms: int) -> Words:
    """Slots for so many terms, at most a quarter full, that lead to these records, all different."""
    size = 2
    while size < 4 * terms:
        size *= 2
    slot = np.zeros(size, np.uint64)
    place = 0
    while place < record.size:
        _enter(slot, record, place)
        place += _HEADER + eights_of(record[place] & LOWER_HALF)
    return slot


@kernel
def _lengths_of_prefixes(record: Words, prefix_count: int) -> Words:
    size = 1
    while size < 4 * prefix_count:
        size *= 2
    prefixes = np.zeros(size + 1, np.uint64)
    place = 0
    while place < record.size:
        length = np.int64(record[place] & LOWER_HALF)
        if record[place + 1] & np.uint64(1) != 0:
            beginning = first_bytes(record[place + _HEADER], min(length, BEGINNING))
            entry = _entry(prefixes, record[place + 1] & LOWER_HALF, beginning)
            prefixes[entry] |= np.uint64(1) << np.uint64(min(length - 1, LONG - 1))
            prefixes[size] |= prefixes[entry]
        place += _HEADER + eights_of(length)
    return prefixes


@kernel
def _find_covering(slot: Words, record: Words, prefixes: Words) -> Ints:
    """Write to each word's record where its prefixes are in `covering`, which is the result."""
    data = record.view(np.uint8)
    covering = np.zeros(64, np.int32)
    used = 1
    place = 0
    while place < record.size:
        size = np.int64(record[place] & LOWER_HALF)
        owner = record[place + 1] & LOWER_HALF
        record[place + 1] = owner
        if owner & np.uint64(1) == 0:
            owner |= np.uint64(1)
            start = 8 * (place + _HEADER)
            lengths = prefix_lengths(prefixes, owner, record[place + _HEADER], size)
            if lengths != 0:
                covering = with_room(covering, used, size + 1)
                found = find_prefixes(slot, record, owner, data, start, size, lengths, covering, used + 1)
                if found > 0:
                    covering[used] = found
                    record[place + 1] |= np.uint64(used) << HALF
                    used += 1 + found
        place += _HEADER + eights_of(size)
    return covering[:used].copy()


@kernel
def number_terms(group: Ints, is_prefix: Bytes, start: Longs, data: Bytes) -> tuple[Ints, Terms]:
    """Number words data[start[i] : start[i + 1]], none empty: each one's term, and all the terms.

    Terms are numbered as they are met, and their idf is 0 until somebody fills it in.
    """
    term = np.empty(group.size, np.int32)
    record = np.empty((data.size >> 3) + 4 * group.size, np.uint64)
    slot = _slots_for(record[:0], group.size)
    used = count = 0
    for i in range(group.size):
        size = start[i + 1] - start[i]
        record[used] = np.uint64(count) << HALF | np.uint64(size)
        record[used + 1] = owner_of(group[i], is_prefix[i])
        record[used + _HEADER + 1] = 0
        for j in range((size + 7) >> 3):
            record[used + _HEADER + j] = word_of(data, start[i] + 8 * j, start[i + 1])
        known = _enter(slot, record, used)
        term[i] = np.int32(record[known] >> HALF)
        if known == used:
            used += _HEADER + eights_of(size)
            count += 1
    record = record[:used].copy()
    return term, _terms_of(record, count)


@kernel
def _terms_of(record: Words, count: int) -> Terms:
    """The terms that have these records."""
    group = np.empty(count, np.int32)
    is_prefix = np.empty(count, np.uint8)
    start = np.zeros(count + 1, np.int64)
    data = np.empty(8 * record.size, np.uint8)
    every = record.view(np.uint8)
    place = 0
    for term in range(count):
        size = np.int64(record[place] & LOWER_HALF)
        owner = np.int64(record[place + 1])
        group[term] = owner >> 1
        is_prefix[term] = owner & 1
        for i in range(size):
            data[start[term] + i] = every[8 * (place + _HEADER) + i]
        start[term + 1] = start[term] + size
        place += _HEADER + eights_of(size)
    slot = _slots_for(record, count)
    prefixes = _lengths_of_prefixes(record, is_prefix.sum())
    covering = _find_covering(slot, record, prefixes)
    idf = np.zeros(count, np.float64)
    return Terms(group, is_prefix, start, data[: start[count]].copy(), idf, slot, record, prefixes, covering)


@kernel
def fill_idf(terms: Terms, dictionary: DictionaryWords) -> None:
    """Give every word among the terms its idf. A prefix has none: it weighs what a word it covers does."""
    for term in range(terms.group.size):
        if terms.is_prefix[term] == 0:
            terms.idf[term] = idf_of(
                dictionary, terms.group[term], terms.data, terms.start[term], terms.start[term + 1]
            )
