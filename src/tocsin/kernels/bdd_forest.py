"""Decision diagrams laid out so that only what holds is looked at.

Functions are monotone: with no variable, none of them holds but the constant. So a way that turns low at
every node ends at false, and the low branches alone make trees, whose roots are the nodes with low = false:

    low branches        b      e        a node is true exactly when on its way down, itself included, some
                       ╱ ╲     │        node *fires*: its variable holds and its high branch is true
                      a   d    c

Numbered in preorder, b a d e c, all nodes above one are a row of numbers: when b fires, the numbers 0 to 2
are true at once. Variables that hold are taken from the last to the first, since branches lead to later
ones: then what is below a node has fired before it, a node that is true need not fire any more, and no
number is set twice.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.bdd import FALSE, HIGH, LOW, TRUE, VARIABLE, Diagrams
from tocsin.kernels.bits import ALL, prefetch
from tocsin.kernels.growing import enlarged
from tocsin.kernels.holding import SPARE, clear, is_marked, mark, take
from tocsin.kernels.jit import inner_kernel, kernel
from tocsin.kernels.lists import Lists
from tocsin.kernels.radix import order_by

_AHEAD = 16
"""How many variables ahead nodes are asked for; twice as many for where they begin."""

_PAGE = 12
"""Truth is cleared by pages of 2^12 bits."""

_ONE = np.uint64(1)
_WORD = np.uint64(6)
_IN_WORD = np.uint64(63)


class Forest(NamedTuple):
    """The diagrams of rules. N nodes that some rule needs, L literals, T distinct functions of rules.

    variable      int32[L]     the variable of each literal: a number from 0 to L-1
    node_start    int32[L+1]   the nodes that ask variable v: node_start[v] ... node_start[v+1]
    high          int32[N]     the number of their high branch, ascending for each variable; N when it is true
    number        int32[N]     their own number, in preorder
    behind        int32[N]     numbers from `number` to here, not included, are true when this node fires
    top           int32[T]     the numbers of rules, ascending; N for rules that always hold
    rule_start    int32[T+1]   the rules whose number is top[t]: rule[rule_start[t] : rule_start[t+1]]
    rule          int32[R]         without those that never hold
    """

    variable: NDArray[np.int32]
    node_start: NDArray[np.int32]
    high: NDArray[np.int32]
    number: NDArray[np.int32]
    behind: NDArray[np.int32]
    top: NDArray[np.int32]
    rule_start: NDArray[np.int32]
    rule: NDArray[np.int32]


class Truth(NamedTuple):
    """What matching writes to; between events only bit N of `true` is set, and all else is zero.

    true            uint64[...]    bit n: number n is true
    page            uint8[...]     whether any bit of a page may be set
    variable_bit    uint64[...]    the variables that hold, as a bit set
    variable_line   uint8[...]
    held            int32[L+SPARE] the same as a list
    rule_bit        uint64[...]    the rules that match, as a bit set
    rule_line       uint8[...]
    """

    true: NDArray[np.uint64]
    page: NDArray[np.uint8]
    variable_bit: NDArray[np.uint64]
    variable_line: NDArray[np.uint8]
    held: NDArray[np.int32]
    rule_bit: NDArray[np.uint64]
    rule_line: NDArray[np.uint8]


@kernel
def _needed(diagrams: Diagrams) -> NDArray[np.bool_]:
    """Which nodes some rule leads to."""
    node, root = diagrams
    needed = np.zeros(node.shape[0], np.bool_)
    for rule in range(root.size):
        needed[root[rule]] = True
    for i in range(node.shape[0] - 1, TRUE, -1):
        if needed[i]:
            needed[node[i, LOW]] = True
            needed[node[i, HIGH]] = True
    return needed


@kernel
def _preorder(
    node: NDArray[np.int32], needed: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The number of every node that is needed, and how many numbers its tree has.

    Nodes stand behind their low branch, so sizes are summed up from the last node on, and numbers are
    given out from the first on: each node gives its children, one after the other, what is left of its row.
    """
    size = np.zeros(node.shape[0], np.int32)
    for i in range(node.shape[0] - 1, TRUE, -1):
        if needed[i]:
            size[i] += 1
            size[node[i, LOW]] += size[i]
    number = np.zeros(node.shape[0], np.int32)
    free = np.zeros(node.shape[0], np.int32)
    for i in range(TRUE + 1, node.shape[0]):
        if needed[i]:
            below = node[i, LOW]
            number[i] = free[below]
            free[below] += size[i]
            free[i] = number[i] + 1
    number[TRUE] = size[FALSE]
    return number, size


