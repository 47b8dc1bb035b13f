"""One predicate, from bytes to its canonical form.

The canonical form is that of conditions/operators.py: what asks the same of
every value is the same here, however it is written. Whatever this reader is not sure of it refuses (regular
expressions, networks, timestamps, long decimals, letters beyond ASCII in `ilike` and text queries,
every mistake), and the grammar's parser, which knows how to report, reads it instead.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.byte_classes import (
    WORD_AND,
    WORD_BETWEEN,
    WORD_ILIKE,
    WORD_IN,
    WORD_IS,
    WORD_LIKE,
    WORD_NOT,
    WORD_NULL,
    WORD_OTHER,
    classify,
    end_of_word,
    is_name_start,
    skip_blanks,
)
from tocsin.arrays.dtypes import Bytes
from tocsin.arrays.jit import inner_kernel, kernel
from tocsin.arrays.text_table import same_bytes
from tocsin.conditions.kernels.constants import (
    BOOLEAN,
    NUMBER,
    STRING,
    UNSURE,
    Operands,
    copy_quoted,
    order_values,
    pack_strings,
    read_value,
    room_for_operands,
)
from tocsin.text.kernels.query_parser import QueryWriting, read_query, room_to_write

EQ = 0
LT = 1
LE = 2
GT = 3
GE = 4
IN = 5
BETWEEN = 6
NULL = 7
LIKE = 8
ILIKE = 9
MATCHES = 10
CIDR = 11
CONTAINS = 12
TM_CONTAINS = 13

NULLS = 5
"""What stands for a kind in `is null`, beside the kinds of value (events/cells.py)."""

TEXTS = 6
"""What stands for a kind in free text, which takes all strings of an event's field as one document."""

BOOLEAN_READING = -1
"""The `low` of a text predicate's second operand when that is `boolean` and no threshold."""

BETWEEN_NAMES = 255
"""The byte between the names of a path: no byte of UTF-8."""

_CONTAINS = np.frombuffer(b"contains", np.uint8)
_TM_CONTAINS = np.frombuffer(b"tm_contains", np.uint8)
_BOOLEAN = np.frombuffer(b"boolean", np.uint8)

_PERCENT = 37
_UNDERSCORE = 95
_BACKSLASH = 92
_LONGEST_PATTERN = 10_000
"""Bytes of a `like` pattern; a longer one is for the grammar, which knows what is too much of it."""


class Room(NamedTuple):
    """Where predicates are written, with as many entries to spare as the next one has bytes, and one more.

    operands   see constants.py
    path       uint8[...]   the names of fields, BETWEEN_NAMES between them
    spare      uint8[...]   for one predicate at a time
    writing                 for a text query, which is only tried
    """

    operands: Operands
    path: Bytes
    spare: Bytes
    writing: QueryWriting


@kernel
def room_for_predicates(total: int, longest: int) -> Room:
    """Room for predicates of so many bytes together, the longest of so many."""
    spare = np.empty(longest + 1, np.uint8)
    path = np.empty(total + 1, np.uint8)
    return Room(room_for_operands(total + 1, total + 1), path, spare, room_to_write(longest, longest))


@kernel
def _read_path(data: Bytes, at: int, end: int, alias: Bytes, path: Bytes, used: int) -> tuple[int, int]:
    """Copy the field that begins at `at`, a first name that is the alias left out.

    Behind it (or UNSURE), and the new use of path.
    """
    first = True
    while True:
        at_alias = False
        if at >= end:
            return UNSURE, used
        if data[at] == 34:
            at, used = copy_quoted(data, at, end, path, used)
            if at == UNSURE:
                return UNSURE, used
        elif is_name_start(data[at]):
            stop = end_of_word(data, at, end)
            if first:
                if classify(data, at, stop) != WORD_OTHER:
                    return UNSURE, used
                at_alias = stop - at == alias.size and same_bytes(data, at, alias, 0, alias.size)
            if not at_alias:
                for i in range(at, stop):
                    path[used] = data[i]
                    used += 1
            at = stop
        else:
            return UNSURE, used
        first = False
        dot = skip_blanks(data, at, end)
        if dot >= end or data[dot] != 46:
            return (UNSURE if at_alias else at), used
        if not at_alias:
            path[used] = BETWEEN_NAMES
            used += 1
        at = skip_blanks(data, dot + 1, end)


@kernel
def _opens_call(data: Bytes, at: int, end: int) -> bool:
    """Whether the word at `at` stands before a parenthesis."""
    behind = skip_blanks(data, end_of_word(data, at, end), end)
    return behind < end and data[behind] == 40


@kernel
def _comparison(data: Bytes, at: int, end: int) -> tuple[int, int, int]:
    """The comparison at `at`: its test (UNSURE: none), whether it is negated, and its length."""
    byte = data[at]
    following = data[at + 1] if at + 1 < end else np.uint8(0)
    if byte == 61:
        return EQ, 0, 1
    if byte == 33 and following == 61:
        return EQ, 1, 2
    if byte == 60:
        if following == 62:
            return EQ, 1, 2
        if following == 61:
            return LE, 0, 2
        return LT, 0, 1
    if byte == 62:
        if following == 61:
            return GE, 0, 2
        return GT, 0, 1
    return UNSURE, 0, 0


