"""`like` over bytes: one text and one pattern. (Many patterns at once: pattern_search.py.)

A pattern is a row of int16 codes: a byte as itself, ANY_ONE for `_` (one code point), ANY_RUN for
`%`. The match goes left to right and, when stuck, returns only to the last `%` seen. That is quick on
nearly everything, and takes text times pattern on `%aaaab%aaaac%` over a run of `a`. So when it has
read the text a few times over, it starts anew in another way, segment by segment (language/like_patterns.py
says why that is right): a segment of plain text is looked for by Knuth, Morris and Pratt's table, one with
`_` between plain text by a bit for each of its bytes, of which the grammar allows few enough.

All that may take long on one long text: so the second way stops when it has done its share of work, and goes
on when it is called again. Ctrl-C is seen between calls alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.dtypes import Bytes, Longs, Words
from tocsin.arrays.jit import kernel

ANY_ONE = 256
ANY_RUN = 257

_PATIENCE = 8
"""How often the simple way may read the text."""
_MOST_PATIENCE = 1 << 25
"""And how many bytes again, of a long one."""

NO = 0
YES = 1
UNDECIDED = 2
"""Whether a text is like a pattern, as far as is known."""

_AT = 0
_END = 1
_PLACE = 2
_LAST = 3
_INSIDE = 4


class Segments(NamedTuple):
    """How far the second way came with a text and a pattern.

    state   int64[5]    what is left of the text (_AT, _END) and of the pattern (_PLACE, _LAST); whether it
                        stopped inside a segment with `_`
    alive   uint64[n]   the bits of that segment
    """

    state: Longs
    alive: Words


@kernel
def _next_character(data: Bytes, at: int, end: int) -> int:
    at += 1
    while at < end and data[at] & 0xC0 == 0x80:
        at += 1
    return at


@kernel
def _behind_plain(data: Bytes, at: int, end: int, pattern: NDArray[np.int16], first: int, last: int) -> int:
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
    data: Bytes,
    at: int,
    end: int,
    pattern: NDArray[np.int16],
    first: int,
    last: int,
    alive: Words,
    left: Longs,
) -> tuple[int, int]:
    """The same for plain text with `_` in it, which begins and ends with a byte; and how far it came.

    Bit i of `alive` says that what was just read ends with the first i + 1 codes. A `_` takes the byte
    that begins a character, and stays alive over those that go on with it. It stops when nothing is left
    of the work that may be done.
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
    used = words  # words from here on are zero
    work = left[0]
    found = -1
    while at < end and work > 0:
        carry = np.uint64(1)
        byte = data[at]
        goes_on = byte & 0xC0 == 0x80
        reach = min(words, used + 1)
        used = 0
        for w in range(reach):
            was = alive[w]
            now = (was << np.uint64(1) | carry) & fits[byte, w]
            carry = was >> np.uint64(63)
            if goes_on:
                now |= was & free[w]
            alive[w] = now
            if now != 0:
                used = w + 1
        at += 1
        work -= reach
        if alive[words - 1] & final != 0:
            found = at
            break
    left[0] = work
    return found, at


@kernel
def begin_segments(
    data: Bytes, at: int, end: int, pattern: NDArray[np.int16], place: int, last: int
) -> Segments:
    """The second way at its beginning: data[at:end] and pattern[place:last], which has a `%`.

    What stands before the first `%` and behind the last one is compared here. If it differs, _INSIDE is -1.
    """
    segments = Segments(np.zeros(5, np.int64), np.zeros((last - place + 63) >> 6, np.uint64))
    state = segments.state
    state[_INSIDE] = -1
    while pattern[place] != ANY_RUN:
        if at == end:
            return segments
        if pattern[place] == ANY_ONE:
            at = _next_character(data, at, end)
        elif pattern[place] == np.int16(data[at]):
            at += 1
        else:
            return segments
        place += 1
    while pattern[last - 1] != ANY_RUN:
        last -= 1
        if at == end:
            return segments
        end -= 1
        if pattern[last] == ANY_ONE:
            while end > at and data[end] & 0xC0 == 0x80:
                end -= 1
        elif pattern[last] != np.int16(data[end]):
            return segments
    state[_AT] = at
    state[_END] = end
    state[_PLACE] = place
    state[_LAST] = last
    state[_INSIDE] = 0
    return segments


@kernel
def like_by_segments(data: Bytes, pattern: NDArray[np.int16], segments: Segments, left: Longs) -> int:
    """Go on in the second way; UNDECIDED when nothing is left of the work that may be done."""
    state = segments.state
    if state[_INSIDE] < 0:
        return NO
    at = state[_AT]
    end = state[_END]
    place = state[_PLACE]
    last = state[_LAST]
    while True:
        while place < last and (pattern[place] == ANY_RUN or pattern[place] == ANY_ONE):
            if pattern[place] == ANY_ONE:
                if at == end:
                    return NO
                at = _next_character(data, at, end)
            place += 1
        if place == last:
            return YES
        behind = place
        plain_end = place
        spaced = False
        while pattern[behind] != ANY_RUN:
            if pattern[behind] != ANY_ONE:
                spaced |= plain_end < behind
                plain_end = behind + 1
            behind += 1
        if spaced:
            if state[_INSIDE] == 0:
                segments.alive[: (plain_end - place + 63) >> 6] = np.uint64(0)
            found, at = _behind_spaced(data, at, end, pattern, place, plain_end, segments.alive, left)
            if found < 0 and at < end:
                state[_AT] = at
                state[_PLACE] = place
                state[_INSIDE] = 1
                return UNDECIDED
            state[_INSIDE] = 0
        else:
            found = _behind_plain(data, at, end, pattern, place, plain_end)
            left[0] -= (end if found < 0 else found) - at
        if found < 0:
            return NO
        at = found
        place = plain_end


@kernel
def like_quickly(
    data: Bytes, start: int, end: int, pattern: NDArray[np.int16], first: int, last: int, left: Longs
) -> int:
    """Whether the text data[start:end] is like pattern[first:last], in the simple way.

    UNDECIDED when it lost patience. The work that was done is taken from what is left.
    """
    at = start
    place = first
    run_place = -1  # behind the last %
    run_at = start  # where the text behind that % was last taken to begin
    most = min(_PATIENCE * (end - start), _MOST_PATIENCE)
    patience = most
    answer = NO
    while True:
        if place < last and pattern[place] == ANY_RUN:
            place += 1
            run_place = place
            run_at = at
            if place == last:
                answer = YES
                break
            continue
        if at == end:
            answer = YES if place == last else NO
            break
        if place < last and pattern[place] == ANY_ONE:
            place += 1
            at = _next_character(data, at, end)
            continue
        if place < last and pattern[place] == np.int16(data[at]):
            place += 1
            at += 1
            continue
        if run_place < 0:
            break
        patience -= at - run_at
        if patience < 0:
            answer = UNDECIDED
            break
        run_at = _next_character(data, run_at, end)
        at = run_at
        place = run_place
    left[0] -= most - patience + at - start + 1
    return answer
