"""Rules as conjunctions in a trie: what is asked of a literal is asked for all that share it.

The second paper's translation stands on a trie, too. The literals of a conjunction are put in one order for
all, and conjunctions that begin alike share nodes:

    {1 4 5} {1 4 6} {2 4}        1            literal    1  4  5  6  2  4
                                 └ 4          behind     4  4  3  4  6  6
                                   ├ 5        ends      -1 -1  0  1 -1  2
                                   └ 6
                                 2
                                 └ 4

Nodes stand in preorder. A literal that holds leads to the node where it comes first, and from there one goes
through the row: to the next node when the literal holds, else to the first one that is no longer below it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.bits import count_bits, prefetch
from tocsin.arrays.dtypes import Bytes, Ints, Longs, Words
from tocsin.arrays.jit import inner_kernel, kernel
from tocsin.arrays.list_sort import dictionary_order
from tocsin.arrays.lists import Lists, with_room
from tocsin.arrays.radix_sort import bits_of, no_tally, sort_numbers
from tocsin.conditions.kernels.literal_bitmap import SPARE, clear, is_marked, mark, take
from tocsin.engines.kernels.dnf_translation import Translation
from tocsin.engines.kernels.tree_code import clear_bits, set_bits

_AHEAD = 16
"""How many literals ahead their nodes are asked for; twice as many for where they are."""


class Trie(NamedTuple):
    """Conjunctions of literals. L literals, N nodes.

    first     int32[L]   the node of a conjunction's first literal, or -1 when it is nowhere the first
    literal   int32[N]   nodes in preorder: the literal that has to hold,
    behind    int32[N]       the first node that is not below this one,
    ends      int32[N]       and the end of the conjunction that is complete here, or -1
    """

    first: Ints
    literal: Ints
    behind: Ints
    ends: Ints


class Ends(NamedTuple):
    """Where conjunctions lead to: one end for each translation, and more for conjunctions of several.

    of_distinct   int32[D]   the end of each distinct conjunction
    rules         for each end the rules that hold there
    """

    of_distinct: Ints
    rules: Lists


class Bits(NamedTuple):
    """What matching writes to; all zero between events.

    holds       uint64[L/64+1]   one bit for each literal
    rule_bit    uint64[...]      the rules that match, as conditions/kernels/literal_bitmap.py marks them
    rule_line   uint8[...]
    """

    holds: Words
    rule_bit: Words
    rule_line: Bytes


@kernel
def _by_first(conjunctions: Lists, rank: Ints, tally: Longs) -> tuple[Lists, Ints]:
    """The conjunctions with ranks in place of literals, ascending, by their first; and which each of them is.

    So those that begin alike lie together, and the sorting that follows stays in near memory.
    """
    start, item = conjunctions
    count = start.size - 1
    place = np.zeros(rank.size + 2, np.int64)
    for i in range(count):
        lowest = -1
        for j in range(start[i], start[i + 1]):
            lowest = rank[item[j]] if lowest < 0 else min(lowest, rank[item[j]])
        place[lowest + 2] += 1
    for i in range(rank.size):
        place[i + 2] += place[i + 1]
    which = np.empty(count, np.int32)
    for i in range(count):
        lowest = -1
        for j in range(start[i], start[i + 1]):
            lowest = rank[item[j]] if lowest < 0 else min(lowest, rank[item[j]])
        which[place[lowest + 1]] = i
        place[lowest + 1] += 1
    longest = np.int64(0)
    for i in range(count):
        longest = max(longest, start[i + 1] - start[i])
    ranked = Lists(np.zeros(count + 1, np.int64), np.empty(item.size, np.int32))
    other = np.empty(longest, np.int32)
    bits = bits_of(rank.size)
    for i in range(count):
        first = ranked.start[i]
        end = first
        for j in range(start[which[i]], start[which[i] + 1]):
            ranked.item[end] = rank[item[j]]
            end += 1
        sort_numbers(ranked.item[first:end], other[: end - first], bits, tally)
        ranked.start[i + 1] = end
    return ranked, which


@kernel
def _shared(ranked: Lists, order: Ints) -> Ints:
    """How many ranks each list, in this order, has in common with the one before it."""
    start, item = ranked
    shared = np.zeros(order.size, np.int32)
    for i in range(1, order.size):
        here = start[order[i]]
        before = start[order[i - 1]]
        most = min(start[order[i] + 1] - here, start[order[i - 1] + 1] - before)
        alike = 0
        while alike < most and item[here + alike] == item[before + alike]:
            alike += 1
        shared[i] = alike
    return shared


def grow_trie(conjunctions: Lists, rank: Ints) -> tuple[Trie, Ints]:
    """The trie, and for each conjunction its number among the distinct ones, which are the trie's ends.

    Literals of low rank come first. A conjunction without literals has no node.
    """
    return _grow(conjunctions, rank, no_tally())


@kernel
def _grow(conjunctions: Lists, rank: Ints, tally: Longs) -> tuple[Trie, Ints]:
    ranked, which = _by_first(conjunctions, rank, tally)
    start, item = ranked
    order = dictionary_order(ranked)
    shared = _shared(ranked, order)
    literal_of = np.empty(rank.size, np.int32)
    for each in range(rank.size):
        literal_of[rank[each]] = each
    nodes = np.int64(0)
    deepest = 0
    for i in range(order.size):
        size = start[order[i] + 1] - start[order[i]]
        nodes += size - shared[i]
        deepest = max(deepest, size)
    first = np.full(rank.size, -1, np.int32)
    literal = np.empty(nodes, np.int32)
    behind = np.empty(nodes, np.int32)
    ends = np.full(nodes, -1, np.int32)
    distinct = np.empty(order.size, np.int32)
    path = np.empty(deepest, np.int32)
    height = 0
    at = 0
    number = -1
    for i in range(order.size):
        here = np.int64(order[i])
        size = start[here + 1] - start[here]
        if i == 0 or shared[i] < size or height > size:
            number += 1
        distinct[which[here]] = number
        while height > shared[i]:
            height -= 1
            behind[path[height]] = at
        for j in range(start[here] + height, start[here + 1]):
            literal[at] = literal_of[item[j]]
            if height == 0:
                first[literal[at]] = at
            ends[at] = number if j == start[here + 1] - 1 else -1
            path[height] = at
            height += 1
            at += 1
    while height > 0:
        height -= 1
        behind[path[height]] = at
    return Trie(first, literal, behind, ends), distinct


@kernel
def find_ends(translation: Translation, distinct: Ints) -> Ends:
    """Number the ends; distinct[c] is the number of conjunction c among the distinct ones."""
    _, translations, of_rule = translation
    count = translations.start.size - 1
    numbers = 0
    for each in distinct:
        numbers = max(numbers, each + 1)
    owners = np.zeros(numbers + 1, np.int64)
    for i in range(translations.item.size):
        owners[distinct[translations.item[i]] + 1] += 1
    several = 0
    for i in range(numbers):
        several += owners[i + 1] > 1
        owners[i + 1] += owners[i]
    owner = np.empty(translations.item.size, np.int32)
    place = owners[:-1].copy()
    for t in range(count):
        for i in range(translations.start[t], translations.start[t + 1]):
            number = distinct[translations.item[i]]
            owner[place[number]] = t
            place[number] += 1
    start = np.zeros(count + several + 1, np.int64)
    for rule in range(of_rule.size):
        start[of_rule[rule] + 1] += 1
    for t in range(count):
        start[t + 1] += start[t]
    of_distinct = np.empty(numbers, np.int32)
    end = count
    for i in range(numbers):
        of_distinct[i] = owner[owners[i]]
        if owners[i + 1] - owners[i] > 1:
            of_distinct[i] = end
            start[end + 1] = start[end]
            for j in range(owners[i], owners[i + 1]):
                start[end + 1] += start[owner[j] + 1] - start[owner[j]]
            end += 1
    rules = np.empty(start[-1], np.int32)
    place = start[:-1].copy()
    for rule in range(of_rule.size):
        rules[place[of_rule[rule]]] = rule
        place[of_rule[rule]] += 1
    for i in range(numbers):
        if of_distinct[i] >= count:
            at = start[of_distinct[i]]
            for j in range(owners[i], owners[i + 1]):
                for k in range(start[owner[j]], start[owner[j] + 1]):
                    rules[at] = rules[k]
                    at += 1
    return Ends(of_distinct, Lists(start, rules))


@inner_kernel
def _mark_ends(held: Ints, begin: int, end: int, trie: Trie, rules: Lists, bits: Bits) -> None:
    """Mark the rules at the end of every conjunction that holds, when just held[begin:end] do."""
    first, literal, behind, ends = trie
    for i in range(begin, end):
        prefetch(first, np.int64(held[min(i + 2 * _AHEAD, end - 1)]))
        soon = max(np.int64(first[held[min(i + _AHEAD, end - 1)]]), 0)
        prefetch(literal, soon)
        prefetch(behind, soon)
        at = np.int64(first[held[i]])
        if at < 0:
            continue
        last = np.int64(behind[at])
        while at < last:
            if not is_marked(bits.holds, literal[at]):
                at = np.int64(behind[at])
                continue
            if ends[at] >= 0:
                mark(
                    rules.item,
                    rules.start[ends[at]],
                    rules.start[ends[at] + 1],
                    bits.rule_bit,
                    bits.rule_line,
                )
            at += 1


@kernel
def match_trie(trie: Trie, rules: Lists, always: Ints, held: Lists, bits: Bits) -> Lists:
    """For each event the rules that match, ascending; `always` match every event."""
    start = np.zeros(held.start.size, np.int64)
    found = np.empty(1024, np.int32)
    size = np.int64(0)
    for event in range(held.start.size - 1):
        begin, end = held.start[event], held.start[event + 1]
        set_bits(held.item, begin, end, bits.holds)
        mark(always, 0, always.size, bits.rule_bit, bits.rule_line)
        _mark_ends(held.item, begin, end, trie, rules, bits)
        clear_bits(held.item, begin, end, bits.holds)
        matches = 0
        for line in range(bits.rule_line.size):
            if bits.rule_line[line] != 0:
                for word in range(8 * line, 8 * line + 8):
                    matches += count_bits(bits.rule_bit[word])
        found = with_room(found, size, matches + SPARE)
        size += take(bits.rule_bit, bits.rule_line, 0, 64 * bits.rule_bit.size, 0, found[size:])
        clear(bits.rule_bit, bits.rule_line)
        start[event + 1] = size
    return Lists(start, found[:size].copy())