@kernel
def _word_at(data: Bytes, at: int, end: int) -> tuple[int, int]:
    """The keyword at `at` (WORD_OTHER: none), and the next word's place behind it."""
    if at >= end or not is_name_start(data[at]):
        return WORD_OTHER, at
    stop = end_of_word(data, at, end)
    return classify(data, at, stop), skip_blanks(data, stop, end)


@kernel
def _read_list(
    data: Bytes, at: int, end: int, room: Room, place: int, used: int
) -> tuple[int, int, int, int]:
    """The values of an `in` from its parenthesis on: behind it, kind, end of operands, use of text."""
    refused = (UNSURE, NUMBER, place, used)
    if at >= end or data[at] != 40:
        return refused
    first = used
    last = place
    kind_of_all = NUMBER
    while True:
        at = skip_blanks(data, at + 1, end)
        at, kind, used = read_value(data, at, end, room.operands, last, used)
        if at == UNSURE or (last > place and kind != kind_of_all):
            return refused
        kind_of_all = kind
        last += 1
        at = skip_blanks(data, at, end)
        if at < end and data[at] == 44:
            continue
        if at < end and data[at] == 41:
            break
        return refused
    last = order_values(room.operands, place, last, kind_of_all == STRING)
    if kind_of_all == STRING:
        used = pack_strings(room.operands, place, last, first, room.spare)
    return at + 1, kind_of_all, last, used


@kernel
def _read_between(
    data: Bytes, at: int, end: int, into: Operands, place: int, used: int
) -> tuple[int, int, int, int]:
    """The two ends of a `between`, one when they are equal: behind them, and the rest as _read_list."""
    first = used
    refused = (UNSURE, NUMBER, place, first)
    at, kind, used = read_value(data, at, end, into, place, used)
    if at == UNSURE:
        return refused
    word, at = _word_at(data, skip_blanks(data, at, end), end)
    if word != WORD_AND:
        return refused
    at, kind_of_high, used = read_value(data, at, end, into, place + 1, used)
    if at == UNSURE or kind_of_high != kind:
        return refused
    size = into.low[place]
    equal = size == into.low[place + 1]
    if kind == STRING:
        equal = equal and same_bytes(into.text, first, into.text, first + size, size)
        into.high[place] = 0
        into.high[place + 1] = 0
    elif into.high[place] != into.high[place + 1]:
        equal = False
    if equal:
        return at, kind, place + 1, first + size if kind == STRING else first
    return at, kind, place + 2, used


@kernel
def _read_pattern(
    data: Bytes, at: int, end: int, folded: bool, text: Bytes, used: int, spare: Bytes
) -> tuple[int, bool, int]:
    """The pattern of a `like` (or, folded, an `ilike`): behind it, has it wildcards, the use of text.

    A backslash stays only before a character that needs one, and `%%` is `%`.
    """
    if at >= end or data[at] != 39:
        return UNSURE, False, used
    at, size = copy_quoted(data, at, end, spare, 0)
    if at == UNSURE or size > _LONGEST_PATTERN:
        return UNSURE, False, used
    wild = False
    behind_run = False
    i = 0
    while i < size:
        byte = spare[i]
        i += 1
        if byte == _PERCENT or byte == _UNDERSCORE:
            wild = True
            if byte == _PERCENT and behind_run:
                continue
            behind_run = byte == _PERCENT
        else:
            if byte == _BACKSLASH:
                if i == size:
                    return UNSURE, False, used
                byte = spare[i]
                i += 1
            if folded and byte >= 128:
                return UNSURE, False, used
            if folded and 65 <= byte <= 90:
                byte |= 32
            if byte == _PERCENT or byte == _UNDERSCORE or byte == _BACKSLASH:
                text[used] = _BACKSLASH
                used += 1
            behind_run = False
        text[used] = byte
        used += 1
    return at, wild, used


@kernel
def _without_backslashes(text: Bytes, first: int, end: int) -> int:
    """Make a canonical pattern without wildcards the text that it stands for; its new end."""
    used = first
    i = first
    while i < end:
        if text[i] == _BACKSLASH:
            i += 1
        text[used] = text[i]
        used += 1
        i += 1
    return used


@kernel
def _read_worded(
    data: Bytes, at: int, end: int, word: int, room: Room, place: int, used: int
) -> tuple[int, int, int, int, int]:
    """What follows in, between, like or ilike: behind it, test, kind, end of operands, use of text."""
    if word == WORD_IN:
        at, kind, last, used = _read_list(data, at, end, room, place, used)
        return at, IN if last > place + 1 else EQ, kind, last, used
    if word == WORD_BETWEEN:
        at, kind, last, used = _read_between(data, at, end, room.operands, place, used)
        return at, BETWEEN if last > place + 1 else EQ, kind, last, used
    if word == WORD_LIKE or word == WORD_ILIKE:
        first = used
        text = room.operands.text
        at, wild, used = _read_pattern(data, at, end, word == WORD_ILIKE, text, used, room.spare)
        test = LIKE if word == WORD_LIKE else ILIKE
        if word == WORD_LIKE and not wild:
            test = EQ
            used = _without_backslashes(text, first, used)
        room.operands.high[place] = 0
        room.operands.low[place] = used - first
        return at, test, STRING, place + 1, used
    return UNSURE, EQ, NUMBER, place, used


