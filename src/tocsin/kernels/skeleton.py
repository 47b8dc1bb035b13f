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

from tocsin.kernels.jit import kernel
from tocsin.kernels.words import (
    WORD_AND,
    WORD_BETWEEN,
    WORD_FALSE,
    WORD_NOT,
    WORD_OR,
    WORD_OTHER,
    WORD_TRUE,
    WORD_XNOR,
    WORD_XOR,
    classify,
    end_of_word,
    is_name_part,
    is_name_start,
    skip_blanks,
    skip_quoted,
)

TRUE = -1
FALSE = -2
NOT = -3
XOR = -4
XNOR = -5
AND_BASE = -16
OR_BASE = -17

# Operators, the tighter binding the larger; see _binds for xor and xnor.
_PAREN = 0
_OR = 1
_XOR = 2
_XNOR = 3
_AND = 4
_NOT = 5


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
        at = skip_blanks(data, at, end)
        if at >= end:
            break
        byte = data[at]
        if byte == 39 or byte == 34:
            at = skip_quoted(data, at, end)
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
        return -1
    return last


@kernel
def _hash_bytes(data: NDArray[np.uint8], start: int, end: int) -> np.uint64:
    value = np.uint64(14695981039346656037)
    for i in range(start, end):
        value = (value ^ np.uint64(data[i])) * np.uint64(1099511628211)
    return value ^ (value >> np.uint64(29))


@kernel
def _same_bytes(data: NDArray[np.uint8], a: int, b: int, size: int) -> bool:
    for i in range(size):
        if data[a + i] != data[b + i]:
            return False
    return True


@kernel
def _number_texts(
    data: NDArray[np.uint8], start: NDArray[np.int64], end: NDArray[np.int64]
) -> tuple[NDArray[np.int32], int]:
    """Give equal texts data[start[i]:end[i]] one number: the numbers, and how many there are.

    start and end are rewritten: their first entries become those of the distinct texts, by number.
    """
    size = 2
    while size < 2 * start.size:
        size *= 2
    table = np.full(size, -1, np.int32)
    hashes = np.empty(start.size, np.uint64)
    number = np.empty(start.size, np.int32)
    distinct = 0
    for i in range(start.size):
        value = _hash_bytes(data, start[i], end[i])
        slot = np.int64(value & np.uint64(size - 1))
        while table[slot] >= 0:
            known = table[slot]
            if (
                hashes[known] == value
                and end[known] - start[known] == end[i] - start[i]
                and _same_bytes(data, start[known], start[i], end[i] - start[i])
            ):
                break
            slot = (slot + 1) & (size - 1)
        if table[slot] < 0:
            table[slot] = distinct
            hashes[distinct] = value
            start[distinct] = start[i]
            end[distinct] = end[i]
            distinct += 1
        number[i] = table[slot]
    return number, distinct


@kernel
def _operator_step(operator: int, operands: int) -> int:
    if operator == _AND:
        return AND_BASE - 2 * operands
    if operator == _OR:
        return OR_BASE - 2 * operands
    if operator == _XOR:
        return XOR
    if operator == _XNOR:
        return XNOR
    return NOT


@kernel
def _binds(operator: int) -> int:
    """How tightly an operator binds; xor and xnor alike."""
    return _XOR if operator == _XNOR else operator


class _Stack(NamedTuple):
    """Operators that wait for their right operand, as deep as the longest condition is long.

    depth      int64[1]    how many wait
    operator   uint8[d]    an operator, or an open parenthesis
    operands   int32[d]    how many it takes
    """

    depth: NDArray[np.int64]
    operator: NDArray[np.uint8]
    operands: NDArray[np.int32]


@kernel
def _push(stack: _Stack, operator: int, operands: int) -> None:
    stack.operator[stack.depth[0]] = operator
    stack.operands[stack.depth[0]] = operands
    stack.depth[0] += 1


@kernel
def _pop_tighter(stack: _Stack, than: int, step: NDArray[np.int32], used: int) -> int:
    """Write out the operators on top that bind tighter than `than`; the new number of steps."""
    while stack.depth[0] > 0 and _binds(stack.operator[stack.depth[0] - 1]) > than:
        stack.depth[0] -= 1
        top = stack.depth[0]
        step[used] = _operator_step(stack.operator[top], stack.operands[top])
        used += 1
    return used


