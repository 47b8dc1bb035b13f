"""All rules for a block of events at once: one pass over the planes, children before parents."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.jit import kernel
from tocsin.kernels.leaves import BLOCK, WORDS, Cells, Leaves, Ranges, Sorter, mark_leaves
from tocsin.kernels.planes import PlaneGraph

_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_BIT_PLACES = np.zeros(64, np.int64)
for _place in range(64):
    _BIT_PLACES[int((1 << _place) * 0x03F79D71B4CB0A89 >> 58) & 63] = _place


@kernel
def _lowest_bit(word: np.uint64) -> int:
    """The place of the lowest set bit of a word that has one."""
    return _BIT_PLACES[((word & (~word + np.uint64(1))) * _DE_BRUIJN) >> np.uint64(58)]


@kernel
def evaluate_planes(
    graph: PlaneGraph, first_inner: int, planes: NDArray[np.uint64], alive: NDArray[np.uint8]
) -> None:
    """Set every inner plane from its children. alive[p] says whether plane p has any bit.

    An AND with a dead child is dead without a look at the planes, and so is an OR without a
    living one: where few leaves hold, most of the graph is skipped at one byte a child.
    """
    acc = np.empty(WORDS, np.uint64)
    for i in range(graph.is_and.size):
        begin = graph.child_start[i]
        end = graph.child_start[i + 1]
        plane = first_inner + i
        if graph.is_and[i]:
            living = True
            for j in range(begin, end):
                if alive[graph.child[j]] == 0:
                    living = False
                    break
            if not living:
                continue
            first = graph.child[begin]
            for w in range(WORDS):
                acc[w] = planes[first, w]
            for j in range(begin + 1, end):
                other = graph.child[j]
                for w in range(WORDS):
                    acc[w] &= planes[other, w]
            any_bit = np.uint64(0)
            for w in range(WORDS):
                any_bit |= acc[w]
            if any_bit != 0:
                alive[plane] = 1
                for w in range(WORDS):
                    planes[plane, w] = acc[w]
        else:
            started = False
            for j in range(begin, end):
                other = graph.child[j]
                if alive[other]:
                    if started:
                        for w in range(WORDS):
                            acc[w] |= planes[other, w]
                    else:
                        started = True
                        for w in range(WORDS):
                            acc[w] = planes[other, w]
            if started:
                alive[plane] = 1
                for w in range(WORDS):
                    planes[plane, w] = acc[w]


@kernel
def _count_block(
    root: NDArray[np.int32],
    planes: NDArray[np.uint64],
    alive: NDArray[np.uint8],
    per_event: NDArray[np.int64],
    per_rule: NDArray[np.int64],
) -> int:
    total = 0
    for rule in range(root.size):
        plane = root[rule]
        if alive[plane]:
            before = total
            for w in range(WORDS):
                word = planes[plane, w]
                while word != 0:
                    per_event[(w << 6) + _lowest_bit(word)] += 1
                    total += 1
                    word &= word - np.uint64(1)
            per_rule[rule] += total - before
    return total


@kernel
def _write_block(
    root: NDArray[np.int32],
    planes: NDArray[np.uint64],
    alive: NDArray[np.uint8],
    place: NDArray[np.int64],
    rule_out: NDArray[np.int32],
) -> None:
    """Write each match at place[event], which moves on: so by event, then in the rules' order."""
    for rule in range(root.size):
        plane = root[rule]
        if alive[plane]:
            for w in range(WORDS):
                word = planes[plane, w]
                while word != 0:
                    event = (w << 6) + _lowest_bit(word)
                    rule_out[place[event]] = rule
                    place[event] += 1
                    word &= word - np.uint64(1)


@kernel
def match_blocks(
    leaves: Leaves,
    ranges: Ranges,
    graph: PlaneGraph,
    cells: Cells,
    events: int,
    leaf_count: int,
    planes: NDArray[np.uint64],
    alive: NDArray[np.uint8],
    sorter: Sorter,
    per_event: NDArray[np.int64],
    per_rule: NDArray[np.int64],
    write: bool,
) -> NDArray[np.int32]:
    """Match a batch. The rules of event 0, then those of event 1, ... (empty unless `write`).

    per_event[e] and per_rule[r] are added to; per_event also says where each event's rules lie.
    planes and alive have a row for every plane and two more: always and never.
    """
    first_inner = leaf_count + graph.false_leaf.size
    always = first_inner + graph.is_and.size
    cursor = cells.group_start[:-1].copy()
    valid = np.empty(WORDS, np.uint64)
    place = np.empty(BLOCK, np.int64)
    out = np.empty(1024 if write else 0, np.int32)
    written = 0
    for base in range(0, events, BLOCK):
        size = min(BLOCK, events - base)
        for w in range(WORDS):
            bits = min(max(size - 64 * w, 0), 64)
            valid[w] = ~np.uint64(0) if bits == 64 else (np.uint64(1) << np.uint64(bits)) - np.uint64(1)
        alive[:] = 0
        for w in range(WORDS):
            planes[always, w] = valid[w]
        alive[always] = 1
        mark_leaves(leaves, ranges, cells, cursor, base, valid, sorter, planes, alive)
        evaluate_planes(graph, first_inner, planes, alive)
        total = _count_block(graph.root, planes, alive, per_event[base : base + size], per_rule)
        if write:
            if written + total > out.size:
                grown = np.empty(max(2 * out.size, written + total), np.int32)
                for i in range(written):
                    grown[i] = out[i]
                out = grown
            at = written
            for event in range(size):
                place[event] = at
                at += per_event[base + event]
            _write_block(graph.root, planes, alive, place, out)
            written += total
    return out[:written]
