"""From the planes of a block to its matches: by event, and for each event in the rules' order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.bits import count_bits, lowest_bit, prefetch
from tocsin.kernels.jit import kernel
from tocsin.kernels.rows import CHUNK_BITS, PER_WORD, PER_WORD_BITS, WORDS, Planes, full_mask

AHEAD = 24
"""How many rules ahead memory is asked for."""

_DIGITS = 32
"""Binary digits of a count of rules."""


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
    full = full_mask(words)
    one = np.uint64(1)
    digit = np.zeros((_DIGITS, WORDS), np.uint64)
    carry = np.empty(WORDS, np.uint64)
    for i in range(root.size):
        mask = planes.entry[2 * root[i]]
        source = np.int64(planes.entry[2 * root[i] + 1])
        if mask == full:
            rest = weight[i]
            shift = 0
            while rest != 0:
                if rest & 1:
                    for w in range(words):
                        carry[w] = planes.word[(source >> PER_WORD_BITS) + w]
                    d = shift
                    any_carry = one
                    while any_carry != 0:
                        any_carry = np.uint64(0)
                        for w in range(words):
                            both = digit[d, w] & carry[w]
                            digit[d, w] ^= carry[w]
                            carry[w] = both
                            any_carry |= both
                        d += 1
                rest >>= 1
                shift += 1
            continue
        while mask != 0:
            first = lowest_bit(mask) << CHUNK_BITS
            mask &= mask - one
            held = np.uint64(planes.chunk[source])
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


@kernel
def count_rules(
    rule_root: NDArray[np.int32], words: int, planes: Planes, per_rule: NDArray[np.int64]
) -> None:
    """Add to per_rule how many events of the block each rule matches."""
    full = full_mask(words)
    for rule in range(rule_root.size):
        mask = planes.entry[2 * rule_root[rule]]
        source = np.int64(planes.entry[2 * rule_root[rule] + 1])
        size = PER_WORD * words if mask == full else count_bits(mask)
        total = 0
        for place in range(source, source + size):
            total += count_bits(np.uint64(planes.chunk[place]))
        per_rule[rule] += total


@kernel
def write_matches(
    rule_root: NDArray[np.int32],
    words: int,
    planes: Planes,
    first_word: int,
    last_word: int,
    place: NDArray[np.int64],
    rule_out: NDArray[np.int32],
) -> None:
    """Write the matches of events 64 * first_word .. 64 * last_word of the block.

    Each is written at place[event], which moves on. A rule's entry, and then its plane, are asked for
    some rules before they are needed.
    """
    entry, chunk, word = planes
    full = full_mask(words)
    one = np.uint64(1)
    below = (one << np.uint64(PER_WORD * first_word)) - one
    wanted = full_mask(last_word) & ~below
    last = rule_root.size - 1
    for rule in range(rule_root.size):
        prefetch(entry, 2 * np.int64(rule_root[min(rule + 2 * AHEAD, last)]))
        prefetch(chunk, np.int64(entry[2 * rule_root[min(rule + AHEAD, last)] + 1]))
        mask = entry[2 * rule_root[rule]]
        source = np.int64(entry[2 * rule_root[rule] + 1])
        if mask == full:
            for w in range(first_word, last_word):
                held = word[(source >> PER_WORD_BITS) + w]
                while held != 0:
                    event = (w << 6) + lowest_bit(held)
                    held &= held - one
                    rule_out[place[event]] = rule
                    place[event] += 1
            continue
        source += count_bits(mask & below)
        mask &= wanted
        while mask != 0:
            first = lowest_bit(mask) << CHUNK_BITS
            mask &= mask - one
            held = np.uint64(chunk[source])
            source += 1
            while held != 0:
                event = first + lowest_bit(held)
                held &= held - one
                rule_out[place[event]] = rule
                place[event] += 1