@kernel
def _push_binary(stack: _Stack, operator: int, step: NDArray[np.int32], used: int) -> int:
    """An operator stands behind an operand: join it to its like, or let it wait."""
    used = _pop_tighter(stack, _binds(operator), step, used)
    top = stack.depth[0] - 1
    if top >= 0 and _binds(stack.operator[top]) == _binds(operator):
        if operator == _AND or operator == _OR:
            stack.operands[top] += 1
            return used
        used = _pop_tighter(stack, _binds(operator) - 1, step, used)
    _push(stack, operator, 2)
    return used


@kernel
def _binary_operator(word: int) -> int:
    """The operator that a word between operands stands for; _PAREN: none."""
    if word == WORD_AND:
        return _AND
    if word == WORD_OR:
        return _OR
    if word == WORD_XOR:
        return _XOR
    if word == WORD_XNOR:
        return _XNOR
    return _PAREN


@kernel
def _read_condition(
    data: NDArray[np.uint8],
    at: int,
    end: int,
    stack: _Stack,
    step: NDArray[np.int32],
    used: int,
    found_start: NDArray[np.int64],
    found_end: NDArray[np.int64],
    found: int,
) -> tuple[int, int]:
    """Add the steps of one condition: the new numbers of steps and of predicates found; or -1."""
    unsure = (-1, found)
    stack.depth[0] = 0
    want_operand = True
    while True:
        at = skip_blanks(data, at, end)
        if at >= end:
            break
        byte = data[at]
        word = WORD_OTHER
        word_end = at
        if is_name_start(byte):
            word_end = end_of_word(data, at, end)
            word = classify(data, at, word_end)
        elif byte != 34 and byte != 40 and byte != 41:
            return unsure
        if not want_operand:
            if byte == 41:
                used = _pop_tighter(stack, _PAREN, step, used)
                if stack.depth[0] == 0:
                    return unsure
                stack.depth[0] -= 1
                at += 1
                used = _pop_tighter(stack, _AND, step, used)
                continue
            operator = _binary_operator(word)
            if operator == _PAREN:
                return unsure
            used = _push_binary(stack, operator, step, used)
            at = word_end
            want_operand = True
        elif byte == 40:
            _push(stack, _PAREN, 0)
            at += 1
        elif word == WORD_NOT:
            _push(stack, _NOT, 1)
            at = word_end
        else:
            if word == WORD_TRUE or word == WORD_FALSE:
                step[used] = TRUE if word == WORD_TRUE else FALSE
                at = word_end
            elif word != WORD_OTHER or byte == 41:
                return unsure
            else:
                stop = _predicate_extent(data, at, end)
                if stop < 0:
                    return unsure
                found_start[found] = at
                found_end[found] = stop
                step[used] = found
                found += 1
                at = stop
            used = _pop_tighter(stack, _AND, step, used + 1)
            want_operand = False
    used = _pop_tighter(stack, _PAREN, step, used)
    if want_operand or stack.depth[0] > 0:
        return unsure
    return used, found


@kernel
def read_skeletons(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Skeletons:
    """Read all conditions; condition i is data[offsets[i] : offsets[i + 1]].

    An explicit stack, as deep as the longest condition is long, stands in for recursion.
    """
    count = offsets.size - 1
    longest = 0
    for i in range(count):
        longest = max(longest, offsets[i + 1] - offsets[i])
    total = offsets[count] - offsets[0]
    stack = _Stack(np.zeros(1, np.int64), np.empty(longest + 1, np.uint8), np.empty(longest + 1, np.int32))
    step = np.empty(total + 1, np.int32)
    step_start = np.zeros(count + 1, np.int64)
    accepted = np.zeros(count, np.bool_)
    found_start = np.empty(total + 1, np.int64)
    found_end = np.empty(total + 1, np.int64)
    used = 0
    found = 0
    for condition in range(count):
        begin, end = offsets[condition], offsets[condition + 1]
        steps, predicates = _read_condition(
            data, begin, end, stack, step, used, found_start, found_end, found
        )
        if steps >= 0:
            accepted[condition] = True
            used = steps
            found = predicates
        step_start[condition + 1] = used
    number, distinct = _number_texts(data, found_start[:found], found_end[:found])
    for i in range(used):
        if step[i] >= 0:
            step[i] = number[step[i]]
    return Skeletons(
        step_start, step[:used].copy(), accepted, found_start[:distinct].copy(), found_end[:distinct].copy()
    )
