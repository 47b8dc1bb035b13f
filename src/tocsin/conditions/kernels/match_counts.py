"""What the planes of a block say of its rules: how many hold for each event, and which hold at all."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.bits import lowest_bit, prefetch
from tocsin.arrays.jit import bare_kernel, kernel
from tocsin.conditions.kernels.bitmap_store import WORDS, Planes, count_plane, is_whole

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

    rule: NDArray[np.int32]
    mask: NDArray[np.uint64]
    at: NDArray[np.uint32]


@kernel
def count_events(
    root: NDArray[np.int32],
    weight: NDArray[np.int32],
    words: int,
    planes: Planes,
    per_event: NDArray[np.int64],
) -> None:
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
def count_rules(
    rule_root: NDArray[np.int32], words: int, planes: Planes, per_rule: NDArray[np.int64]
) -> None:
    """Add to per_rule how many events of the block each rule matches."""
    mask, at, word = planes
    for rule in range(rule_root.size):
        plane = rule_root[rule]
        per_rule[rule] += count_plane(mask[plane], at[plane], words, word)


@bare_kernel
def list_living(rule_root: NDArray[np.int32], planes: Planes, living: Living) -> int:
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
