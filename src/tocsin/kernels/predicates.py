"""One predicate, from bytes to its canonical form.

The canonical form is that of grammar/canonical/predicates.py: what asks the same of every value is
the same here, however it is written. Whatever this reader is not sure of it refuses (regular
expressions, networks, timestamps, long decimals, letters beyond ASCII in `ilike`, every mistake), and
the grammar's parser, which knows how to report, reads it instead.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.jit import kernel
from tocsin.kernels.values import (
    BOOLEAN,
    NUMBER,
    STRING,
    UNSURE,
    Operands,
    copy_quoted,
    order_operands,
    pack_texts,
    read_value,
    room_for_operands,
)
from tocsin.kernels.words import (
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

NULLS = 5
"""What stands for a kind in `is null`, beside the kinds of value (events/kinds.py)."""

BETWEEN_NAMES = 255
"""The byte between the names of a path: no byte of UTF-8."""

_PERCENT = 37
_UNDERSCORE = 95
_BACKSLASH = 92


class Room(NamedTuple):
    """Room to read one predicate.

    path       uint8[n]   its field: the names, BETWEEN_NAMES between them
    operands              its operands
    """

    path: NDArray[np.uint8]
    operands: Operands


class Form(NamedTuple):
    """What a predicate asks; the field and the operands lie in a Room.

    test       EQ ... CIDR, or UNSURE: refused
    kind       a Kind, or NULLS
    negated    1 when it is written in its negated form
    count      of operands: distinct, ascending for IN
    text       bytes of operands.text that are the operands' strings, one after the other
    path       bytes of the path
    """

    test: int
    kind: int
    negated: int
    count: int
    text: int
    path: int


@kernel
def room_for_predicates(size: int) -> Room:
    """Room for predicates of at most so many bytes."""
    return Room(np.empty(size + 1, np.uint8), room_for_operands(size + 1))


@kernel
def _refused() -> Form:
    return Form(UNSURE, NUMBER, 0, 0, 0, 0)


@kernel
def _is_alias(data: NDArray[np.uint8], at: int, end: int, alias: NDArray[np.uint8]) -> bool:
    if end - at != alias.size:
        return False
    for i in range(alias.size):
        if data[at + i] != alias[i]:
            return False
    return True


@kernel
def _read_path(
    data: NDArray[np.uint8], at: int, end: int, alias: NDArray[np.uint8], path: NDArray[np.uint8]
) -> tuple[int, int]:
    """Copy the field that begins at `at`, a first name that is the alias left out.

    Behind it (or UNSURE), and how many bytes of the path are used.
    """
    used = 0
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
                at_alias = _is_alias(data, at, stop, alias)
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
def _opens_call(data: NDArray[np.uint8], at: int, end: int) -> bool:
    """Whether the word at `at` stands before a parenthesis."""
    behind = skip_blanks(data, end_of_word(data, at, end), end)
    return behind < end and data[behind] == 40


@kernel
def _comparison(data: NDArray[np.uint8], at: int, end: int) -> tuple[int, int, int]:
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
def _word_at(data: NDArray[np.uint8], at: int, end: int) -> tuple[int, int]:
    """The keyword at `at` (WORD_OTHER: none), and the next word's place behind it."""
    if at >= end or not is_name_start(data[at]):
        return WORD_OTHER, at
    stop = end_of_word(data, at, end)
    return classify(data, at, stop), skip_blanks(data, stop, end)


@kernel
def _read_list(data: NDArray[np.uint8], at: int, end: int, room: Operands) -> tuple[int, int, int, int]:
    """The values of an `in` from its parenthesis on: behind it, kind, count, bytes of text."""
    if at >= end or data[at] != 40:
        return UNSURE, NUMBER, 0, 0
    count = 0
    used = 0
    kind_of_all = UNSURE
    while True:
        at = skip_blanks(data, at + 1, end)
        at, kind, used = read_value(data, at, end, room, count, used)
        if at == UNSURE or (count > 0 and kind != kind_of_all):
            return UNSURE, NUMBER, 0, 0
        kind_of_all = kind
        count += 1
        at = skip_blanks(data, at, end)
        if at < end and data[at] == 44:
            continue
        if at < end and data[at] == 41:
            break
        return UNSURE, NUMBER, 0, 0
    count = order_operands(room, kind_of_all == STRING, count)
    if kind_of_all == STRING:
        used = pack_texts(room, count)
    return at + 1, kind_of_all, count, used


