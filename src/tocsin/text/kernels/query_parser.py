"""Text queries from bytes to steps in one pass: the language of text/language/parser.py.

What this reader is not sure of it refuses (every mistake, and letters beyond ASCII), and the grammar's
parser, which knows how to report, reads it instead. What that prints is read here too: there every
letter beyond ASCII is part of a word that is cut and normalised already.

An operand is a *value*: a single leaf, or a group whose operands are written and whose own step is
not, because it may still go on:

    a & b      the value AND 2                   behind it & makes it go on; | writes AND 2, and begins
                                                 an OR that has one operand so far
    (a | b)    the value OR 2                    with | on either side it is part of that OR
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Bytes, Flags, Ints, Longs
from tocsin.arrays.jit import bare_kernel, inner_kernel, kernel
from tocsin.text.kernels.query_code import (
    ACCRUE,
    AND,
    ANY_GAP,
    NEGATED_IN_ACCRUE,
    NEGATED_IN_AND,
    OR,
    PLAIN,
    group_step,
)

UNSURE = -1

_STEPS = 0
_LEAVES = 1
_WORDS = 2
_BYTES = 3

_IN_TOKEN = 0
_BLANK = 1
_AND = 2
_OR = 3
_NOT = 4
_COMMA = 5
_OPEN = 6
_CLOSE = 7
_QUOTE = 8


def _roles() -> Bytes:
    role = np.full(256, _IN_TOKEN, np.uint8)
    for byte in b"\t\n\v\f\r\x1c\x1d\x1e\x1f ":
        role[byte] = _BLANK
    for byte, its_role in zip(b'&|!,()"', range(_AND, _QUOTE + 1), strict=True):
        role[byte] = its_role
    return role


def _folded() -> Bytes:
    folded = np.zeros(256, np.uint8)
    for byte in b"abcdefghijklmnopqrstuvwxyz0123456789_":
        folded[byte] = byte
        folded[bytes([byte]).upper()[0]] = byte
    return folded


_ROLE = _roles()
"""What each byte is at the beginning of a token, and where it ends a word."""

_FOLDED = _folded()
"""Each byte of a word in lower case; 0 for bytes that are in no word."""

_STAR = 42
_TILDE = 126
_LARGEST_GAP = 1_000_000_000
_MOST_WORDS = 1000
"""Words of a phrase; one with more is for the grammar, which refuses it."""

_NO_OPERATION = 3
_NOTHING = _NO_OPERATION
"""The value before there is an operand."""

_OPERATION_BITS = 2
_COUNT_BITS = 30
_COUNTS = (1 << _COUNT_BITS) - 1


class QueryWriting(NamedTuple):
    """Queries as they are read, one behind the other. Room for as many entries as they have bytes.

    used         int64[4]     steps, leaves, words and bytes so far
    step         int32[...]   as in QueryCode
    negated      uint8[...]   of each leaf, as in QueryCode
    gap          int32[...]
    word_start   int64[...]   the words of leaf f: from word_start[f] on
    is_prefix    uint8[...]   of each word
    byte_start   int64[...]   the bytes of word w: from byte_start[w] on
    data         uint8[...]
    chain        int64[...]   for each parenthesis that is open, the value of what stands before the
                              last | or comma, as a group that goes on
    term         int64[...]   and that of what stands behind it
    """

    used: Longs
    step: Ints
    negated: Bytes
    gap: Ints
    word_start: Longs
    is_prefix: Bytes
    byte_start: Longs
    data: Bytes
    chain: Longs
    term: Longs


@kernel
def room_to_write(size: int, longest: int) -> QueryWriting:
    """Room for queries of so many bytes together, the longest of so many."""
    return QueryWriting(
        np.zeros(4, np.int64),
        np.empty(size + 1, np.int32),
        np.empty(size + 1, np.uint8),
        np.empty(size + 1, np.int32),
        np.zeros(size + 2, np.int64),
        np.empty(size + 1, np.uint8),
        np.zeros(size + 2, np.int64),
        np.empty(size + 1, np.uint8),
        np.empty(longest + 2, np.int64),
        np.empty(longest + 2, np.int64),
    )


@inner_kernel
def _value(operation: int, arity: int, plain: int) -> int:
    """A value of so many operands, of which so many have no negation."""
    return (np.int64(arity) << _COUNT_BITS | plain) << _OPERATION_BITS | operation


@inner_kernel
def _operation_of(value: int) -> int:
    return value & _NO_OPERATION


@inner_kernel
def _arity_of(value: int) -> int:
    return value >> (_OPERATION_BITS + _COUNT_BITS)


@inner_kernel
def _plain_of(value: int) -> int:
    return (value >> _OPERATION_BITS) & _COUNTS


@inner_kernel
def _write_group(used: Longs, steps: Ints, value: int) -> bool:
    """Write the step of a group that is whole; False when its negations stand wrong."""
    operation, arity, plain = _operation_of(value), _arity_of(value), _plain_of(value)
    if plain == 0 or (operation == OR and plain < arity):
        return False
    steps[used[_STEPS]] = group_step(operation, arity)
    used[_STEPS] += 1
    return True


@bare_kernel
def _as_operand(used: Longs, steps: Ints, negated: Bytes, value: int, operation: int) -> int:
    """The value as the beginning or a part of a group of this operation; UNSURE when it cannot be one.

    A single leaf is the last one that was read.
    """
    own = _operation_of(value)
    if own == operation:
        return value
    if own == _NO_OPERATION:
        leaf = used[_LEAVES] - 1
        if negated[leaf] != PLAIN:
            if operation == OR:
                return UNSURE
            negated[leaf] = NEGATED_IN_AND if operation == AND else NEGATED_IN_ACCRUE
        return _value(operation, 1, _plain_of(value))
    if not _write_group(used, steps, value):
        return UNSURE
    return _value(operation, 1, 1)


@inner_kernel
def _joined(left: int, right: int) -> int:
    """Two values of one operation as one."""
    return _value(_operation_of(left), _arity_of(left) + _arity_of(right), _plain_of(left) + _plain_of(right))


@inner_kernel
def _add_factor(writing: QueryWriting, depth: int, value: int) -> bool:
    """Put an operand behind the last &, or begin a term with it."""
    term = writing.term[depth]
    if term != _NOTHING:
        value = _as_operand(writing.used, writing.step, writing.negated, value, np.int64(AND))
        if value == UNSURE:
            return False
        value = _joined(term, value)
    writing.term[depth] = value
    return True


@inner_kernel
def _end_term(writing: QueryWriting, depth: int) -> int:
    """The value of all that stands within a parenthesis so far; UNSURE when something stands wrong."""
    chain, term = writing.chain[depth], writing.term[depth]
    if chain == _NOTHING:
        return term
    operand = _as_operand(writing.used, writing.step, writing.negated, term, _operation_of(chain))
    return UNSURE if operand == UNSURE else _joined(chain, operand)


@inner_kernel
def _add_operator(writing: QueryWriting, depth: int, operation: int) -> bool:
    """Go on with the operation, behind an operand."""
    whole = writing.term[depth] if operation == AND else _end_term(writing, depth)
    if whole == UNSURE:
        return False
    operand = _as_operand(writing.used, writing.step, writing.negated, whole, np.int64(operation))
    if operand == UNSURE:
        return False
    if operation == AND:
        writing.term[depth] = operand
    else:
        writing.chain[depth] = operand
        writing.term[depth] = _NOTHING
    return True


@inner_kernel
def _read_words(data: Bytes, at: int, end: int, is_canonical: bool, writing: QueryWriting) -> int:
    """The words of a token: how many, or UNSURE."""
    used = writing.used
    count = 0
    in_word = False
    while at < end:
        byte = data[at]
        folded = _FOLDED[byte]
        if byte >= 128:
            if not is_canonical:
                return UNSURE
            folded = byte
        if folded != 0:
            if not in_word:
                writing.is_prefix[used[_WORDS]] = 0
                used[_WORDS] += 1
                count += 1
            writing.data[used[_BYTES]] = folded
            used[_BYTES] += 1
            writing.byte_start[used[_WORDS]] = used[_BYTES]
            in_word = True
        elif byte == _STAR:
            if not in_word:
                return UNSURE
            if at + 1 < end and (_FOLDED[data[at + 1]] != 0 or data[at + 1] >= 128):
                return UNSURE
            writing.is_prefix[used[_WORDS] - 1] = 1
            in_word = False
        else:
            in_word = False
        at += 1
    return count if count > 0 else UNSURE


@inner_kernel
def _end_of_token(data: Bytes, at: int, end: int) -> int:
    while at < end and _ROLE[data[at]] == _IN_TOKEN:
        at += 1
    return at


@inner_kernel
def _read_gap(data: Bytes, at: int, end: int) -> int:
    """The number or * that is data[at:end]; -2 when it is neither, or too large."""
    if end - at == 1 and data[at] == _STAR:
        return ANY_GAP
    gap = 0
    for i in range(at, end):
        if not 48 <= data[i] <= 57:
            return -2
        gap = 10 * gap + np.int64(data[i] - 48)
        if gap > _LARGEST_GAP:
            return -2
    return gap if end > at else -2


@inner_kernel
def _read_leaf(
    data: Bytes, at: int, end: int, any_gap: bool, is_canonical: bool, writing: QueryWriting
) -> int:
    """Write the word or phrase that begins at `at`: behind it, or UNSURE."""
    gap = 0
    if data[at] == 34:
        close = at + 1
        while close < end and data[close] != 34:
            close += 1
        if close == end:
            return UNSURE
        count = _read_words(data, at + 1, close, is_canonical, writing)
        at = close + 1
        if any_gap:
            gap = ANY_GAP
        if at < end and data[at] == _TILDE:
            behind = _end_of_token(data, at, end)
            gap = _read_gap(data, at + 1, behind)
            if any_gap or gap < ANY_GAP:
                return UNSURE
            at = behind
    else:
        behind = _end_of_token(data, at, end)
        count = _read_words(data, at, behind, is_canonical, writing)
        at = behind
    if count == UNSURE or count > _MOST_WORDS:
        return UNSURE
    leaf = writing.used[_LEAVES]
    writing.gap[leaf] = gap if count > 1 else 0
    writing.used[_LEAVES] = leaf + 1
    writing.word_start[leaf + 1] = writing.used[_WORDS]
    return at


@inner_kernel
def _operator_word(data: Bytes, at: int, end: int) -> int:
    """Which operator the word at `at` is, if any: its role, or _IN_TOKEN."""
    if at + 1 < end and data[at] == 79 and data[at + 1] == 82:
        role, behind = _OR, at + 2
    elif at + 2 < end and data[at] == 65 and data[at + 1] == 78 and data[at + 2] == 68:
        role, behind = _AND, at + 3
    elif at + 2 < end and data[at] == 78 and data[at + 1] == 79 and data[at + 2] == 84:
        role, behind = _NOT, at + 3
    else:
        return _IN_TOKEN
    return role if behind == end or _ROLE[data[behind]] != _IN_TOKEN else _IN_TOKEN


@inner_kernel
def _write_query(
    data: Bytes, at: int, end: int, any_gap: bool, is_canonical: bool, first_leaf: int, writing: QueryWriting
) -> bool:
    """Write the steps of data[at:end]; False, and anything may be written, when that is not sure."""
    depth = 0
    writing.chain[0] = _NOTHING
    writing.term[0] = _NOTHING
    wants_operand = True
    negated = False
    while True:
        while at < end and _ROLE[data[at]] == _BLANK:
            at += 1
        if at == end:
            break
        role = _ROLE[data[at]]
        size = 1
        if role == _IN_TOKEN:
            role = _operator_word(data, at, end)
            size = 2 if role == _OR else 3
        if not wants_operand:
            if role == _CLOSE:
                value = _end_term(writing, depth)
                depth -= 1
                if value == UNSURE or depth < 0 or not _add_factor(writing, depth, value):
                    return False
                at += 1
                continue
            operation = AND if role == _AND else OR if role == _OR else ACCRUE
            if not _add_operator(writing, depth, operation):
                return False
            wants_operand = True
            if role == _AND or role == _OR or role == _COMMA:
                at += size
        elif role == _NOT:
            if negated:
                return False
            negated = True
            at += size
        elif role == _OPEN:
            if negated:
                return False
            depth += 1
            writing.chain[depth] = _NOTHING
            writing.term[depth] = _NOTHING
            at += 1
        elif role == _IN_TOKEN or role == _QUOTE:
            leaf = writing.used[_LEAVES]
            at = _read_leaf(data, at, end, any_gap, is_canonical, writing)
            if at == UNSURE:
                return False
            writing.negated[leaf] = NEGATED_IN_ACCRUE if negated else PLAIN
            writing.step[writing.used[_STEPS]] = leaf - first_leaf
            writing.used[_STEPS] += 1
            if not _add_factor(writing, depth, _value(_NO_OPERATION, 1, 0 if negated else 1)):
                return False
            negated = False
            wants_operand = False
        else:
            return False
    if wants_operand or depth > 0:
        return False
    value = _end_term(writing, 0)
    if value == UNSURE:
        return False
    if _operation_of(value) == _NO_OPERATION:
        return _plain_of(value) == 1
    return _write_group(writing.used, writing.step, value)


@bare_kernel
def read_query(
    data: Bytes, at: int, end: int, any_gap: bool, is_canonical: bool, writing: QueryWriting
) -> bool:
    """Write the query data[at:end] behind those before it; False, and nothing is, when it is refused."""
    used = writing.used
    steps, leaves, words, size = used[_STEPS], used[_LEAVES], used[_WORDS], used[_BYTES]
    if _write_query(data, at, end, any_gap, is_canonical, leaves, writing):
        return True
    used[_STEPS] = steps
    used[_LEAVES] = leaves
    used[_WORDS] = words
    used[_BYTES] = size
    writing.word_start[leaves] = words
    writing.byte_start[words] = size
    return False


class QueriesRead(NamedTuple):
    """Queries whose words have no numbers yet.

    refused      uint8[Q]     1 for a query that is not here
    step_start   int64[Q+1]
    leaf_start   int64[Q+1]
    word_group   int32[...]   the text group of each word
    writing                   all their steps, leaves and words, and room behind them
    """

    refused: Bytes
    step_start: Longs
    leaf_start: Longs
    word_group: Ints
    writing: QueryWriting


@kernel
def read_queries(data: Bytes, start: Longs, group: Ints, any_gap: Flags, is_canonical: Flags) -> QueriesRead:
    """Read the queries data[start[q] : start[q + 1]] of text groups.

    `any_gap` says which are read as tm_contains reads them, `is_canonical` which are as the grammar
    prints them.
    """
    count = group.size
    longest = 0
    for query in range(count):
        longest = max(longest, start[query + 1] - start[query])
    writing = room_to_write(start[count] - start[0] + count, longest)
    used = writing.used
    refused = np.zeros(count, np.uint8)
    step_start = np.zeros(count + 1, np.int64)
    leaf_start = np.zeros(count + 1, np.int64)
    word_group = np.empty(writing.is_prefix.size, np.int32)
    words = 0
    for query in range(count):
        if not read_query(data, start[query], start[query + 1], any_gap[query], is_canonical[query], writing):
            refused[query] = 1
        step_start[query + 1] = used[_STEPS]
        leaf_start[query + 1] = used[_LEAVES]
        for word in range(words, used[_WORDS]):
            word_group[word] = group[query]
        words = used[_WORDS]
    return QueriesRead(refused, step_start, leaf_start, word_group[:words].copy(), writing)
