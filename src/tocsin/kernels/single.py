"""One event with the least latency: only what holds is looked at.

Leaves that hold wake the planes above them, level by level, and nothing that is false is ever
passed on. An AND is woken by one child only, its *access* child, the one least likely to hold, and
then asks the others; an OR is woken by any. Nothing is cleared between events: a stamp equal to the
event's number means *true now*. The falsehood of a leaf is worked out when asked for (known, and not
stamped), unless it has to wake something itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.jit import kernel
from tocsin.kernels.leaves import Leaves, Ranges
from tocsin.kernels.lookup import Bounds, Literals, scalar_posting, scalar_slot, text_posting, text_slot
from tocsin.kernels.planes import PlaneGraph


class Wakes(NamedTuple):
    """Who is woken by whom. P planes, G groups.

    wake_start     int64[P+1]   inner planes (numbered from 0) that plane p wakes
    wake           int32[...]
    rule_start     int64[P+3]   rules whose root is plane p (also: always and never)
    rule           int32[R]     ascending within a plane
    group_of       int32[L]     the group of each leaf
    pushed_start   int32[G+1]   falsehood planes of a group that wake something or are a root:
    pushed_leaf    int32[...]       the leaf ...
    pushed_plane   int32[...]       ... and the plane of its falsehood
    """

    wake_start: NDArray[np.int64]
    wake: NDArray[np.int32]
    rule_start: NDArray[np.int64]
    rule: NDArray[np.int32]
    group_of: NDArray[np.int32]
    pushed_start: NDArray[np.int32]
    pushed_leaf: NDArray[np.int32]
    pushed_plane: NDArray[np.int32]


class OneEvent(NamedTuple):
    """The values of one event, each for the group that asks about it, in any order.

    scalar_group   int32[a]     with the key high, low of each
    high, low      int64[a]
    text_group     int32[b]     with its bytes: text_bytes[text_offset[i] : text_offset[i+1]]
    text_offset    int64[b+1]
    text_bytes     uint8[...]
    known_group    int32[c]     groups that know the event besides: null tests of fields that are
                                present, empty lists, decimals
    found_leaf     int32[d]     leaves found already, by patterns and decimals
    """

    scalar_group: NDArray[np.int32]
    high: NDArray[np.int64]
    low: NDArray[np.int64]
    text_group: NDArray[np.int32]
    text_offset: NDArray[np.int64]
    text_bytes: NDArray[np.uint8]
    known_group: NDArray[np.int32]
    found_leaf: NDArray[np.int32]


class Stamps(NamedTuple):
    """What matching one event writes to; one for each thread.

    now      int64[1]     the number of the event being matched
    true     int64[P]     plane p holds for event number true[p]
    known    int64[G]     group g is known
    held     int32[L+F]   the leaves, true or false, that hold and have to wake something
    queued   int64[I]     inner plane i is in the queue
    queue    int32[I]     woken inner planes of level d from level_start[d] on
    filled   int32[D]     how many of them
    """

    now: NDArray[np.int64]
    true: NDArray[np.int64]
    known: NDArray[np.int64]
    held: NDArray[np.int32]
    queued: NDArray[np.int64]
    queue: NDArray[np.int32]
    filled: NDArray[np.int32]


@kernel
def estimate_planes(leaf_estimate: NDArray[np.float64], graph: PlaneGraph) -> NDArray[np.float64]:
    """How likely each plane is to hold, taking leaves as independent."""
    leaves = leaf_estimate.size
    first_inner = leaves + graph.false_leaf.size
    estimate = np.empty(first_inner + graph.is_and.size, np.float64)
    for leaf in range(leaves):
        estimate[leaf] = leaf_estimate[leaf]
    for i in range(graph.false_leaf.size):
        estimate[leaves + i] = 1.0 - leaf_estimate[graph.false_leaf[i]]
    for i in range(graph.is_and.size):
        holds = 1.0
        fails = 1.0
        for j in range(graph.child_start[i], graph.child_start[i + 1]):
            holds *= estimate[graph.child[j]]
            fails *= 1.0 - estimate[graph.child[j]]
        estimate[first_inner + i] = holds if graph.is_and[i] else 1.0 - fails
    return estimate


@kernel
def lay_out_wakes(
    graph: PlaneGraph, estimate: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """wake_start and wake: an AND under its least likely child, an OR under every child."""
    planes = estimate.size
    inner = graph.is_and.size
    access = np.empty(inner, np.int32)
    start = np.zeros(planes + 1, np.int64)
    for i in range(inner):
        best = graph.child[graph.child_start[i]]
        for j in range(graph.child_start[i], graph.child_start[i + 1]):
            if graph.is_and[i]:
                if estimate[graph.child[j]] < estimate[best]:
                    best = graph.child[j]
            else:
                start[graph.child[j] + 1] += 1
        access[i] = best
        if graph.is_and[i]:
            start[best + 1] += 1
    for plane in range(planes):
        start[plane + 1] += start[plane]
    cursor = start[:-1].copy()
    wake = np.empty(start[planes], np.int32)
    for i in range(inner):
        if graph.is_and[i]:
            wake[cursor[access[i]]] = i
            cursor[access[i]] += 1
        else:
            for j in range(graph.child_start[i], graph.child_start[i + 1]):
                wake[cursor[graph.child[j]]] = i
                cursor[graph.child[j]] += 1
    return start, wake


@kernel
def _level_of(level_start: NDArray[np.int32], inner: int) -> int:
    """The level that holds an inner plane: the last that starts at or before it."""
    level = 0
    above = level_start.size - 1
    while above - level > 1:
        middle = (level + above) >> 1
        if level_start[middle] <= inner:
            level = middle
        else:
            above = middle
    return level


@kernel
def _hold(plane: int, now: int, true: NDArray[np.int64], held: NDArray[np.int32], count: int) -> int:
    """Plane holds: stamp it and put it on the list, once. The new length of the list."""
    if true[plane] != now:
        true[plane] = now
        held[count] = plane
        count += 1
    return count


@kernel
def _hold_ranges(group: int, slot: int, ranges: Ranges, stamps: Stamps, count: int) -> int:
    """Every range of a group that holds a slot; each family is sorted so that the end is seen."""
    now = stamps.now[0]
    for i in range(ranges.prefix_start[group + 1] - 1, ranges.prefix_start[group] - 1, -1):
        if ranges.prefix_to[i] < slot:
            break
        count = _hold(ranges.prefix_leaf[i], now, stamps.true, stamps.held, count)
    for i in range(ranges.suffix_start[group + 1] - 1, ranges.suffix_start[group] - 1, -1):
        if ranges.suffix_from[i] > slot:
            break
        count = _hold(ranges.suffix_leaf[i], now, stamps.true, stamps.held, count)
    for i in range(ranges.middle_start[group], ranges.middle_start[group + 1]):
        if ranges.middle_from[i] > slot:
            break
        if ranges.middle_to[i] >= slot:
            count = _hold(ranges.middle_leaf[i], now, stamps.true, stamps.held, count)
    return count


@kernel
def _hold_literal(posting: int, leaves: Leaves, stamps: Stamps, count: int) -> int:
    """Every leaf that a literal satisfies."""
    for i in range(leaves.posting_start[posting], leaves.posting_start[posting + 1]):
        count = _hold(leaves.posting_leaf[i], stamps.now[0], stamps.true, stamps.held, count)
    return count


@kernel
def _hold_leaves(
    event: OneEvent, literals: Literals, bounds: Bounds, leaves: Leaves, ranges: Ranges, stamps: Stamps
) -> int:
    """Look the event's values up and list every leaf that they satisfy: how many."""
    now = stamps.now[0]
    count = 0
    for i in range(event.known_group.size):
        stamps.known[event.known_group[i]] = now
    for i in range(event.found_leaf.size):
        count = _hold(event.found_leaf[i], now, stamps.true, stamps.held, count)
    for i in range(event.scalar_group.size):
        group = np.int64(event.scalar_group[i])
        stamps.known[group] = now
        posting = scalar_posting(literals, group, event.high[i], event.low[i])
        if posting >= 0:
            count = _hold_literal(posting, leaves, stamps, count)
        if bounds.scalar_start[group + 1] > bounds.scalar_start[group]:
            slot = scalar_slot(bounds, group, event.high[i], event.low[i])
            count = _hold_ranges(group, slot, ranges, stamps, count)
    for i in range(event.text_group.size):
        group = np.int64(event.text_group[i])
        stamps.known[group] = now
        start = event.text_offset[i]
        end = event.text_offset[i + 1]
        posting = text_posting(literals, group, event.text_bytes, start, end)
        if posting >= 0:
            count = _hold_literal(posting, leaves, stamps, count)
        if bounds.text_start[group + 1] > bounds.text_start[group]:
            slot = text_slot(bounds, group, event.text_bytes, start, end)
            count = _hold_ranges(group, slot, ranges, stamps, count)
    return count


