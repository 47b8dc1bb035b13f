"""One event with the least latency: only what holds is looked at.

What holds wakes the planes above it, and nothing that is false is ever passed on. An OR that is woken
holds. An AND is woken by one child only, its *access* child, the one least likely to hold, and waits
until all lower levels are done; then it asks the other children. Nothing is cleared between events: a
stamp equal to the event's means *true now*. The falsehood of a leaf is worked out when asked for
(known, and not stamped), unless it has to wake something itself.

Links lie all over the memory, so those of the planes that come next are asked for in advance. Matching
rules are bits of a set, which keeps them in order and lets one be found twice: so an OR that is nothing
but the condition of one rule needs no plane here, and each of its children leads straight to the rule.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.bits import lowest_bit, prefetch
from tocsin.kernels.jit import kernel
from tocsin.kernels.leaves import Leaves, Ranges
from tocsin.kernels.lookup import Bounds, Literals, scalar_posting, scalar_slot, text_posting, text_slot
from tocsin.kernels.planes import PlaneGraph

AHEAD = 8
"""How many planes ahead memory is asked for."""

EPOCHS = 255
"""Events after which the stamps are cleared."""


class Links(NamedTuple):
    """What follows when a plane holds. P planes, G groups.

    link_start     int32[P+3]   for plane p (also: always and never) link[link_start[p] : link_start[p+1]]
    link           int32[...]   2 * i: inner plane i is an OR, and holds too
                                2 * i + 1: inner plane i is an AND, and has to be asked
                                ~r: rule r matches, whatever else it may follow from
    group_of       int32[L]     the group of each leaf
    pushed_start   int32[G+1]   falsehood planes of a group from which something follows:
    pushed_leaf    int32[...]       the leaf ...
    pushed_plane   int32[...]       ... and the plane of its falsehood
    """

    link_start: NDArray[np.int32]
    link: NDArray[np.int32]
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

    now      int64[1]     the stamp of the event being matched, 1 to EPOCHS
    true     uint8[P]     plane p holds when true[p] is now
    known    uint8[G]     group g is known
    asked    uint8[I]     inner plane i, an AND, is in the queue
    held     int32[P]     the planes that hold and from which something follows, as they are found
    queue    int32[I]     ANDs of level d to be asked, from level_start[d] on
    filled   int32[D]     how many of them
    rule     uint64[...]  a bit for each rule that matches, and
    some     uint64[...]  a bit for each word of `rule` that has one; all zero between events
    """

    now: NDArray[np.int64]
    true: NDArray[np.uint8]
    known: NDArray[np.uint8]
    asked: NDArray[np.uint8]
    held: NDArray[np.int32]
    queue: NDArray[np.int32]
    filled: NDArray[np.int32]
    rule: NDArray[np.uint64]
    some: NDArray[np.uint64]


@kernel
def _only_rule(graph: PlaneGraph, first_inner: int) -> NDArray[np.int32]:
    """For each inner plane the rule it stands for, if it is an OR and nothing else needs it; else -1."""
    rule_of = np.full(graph.is_and.size, -1, np.int32)
    for rule in range(graph.root.size):
        inner = graph.root[rule] - first_inner
        if 0 <= inner < rule_of.size:
            rule_of[inner] = rule if rule_of[inner] == -1 else -2
    for j in range(graph.child.size):
        if graph.child[j] >= first_inner:
            rule_of[graph.child[j] - first_inner] = -2
    for inner in range(rule_of.size):
        if graph.is_and[inner] or rule_of[inner] < 0:
            rule_of[inner] = -1
    return rule_of


