"""The Boolean skeleton of condition texts, read straight from their bytes.

A condition's text is cut into predicates and connectives. Predicates are not understood here: their
bytes are numbered, and each distinct one is read once, elsewhere. What this loop is not sure about it
rejects, and the grammar's parser, which knows how to report, gets the whole condition.

A condition becomes steps in postfix order, one int32 each:

    >= 0     predicate: a place in `predicate_start` / `predicate_end`
    TRUE, FALSE, NOT, XOR, XNOR                          the constants below
    AND_BASE - 2 n, OR_BASE - 2 n                        an operator over the last n operands
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.byte_classes import (
    WORD_AND,
    WORD_FALSE,
    WORD_NOT,
    WORD_OR,
    WORD_OTHER,
    WORD_TRUE,
    WORD_XNOR,
    WORD_XOR,
    classify,
    end_of_word,
    is_name_start,
    skip_blanks,
)
from tocsin.arrays.distinct_texts import COUNT, is_full, no_texts, number_texts, with_room
from tocsin.arrays.dtypes import Bytes, Flags, Ints, Longs
from tocsin.arrays.jit import inner_kernel, kernel
from tocsin.conditions.kernels.predicate_extents import end_of_predicate

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

    step_start: Longs
    step: Ints
    accepted: Flags
    predicate_start: Longs
    predicate_end: Longs


@inner_kernel
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


@inner_kernel
def _binds(operator: int) -> int:
    """How tightly an operator binds; xor and xnor alike."""
    return _XOR if operator == _XNOR else operator


class Stack(NamedTuple):
    """Operators that wait for their right operand, open parentheses, and the predicates of a condition.

    operator      uint8[n]   with `operands`: how many each takes
    operands      int32[n]
    found_start   int64[n]   where the predicates begin, in their order, and end
    found_end     int64[n]
    """

    operator: Bytes
    operands: Ints
    found_start: Longs
    found_end: Longs


@kernel
def room_for_condition(size: int) -> Stack:
    """Room for a condition of so many bytes."""
    operator, operands = np.empty(size + 1, np.uint8), np.empty(size + 1, np.int32)
    return Stack(operator, operands, np.empty(size + 1, np.int64), np.empty(size + 1, np.int64))


@inner_kernel
def _pop_tighter(stack: Stack, depth: int, than: int, step: Ints, used: int) -> tuple[int, int]:
    """Write out the operators on top that bind tighter than `than`: new depth, new number of steps."""
    while depth > 0 and _binds(stack.operator[depth - 1]) > than:
        depth -= 1
        step[used] = _operator_step(stack.operator[depth], stack.operands[depth])
        used += 1
    return depth, used


@inner_kernel
def _push(stack: Stack, depth: int, operator: int, operands: int) -> int:
    """Put an operator or a parenthesis on top; the new depth."""
    stack.operator[depth] = operator
    stack.operands[depth] = operands
    return depth + 1


@inner_kernel
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


@inner_kernel
def read_condition(data: Bytes, at: int, end: int, stack: Stack, step: Ints, used: int) -> tuple[int, int]:
    """Add the steps of one condition: the new number of steps (or -1), and the predicates found.

    A predicate's step is its place in found_start and found_end. There is room for as many steps as the
    condition has bytes, and one more.
    """
    depth = 0
    found = 0
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
            return -1, 0
        if not want_operand:
            if byte == 41:
                depth, used = _pop_tighter(stack, depth, _PAREN, step, used)
                if depth == 0:
                    return -1, 0
                at += 1
                depth, used = _pop_tighter(stack, depth - 1, _AND, step, used)
                continue
            joining = _binary_operator(word)
            if joining == _PAREN:
                return -1, 0
            binding = _binds(joining)
            depth, used = _pop_tighter(stack, depth, binding, step, used)
            if depth > 0 and stack.operator[depth - 1] == joining and (joining == _AND or joining == _OR):
                stack.operands[depth - 1] += 1
            else:
                depth, used = _pop_tighter(stack, depth, binding - 1, step, used)
                depth = _push(stack, depth, joining, 2)
            at = word_end
            want_operand = True
        elif byte == 40:
            depth = _push(stack, depth, _PAREN, 0)
            at += 1
        elif word == WORD_NOT:
            depth = _push(stack, depth, _NOT, 1)
            at = word_end
        else:
            if word == WORD_TRUE or word == WORD_FALSE:
                step[used] = TRUE if word == WORD_TRUE else FALSE
                at = word_end
            elif word != WORD_OTHER or byte == 41:
                return -1, 0
            else:
                stop = end_of_predicate(data, at, word_end, end)
                if stop < 0:
                    return -1, 0
                stack.found_start[found] = at
                stack.found_end[found] = stop
                step[used] = found
                found += 1
                at = stop
            depth, used = _pop_tighter(stack, depth, _AND, step, used + 1)
            want_operand = False
    depth, used = _pop_tighter(stack, depth, _PAREN, step, used)
    if want_operand or depth > 0:
        return -1, 0
    return used, found


@kernel
def read_skeletons(data: Bytes, offsets: Longs) -> Skeletons:
    """Read all conditions; condition i is data[offsets[i] : offsets[i + 1]].

    A stack as deep as the longest condition is long stands in for recursion.
    """
    count = offsets.size - 1
    longest = 0
    for i in range(count):
        longest = max(longest, offsets[i + 1] - offsets[i])
    stack = room_for_condition(longest)
    step = np.empty(longest + 1, np.int32)
    step_start = np.zeros(count + 1, np.int64)
    accepted = np.zeros(count, np.bool_)
    number = np.empty(longest + 1, np.int32)
    value = np.empty(longest + 1, np.uint64)
    texts = no_texts(64, 256)
    used = 0
    for condition in range(count):
        begin, end = offsets[condition], offsets[condition + 1]
        needed = used + end - begin + 1
        if needed > step.size:
            expected = np.int64(1.1 * used / (begin - offsets[0] + 1) * (offsets[count] - offsets[0]))
            longer = np.empty(max(expected, needed + needed // 4), np.int32)
            longer[:used] = step[:used]
            step = longer
        filled, found = read_condition(data, begin, end, stack, step, used)
        if filled >= 0:
            words = 2 * found + (end - begin) // 8
            if is_full(texts, found, words):
                texts = with_room(texts, found, words)
            number_texts(texts, data, stack.found_start, stack.found_end, found, number, value)
            for i in range(used, filled):
                if step[i] >= 0:
                    step[i] = number[step[i]]
            accepted[condition] = True
            used = filled
        step_start[condition + 1] = used
    distinct = texts.size[COUNT]
    starts, ends = texts.start[:distinct].copy(), texts.end[:distinct].copy()
    return Skeletons(step_start, step[:used], accepted, starts, ends)