@kernel
def _hold_absences(leaves: Leaves, wakes: Wakes, stamps: Stamps, count: int) -> int:
    """List the fields that are null, and then the falsehoods that have to wake something."""
    now = stamps.now[0]
    for group in range(leaves.null_leaf.size):
        if leaves.null_leaf[group] >= 0 and stamps.known[group] != now:
            stamps.known[group] = now
            count = _hold(leaves.null_leaf[group], now, stamps.true, stamps.held, count)
    for group in range(leaves.null_leaf.size):
        if stamps.known[group] == now:
            for i in range(wakes.pushed_start[group], wakes.pushed_start[group + 1]):
                if stamps.true[wakes.pushed_leaf[i]] != now:
                    count = _hold(wakes.pushed_plane[i], now, stamps.true, stamps.held, count)
    return count


@kernel
def match_single(
    event: OneEvent,
    literals: Literals,
    bounds: Bounds,
    leaves: Leaves,
    ranges: Ranges,
    graph: PlaneGraph,
    wakes: Wakes,
    stamps: Stamps,
    out: NDArray[np.int32],
) -> int:
    """Match one event: the number of matches, whose rules are out[:n], in no order.

    The body of the loop is written out, not called: a call would carry every array with it.
    """
    stamps.now[0] += 1
    now = stamps.now[0]
    stamps.filled[:] = 0
    leaf_count = wakes.group_of.size
    first_inner = leaf_count + graph.false_leaf.size
    always = first_inner + graph.is_and.size
    found = 0
    for i in range(wakes.rule_start[always], wakes.rule_start[always + 1]):
        out[found] = wakes.rule[i]
        found += 1
    held = _hold_leaves(event, literals, bounds, leaves, ranges, stamps)
    held = _hold_absences(leaves, wakes, stamps, held)
    for level in range(-1, graph.level_start.size - 1):
        for at in range(held if level < 0 else stamps.filled[level]):
            if level < 0:
                plane = np.int64(stamps.held[at])
            else:
                inner = np.int64(stamps.queue[graph.level_start[level] + at])
                plane = first_inner + inner
                holds = True
                if graph.is_and[inner]:
                    for j in range(graph.child_start[inner], graph.child_start[inner + 1]):
                        child = graph.child[j]
                        if leaf_count <= child < first_inner:
                            leaf = graph.false_leaf[child - leaf_count]
                            known = stamps.known[wakes.group_of[leaf]] == now
                            holds = known and stamps.true[leaf] != now
                        else:
                            holds = stamps.true[child] == now
                        if not holds:
                            break
                if not holds:
                    continue
                stamps.true[plane] = now
            for i in range(wakes.rule_start[plane], wakes.rule_start[plane + 1]):
                out[found] = wakes.rule[i]
                found += 1
            for i in range(wakes.wake_start[plane], wakes.wake_start[plane + 1]):
                woken = wakes.wake[i]
                if stamps.queued[woken] != now:
                    stamps.queued[woken] = now
                    above = _level_of(graph.level_start, woken)
                    stamps.queue[graph.level_start[above] + stamps.filled[above]] = woken
                    stamps.filled[above] += 1
    return found
