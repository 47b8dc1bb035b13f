"""From the planes of a block to its matches: by event, and for each event in the rules' order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.bits import count_bits, lowest_bit, prefetch
from tocsin.kernels.jit import bare_kernel, kernel
from tocsin.kernels.rows import WORDS, Planes, count_plane, is_whole

AHEAD = 16
"""How many rules ahead memory is asked for."""

WORDS_AT_ONCE = 8
"""Machine words of events whose matches are written before those of the next are."""

_DIGITS = 32
"""Binary digits of a count of rules."""


class Living(NamedTuple):
    """The rules that hold for some event of a block, with the entries of their planes. R rules.

    rule    int32[R+1]     ascending
    entry   uint64[2R+2]   as in rows.Planes
    """

    rule: NDArray[np.int32]
    entry: NDArray[np.uint64]


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
    living_rule, living_entry = living
    count = 0
    last = rule_root.size - 1
    for rule in range(rule_root.size):
        prefetch(mask, np.int64(rule_root[min(rule + AHEAD, last)]))
        plane = rule_root[rule]
        living_rule[count] = rule
        living_entry[2 * count] = mask[plane]
        living_entry[2 * count + 1] = at[plane]
        count += mask[plane] != 0
    return count


@bare_kernel
def write_matches(
    living: Living,
    count: int,
    word: NDArray[np.uint64],
    first_word: int,
    last_word: int,
    place: NDArray[np.int64],
    rule_out: NDArray[np.int32],
) -> None:
    """Write the matches of events 64 * first_word .. 64 * last_word of the block.

    Each is written at place[event], which moves on. WORDS_AT_ONCE words are done before the next ones
    are begun: the places being written to then stay in the nearest cache.
    """
    living_rule, living_entry = living
    one = np.uint64(1)
    for begin in range(first_word, last_word, WORDS_AT_ONCE):
        end = min(begin + WORDS_AT_ONCE, last_word)
        below = (one << np.uint64(begin)) - one
        wanted = (~np.uint64(0) >> np.uint64(64 - end)) & ~below
        for i in range(count):
            rule = living_rule[i]
            mask = living_entry[2 * i]
            source = np.int64(living_entry[2 * i + 1])
            ahead = np.int64(living_entry[2 * min(i + AHEAD, count - 1) + 1])
            prefetch(word, ahead + begin)
            if is_whole(mask):
                for w in range(begin, end):
                    held = word[source + w]
                    while held != 0:
                        event = (w << 6) + lowest_bit(held)
                        held &= held - one
                        rule_out[place[event]] = rule
                        place[event] += 1
                continue
            source += count_bits(mask & below)
            mask &= wanted
            while mask != 0:
                first = lowest_bit(mask) << 6
                mask &= mask - one
                held = word[source]
                source += 1
                while held != 0:
                    event = first + lowest_bit(held)
                    held &= held - one
                    rule_out[place[event]] = rule
                    place[event] += 1