@kernel
def grow_forest(diagrams: Diagrams, variable: NDArray[np.int32]) -> Forest:
    """Lay diagrams out; every rule has its root."""
    node, root = diagrams
    needed = _needed(diagrams)
    number, size = _preorder(node, needed)
    count = np.int64(size[FALSE])
    key = np.empty(count, np.uint64)
    place = np.empty(count, np.int32)
    at = 0
    for i in range(TRUE + 1, node.shape[0]):
        if needed[i]:
            place[at] = i
            key[at] = np.uint64(node[i, VARIABLE]) << np.uint64(32) | np.uint64(number[node[i, HIGH]])
            at += 1
    order = order_by(key)
    node_start = np.zeros(variable.size + 1, np.int32)
    high = np.empty(count, np.int32)
    own = np.empty(count, np.int32)
    behind = np.empty(count, np.int32)
    for i in range(count):
        here = place[order[i]]
        node_start[node[here, VARIABLE] + 1] += 1
        high[i] = number[node[here, HIGH]]
        own[i] = number[here]
        behind[i] = number[here] + size[here]
    for each in range(variable.size):
        node_start[each + 1] += node_start[each]
    rule = np.empty(root.size, np.int32)
    rules = 0
    for i in range(root.size):
        if root[i] != FALSE:
            rule[rules] = i
            rules += 1
    rule_key = np.empty(rules, np.uint64)
    for i in range(rules):
        rule_key[i] = np.uint64(number[root[rule[i]]])
    rule = rule[:rules][order_by(rule_key)]
    top = np.empty(rules, np.int32)
    rule_start = np.zeros(rules + 1, np.int32)
    tops = 0
    for i in range(rules):
        here = number[root[rule[i]]]
        if tops == 0 or top[tops - 1] != here:
            top[tops] = here
            tops += 1
        rule_start[tops] = i + 1
    return Forest(
        variable, node_start, high, own, behind, top[:tops].copy(), rule_start[: tops + 1].copy(), rule
    )


@inner_kernel
def _set_row(first: int, last: int, true: NDArray[np.uint64], page: NDArray[np.uint8]) -> None:
    """Set the bits from `first` to `last`, both included."""
    first_word = first >> 6
    last_word = last >> 6
    from_first = ALL << np.uint64(first & 63)
    to_last = ALL >> np.uint64(63 - (last & 63))
    if first_word == last_word:
        true[first_word] |= from_first & to_last
    else:
        true[first_word] |= from_first
        for word in range(first_word + 1, last_word):
            true[word] = ALL
        true[last_word] |= to_last
    for i in range(first >> _PAGE, (last >> _PAGE) + 1):
        page[i] = 1


@inner_kernel
def _fire(
    held: NDArray[np.int32],
    count: int,
    node_start: NDArray[np.int32],
    high: NDArray[np.int32],
    number: NDArray[np.int32],
    behind: NDArray[np.int32],
    true: NDArray[np.uint64],
    page: NDArray[np.uint8],
) -> None:
    """The ascending variables held[:count] hold: set what is true."""
    for i in range(count - 1, -1, -1):
        prefetch(node_start, np.int64(held[max(i - 2 * _AHEAD, 0)]))
        prefetch(high, np.int64(node_start[held[max(i - _AHEAD, 0)]]))
        variable = np.int64(held[i])
        for j in range(node_start[variable], node_start[variable + 1]):
            if is_marked(true, high[j]) and not is_marked(true, number[j]):
                _set_row(np.int64(number[j]), np.int64(behind[j]) - 1, true, page)


@kernel
def match_forest(forest: Forest, held: Lists, truth: Truth) -> Lists:
    """For each event the rules that match, ascending."""
    variable, node_start, high, number, behind, top, rule_start, rule = forest
    true, page, variable_bit, variable_line, held_variable, rule_bit, rule_line = truth
    always = np.uint64(number.size)
    rules = 64 * rule_bit.size
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
        _fire(held_variable, count, node_start, high, number, behind, true, page)
        matches = 0
        for t in range(top.size):
            if is_marked(true, top[t]):
                mark(rule, rule_start[t], rule_start[t + 1], rule_bit, rule_line)
                matches += rule_start[t + 1] - rule_start[t]
        if size + matches + SPARE > found.size:
            longer = np.empty(enlarged(found.size, size + matches + SPARE), np.int32)
            longer[:size] = found[:size]
            found = longer
        size += take(rule_bit, rule_line, 0, rules, 0, found[size:])
        clear(rule_bit, rule_line)
        start[event + 1] = size
        for i in range(page.size):
            if page[i] != 0:
                page[i] = 0
                true[i << _PAGE - 6 : i + 1 << _PAGE - 6] = 0
        true[always >> _WORD] |= _ONE << (always & _IN_WORD)
    return Lists(start, found[:size].copy())


def no_truth(forest: Forest) -> Truth:
    """What one thread needs for matching."""
    count = len(forest.number)
    pages = (count >> _PAGE) + 1
    true = np.zeros(pages << _PAGE - 6, np.uint64)
    true[count >> 6] = 1 << (count & 63)
    return Truth(
        true,
        np.zeros(pages, np.uint8),
        *_no_bits(len(forest.variable)),
        np.zeros(len(forest.variable) + SPARE, np.int32),
        *_no_bits(int(forest.rule.max(initial=0)) + 1),
    )


def _no_bits(count: int) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
    """So many bits and their lines, as kernels/holding.py has them."""
    lines = (count >> 9) + 1
    return np.zeros(8 * lines, np.uint64), np.zeros(lines, np.uint8)
