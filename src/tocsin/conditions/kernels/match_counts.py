"""What the planes of a block say: how many rules hold for each event, and which; how often planes hold."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.bits import lowest_bit, prefetch
from tocsin.arrays.dtypes import Ints, Longs, Words
from tocsin.arrays.jit import bare_kernel, kernel
from tocsin.conditions.kernels.bitmap_store import LATER, WORDS, Planes, count_plane, is_whole
from tocsin.conditions.kernels.deferred_planes import edges_of, store_deferred
from tocsin.conditions.kernels.planes import PlaneGraph, sort_by_likelihood

_RULES_AHEAD = 16
"""How many rules ahead memory is asked for."""

_DIGITS = 32
"""Binary digits of a count of rules."""


class Living(NamedTuple):
    """The rules that hold for some event of a block, with what is known of their planes. R rules.

    rule    int32[R+65]    ascending; longer than needed: match_lists.py looks at 65 of them anywhere
    mask    uint64[R+1]    as in bitmap_store.Planes
    at      uint32[R+1]
    """

    rule: Ints
    mask: Words
    at: NDArray[np.uint32]


@kernel
def count_events(root: Ints, weight: Ints, words: int, planes: Planes, per_event: Longs) -> None:
    """Add to per_event how many rules hold.

    root are the planes that some rule stands for, and weight says how many rules that are. Planes
    that are stored whole are added up a machine word at a time: digit[d] holds the d-th binary digit
    of 64 * words counts, and adding a plane carries from digit to digit.
    """
    plane_mask, plane_at, word = planes
    one = np.uint64(1)
    digit = np.zeros((_DIGITS, WORDS), np.uint64)
    carry = np.empty(WORDS, np.uint64)
    for i in range(root.size):
        mask = plane_mask[root[i]]
        source = np.int64(plane_at[root[i]])
        if is_whole(mask):
            rest = weight[i]
            shift = 0
            while rest != 0:
                if rest & 1:
                    whole = word[source : source + words]
                    for w in range(words):
                        carry[w] = whole[w]
                    d = shift
                    any_carry = one
                    while any_carry != 0:
                        any_carry = np.uint64(0)
                        row = digit[d]
                        for w in range(words):
                            both = row[w] & carry[w]
                            row[w] ^= carry[w]
                            carry[w] = both
                            any_carry |= both
                        d += 1
                rest >>= 1
                shift += 1
            continue
        while mask != 0:
            first = lowest_bit(mask) << 6
            mask &= mask - one
            held = word[source]
            source += 1
            while held != 0:
                per_event[first + lowest_bit(held)] += weight[i]
                held &= held - one
    for d in range(_DIGITS):
        for w in range(words):
            held = digit[d, w]
            while held != 0:
                per_event[(w << 6) + lowest_bit(held)] += 1 << d
                held &= held - one


@bare_kernel
def count_rules(rule_root: Ints, words: int, planes: Planes, per_rule: Longs) -> None:
    """Add to per_rule how many events of the block each rule matches."""
    for rule in range(rule_root.size):
        per_rule[rule] += count_plane(planes, rule_root[rule], words)


@bare_kernel
def list_living(rule_root: Ints, planes: Planes, living: Living) -> int:
    """List the rules that hold for some event of the block, in their order; how many."""
    mask, at, _word = planes
    living_rule, living_mask, living_at = living
    count = 0
    last = rule_root.size - 1
    for rule in range(rule_root.size):
        prefetch(mask, np.int64(rule_root[min(rule + _RULES_AHEAD, last)]))
        plane = rule_root[rule]
        living_rule[count] = rule
        living_mask[count] = mask[plane]
        living_at[count] = at[plane]
        count += mask[plane] != 0
    return count


@kernel
def add_frequencies(
    graph: PlaneGraph, leaves: int, words: int, planes: Planes, used: np.uint64, held: NDArray[np.float32]
) -> None:
    """Add to held[p] for how many events of the block plane p holds. Words are stored up to `used`."""
    edges = edges_of(graph, leaves)
    draft = np.zeros(WORDS, np.uint64)
    for plane in range(held.size):
        if planes.mask[plane] == 0:
            continue
        if planes.at[plane] & LATER:
            used = store_deferred(edges, plane, draft, words, planes, used)
        held[plane] += count_plane(planes, plane, words)


@kernel
def seldom_first(graph: PlaneGraph, held: NDArray[np.float32]) -> Ints:
    """The children of all planes, those of an AND put in order: the one that held least often first."""
    child = graph.child.copy()
    for i in range(graph.is_and.size):
        if graph.is_and[i]:
            sort_by_likelihood(child, graph.child_start[i], graph.child_start[i + 1], held)
    return child