@kernel
def lay_out_links(graph: PlaneGraph, planes: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """link_start and link: an AND under its first child, an OR under every child, a rule under its root."""
    inner = graph.is_and.size
    rule_of = _only_rule(graph, planes - inner)
    start = np.zeros(planes + 3, np.int32)
    for i in range(inner):
        begin = graph.child_start[i]
        end = begin + 1 if graph.is_and[i] else graph.child_start[i + 1]
        for j in range(begin, end):
            start[graph.child[j] + 1] += 1
        if rule_of[i] >= 0:
            start[planes - inner + i + 1] -= 1
    for rule in range(graph.root.size):
        start[graph.root[rule] + 1] += 1
    for plane in range(planes + 2):
        start[plane + 1] += start[plane]
    cursor = start[:-1].copy()
    link = np.empty(start[planes + 2], np.int32)
    for rule in range(graph.root.size):
        plane = graph.root[rule]
        its_inner = plane - (planes - inner)
        if its_inner < 0 or its_inner >= inner or rule_of[its_inner] < 0:
            link[cursor[plane]] = ~rule
            cursor[plane] += 1
    for i in range(inner):
        begin = graph.child_start[i]
        end = begin + 1 if graph.is_and[i] else graph.child_start[i + 1]
        target = ~rule_of[i] if rule_of[i] >= 0 else 2 * i + (1 if graph.is_and[i] else 0)
        for j in range(begin, end):
            link[cursor[graph.child[j]]] = target
            cursor[graph.child[j]] += 1
    return start, link


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
def _hold(
    leaf: NDArray[np.int32],
    first: int,
    last: int,
    now: int,
    link_start: NDArray[np.int32],
    true: NDArray[np.uint8],
    held: NDArray[np.int32],
    count: int,
) -> int:
    """The leaves leaf[first:last] hold: stamp each and, if something follows, list it, once.

    The new length of the list.
    """
    stamp = np.uint8(now)
    for i in range(first, last):
        plane = leaf[i]
        if true[plane] != stamp:
            true[plane] = stamp
            held[count] = plane
            count += link_start[plane + 1] > link_start[plane]
    return count


@kernel
def _hold_ranges(
    group: int, slot: int, ranges: Ranges, link_start: NDArray[np.int32], stamps: Stamps, count: int
) -> int:
    """Every range of a group that holds a slot; each family is sorted so that the end is seen."""
    now = stamps.now[0]
    last = ranges.prefix_start[group + 1]
    first = last
    while first > ranges.prefix_start[group] and ranges.prefix_to[first - 1] >= slot:
        first -= 1
    count = _hold(ranges.prefix_leaf, first, last, now, link_start, stamps.true, stamps.held, count)
    last = ranges.suffix_start[group + 1]
    first = last
    while first > ranges.suffix_start[group] and ranges.suffix_from[first - 1] <= slot:
        first -= 1
    count = _hold(ranges.suffix_leaf, first, last, now, link_start, stamps.true, stamps.held, count)
    for i in range(ranges.middle_start[group], ranges.middle_start[group + 1]):
        if ranges.middle_from[i] > slot:
            break
        if ranges.middle_to[i] >= slot:
            count = _hold(ranges.middle_leaf, i, i + 1, now, link_start, stamps.true, stamps.held, count)
    return count


@kernel
def _hold_leaves(
    event: OneEvent,
    literals: Literals,
    bounds: Bounds,
    leaves: Leaves,
    ranges: Ranges,
    link_start: NDArray[np.int32],
    stamps: Stamps,
) -> int:
    """Look the event's values up and list every leaf that they satisfy: how many."""
    now = stamps.now[0]
    true, held = stamps.true, stamps.held
    start = leaves.posting_start
    for i in range(event.known_group.size):
        stamps.known[event.known_group[i]] = now
    count = _hold(event.found_leaf, 0, event.found_leaf.size, now, link_start, true, held, 0)
    for i in range(event.scalar_group.size):
        group = np.int64(event.scalar_group[i])
        stamps.known[group] = now
        q = scalar_posting(literals, group, event.high[i], event.low[i])
        if q >= 0:
            count = _hold(leaves.posting_leaf, start[q], start[q + 1], now, link_start, true, held, count)
        if bounds.scalar_start[group + 1] > bounds.scalar_start[group]:
            slot = scalar_slot(bounds, group, event.high[i], event.low[i])
            count = _hold_ranges(group, slot, ranges, link_start, stamps, count)
    for i in range(event.text_group.size):
        group = np.int64(event.text_group[i])
        stamps.known[group] = now
        begin = event.text_offset[i]
        end = event.text_offset[i + 1]
        q = text_posting(literals, group, event.text_bytes, begin, end)
        if q >= 0:
            count = _hold(leaves.posting_leaf, start[q], start[q + 1], now, link_start, true, held, count)
        if bounds.text_start[group + 1] > bounds.text_start[group]:
            slot = text_slot(bounds, group, event.text_bytes, begin, end)
            count = _hold_ranges(group, slot, ranges, link_start, stamps, count)
    return count


@kernel
def _hold_absences(leaves: Leaves, links: Links, stamps: Stamps, count: int) -> int:
    """List the fields that are null, and then the falsehoods from which something follows."""
    now = np.uint8(stamps.now[0])
    true, known, held, link_start = stamps.true, stamps.known, stamps.held, links.link_start
    for group in range(leaves.null_leaf.size):
        null_leaf = leaves.null_leaf[group]
        if null_leaf >= 0 and known[group] != now:
            known[group] = now
            true[null_leaf] = now
            held[count] = null_leaf
            count += link_start[null_leaf + 1] > link_start[null_leaf]
    for group in range(leaves.null_leaf.size):
        if known[group] == now:
            for i in range(links.pushed_start[group], links.pushed_start[group + 1]):
                if true[links.pushed_leaf[i]] != now:
                    plane = links.pushed_plane[i]
                    true[plane] = now
                    held[count] = plane
                    count += 1
    return count


@kernel
def match_single(
    event: OneEvent,
    literals: Literals,
    bounds: Bounds,
    leaves: Leaves,
    ranges: Ranges,
    graph: PlaneGraph,
    links: Links,
    stamps: Stamps,
    out: NDArray[np.int32],
) -> int:
    """Match one event: the number of matches, whose rules are out[:n], ascending.

    The body of the loop is written out, not called: a call would carry every array with it.
    """
    one = np.uint64(1)
    if stamps.now[0] == EPOCHS:
        stamps.true[:] = 0
        stamps.known[:] = 0
        stamps.asked[:] = 0
        stamps.now[0] = 0
    stamps.now[0] += 1
    now = np.uint8(stamps.now[0])
    stamps.filled[:] = 0
    true, asked, held = stamps.true, stamps.asked, stamps.held
    rules, some = stamps.rule, stamps.some
    link_start, link = links.link_start, links.link
    leaf_count = links.group_of.size
    first_inner = leaf_count + graph.false_leaf.size
    always = first_inner + graph.is_and.size
    for i in range(link_start[always], link_start[always + 1]):
        rules[~link[i] >> 6] |= one << np.uint64(~link[i] & 63)
        some[~link[i] >> 12] |= one << np.uint64((~link[i] >> 6) & 63)
    count = _hold_leaves(event, literals, bounds, leaves, ranges, link_start, stamps)
    count = _hold_absences(leaves, links, stamps, count)
    done = 0
    for level in range(graph.level_start.size):
        while done < count:
            plane = held[done]
            prefetch(link_start, np.int64(held[min(done + 3 * AHEAD, count - 1)]))
            prefetch(link, np.int64(link_start[held[min(done + 2 * AHEAD, count - 1)]]))
            coming = held[min(done + AHEAD, count - 1)]
            for i in range(link_start[coming], min(link_start[coming + 1], link_start[coming] + AHEAD)):
                prefetch(true, np.int64(first_inner + (max(link[i], 0) >> 1)))
            done += 1
            for i in range(link_start[plane], link_start[plane + 1]):
                target = link[i]
                inner = target >> 1
                if target < 0:
                    rule = ~target
                    rules[rule >> 6] |= one << np.uint64(rule & 63)
                    some[rule >> 12] |= one << np.uint64((rule >> 6) & 63)
                elif target & 1 == 0:
                    above = first_inner + inner
                    if true[above] != now:
                        true[above] = now
                        held[count] = above
                        count += 1
                elif asked[inner] != now:
                    asked[inner] = now
                    its_level = _level_of(graph.level_start, inner)
                    stamps.queue[graph.level_start[its_level] + stamps.filled[its_level]] = inner
                    stamps.filled[its_level] += 1
        if level == graph.level_start.size - 1:
            break
        waiting = stamps.filled[level]
        queue = stamps.queue[graph.level_start[level] : graph.level_start[level] + waiting]
        for at in range(waiting):
            inner = np.int64(queue[at])
            prefetch(graph.child_start, np.int64(queue[min(at + 3 * AHEAD, waiting - 1)]))
            prefetch(graph.child, np.int64(graph.child_start[queue[min(at + 2 * AHEAD, waiting - 1)]]))
            second = graph.child[graph.child_start[queue[min(at + AHEAD, waiting - 1)]] + 1]
            if leaf_count <= second < first_inner:
                second = graph.false_leaf[second - leaf_count]
            prefetch(true, np.int64(second))
            holds = True
            for j in range(graph.child_start[inner] + 1, graph.child_start[inner + 1]):
                child = graph.child[j]
                if leaf_count <= child < first_inner:
                    leaf = graph.false_leaf[child - leaf_count]
                    holds = stamps.known[links.group_of[leaf]] == now and true[leaf] != now
                else:
                    holds = true[child] == now
                if not holds:
                    break
            if holds:
                true[first_inner + inner] = now
                held[count] = first_inner + inner
                count += 1
    return _take_rules(rules, some, out)


@kernel
def _take_rules(rules: NDArray[np.uint64], some: NDArray[np.uint64], out: NDArray[np.int32]) -> int:
    """Write the set of rules to `out` and empty it; how many."""
    one = np.uint64(1)
    found = 0
    for group in range(some.size):
        words = some[group]
        some[group] = 0
        while words != 0:
            word = (group << 6) + lowest_bit(words)
            words &= words - one
            bits = rules[word]
            rules[word] = 0
            while bits != 0:
                out[found] = (word << 6) + lowest_bit(bits)
                found += 1
                bits &= bits - one
    return found
