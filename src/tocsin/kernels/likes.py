"""`like` over bytes: one text and one pattern. (Many patterns at once: pattern_search.py.)

A pattern is a row of int16 codes: a byte as itself, ANY_ONE for `_` (one code point), ANY_RUN for
`%`. The match goes left to right and, when stuck, returns only to the last `%` seen. That is quick on
nearly everything, and takes text times pattern on `%aaaab%aaaac%` over a run of `a`. So when it has
read the text a few times over, it starts anew in another way, segment by segment (grammar/likes.py says
why that is right): a segment of plain text is looked for by Knuth, Morris and Pratt's table, one with
`_` between plain text by a bit for each of its bytes, of which the grammar allows few enough.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.jit import kernel

ANY_ONE = 256
ANY_RUN = 257

_PATIENCE = 8
"""How often the simple way may read the text."""


@kernel
def _next_character(data: NDArray[np.uint8], at: int, end: int) -> int:
    at += 1
    while at < end and data[at] & 0xC0 == 0x80:
        at += 1
    return at


@kernel
def _behind_plain(
    data: NDArray[np.uint8], at: int, end: int, pattern: NDArray[np.int16], first: int, last: int
) -> int:
    """Behind the first place of plain text, pattern[first:last], in data[at:end]; -1 when there is none."""
    fall = np.empty(last - first + 1, np.int32)
    fall[0] = -1
    found = -1
    for i in range(first, last):
        while found >= 0 and pattern[first + found] != pattern[i]:
            found = fall[found]
        found += 1
        fall[i - first + 1] = found
    found = 0
    for i in range(at, end):
        while found >= 0 and pattern[first + found] != np.int16(data[i]):
            found = fall[found]
        found += 1
        if found == last - first:
            return i + 1
    return -1


@kernel
def _behind_spaced(
    data: NDArray[np.uint8], at: int, end: int, pattern: NDArray[np.int16], first: int, last: int
) -> int:
    """The same for plain text with `_` in it, which begins and ends with a byte.

    Bit i of `alive` says that what was just read ends with the first i + 1 codes. A `_` takes the byte
    that begins a character, and stays alive over those that go on with it.
    """
    words = (last - first + 63) >> 6
    fits = np.zeros((256, words), np.uint64)
    free = np.zeros(words, np.uint64)
    for i in range(last - first):
        bit = np.uint64(1) << np.uint64(i & 63)
        if pattern[first + i] == ANY_ONE:
            free[i >> 6] |= bit
        else:
            fits[pattern[first + i], i >> 6] |= bit
    for byte in range(256):
        if byte & 0xC0 != 0x80:
            fits[byte] |= free
    final = np.uint64(1) << np.uint64((last - first - 1) & 63)
    alive = np.zeros(words, np.uint64)
    used = 0  # words from here on are zero
    for i in range(at, end):
        carry = np.uint64(1)
        goes_on = data[i] & 0xC0 == 0x80
        reach = min(words, used + 1)
        used = 0
        for w in range(reach):
            was = alive[w]
            now = (was << np.uint64(1) | carry) & fits[data[i], w]
            carry = was >> np.uint64(63)
            if goes_on:
                now |= was & free[w]
            alive[w] = now
            if now != 0:
                used = w + 1
        if alive[words - 1] & final != 0:
            return i + 1
    return -1


@kernel
def _like_by_segments(
    data: NDArray[np.uint8], at: int, end: int, pattern: NDArray[np.int16], place: int, last: int
) -> bool:
    """Whether data[at:end] is like pattern[place:last], which has a `%`."""
    while pattern[place] != ANY_RUN:
        if at == end:
            return False
        if pattern[place] == ANY_ONE:
            at = _next_character(data, at, end)
        elif pattern[place] == np.int16(data[at]):
            at += 1
        else:
            return False
        place += 1
    while pattern[last - 1] != ANY_RUN:
        last -= 1
        if at == end:
            return False
        end -= 1
        if pattern[last] == ANY_ONE:
            while end > at and data[end] & 0xC0 == 0x80:
                end -= 1
        elif pattern[last] != np.int16(data[end]):
            return False
    while True:
        while place < last and (pattern[place] == ANY_RUN or pattern[place] == ANY_ONE):
            if pattern[place] == ANY_ONE:
                if at == end:
                    return False
                at = _next_character(data, at, end)
            place += 1
        if place == last:
            return True
        behind = place
        plain_end = place
        spaced = False
        while pattern[behind] != ANY_RUN:
            if pattern[behind] != ANY_ONE:
                spaced |= plain_end < behind
                plain_end = behind + 1
            behind += 1
        if spaced:
            at = _behind_spaced(data, at, end, pattern, place, plain_end)
        else:
            at = _behind_plain(data, at, end, pattern, place, plain_end)
        if at < 0:
            return False
        place = plain_end


@kernel
def like_one(
    data: NDArray[np.uint8],
    start: int,
    end: int,
    pattern: NDArray[np.int16],
    first: int,
    last: int,
) -> bool:
    """Whether the text data[start:end] is like pattern[first:last]."""
    at = start
    place = first
    run_place = -1  # behind the last %
    run_at = start  # where the text behind that % was last taken to begin
    patience = _PATIENCE * (end - start)
    while True:
        if place < last and pattern[place] == ANY_RUN:
            place += 1
            run_place = place
            run_at = at
            if place == last:
                return True
            continue
        if at == end:
            return place == last
        if place < last and pattern[place] == ANY_ONE:
            place += 1
            at = _next_character(data, at, end)
            continue
        if place < last and pattern[place] == np.int16(data[at]):
            place += 1
            at += 1
            continue
        if run_place < 0:
            return False
        patience -= at - run_at
        if patience < 0:
            return _like_by_segments(data, start, end, pattern, first, last)
        run_at = _next_character(data, run_at, end)
        at = run_at
        place = run_place
