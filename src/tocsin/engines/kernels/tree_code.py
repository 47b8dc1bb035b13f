"""Trees as straight code: one instruction for each leaf, and no stack.

When the last subtree of a node is reached, all others were true (AND) or false (OR), so the node is what
its last subtree is. So from any leaf, one answer leads to the next leaf, and only the other one jumps:
over the rest of an OR that holds, or of an AND that does not, or to the end.

    (1 or 2) and 3      1   if it holds, to 3
                        2   if it does not hold, reject
                        3   if it holds, accept
                            reject
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.bits import prefetch
from tocsin.arrays.dtypes import Flags, Ints, Longs, Words
from tocsin.arrays.jit import inner_kernel, kernel
from tocsin.arrays.lists import Lists, with_room
from tocsin.engines.kernels.unfolded_trees import Trees, children_of_code, count_leaves, is_and_code

ACCEPT = -1
REJECT = -2

RULES_AHEAD = 24
"""How many rules ahead code is asked for: most are rejected by their first instruction."""

_ONE = np.uint64(1)
_WORD = np.uint64(6)
_IN_WORD = np.uint64(63)


class TreeCode(NamedTuple):
    """The code of every rule. R rules, L leaves, of which number L always holds.

    start   int64[R+1]   rule r: instructions start[r] ... start[r+1]; none when it never holds
    asked   int32[n]     2 * leaf + 1: jump if the leaf holds;  2 * leaf: jump if it does not
    jump    int32[n]     to an instruction, counted from the rule's first, or ACCEPT or REJECT; without
                         a jump the next one follows, and behind the last the rule is rejected
    """

    start: Longs
    asked: Ints
    jump: Ints


@kernel
def write_code(trees: Trees, always: Flags, leaves: int) -> TreeCode:
    """The code of all trees; always[r] says that rule r, which has no tree, holds in every event."""
    rules = trees.start.size - 1
    start = np.zeros(rules + 1, np.int64)
    largest = 1
    for rule in range(rules):
        largest = max(largest, trees.start[rule + 1] - trees.start[rule])
        count = 1 if always[rule] else 0
        for at in range(trees.start[rule], trees.start[rule + 1]):
            count += trees.code[at] >= 0
        start[rule + 1] = start[rule] + count
    asked = np.empty(start[-1], np.int32)
    jump = np.empty(start[-1], np.int32)
    size = np.empty(largest, np.int32)
    if_true = np.empty(largest, np.int32)
    if_false = np.empty(largest, np.int32)
    waiting = np.empty(largest, np.int32)
    left = np.empty(largest, np.int32)
    for rule in range(rules):
        first = start[rule]
        if always[rule]:
            asked[first] = 2 * leaves + 1
            jump[first] = ACCEPT
            continue
        code = trees.code[trees.start[rule] : trees.start[rule + 1]]
        count_leaves(code, size, waiting)
        _find_exits(code, size, if_true, if_false, waiting, left)
        leaf = 0
        for at in range(code.size):
            if code[at] < 0:
                continue
            if if_true[at] == leaf + 1:
                asked[first + leaf] = 2 * code[at]
                jump[first + leaf] = if_false[at]
            else:
                asked[first + leaf] = 2 * code[at] + 1
                jump[first + leaf] = if_true[at]
            leaf += 1
    return TreeCode(start, asked, jump)


@kernel
def _find_exits(code: Ints, size: Ints, if_true: Ints, if_false: Ints, waiting: Ints, left: Ints) -> None:
    """For each place of one tree the instruction to go on with when its subtree is true, and when false.

    `waiting` are the nodes that are open, and `left` says how many subtrees of each are still to come.
    """
    if code.size == 0:
        return
    if_true[0] = ACCEPT
    if_false[0] = REJECT
    height = 0
    leaf = 0
    for at in range(code.size):
        if at > 0:
            parent = waiting[height - 1]
            left[height - 1] -= 1
            is_last = left[height - 1] == 0
            behind = leaf + size[at]
            and_above = is_and_code(code[parent])
            if_true[at] = behind if and_above and not is_last else if_true[parent]
            if_false[at] = behind if not and_above and not is_last else if_false[parent]
        if code[at] < 0:
            waiting[height] = at
            left[height] = children_of_code(code[at])
            height += 1
        else:
            leaf += 1
            while height > 0 and left[height - 1] == 0:
                height -= 1


@inner_kernel
def accepts(rule: int, start: Longs, asked: Ints, jump: Ints, bit: Words) -> bool:
    """Whether a rule holds, when bit l says whether leaf l does."""
    first = start[rule]
    last = start[rule + 1]
    at = first
    while at < last:
        question = np.uint64(asked[at])
        leaf = question >> _ONE
        at += 1
        if (bit[leaf >> _WORD] >> (leaf & _IN_WORD)) & _ONE == question & _ONE:
            to = jump[at - 1]
            if to < 0:
                return to == ACCEPT
            at = first + to
    return False


@inner_kernel
def set_bits(item: Ints, first: int, last: int, bit: Words) -> None:
    """Set the bits item[first:last]."""
    for i in range(first, last):
        each = np.uint64(item[i])
        bit[each >> _WORD] |= _ONE << (each & _IN_WORD)


@inner_kernel
def clear_bits(item: Ints, first: int, last: int, bit: Words) -> None:
    """Clear the words of the bits item[first:last]."""
    for i in range(first, last):
        bit[np.uint64(item[i]) >> _WORD] = 0


@kernel
def scan(code: TreeCode, leaves: int, held: Lists, bit: Words) -> Lists:
    """Ask every rule about every event. All bits are zero before and after."""
    start, asked, jump = code
    rules = start.size - 1
    events = held.start.size - 1
    out_start = np.zeros(events + 1, np.int64)
    item = np.empty(rules, np.int32)
    used = np.int64(0)
    for event in range(events):
        set_bits(held.item, held.start[event], held.start[event + 1], bit)
        bit[leaves >> 6] |= _ONE << np.uint64(leaves & 63)
        item = with_room(item, used, rules)
        for rule in range(rules):
            prefetch(asked, start[min(rule + RULES_AHEAD, rules)])
            item[used] = rule
            used += accepts(rule, start, asked, jump, bit)
        clear_bits(held.item, held.start[event], held.start[event + 1], bit)
        bit[leaves >> 6] = 0
        out_start[event + 1] = used
    return Lists(out_start, item[:used].copy())
