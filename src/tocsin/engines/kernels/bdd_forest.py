"""Decision diagrams laid out so that only what holds is looked at.

Functions are monotone: with no variable, none of them holds but the constant. So a way that turns low at
every node ends at false, and the low branches alone make trees, whose roots are the nodes with low = false:

    low branches        b      e        a node is true exactly when on its way down, itself included, some
                       ╱ ╲     │        node *fires*: its variable holds and its high branch is true
                      a   d    c

In preorder, b a d e c, all nodes above one are a row: when b fires, b, a and d are true at once. Only nodes
that are asked whether they are true have a number there: high branches, and roots of rules. So a row is
mostly short. Variables that hold are taken from the last to the first, since branches lead to later ones:
when a node asks its high branch, all that can make that true has fired.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.bits import ALL, prefetch
from tocsin.arrays.dtypes import Bytes, Flags, Ints, Words
from tocsin.arrays.jit import inner_kernel, kernel
from tocsin.arrays.lists import Lists, with_room
from tocsin.arrays.radix_sort import order_by
from tocsin.conditions.kernels.literal_bitmap import SPARE, clear, mark, take
from tocsin.engines.kernels.bdd_nodes import FALSE, HIGH, LOW, TRUE, VARIABLE, Diagrams

_AHEAD = 16
"""How many variables ahead nodes are asked for; twice as many for where they begin."""

_LINE = 16
"""Numbers that memory brings at once."""

_LENGTH = np.uint64(5)
_LONGEST = np.uint64(31)
"""Rows as they are packed: bits that say how long one is, and the longest that they can say."""

_ONE = np.uint64(1)
_TWO = np.uint64(2)
_BITS = np.uint64(64)
_WORD = np.uint64(6)
_IN_WORD = np.uint64(63)


class Forest(NamedTuple):
    """The diagrams of rules. N numbers, L literals, T distinct functions of rules.

    variable      int32[L]        the variable of each literal: a number from 0 to L-1
    start         int32[L+1, 2]   the nodes that ask variable v, when their high branch is true:
    plain         uint32[P]           plain[start[v, 0] : start[v+1, 0]], else
    guarded       uint32[G, 2]        guarded[start[v, 1] : start[v+1, 1]]; each is the row that is true when
                                      it fires, and a guarded one has the number of its high branch with it
    long_row      int32[..., 2]   rows that do not fit: from one number to another that is not included

    A row is (first number) * 32 + length; or (place in long_row) * 32 when it is longer than 31. There are
    fewer numbers than bdd.MOST_NODES, so it has room in 32 bits.

    top           int32[T]        the numbers of rules, ascending; N for rules that always hold
    rule_start    int32[T+1]      the rules whose number is top[t]: rule[rule_start[t] : rule_start[t+1]]
    rule          int32[R]            without those that never hold
    numbers       N
    """

    variable: Ints
    start: Ints
    plain: NDArray[np.uint32]
    guarded: NDArray[np.uint32]
    long_row: Ints
    top: Ints
    rule_start: Ints
    rule: Ints
    numbers: int


class Truth(NamedTuple):
    """What matching writes to; between events only bit N of `true` is set, and all else is zero.

    true            uint64[N/64+1] bit n: number n is true
    variable_bit    uint64[...]    the variables that hold, as a bit set
    variable_line   uint8[...]
    held            int32[L+SPARE] the same as a list
    top             int32[T+1]     the places in Forest.top that are true
    rule_bit        uint64[...]    the rules that match, as a bit set
    rule_line       uint8[...]
    """

    true: Words
    variable_bit: Words
    variable_line: Bytes
    held: Ints
    top: Ints
    rule_bit: Words
    rule_line: Bytes


@kernel
def _uses(diagrams: Diagrams) -> tuple[Flags, Flags]:
    """Which nodes some rule leads to, and which of them are high branches or rules' roots."""
    node, root = diagrams
    needed = np.zeros(node.shape[0], np.bool_)
    asked = np.zeros(node.shape[0], np.bool_)
    for rule in range(root.size):
        needed[root[rule]] = True
        asked[root[rule]] = True
    for i in range(node.shape[0] - 1, TRUE, -1):
        if needed[i]:
            needed[node[i, LOW]] = True
            needed[node[i, HIGH]] = True
            asked[node[i, HIGH]] = True
    return needed, asked


