"""Expressions over literals become expressions over conjunctions, the leaves of the first paper's trees.

The literals right below an AND are one conjunction. If the AND has nothing else below it, the
conjunction takes its place; a literal below an OR is a conjunction of one.

    and(1, 2, or(3, and(4, 5), and(6, or(7, 8))))
    and({1 2}, or({3}, {4 5}, and({6}, or({7}, {8}))))

Conjunctions with the same literals are one leaf. They are numbered by size, the small ones first.
"""

from __future__ import annotations

import numpy as np

from tocsin.arrays.dtypes import Ints, Longs
from tocsin.arrays.jit import kernel
from tocsin.arrays.lists import Lists
from tocsin.arrays.radix_sort import bits_of, no_tally, sort_numbers
from tocsin.engines.kernels.expressions import Expressions

_MIX = np.uint64(0x9E37_79B9_7F4A_7C15)


@kernel
def _find_conjunction(literal: Ints, start: Longs, item: Ints, slot: Ints) -> int:
    """The slot of a conjunction with these sorted literals, or the empty slot where it would be."""
    mixed = np.uint64(literal.size)
    for i in range(literal.size):
        mixed = (mixed ^ np.uint64(literal[i])) * _MIX
        mixed ^= mixed >> np.uint64(29)
    mask = np.uint64(slot.size - 1)
    at = mixed & mask
    while slot[at] >= 0:
        known = slot[at]
        begin = start[known]
        if start[known + 1] - begin == literal.size:
            same = True
            for i in range(literal.size):
                if item[begin + i] != literal[i]:
                    same = False
                    break
            if same:
                break
        at = (at + np.uint64(1)) & mask
    return np.int64(at)


@kernel
def _literals_below(
    child: Ints, begin: int, end: int, literals: int, out: Ints, other: Ints, tally: Longs
) -> int:
    """The distinct literals among children, ascending; how many. The last two are room for sorting."""
    count = 0
    for j in range(begin, end):
        if child[j] < literals:
            out[count] = child[j]
            count += 1
    sort_numbers(out[:count], other[:count], bits_of(literals), tally)
    kept = 0
    for i in range(count):
        if i == 0 or out[i] != out[i - 1]:
            out[kept] = out[i]
            kept += 1
    return kept


@kernel
def _collect(expressions: Expressions, tally: Longs) -> tuple[Ints, Ints, Lists]:
    """The conjunction of each inner AND that has literals (else -1), of each literal that stands alone, all.

    Numbers are in the order in which conjunctions were met.
    """
    literals, is_and, child_start, child, root = expressions
    inner = is_and.size
    of_node = np.full(inner, -1, np.int32)
    alone = np.full(literals, -1, np.int32)
    widest = 1
    for i in range(inner):
        widest = max(widest, child_start[i + 1] - child_start[i])
    few = np.empty(widest, np.int32)
    other = np.empty(widest, np.int32)
    start = np.zeros(inner + literals + 1, np.int64)
    item = np.empty(child.size + literals, np.int32)
    size = 16
    while size < 2 * (inner + literals):
        size *= 2
    slot = np.full(size, -1, np.int32)
    count = 0
    for i in range(inner + root.size):
        if i < inner and is_and[i]:
            width = _literals_below(child, child_start[i], child_start[i + 1], literals, few, other, tally)
            if width == 0:
                continue
            if width > 1:
                at = _find_conjunction(few[:width], start, item, slot)
                if slot[at] < 0:
                    slot[at] = count
                    item[start[count] : start[count] + width] = few[:width]
                    start[count + 1] = start[count] + width
                    count += 1
                of_node[i] = slot[at]
                continue
            single = np.int64(few[0])
            if alone[single] < 0:
                alone[single] = count
                item[start[count]] = single
                start[count + 1] = start[count] + 1
                count += 1
            of_node[i] = alone[single]
            continue
        begin = child_start[i] if i < inner else 0
        end = child_start[i + 1] if i < inner else 1
        for j in range(begin, end):
            single = np.int64(child[j] if i < inner else root[i - inner])
            if single < literals and alone[single] < 0:
                alone[single] = count
                item[start[count]] = single
                start[count + 1] = start[count] + 1
                count += 1
    return of_node, alone, Lists(start[: count + 1].copy(), item[: start[count]].copy())


@kernel
def _by_size(met: Lists) -> tuple[Ints, Lists]:
    """The new number of each conjunction, and all of them in their new order: by size, then as met."""
    count = met.start.size - 1
    largest = 0
    for i in range(count):
        largest = max(largest, met.start[i + 1] - met.start[i])
    place = np.zeros(largest + 2, np.int64)
    for i in range(count):
        place[met.start[i + 1] - met.start[i] + 1] += 1
    for size in range(largest + 1):
        place[size + 1] += place[size]
    number = np.empty(count, np.int32)
    old = np.empty(count, np.int32)
    for i in range(count):
        size = met.start[i + 1] - met.start[i]
        number[i] = place[size]
        old[place[size]] = i
        place[size] += 1
    start = np.zeros(count + 1, np.int64)
    item = np.empty(met.item.size, np.int32)
    for i in range(count):
        begin = met.start[old[i]]
        end = met.start[old[i] + 1]
        start[i + 1] = start[i] + end - begin
        item[start[i] : start[i + 1]] = met.item[begin:end]
    return number, Lists(start, item)


def with_conjunction_leaves(expressions: Expressions) -> tuple[Expressions, Lists]:
    """The expressions over conjunctions, and for each conjunction its literals, ascending."""
    return _put_together(expressions, no_tally())


@kernel
def _put_together(expressions: Expressions, tally: Longs) -> tuple[Expressions, Lists]:
    literals, is_and, child_start, child, root = expressions
    inner = is_and.size
    of_node, alone, met = _collect(expressions, tally)
    number, conjunctions = _by_size(met)
    leaves = conjunctions.start.size - 1
    node_of = np.empty(literals + inner + 2, np.int32)
    for literal in range(literals):
        node_of[literal] = -1 if alone[literal] < 0 else number[alone[literal]]
    kept_and = np.empty(inner, np.bool_)
    kept_start = np.zeros(inner + 1, np.int32)
    kept_child = np.empty(child.size, np.int32)
    kept = 0
    at = 0
    for i in range(inner):
        if of_node[i] >= 0:
            kept_child[at] = number[of_node[i]]
            at += 1
        for j in range(child_start[i], child_start[i + 1]):
            if child[j] >= literals or not is_and[i]:
                kept_child[at] = node_of[child[j]]
                at += 1
        if is_and[i] and of_node[i] >= 0 and at == kept_start[kept] + 1:
            at = kept_start[kept]
            node_of[literals + i] = number[of_node[i]]
            continue
        node_of[literals + i] = leaves + kept
        kept_and[kept] = is_and[i]
        kept += 1
        kept_start[kept] = at
    node_of[literals + inner] = leaves + kept
    node_of[literals + inner + 1] = leaves + kept + 1
    roots = np.empty(root.size, np.int32)
    for rule in range(root.size):
        roots[rule] = node_of[root[rule]]
    over = Expressions(
        leaves,
        kept_and[:kept].copy(),
        kept_start[: kept + 1].copy(),
        kept_child[:at].copy(),
        roots,
    )
    return over, conjunctions
