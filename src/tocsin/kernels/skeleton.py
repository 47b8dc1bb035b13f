"""The Boolean skeleton of condition texts, read straight from their bytes.

A condition's text is cut into predicates and connectives. Predicates are not understood here: their
bytes are interned, and the grammar's own parser reads each distinct one once. What this loop is not
sure about it rejects, and the grammar's parser, which knows how to report, gets the whole condition.

A condition becomes steps in postfix order, one int32 each:

    >= 0     predicate: a place in `predicate_start` / `predicate_end`
    TRUE, FALSE, NOT, XOR, XNOR                          the constants below
    AND_BASE - 2 n, OR_BASE - 2 n                        an operator over the last n operands
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.jit import inlined, kernel

TRUE = -1
FALSE = -2
NOT = -3
XOR = -4
XNOR = -5
AND_BASE = -16
OR_BASE = -17

_PAREN = 0
_OR = 1
_XOR = 2
_XNOR = 3
_AND = 4
_NOT = 5

_WORD_OTHER = 0
_WORD_AND = 1
_WORD_OR = 2
_WORD_XOR = 3
_WORD_XNOR = 4
_WORD_NOT = 5
_WORD_TRUE = 6
_WORD_FALSE = 7
_WORD_BETWEEN = 8
_WORD_RESERVED = 9


class Skeletons(NamedTuple):
    """The steps of many conditions, and the distinct predicate texts they refer to.

    step_start        int64[n+1]   steps of condition i: step[step_start[i] : step_start[i+1]]
    step              int32[...]
    accepted          bool[n]      False: rejected, no steps
    predicate_start   int64[p]     where in the bytes a distinct predicate's text begins ...
    predicate_end     int64[p]     ... and ends
    """

    step_start: NDArray[np.int64]
    step: NDArray[np.int32]
    accepted: NDArray[np.bool_]
    predicate_start: NDArray[np.int64]
    predicate_end: NDArray[np.int64]


@inlined
def _is_name_start(byte: int) -> bool:
    return 97 <= byte <= 122 or 65 <= byte <= 90 or byte == 95


@inlined
def _is_name_part(byte: int) -> bool:
    return 97 <= byte <= 122 or 65 <= byte <= 90 or byte == 95 or 48 <= byte <= 57


@inlined
def _is_space(byte: int) -> bool:
    return byte == 32 or 9 <= byte <= 13


@inlined
def _skip_blanks(data: NDArray[np.uint8], at: int, end: int) -> int:
    """The next byte that is neither white space nor part of a comment."""
    while at < end:
        if _is_space(data[at]):
            at += 1
        elif data[at] == 45 and at + 1 < end and data[at + 1] == 45:
            while at < end and data[at] != 10:
                at += 1
        else:
            break
    return at


@inlined
def _word_end(data: NDArray[np.uint8], at: int, end: int) -> int:
    while at < end and _is_name_part(data[at]):
        at += 1
    return at


@inlined
def _spells(data: NDArray[np.uint8], at: int, word: bytes) -> bool:
    for i in range(len(word)):
        if (data[at + i] | 32) != word[i]:
            return False
    return True


@inlined
def _classify(data: NDArray[np.uint8], at: int, end: int) -> int:
    """Which keyword the bare word data[at:end] is, if any."""
    size = end - at
    if size == 2:
        if _spells(data, at, b"or"):
            return _WORD_OR
        if _spells(data, at, b"in") or _spells(data, at, b"is"):
            return _WORD_RESERVED
    elif size == 3:
        if _spells(data, at, b"and"):
            return _WORD_AND
        if _spells(data, at, b"not"):
            return _WORD_NOT
        if _spells(data, at, b"xor"):
            return _WORD_XOR
    elif size == 4:
        if _spells(data, at, b"xnor"):
            return _WORD_XNOR
        if _spells(data, at, b"true"):
            return _WORD_TRUE
        if _spells(data, at, b"null") or _spells(data, at, b"like"):
            return _WORD_RESERVED
    elif size == 5:
        if _spells(data, at, b"false"):
            return _WORD_FALSE
        if _spells(data, at, b"ilike"):
            return _WORD_RESERVED
    elif size == 7:
        if _spells(data, at, b"between"):
            return _WORD_BETWEEN
        if _spells(data, at, b"matches"):
            return _WORD_RESERVED
    return _WORD_OTHER


@inlined
def _skip_quoted(data: NDArray[np.uint8], at: int, end: int) -> int:
    """Behind the quoted text that begins at `at` (a doubled quote stays inside); -1: unterminated."""
    quote = data[at]
    at += 1
    while at < end:
        if data[at] == quote:
            if at + 1 < end and data[at + 1] == quote:
                at += 2
                continue
            return at + 1
        at += 1
    return -1


@kernel
def _predicate_extent(data: NDArray[np.uint8], at: int, end: int) -> int:
    """The end of the predicate that begins at `at`, trailing blanks left out; -1: unsure.

    It runs up to a connective or a closing parenthesis of the skeleton: the `and` of a `between`,
    quoted text, names behind a dot and what stands in its own parentheses belong to it.
    """
    depth = 0
    between_open = 0
    behind_dot = False
    last = at
    while at < end:
        at = _skip_blanks(data, at, end)
        if at >= end:
            break
        byte = data[at]
        if byte == 39 or byte == 34:
            at = _skip_quoted(data, at, end)
            if at < 0:
                return -1
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
        elif _is_name_start(byte):
            word_end = _word_end(data, at, end)
            if depth == 0 and not behind_dot:
                word = _classify(data, at, word_end)
                if word == _WORD_BETWEEN:
                    between_open += 1
                elif word == _WORD_AND and between_open > 0:
                    between_open -= 1
                elif _WORD_AND <= word <= _WORD_XNOR:
                    break
            at = word_end
            behind_dot = False
        elif 48 <= byte <= 57:
            at += 1
            while at < end and (_is_name_part(data[at]) or data[at] == 46):
                at += 1
            behind_dot = False
        else:
            behind_dot = byte == 46
            at += 1
        last = at
    if depth != 0:
        return -1
    return last


@inlined
def _hash_bytes(data: NDArray[np.uint8], start: int, end: int) -> np.uint64:
    value = np.uint64(14695981039346656037)
    for i in range(start, end):
        value = (value ^ np.uint64(data[i])) * np.uint64(1099511628211)
    return value ^ (value >> np.uint64(29))


@kernel
def _grown_table(table: NDArray[np.int32], hashes: NDArray[np.uint64], count: int) -> NDArray[np.int32]:
    bigger = np.full(table.size * 2, -1, np.int32)
    mask = np.uint64(bigger.size - 1)
    for number in range(count):
        slot = np.int64(hashes[number] & mask)
        while bigger[slot] >= 0:
            slot = (slot + 1) & np.int64(mask)
        bigger[slot] = number
    return bigger


@inlined
def _same_bytes(data: NDArray[np.uint8], a: int, b: int, size: int) -> bool:
    for i in range(size):
        if data[a + i] != data[b + i]:
            return False
    return True


@inlined
def _precedence_step(operator: int, operands: int) -> int:
    if operator == _AND:
        return AND_BASE - 2 * operands
    if operator == _OR:
        return OR_BASE - 2 * operands
    if operator == _XOR:
        return XOR
    if operator == _XNOR:
        return XNOR
    return NOT


@inlined
def _binds(operator: int) -> int:
    """How tightly an operator binds; xor and xnor alike."""
    return _XOR if operator == _XNOR else operator


@kernel
def read_skeletons(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Skeletons:
    """Read all conditions; condition i is data[offsets[i] : offsets[i + 1]].

    Explicit stacks, as long as the longest condition, stand in for recursion.
    """
    count = offsets.size - 1
    longest = 0
    for i in range(count):
        longest = max(longest, offsets[i + 1] - offsets[i])
    total = offsets[count] - offsets[0]
    operators = np.empty(longest + 1, np.uint8)
    operands = np.empty(longest + 1, np.int32)
    step = np.empty(total + 1, np.int32)
    step_start = np.zeros(count + 1, np.int64)
    accepted = np.zeros(count, np.bool_)
    capacity = 1024
    table = np.full(2048, -1, np.int32)
    hashes = np.empty(capacity, np.uint64)
    predicate_start = np.empty(capacity, np.int64)
    predicate_end = np.empty(capacity, np.int64)
    predicates = 0
    used = 0

    for condition in range(count):
        at = offsets[condition]
        end = offsets[condition + 1]
        first = used
        depth = 0  # entries on the operator stack
        sure = True
        want_operand = True
        while True:
            at = _skip_blanks(data, at, end)
            if at >= end:
                break
            byte = data[at]
            if want_operand:
                if byte == 40:
                    operators[depth] = _PAREN
                    depth += 1
                    at += 1
                    continue
                word = _WORD_OTHER
                if _is_name_start(byte):
                    word_end = _word_end(data, at, end)
                    word = _classify(data, at, word_end)
                elif byte != 34:
                    sure = False
                    break
                if word == _WORD_NOT:
                    operators[depth] = _NOT
                    operands[depth] = 1
                    depth += 1
                    at = word_end
                    continue
                if word == _WORD_TRUE or word == _WORD_FALSE:
                    step[used] = TRUE if word == _WORD_TRUE else FALSE
                    used += 1
                    at = word_end
                elif word != _WORD_OTHER:
                    sure = False
                    break
                else:
                    stop = _predicate_extent(data, at, end)
                    if stop < 0:
                        sure = False
                        break
                    value = _hash_bytes(data, at, stop)
                    mask = np.uint64(table.size - 1)
                    slot = np.int64(value & mask)
                    number = -1
                    while table[slot] >= 0:
                        known = table[slot]
                        if (
                            hashes[known] == value
                            and predicate_end[known] - predicate_start[known] == stop - at
                            and _same_bytes(data, predicate_start[known], at, stop - at)
                        ):
                            number = known
                            break
                        slot = (slot + 1) & np.int64(mask)
                    if number < 0:
                        if predicates == capacity:
                            capacity *= 2
                            hashes = np.append(hashes, np.empty(capacity - predicates, np.uint64))
                            predicate_start = np.append(
                                predicate_start, np.empty(capacity - predicates, np.int64)
                            )
                            predicate_end = np.append(
                                predicate_end, np.empty(capacity - predicates, np.int64)
                            )
                        number = predicates
                        table[slot] = number
                        hashes[number] = value
                        predicate_start[number] = at
                        predicate_end[number] = stop
                        predicates += 1
                        if predicates * 2 > table.size:
                            table = _grown_table(table, hashes, predicates)
                    step[used] = number
                    used += 1
                    at = stop
                want_operand = False
            elif byte == 41:
                while depth > 0 and operators[depth - 1] != _PAREN:
                    depth -= 1
                    step[used] = _precedence_step(operators[depth], operands[depth])
                    used += 1
                if depth == 0:
                    sure = False
                    break
                depth -= 1
                at += 1
            else:
                if not _is_name_start(byte):
                    sure = False
                    break
                word_end = _word_end(data, at, end)
                word = _classify(data, at, word_end)
                if word == _WORD_AND:
                    operator = _AND
                elif word == _WORD_OR:
                    operator = _OR
                elif word == _WORD_XOR:
                    operator = _XOR
                elif word == _WORD_XNOR:
                    operator = _XNOR
                else:
                    sure = False
                    break
                at = word_end
                while depth > 0 and _binds(operators[depth - 1]) > _binds(operator):
                    depth -= 1
                    step[used] = _precedence_step(operators[depth], operands[depth])
                    used += 1
                if depth > 0 and _binds(operators[depth - 1]) == _binds(operator):
                    if operator == _AND or operator == _OR:
                        operands[depth - 1] += 1
                        want_operand = True
                        continue
                    step[used] = _precedence_step(operators[depth - 1], operands[depth - 1])
                    used += 1
                    depth -= 1
                operators[depth] = operator
                operands[depth] = 2
                depth += 1
                want_operand = True
                continue
            while depth > 0 and operators[depth - 1] == _NOT:
                depth -= 1
                step[used] = NOT
                used += 1
        if want_operand:
            sure = False
        while sure and depth > 0:
            depth -= 1
            if operators[depth] == _PAREN:
                sure = False
                break
            step[used] = _precedence_step(operators[depth], operands[depth])
            used += 1
        if not sure:
            used = first
        accepted[condition] = sure
        step_start[condition + 1] = used
    return Skeletons(
        step_start,
        step[:used].copy(),
        accepted,
        predicate_start[:predicates].copy(),
        predicate_end[:predicates].copy(),
    )