@inner_kernel
def _is_word(data: Bytes, at: int, end: int, word: Bytes) -> bool:
    """Whether data[at:end] is this word, in any case."""
    if end - at != word.size:
        return False
    for i in range(word.size):
        byte = data[at + i]
        if (byte | 32 if 65 <= byte <= 90 else byte) != word[i]:
            return False
    return True


@kernel
def _read_threshold(data: Bytes, at: int, end: int, into: Operands, place: int) -> int:
    """Read a threshold or `boolean` into operand `place`: behind it, or UNSURE."""
    if at >= end:
        return UNSURE
    if is_name_start(data[at]):
        behind = end_of_word(data, at, end)
        into.high[place] = 0
        into.low[place] = BOOLEAN_READING
        return behind if _is_word(data, at, behind, _BOOLEAN) else UNSURE
    if not 48 <= data[at] <= 57:
        return UNSURE
    at, _, _ = read_value(data, at, end, into, place, place)
    return at if into.low[place] == 0 else UNSURE


@kernel
def _read_contains(
    data: Bytes, at: int, end: int, alias: Bytes, room: Room, place: int, used: int, path_used: int
) -> tuple[int, int, int, int]:
    """Read contains(...) or tm_contains(...): its test (or UNSURE), and the ends as read_predicate has them.

    Only when the query is one that becomes arrays without the grammar's help.
    """
    refused = (UNSURE, place, used, path_used)
    behind = end_of_word(data, at, end)
    any_gap = _is_word(data, at, behind, _TM_CONTAINS)
    if not any_gap and not _is_word(data, at, behind, _CONTAINS):
        return refused
    at = skip_blanks(data, skip_blanks(data, behind, end) + 1, end)
    at, path_end = _read_path(data, at, end, alias, room.path, path_used)
    if at == UNSURE:
        return refused
    at = skip_blanks(data, at, end)
    if at >= end or data[at] != 44:
        return refused
    at = skip_blanks(data, at + 1, end)
    if at >= end or data[at] != 39:
        return refused
    into, writing = room.operands, room.writing
    at, filled = copy_quoted(data, at, end, into.text, used)
    writing.used[:] = 0
    if at == UNSURE or not read_query(into.text, np.int64(used), np.int64(filled), any_gap, False, writing):
        return refused
    into.high[place] = 0
    into.low[place] = filled - used
    last = place + 1
    at = skip_blanks(data, at, end)
    if at < end and data[at] == 44:
        at = _read_threshold(data, skip_blanks(data, at + 1, end), end, into, last)
        if at == UNSURE:
            return refused
        last += 1
        at = skip_blanks(data, at, end)
    if at >= end or data[at] != 41 or skip_blanks(data, at + 1, end) < end:
        return refused
    return TM_CONTAINS if any_gap else CONTAINS, last, filled, path_end


@kernel
def read_predicate(
    data: Bytes, at: int, end: int, alias: Bytes, room: Room, place: int, used: int, path_used: int
) -> tuple[int, int, int, int, int, int]:
    """Read the predicate data[at:end] whole; a first name of its field that is the alias is left out.

    Its test (or UNSURE: nothing is added), kind, 1 when it is written in its negated form, and the
    new ends: of operands from `place` on, of text, of path. An empty alias is none.
    """
    refused = (UNSURE, NUMBER, 0, place, used, path_used)
    into = room.operands
    if is_name_start(data[at]) and _opens_call(data, at, end):
        test, last, used, path_end = _read_contains(data, at, end, alias, room, place, used, path_used)
        return test, TEXTS, 0, last, used, path_end
    at, path_end = _read_path(data, at, end, alias, room.path, path_used)
    if at == UNSURE:
        return refused
    at = skip_blanks(data, at, end)
    if at >= end:
        into.high[place] = 1
        into.low[place] = 0
        return EQ, BOOLEAN, 0, place + 1, used, path_end
    first = used
    last = place + 1
    test, negated, size = _comparison(data, at, end)
    if test != UNSURE:
        at = skip_blanks(data, at + size, end)
        at, kind, used = read_value(data, at, end, into, place, used)
        if kind == STRING:
            into.high[place] = 0
    else:
        word, at = _word_at(data, at, end)
        if word == WORD_IS:
            word, at = _word_at(data, at, end)
            if word == WORD_NOT:
                negated = 1
                word, at = _word_at(data, at, end)
            test, kind, last = NULL, NULLS, place
            if word != WORD_NULL:
                return refused
        else:
            if word == WORD_NOT:
                negated = 1
                word, at = _word_at(data, at, end)
            at, test, kind, last, used = _read_worded(data, at, end, word, room, place, first)
    if at == UNSURE or skip_blanks(data, at, end) < end:
        return refused
    return test, kind, negated, last, used, path_end
