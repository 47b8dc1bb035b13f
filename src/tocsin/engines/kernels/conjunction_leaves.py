"""Expressions over literals become expressions over conjunctions, the leaves of the first paper's trees.

The literals right below an AND are one conjunction. If the AND has nothing else below it, the
conjunction takes its place; a literal below an OR is a conjunction of one.

    and(1, 2, or(3, and(4, 5), and(6, or(7, 8))))
    and({1 2}, or({3}, {4 5}, and({6}, or({7}, {8}))))

Conjunctions with the same literals are one leaf. They are numbered by size, the small ones first.
"""

from __future__ import annotations

import numpy as np

from tocsin.arrays.byte_copy import gather_spans
from tocsin.arrays.distinct_texts import number_pieces
from tocsin.arrays.dtypes import Ints, Longs
from tocsin.arrays.jit import kernel
from tocsin.arrays.lists import Lists
from tocsin.arrays.radix_sort import bits_of, no_tally, order_by, sort_numbers
from tocsin.engines.kernels.expressions import Expressions


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

    They are in the order in which they were met; one of several literals as often as it was met.
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
    count = 0
    for i in range(inner + root.size):
        if i < inner and is_and[i]:
            width = _literals_below(child, child_start[i], child_start[i + 1], literals, few, other, tally)
            if width == 0:
                continue
            if width > 1 or alone[few[0]] < 0:
                item[start[count] : start[count] + width] = few[:width]
                start[count + 1] = start[count] + width
                if width == 1:
                    alone[few[0]] = count
                count += 1
            of_node[i] = count - 1 if width > 1 else alone[few[0]]
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


def with_conjunction_leaves(expressions: Expressions) -> tuple[Expressions, Lists]:
    """The expressions over conjunctions, and for each conjunction its literals, ascending."""
    of_node, alone, met = _collect(expressions, no_tally())
    data = met.item.view(np.uint8)
    number, begin, end = number_pieces(data, 4 * met.start)
    order = order_by((end - begin).astype(np.uint64))
    place = np.empty_like(order)
    place[order] = np.arange(len(order), dtype=np.int32)
    start, item = gather_spans(data, begin[order], end[order])
    over = _put_together(expressions, of_node, alone, place[number], len(order))
    return over, Lists(start // 4, item.view(np.int32))


@kernel
def _put_together(
    expressions: Expressions, of_node: Ints, alone: Ints, number: Ints, leaves: int
) -> Expressions:
    literals, is_and, child_start, child, root = expressions
    inner = is_and.size
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
    return Expressions(
        leaves,
        kept_and[:kept].copy(),
        kept_start[: kept + 1].copy(),
        kept_child[:at].copy(),
        roots,
    )
