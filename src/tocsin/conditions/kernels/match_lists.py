"""From the planes of a block to the numbers of the rules that each event matches.

A plane lists the events of a rule, and the rules of an event are wanted. Squares of 64 rules by 64
events are turned over, so that a machine word holds the rules of one event; these are then written one
behind the other. A square with few matches is written rule by rule instead, and so is all of a block
whose rules hold seldom.

         events                       rules
    r0   0 1 0 ...               e0   0 1 0 ...
    r1   1 1 0 ...     turned    e1   1 1 0 ...      event 1 matches r0, r1
    r2   0 0 0 ...               e2   0 0 0 ...
"""

from __future__ import annotations

import numpy as np

from tocsin.arrays.bits import count_bits, lowest_bit, prefetch
from tocsin.arrays.dtypes import Ints, Longs, Words
from tocsin.arrays.jit import bare_kernel
from tocsin.conditions.kernels.bitmap_store import is_whole, lowest, place_of
from tocsin.conditions.kernels.match_counts import Living

_RULES_AHEAD = 16
"""How many rules ahead memory is asked for ..."""

_MATCHES_AHEAD = 24
"""... and how many matches ahead the memory that an event's are written to."""

SQUARES = 8
"""Squares side by side: they are filled, turned and written together."""

ROWS = 64

_FEW = 112
"""Matches in a square, up to which turning it over does not pay."""

_AT_ONCE = 8
"""Rules of an event that are written without asking whether there are so many."""


@bare_kernel
def _fill(living: Living, first: int, rules: int, begin: int, end: int, word: Words, squares: Words) -> int:
    """Fill the squares of the words begin .. end with at most 64 rules; how many bits that are."""
    living_mask, living_at = living.mask, living.at
    one = np.uint64(1)
    total = 0
    squares[:] = 0
    below = (one << np.uint64(begin)) - one
    wanted = (~np.uint64(0) >> np.uint64(64 - end)) & ~below
    last = living_at.size - 1
    for r in range(rules):
        prefetch(word, np.int64(living_at[min(first + r + _RULES_AHEAD, last)]) + begin)
        mask = living_mask[first + r]
        source = np.uint64(living_at[first + r])
        row = squares[SQUARES * r : SQUARES * (r + 1)]
        if is_whole(mask):
            held = word[source + np.uint64(begin) : source + np.uint64(end)]
            for s in range(end - begin):
                row[s] = held[s]
                total += count_bits(held[s])
            continue
        source += np.uint64(count_bits(mask & below))
        mask &= wanted
        while mask != 0:
            row[lowest_bit(mask) - begin] = word[source]
            total += count_bits(word[source])
            source += one
            mask &= mask - one
    return total


@bare_kernel
def _swap(squares: Words, width: int, low: np.uint64) -> None:
    """Along the diagonal, swap upper right and lower left quarters of squares of 2 * width."""
    shift = np.uint64(width)
    for first in range(0, ROWS, 2 * width):
        upper = squares[SQUARES * first : SQUARES * (first + width)]
        lower = squares[SQUARES * (first + width) : SQUARES * (first + 2 * width)]
        for i in range(SQUARES * width):
            moved = ((upper[i] >> shift) ^ lower[i]) & low
            lower[i] ^= moved
            upper[i] ^= moved << shift


@bare_kernel
def turn(squares: Words) -> None:
    """Turn all squares over their diagonals."""
    _swap(squares, 32, np.uint64(0x00000000FFFFFFFF))
    _swap(squares, 16, np.uint64(0x0000FFFF0000FFFF))
    _swap(squares, 8, np.uint64(0x00FF00FF00FF00FF))
    _swap(squares, 4, np.uint64(0x0F0F0F0F0F0F0F0F))
    _swap(squares, 2, np.uint64(0x3333333333333333))
    _swap(squares, 1, np.uint64(0x5555555555555555))