@kernel
def _read_between(data: NDArray[np.uint8], at: int, end: int, room: Operands) -> tuple[int, int, int, int]:
    """The two ends of a `between`: behind them, kind, count (1 when they are equal), bytes of text."""
    at, kind, used = read_value(data, at, end, room, 0, 0)
    if at == UNSURE:
        return UNSURE, NUMBER, 0, 0
    word, at = _word_at(data, skip_blanks(data, at, end), end)
    if word != WORD_AND:
        return UNSURE, NUMBER, 0, 0
    at, kind_of_high, used = read_value(data, at, end, room, 1, used)
    if at == UNSURE or kind_of_high != kind:
        return UNSURE, NUMBER, 0, 0
    equal = room.low[0] == room.low[1]
    if kind == STRING:
        if equal:
            for i in range(room.low[0]):
                equal = equal and room.text[i] == room.text[room.low[0] + i]
        room.high[0] = 0
        room.high[1] = 0
    elif room.high[0] != room.high[1]:
        equal = False
    if equal:
        return at, kind, 1, room.low[0] if kind == STRING else 0
    return at, kind, 2, used


@kernel
def _read_pattern(
    data: NDArray[np.uint8], at: int, end: int, folded: bool, room: Operands
) -> tuple[int, int, int]:
    """The pattern of a `like` (or, folded, an `ilike`): behind it, whether it has wildcards, its bytes.

    A backslash stays only before a character that needs one, and `%%` is `%`.
    """
    if at >= end or data[at] != 39:
        return UNSURE, 0, 0
    at, size = copy_quoted(data, at, end, room.spare, 0)
    if at == UNSURE:
        return UNSURE, 0, 0
    wild = 0
    used = 0
    i = 0
    behind_run = False
    while i < size:
        byte = room.spare[i]
        i += 1
        if byte == _PERCENT or byte == _UNDERSCORE:
            wild = 1
            if byte == _PERCENT and behind_run:
                continue
            behind_run = byte == _PERCENT
        else:
            if byte == _BACKSLASH:
                if i == size:
                    return UNSURE, 0, 0
                byte = room.spare[i]
                i += 1
            if folded and byte >= 128:
                return UNSURE, 0, 0
            if folded and 65 <= byte <= 90:
                byte |= 32
            if byte == _PERCENT or byte == _UNDERSCORE or byte == _BACKSLASH:
                room.text[used] = _BACKSLASH
                used += 1
            behind_run = False
        room.text[used] = byte
        used += 1
    return at, wild, used


@kernel
def _without_backslashes(text: NDArray[np.uint8], size: int) -> int:
    """Make a canonical pattern without wildcards the text that it stands for; its size."""
    used = 0
    i = 0
    while i < size:
        if text[i] == _BACKSLASH:
            i += 1
        text[used] = text[i]
        used += 1
        i += 1
    return used


@kernel
def _read_worded(
    data: NDArray[np.uint8], at: int, end: int, word: int, room: Operands
) -> tuple[int, int, int, int, int]:
    """What follows the word in, between, like or ilike: behind it, test, kind, count, bytes of text."""
    if word == WORD_IN:
        at, kind, count, used = _read_list(data, at, end, room)
        return at, IN if count > 1 else EQ, kind, count, used
    if word == WORD_BETWEEN:
        at, kind, count, used = _read_between(data, at, end, room)
        return at, BETWEEN if count > 1 else EQ, kind, count, used
    if word == WORD_LIKE or word == WORD_ILIKE:
        at, wild, used = _read_pattern(data, at, end, word == WORD_ILIKE, room)
        test = LIKE if word == WORD_LIKE else ILIKE
        if word == WORD_LIKE and wild == 0:
            test = EQ
            used = _without_backslashes(room.text, used)
        room.high[0] = 0
        room.low[0] = used
        return at, test, STRING, 1, used
    return UNSURE, EQ, NUMBER, 0, 0


@kernel
def read_predicate(data: NDArray[np.uint8], at: int, end: int, alias: NDArray[np.uint8], room: Room) -> Form:
    """Read the predicate data[at:end] whole; a first name of its field that is the alias is left out.

    An empty alias is none.
    """
    operands = room.operands
    if is_name_start(data[at]) and _opens_call(data, at, end):
        return _refused()
    at, path = _read_path(data, at, end, alias, room.path)
    if at == UNSURE:
        return _refused()
    at = skip_blanks(data, at, end)
    if at >= end:
        operands.high[0] = 1
        operands.low[0] = 0
        return Form(EQ, BOOLEAN, 0, 1, 0, path)
    test, negated, size = _comparison(data, at, end)
    used = 0
    count = 1
    if test != UNSURE:
        at = skip_blanks(data, at + size, end)
        at, kind, used = read_value(data, at, end, operands, 0, 0)
    else:
        word, at = _word_at(data, at, end)
        if word == WORD_IS:
            word, at = _word_at(data, at, end)
            if word == WORD_NOT:
                negated = 1
                word, at = _word_at(data, at, end)
            test, kind, count = NULL, NULLS, 0
            if word != WORD_NULL:
                return _refused()
        else:
            if word == WORD_NOT:
                negated = 1
                word, at = _word_at(data, at, end)
            at, test, kind, count, used = _read_worded(data, at, end, word, operands)
    if at == UNSURE or skip_blanks(data, at, end) < end:
        return _refused()
    return Form(test, kind, negated, count, used, path)
