"""`like` over bytes: one text and one pattern. (Many patterns at once: pattern_search.py.)

A pattern is a row of int16 codes: a byte as itself, ANY_ONE for `_` (one code point), ANY_RUN for
`%`. The match goes left to right and, when stuck, returns only to the last `%` seen, so it takes
time proportional to text times pattern at worst, whatever the pattern.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.jit import kernel

ANY_ONE = 256
ANY_RUN = 257


@kernel
def _next_character(data: NDArray[np.uint8], at: int, end: int) -> int:
    at += 1
    while at < end and data[at] & 0xC0 == 0x80:
        at += 1
    return at


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
        run_at = _next_character(data, run_at, end)
        at = run_at
        place = run_place