@bare_kernel
def _write_by_rule(squares: Words, rule: Ints, words: int, place: Longs, rule_out: Ints) -> None:
    """Write the matches of squares that are not turned."""
    for r in range(rule.size):
        for s in range(words):
            held = squares[SQUARES * r + s]
            while held != 0:
                event = 64 * s + lowest_bit(held)
                held &= held - np.uint64(1)
                rule_out[place[event]] = rule[r]
                place[event] += 1


@bare_kernel
def _write_by_event(squares: Words, rule: Ints, place: Longs, limit: Longs, rule_out: Ints) -> None:
    """Write the matches of squares that are turned. An event's matches end at limit[event].

    Where there is room, _AT_ONCE rules are written whether or not there are so many; what is too much is
    written over by the event's next ones. So the processor need not guess how many there are. rule has an
    entry more than a word has bits, for none of them.
    """
    one = np.uint64(1)
    for event in range(place.size):
        held = squares[SQUARES * (event & 63) + (event >> 6)]
        at = place[event]
        prefetch(rule_out, at + _MATCHES_AHEAD)
        if at + _AT_ONCE <= limit[event]:
            count = count_bits(held)
            for k in range(_AT_ONCE):
                rule_out[np.uint64(at + k)] = rule[np.uint64(lowest_bit(held))]
                held &= held - one
            if count <= _AT_ONCE:
                place[event] = at + count
                continue
            at += _AT_ONCE
        while held != 0:
            rule_out[np.uint64(at)] = rule[np.uint64(lowest_bit(held))]
            held &= held - one
            at += 1
        place[event] = at


@bare_kernel
def _write_seldom(
    living: Living, count: int, word: Words, first_word: int, last_word: int, place: Longs, rule_out: Ints
) -> None:
    """Write the matches of rules that hold seldom: each rule's words are looked at once."""
    living_rule, living_mask, living_at = living
    one = np.uint64(1)
    below = (one << np.uint64(first_word)) - one
    wanted = (~np.uint64(0) >> np.uint64(64 - last_word)) & ~below
    for i in range(count):
        prefetch(word, np.int64(living_at[min(i + _RULES_AHEAD, count - 1)]))
        mask = living_mask[i]
        rest = mask & wanted
        while rest != 0:
            held = word[place_of(mask, living_at[i], lowest(rest))]
            first = lowest_bit(rest) << 6
            rest &= rest - one
            while held != 0:
                event = first + lowest_bit(held)
                held &= held - one
                rule_out[np.uint64(place[event])] = living_rule[i]
                place[event] += 1


@bare_kernel
def write_matches(
    living: Living,
    count: int,
    word: Words,
    first_word: int,
    last_word: int,
    place: Longs,
    limit: Longs,
    squares: Words,
    rule_out: Ints,
) -> None:
    """Write the matches of events 64 * first_word .. 64 * last_word of the block.

    The rules of each event are written from place[event] to limit[event], ascending. SQUARES words of
    events are done before the next ones are begun: the places being written to then stay in the nearest
    cache. Room for this loop:

    squares   uint64[ROWS * SQUARES]   row r of square s: squares[SQUARES * r + s]
    """
    if rule_out.size < count * (last_word - first_word):
        _write_seldom(living, count, word, first_word, last_word, place, rule_out)
        return
    for begin in range(first_word, last_word, SQUARES):
        end = min(begin + SQUARES, last_word)
        events = place[64 * begin : 64 * end]
        limits = limit[64 * begin : 64 * end]
        for first in range(0, count, ROWS):
            rules = min(ROWS, count - first)
            total = _fill(living, first, rules, begin, end, word, squares)
            if total <= _FEW * (end - begin):
                if total > 0:
                    _write_by_rule(squares, living.rule[first : first + rules], end - begin, events, rule_out)
            else:
                turn(squares)
                _write_by_event(squares, living.rule[first : first + ROWS + 1], events, limits, rule_out)
