"""The documents of a batch, before they are cut into words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.bits import eight_bytes
from tocsin.arrays.byte_classes import TOPS
from tocsin.arrays.dtypes import Bytes, Longs
from tocsin.arrays.jit import kernel
from tocsin.text.kernels.tokenizer import Characters


class Documents(NamedTuple):
    """The different documents of one field in a batch: each a text, or the elements of a list.

    start        int64[E+1]   bytes of element e: data[start[e] : start[e+1]]
    data         uint8[...]   ASCII as it came, upper case included; everything else normalised UTF-8
    elements     int64[D+1]   elements of document d: elements[d] ... elements[d+1]; no phrase crosses
                              from one to the next
    characters                what the characters beyond ASCII are to words
    """

    start: Longs
    data: Bytes
    elements: Longs
    characters: Characters


@kernel
def texts_beyond_ascii(start: Longs, data: Bytes) -> Longs:
    """Which of the texts data[start[i] : start[i + 1]] are not all ASCII."""
    found = np.empty(start.size - 1, np.int64)
    count = 0
    for text in range(start.size - 1):
        at, end = start[text], start[text + 1]
        every = np.uint64(0)
        while at + 8 <= end:
            every |= eight_bytes(data, at)
            at += 8
        while at < end:
            every |= np.uint64(data[at])
            at += 1
        if every & TOPS != 0:
            found[count] = text
            count += 1
    return found[:count].copy()