@kernel
def _rows(node: Ints, needed: Flags, asked: Flags) -> tuple[Ints, Ints]:
    """Where the row of every needed node begins, which is its own number if it is asked, and how long it is.

    Nodes stand behind their low branch, so sizes are summed up from the last node on, and rows are
    given out from the first on: each node gives those above it, one after the other, what is left of its own.
    """
    size = np.zeros(node.shape[0], np.int32)
    for i in range(node.shape[0] - 1, TRUE, -1):
        if needed[i]:
            size[i] += asked[i]
            size[node[i, LOW]] += size[i]
    number = np.zeros(node.shape[0], np.int32)
    free = np.zeros(node.shape[0], np.int32)
    for i in range(TRUE + 1, node.shape[0]):
        if needed[i]:
            below = node[i, LOW]
            number[i] = free[below]
            free[below] += size[i]
            free[i] = number[i] + asked[i]
    number[TRUE] = size[FALSE]
    return number, size


@kernel
def _by_variable(
    node: Ints, needed: Flags, number: Ints, size: Ints, variables: int
) -> tuple[Ints, NDArray[np.uint32], NDArray[np.uint32], Ints]:
    """Forest.start, plain, guarded and long_row."""
    start = np.zeros((variables + 2, 2), np.int32)
    long_rows = 0
    for i in range(TRUE + 1, node.shape[0]):
        if needed[i]:
            start[node[i, VARIABLE] + 2, 0 if node[i, HIGH] == TRUE else 1] += 1
            long_rows += size[i] > _LONGEST
    for variable in range(variables + 1):
        start[variable + 1] += start[variable]
    plain = np.empty(start[variables + 1, 0], np.uint32)
    guarded = np.empty((start[variables + 1, 1], 2), np.uint32)
    long_row = np.empty((long_rows, 2), np.int32)
    long_rows = 0
    for i in range(TRUE + 1, node.shape[0]):
        if needed[i]:
            row = np.uint64(number[i]) << _LENGTH | np.uint64(size[i])
            if size[i] > _LONGEST:
                row = np.uint64(long_rows) << _LENGTH
                long_row[long_rows, 0] = number[i]
                long_row[long_rows, 1] = number[i] + size[i]
                long_rows += 1
            variable = node[i, VARIABLE] + 1
            if node[i, HIGH] == TRUE:
                plain[start[variable, 0]] = row
                start[variable, 0] += 1
            else:
                guarded[start[variable, 1], 0] = row
                guarded[start[variable, 1], 1] = number[node[i, HIGH]]
                start[variable, 1] += 1
    return start[: variables + 1].copy(), plain, guarded, long_row


@kernel
def _by_number(number: Ints, root: Ints) -> tuple[Ints, Ints, Ints]:
    """Forest.top, rule_start and rule."""
    rule = np.empty(root.size, np.int32)
    rules = 0
    for i in range(root.size):
        rule[rules] = i
        rules += root[i] != FALSE
    key = np.empty(rules, np.uint64)
    for i in range(rules):
        key[i] = np.uint64(number[root[rule[i]]])
    rule = rule[:rules][order_by(key)]
    top = np.empty(rules, np.int32)
    rule_start = np.zeros(rules + 1, np.int32)
    tops = 0
    for i in range(rules):
        here = number[root[rule[i]]]
        if tops == 0 or top[tops - 1] != here:
            top[tops] = here
            tops += 1
        rule_start[tops] = i + 1
    return top[:tops].copy(), rule_start[: tops + 1].copy(), rule


@kernel
def grow_forest(diagrams: Diagrams, variable: Ints) -> Forest:
    """Lay diagrams out; every rule has its root."""
    node, root = diagrams
    needed, asked = _uses(diagrams)
    number, size = _rows(node, needed, asked)
    start, plain, guarded, long_row = _by_variable(node, needed, number, size, variable.size)
    top, rule_start, rule = _by_number(number, root)
    return Forest(variable, start, plain, guarded, long_row, top, rule_start, rule, np.int64(size[FALSE]))


@inner_kernel
def _is_true(true: Words, number: np.uint32) -> np.uint64:
    """1 or 0."""
    at = np.uint64(number)
    return (true[at >> _WORD] >> (at & _IN_WORD)) & _ONE


