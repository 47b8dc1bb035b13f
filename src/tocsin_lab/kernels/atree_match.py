"""One event at a time through the A-Tree, as in section 5 of the paper, each optimisation switchable.

Nodes wait in one queue for each level, lowest first, so that what a node needs is known when its turn
comes. The result of a node is told to the parents it has *links* to; the first to tell a parent anything
queues it.

    plain                 algorithm 6: true and false are both told, unknown is not; any operator
    zero suppression      only true is told; the tree has and, or alone, false and unknown are alike
    on demand             an and has a link from one child only, its access child; when that is true, the
                          and looks at the stored results of the others
    lazy stamps           a stored result counts when it bears the present event's number; without them
                          everything touched is cleaned after each event
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.dtypes import Bytes, Doubles, Ints, Longs
from tocsin.arrays.jit import kernel
from tocsin_lab.kernels.atree_nodes import AND, LEAF, NOT, OR, XOR


class FrozenAtree(NamedTuple):
    """The tree as matching reads it; nodes are numbered by level.

    operator      uint8[n]
    level_start   int32[D+1]   nodes of level d+1: level_start[d] : level_start[d+1]
    child_start   int32[n+1]   children of node i: child[child_start[i] : child_start[i+1]]
    child         int32[...]
    link_start    int32[n+1]   the parents that node i tells its result: link[link_start[i] : ...]
    link          int32[...]
    leaf_start    int32[...]   l-nodes of a predicate's reference r: leaf[leaf_start[r] : leaf_start[r+1]]
    leaf          int32[...]
    rule_start    int32[n+1]   rules that are node i: rule[rule_start[i] : rule_start[i+1]]
    rule          int32[...]
    """

    operator: Bytes
    level_start: Ints
    child_start: Ints
    child: Ints
    link_start: Ints
    link: Ints
    leaf_start: Ints
    leaf: Ints
    rule_start: Ints
    rule: Ints


class Switches(NamedTuple):
    """The optimisations of section 5.2; on_demand needs zero_suppression."""

    zero_suppression: bool
    on_demand: bool
    lazy_stamps: bool


class Memory(NamedTuple):
    """What is kept from one event to the next, and where nodes wait.

    event     int64[1]    the present event's number
    known     int64[n]    the event that `result` is of
    result    int8[n]     1 true, -1 false, 0 unknown
    opened    int64[n]    the event that `trues` and `falses` are of
    trues     int32[n]    operands that are true ...
    falses    int32[n]    ... and false, as far as told
    queue     int32[n]    the nodes that wait, or waited: the queue of a level lies where its nodes do
    filled    int32[D]    how many are in each queue
    found     int32[R]    the rules that the last event satisfies
    """

    event: Longs
    known: Longs
    result: NDArray[np.int8]
    opened: Longs
    trues: Ints
    falses: Ints
    queue: Ints
    filled: Ints
    found: Ints


@kernel
def _evaluated(operator: int, operands: int, trues: int, falses: int) -> int:
    """The truth of a node from the operands told so far; the others are unknown (table 2)."""
    if operator == AND:
        if falses > 0:
            return -1
        return 1 if trues == operands else 0
    if operator == OR:
        if trues > 0:
            return 1
        return -1 if falses == operands else 0
    if trues + falses < operands:
        return 0
    if operator == NOT:
        return 1 if falses == 1 else -1
    minuses = falses + (operands - 1 if operator == XOR else 0)
    return -1 if minuses & 1 else 1


@kernel
def _all_true(
    child: Ints, begin: int, end: int, known: Longs, result: NDArray[np.int8], signature: int
) -> bool:
    for i in range(begin, end):
        if known[child[i]] != signature or result[child[i]] != 1:
            return False
    return True


@kernel
def _queue_leaves(tree: FrozenAtree, memory: Memory, ref: int, result: int, signature: int) -> None:
    for i in range(tree.leaf_start[ref], tree.leaf_start[ref + 1]):
        leaf = tree.leaf[i]
        memory.known[leaf] = signature
        memory.result[leaf] = result
        memory.queue[memory.filled[0]] = leaf
        memory.filled[0] += 1


@kernel
def match_event(
    tree: FrozenAtree, switches: Switches, level_of: Ints, true_ref: NDArray, memory: Memory
) -> int:
    """Match one event, given the references that are true of it; how many rules it satisfies.

    Their numbers are in memory.found, and who waited at which level is in memory.queue. A negated
    reference is true where its predicate is false.
    """
    link_start, link = tree.link_start, tree.link
    known, result, opened = memory.known, memory.result, memory.opened
    trues, falses = memory.trues, memory.falses
    queue, filled, level_start = memory.queue, memory.filled, tree.level_start
    signature = np.int64(1)
    if switches.lazy_stamps:
        memory.event[0] += 1
        signature = memory.event[0]
    filled[:] = 0
    for i in range(true_ref.size):
        _queue_leaves(tree, memory, true_ref[i], 1, signature)
        if not switches.zero_suppression:
            _queue_leaves(tree, memory, true_ref[i] ^ 1, -1, signature)
    count = 0
    for level in range(filled.size):
        for at in range(level_start[level], level_start[level] + filled[level]):
            node = queue[at]
            operator = tree.operator[node]
            truth = np.int64(result[node])
            if operator != LEAF:
                begin, end = tree.child_start[node], tree.child_start[node + 1]
                if switches.on_demand:
                    truth = np.int64(
                        operator != AND or _all_true(tree.child, begin, end, known, result, signature)
                    )
                else:
                    truth = _evaluated(operator, end - begin, trues[node], falses[node])
                    if switches.zero_suppression:
                        truth = max(truth, 0)
                known[node] = signature
                result[node] = truth
            if truth == 0:
                continue
            for i in range(link_start[node], link_start[node + 1]):
                parent = link[i]
                if opened[parent] != signature:
                    opened[parent] = signature
                    trues[parent] = 0
                    falses[parent] = 0
                    place = level_of[parent]
                    queue[level_start[place] + filled[place]] = parent
                    filled[place] += 1
                if truth > 0:
                    trues[parent] += 1
                else:
                    falses[parent] += 1
            if truth > 0:
                for i in range(tree.rule_start[node], tree.rule_start[node + 1]):
                    memory.found[count] = tree.rule[i]
                    count += 1
    if not switches.lazy_stamps:
        for level in range(filled.size):
            for at in range(level_start[level], level_start[level] + filled[level]):
                known[queue[at]] = 0
                opened[queue[at]] = 0
    return count


@kernel
def count_matches(
    tree: FrozenAtree,
    switches: Switches,
    level_of: Ints,
    start: Longs,
    true_ref: Ints,
    memory: Memory,
    count: Longs,
    visited: Longs,
) -> None:
    """Match events one after the other: matches, and nodes that were queued, of each.

    Event i is given by true_ref[start[i] : start[i + 1]].
    """
    for event in range(start.size - 1):
        count[event] = match_event(
            tree, switches, level_of, true_ref[start[event] : start[event + 1]], memory
        )
        visited[event] = memory.filled.sum()


@kernel
def estimate_nodes(tree: FrozenAtree, leaf_estimate: Doubles) -> Doubles:
    """How likely each node of ands and ors is to hold, taking leaves as independent."""
    estimate = leaf_estimate.copy()
    for node in range(tree.operator.size):
        if tree.operator[node] != LEAF:
            holds = 1.0
            fails = 1.0
            for i in range(tree.child_start[node], tree.child_start[node + 1]):
                holds *= estimate[tree.child[i]]
                fails *= 1.0 - estimate[tree.child[i]]
            estimate[node] = holds if tree.operator[node] == AND else 1.0 - fails
    return estimate
