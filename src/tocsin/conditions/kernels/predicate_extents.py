"""Where a predicate ends, before anyone has understood it.

A predicate runs up to a connective or a closing parenthesis of the skeleton: the `and` of a
`between`, quoted text, names behind a dot and what stands in its own parentheses belong to it. The
two plain forms that rule sets are full of are found without looking at every word.
"""

from __future__ import annotations

import numpy as np

from tocsin.arrays.bits import EVERY_BYTE, eight_bytes, lowest_bit
from tocsin.arrays.byte_classes import (
    WORD_AND,
    WORD_BETWEEN,
    WORD_XNOR,
    bytes_equal,
    classify,
    end_of_word,
    is_name_part,
    is_name_start,
    skip_blanks,
    skip_quoted,
)
from tocsin.arrays.dtypes import Bytes
from tocsin.arrays.jit import inner_kernel, kernel

UNSURE = -1

_TOP = np.uint64(7)
"""Where in a byte the bit is that says that it is one of those looked for."""


@inner_kernel
def _skip_spaces(data: Bytes, at: int, end: int) -> int:
    while at < end and data[at] == 32:
        at += 1
    return at


@inner_kernel
def _end_of_usual_list(data: Bytes, at: int, end: int) -> int:
    """Behind the list of values whose parenthesis is at `at`, eight bytes at a time.

    UNSURE when there is more than digits, letters and quoted text in it, or the text ends soon.
    """
    at += 1
    quoted = np.uint64(0)
    while at + 8 <= end:
        word = eight_bytes(data, at)
        odd_quotes = bytes_equal(word, 39) >> _TOP
        odd_quotes ^= odd_quotes << np.uint64(8)
        odd_quotes ^= odd_quotes << np.uint64(16)
        odd_quotes ^= odd_quotes << np.uint64(32)
        outside = ~((odd_quotes ^ quoted) << _TOP)
        closing = bytes_equal(word, 41) & outside
        unusual = (bytes_equal(word, 40) | bytes_equal(word, 34) | bytes_equal(word, 45)) & outside
        if closing | unusual != 0:
            if (closing & -closing) - np.uint64(1) & unusual != 0 or closing == 0:
                return UNSURE
            return at + (lowest_bit(closing) >> 3) + 1
        quoted ^= (odd_quotes >> np.uint64(56)) * EVERY_BYTE
        at += 8
    return UNSURE


@inner_kernel
def _end_of_list(data: Bytes, at: int, end: int) -> int:
    """Behind the list of values whose parenthesis is at `at`; UNSURE when it is not a plain one."""
    usual = _end_of_usual_list(data, at, end)
    if usual > 0:
        return usual
    at += 1
    while at < end:
        byte = data[at]
        if byte == 41:
            return at + 1
        if byte == 39:
            at = skip_quoted(data, at, end)
            if at < 0:
                return UNSURE
            continue
        if byte == 40 or byte == 34 or (byte == 45 and at + 1 < end and data[at + 1] == 45):
            return UNSURE
        at += 1
    return UNSURE


@inner_kernel
def _end_of_plain(data: Bytes, at: int, end: int) -> int:
    """The end of `name = value` (or another comparison) or `name in (...)`; UNSURE: something else.

    `at` is behind the first name.
    """
    while at + 1 < end and data[at] == 46 and is_name_start(data[at + 1]):
        at = end_of_word(data, at + 1, end)
    at = _skip_spaces(data, at, end)
    if at + 3 >= end:
        return UNSURE
    byte = data[at]
    if 60 <= byte <= 62 or byte == 33:
        at += 1
        if data[at] == 61 or data[at] == 62:
            at += 1
        at = _skip_spaces(data, at, end)
        if at >= end:
            return UNSURE
        if data[at] == 39:
            at = skip_quoted(data, at, end)
            if at < 0:
                return UNSURE
        else:
            if data[at] == 45:
                at += 1
            if at >= end or not 48 <= data[at] <= 57:
                return UNSURE
            at = end_of_word(data, at, end)
            while at < end and data[at] == 46:
                at = end_of_word(data, at + 1, end)
    elif (byte | 32) == 105 and (data[at + 1] | 32) == 110 and not is_name_part(data[at + 2]):
        at = _skip_spaces(data, at + 2, end)
        if at >= end or data[at] != 40:
            return UNSURE
        at = _end_of_list(data, at, end)
        if at < 0:
            return UNSURE
    else:
        return UNSURE
    if at == end or data[at] == 32 or data[at] == 41:
        return at
    return UNSURE


@kernel
def _end_of_any(data: Bytes, at: int, end: int) -> int:
    """The end of the predicate that begins at `at`, word by word; UNSURE: none is found."""
    depth = 0
    between_open = 0
    behind_dot = False
    last = at
    while at < end:
        at = skip_blanks(data, at, end)
        if at >= end:
            break
        byte = data[at]
        if byte == 39 or byte == 34:
            at = skip_quoted(data, at, end)
            if at < 0:
                return UNSURE
            behind_dot = False
        elif byte == 40:
            depth += 1
            at += 1
            behind_dot = False
        elif byte == 41:
            if depth == 0:
                break
            depth -= 1
            at += 1
            behind_dot = False
        elif is_name_start(byte):
            word_end = end_of_word(data, at, end)
            if depth == 0 and not behind_dot:
                word = classify(data, at, word_end)
                if word == WORD_BETWEEN:
                    between_open += 1
                elif word == WORD_AND and between_open > 0:
                    between_open -= 1
                elif WORD_AND <= word <= WORD_XNOR:
                    break
            at = word_end
            behind_dot = False
        elif 48 <= byte <= 57:
            at += 1
            while at < end and (is_name_part(data[at]) or data[at] == 46):
                at += 1
            behind_dot = False
        else:
            behind_dot = byte == 46
            at += 1
        last = at
    if depth != 0:
        return UNSURE
    return last


@inner_kernel
def end_of_predicate(data: Bytes, at: int, name_end: int, end: int) -> int:
    """The end of the predicate that begins at `at`, trailing blanks left out; UNSURE: none is found.

    name_end is behind its first word; `at` again when it begins with a quote.
    """
    if name_end > at:
        plain = _end_of_plain(data, name_end, end)
        if plain > 0:
            return plain
    return _end_of_any(data, at, end)