@inner_kernel
def _set_row(row: np.uint32, long_row: Ints, true: Words) -> None:
    """Set the bits of a row; those of a long one only if they are not set yet."""
    first = np.uint64(row) >> _LENGTH
    length = np.uint64(row) & _LONGEST
    if length != 0:
        word = first >> _WORD
        shift = first & _IN_WORD
        bits = (_ONE << length) - _ONE
        true[word] |= bits << shift
        if shift + length > _BITS:
            true[word + _ONE] |= bits >> (_BITS - shift)
        return
    begin = np.uint64(long_row[first, 0])
    last = np.uint64(long_row[first, 1]) - _ONE
    if _is_true(true, begin) == 0:
        word = begin >> _WORD
        last_word = last >> _WORD
        from_begin = ALL << (begin & _IN_WORD)
        to_last = ALL >> (_IN_WORD - (last & _IN_WORD))
        if word == last_word:
            true[word] |= from_begin & to_last
        else:
            true[word] |= from_begin
            true[word + _ONE : last_word] = ALL
            true[last_word] |= to_last


@inner_kernel
def _fire(
    held: Ints,
    count: int,
    start: Ints,
    plain: NDArray[np.uint32],
    guarded: NDArray[np.uint32],
    long_row: Ints,
    true: Words,
) -> None:
    """The ascending variables held[:count] hold: set what is true."""
    for i in range(count - 1, -1, -1):
        prefetch(start, 2 * np.int64(held[max(i - 2 * _AHEAD, 0)]))
        soon = 2 * np.int64(held[max(i - _AHEAD, 0)])
        prefetch(plain, np.int64(start[soon]))
        prefetch(guarded, 2 * np.int64(start[soon + 1]))
        prefetch(guarded, 2 * np.int64(start[soon + 1]) + _LINE)
        here = 2 * np.int64(held[i])
        for j in range(np.uint64(start[here]), np.uint64(start[here + 2])):
            _set_row(plain[j], long_row, true)
        for j in range(_TWO * np.uint64(start[here + 1]), _TWO * np.uint64(start[here + 3]), _TWO):
            if _is_true(true, guarded[j + _ONE]) != 0:
                _set_row(guarded[j], long_row, true)


@kernel
def match_forest(forest: Forest, held: Lists, truth: Truth) -> Lists:
    """For each event the rules that match, ascending."""
    variable, variable_start, plain, guarded, long_row, top, rule_start, rule, numbers = forest
    true, variable_bit, variable_line, held_variable, true_top, rule_bit, rule_line = truth
    flat_start = variable_start.reshape(-1)
    flat_guarded = guarded.reshape(-1)
    start = np.zeros(held.start.size, np.int64)
    found = np.empty(1024, np.int32)
    size = np.int64(0)
    for event in range(held.start.size - 1):
        count = held.start[event + 1] - held.start[event]
        for i in range(count):
            held_variable[i] = variable[held.item[held.start[event] + i]]
        mark(held_variable, 0, count, variable_bit, variable_line)
        take(variable_bit, variable_line, 0, variable.size, 0, held_variable)
        clear(variable_bit, variable_line)
        _fire(held_variable, count, flat_start, plain, flat_guarded, long_row, true)
        tops = 0
        for t in range(top.size):
            true_top[tops] = t
            tops += np.int64(_is_true(true, top[t]))
        matches = 0
        for i in range(tops):
            first = rule_start[true_top[i]]
            last = rule_start[true_top[i] + 1]
            mark(rule, first, last, rule_bit, rule_line)
            matches += last - first
        found = with_room(found, size, matches + SPARE)
        size += take(rule_bit, rule_line, 0, 64 * rule_bit.size, 0, found[size:])
        clear(rule_bit, rule_line)
        start[event + 1] = size
        true[:] = 0
        true[numbers >> 6] = _ONE << np.uint64(numbers & 63)
    return Lists(start, found[:size].copy())


def no_truth(forest: Forest) -> Truth:
    """What one thread needs for matching."""
    true = np.zeros((forest.numbers >> 6) + 1, np.uint64)
    true[-1] = 1 << (forest.numbers & 63)
    return Truth(
        true,
        *_no_bits(len(forest.variable)),
        np.zeros(len(forest.variable) + SPARE, np.int32),
        np.zeros(len(forest.top) + 1, np.int32),
        *_no_bits(int(forest.rule.max(initial=0)) + 1),
    )


def _no_bits(count: int) -> tuple[Words, Bytes]:
    """So many bits and their lines, as conditions/kernels/literal_bitmap.py has them."""
    lines = (count >> 9) + 1
    return np.zeros(8 * lines, np.uint64), np.zeros(lines, np.uint8)
