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
from numpy.typing import NDArray

from tocsin.kernels.bits import count_bits, prefetch
from tocsin.kernels.dnf import Translation
from tocsin.kernels.growing import enlarged
from tocsin.kernels.holding import SPARE, clear, is_marked, mark, take
from tocsin.kernels.jit import inner_kernel, kernel
from tocsin.kernels.list_sorting import dictionary_order
from tocsin.kernels.lists import Lists
from tocsin.kernels.tree_code import clear_bits, set_bits

_AHEAD = 16
"""How many literals ahead their nodes are asked for; twice as many for where they are."""


class Ends(NamedTuple):
    """Where conjunctions lead to: one end for each translation, and one for those that share conjunctions.

    of_conjunction   int32[C]
    rules            for each end the rules that hold there
    """

    of_conjunction: NDArray[np.int32]
    rules: Lists


class Trie(NamedTuple):
    """Conjunctions of literals. L literals, N nodes.

    first     int32[L]   the node of a conjunction's first literal, or -1 when it is nowhere the first
    literal   int32[N]   nodes in preorder: the literal that has to hold,
    behind    int32[N]       the first node that is not below this one,
    ends      int32[N]       and the end of the conjunction that is complete here, or -1
    """

    first: NDArray[np.int32]
    literal: NDArray[np.int32]
    behind: NDArray[np.int32]
    ends: NDArray[np.int32]


class Bits(NamedTuple):
    """What matching writes to; all zero between events.

    holds       uint64[L/64+1]   one bit for each literal
    rule_bit    uint64[...]      the rules that match, as kernels/holding.py marks them
    rule_line   uint8[...]
    """

    holds: NDArray[np.uint64]
    rule_bit: NDArray[np.uint64]
    rule_line: NDArray[np.uint8]


@kernel
def find_ends(translation: Translation) -> Ends:
    """Number the ends of all conjunctions."""
    conjunctions, translations, of_rule = translation
    count = translations.start.size - 1
    owners = np.zeros(conjunctions.start.size, np.int64)
    for i in range(translations.item.size):
        owners[translations.item[i] + 1] += 1
    shared = 0
    for i in range(owners.size - 1):
        shared += owners[i + 1] > 1
        owners[i + 1] += owners[i]
    owner = np.empty(translations.item.size, np.int32)
    place = owners.copy()
    for i in range(count):
        for j in range(translations.start[i], translations.start[i + 1]):
            owner[place[translations.item[j]]] = i
            place[translations.item[j]] += 1
    uses = np.zeros(count, np.int64)
    for rule in range(of_rule.size):
        uses[of_rule[rule]] += 1
    end_of = np.empty(owners.size - 1, np.int32)
    start = np.zeros(count + shared + 1, np.int64)
    start[1 : count + 1] = np.cumsum(uses)
    ends = count
    for i in range(owners.size - 1):
        end_of[i] = owner[owners[i]]
        if owners[i + 1] - owners[i] > 1:
            end_of[i] = ends
            start[ends + 1] = start[ends]
            for j in range(owners[i], owners[i + 1]):
                start[ends + 1] += uses[owner[j]]
            ends += 1
    rules = np.empty(start[-1], np.int32)
    place = start[:-1].copy()
    for rule in range(of_rule.size):
        rules[place[of_rule[rule]]] = rule
        place[of_rule[rule]] += 1
    for i in range(owners.size - 1):
        if end_of[i] >= count:
            at = start[end_of[i]]
            for j in range(owners[i], owners[i + 1]):
                begin, end = start[owner[j]], start[owner[j] + 1]
                rules[at : at + end - begin] = rules[begin:end]
                at += end - begin
    return Ends(end_of, Lists(start, rules))


@kernel
def _in_one_order(conjunctions: Lists, rank: NDArray[np.int32]) -> Lists:
    """The conjunctions with the rank of each literal in place of it, ascending."""
    start = conjunctions.start
    item = np.empty(conjunctions.item.size, np.int32)
    for i in range(item.size):
        item[i] = rank[conjunctions.item[i]]
    for i in range(start.size - 1):
        for j in range(start[i] + 1, start[i + 1]):
            moved = item[j]
            k = j
            while k > start[i] and item[k - 1] > moved:
                item[k] = item[k - 1]
                k -= 1
            item[k] = moved
    return Lists(start, item)


@kernel
def grow_trie(conjunctions: Lists, end_of: NDArray[np.int32], rank: NDArray[np.int32]) -> Trie:
    """The trie of different conjunctions; literals of low rank come first. An empty one has no node."""
    start, item = _in_one_order(conjunctions, rank)
    order = dictionary_order(Lists(start, item))
    of_rank = np.empty(rank.size, np.int32)
    for each in range(rank.size):
        of_rank[rank[each]] = each
    deepest = 0
    nodes = 0
    previous = np.int64(-1)
    shared = np.empty(order.size, np.int32)
    for i in range(order.size):
        here = np.int64(order[i])
        size = start[here + 1] - start[here]
        alike = 0
        if previous >= 0:
            most = min(size, start[previous + 1] - start[previous])
            while alike < most and item[start[here] + alike] == item[start[previous] + alike]:
                alike += 1
        shared[i] = alike
        nodes += size - alike
        deepest = max(deepest, size)
        previous = here
    first = np.full(rank.size, -1, np.int32)
    literal = np.empty(nodes, np.int32)
    behind = np.empty(nodes, np.int32)
    ends = np.full(nodes, -1, np.int32)
    path = np.empty(deepest, np.int32)
    height = 0
    at = 0
    for i in range(order.size):
        here = np.int64(order[i])
        while height > shared[i]:
            height -= 1
            behind[path[height]] = at
        for j in range(start[here] + height, start[here + 1]):
            literal[at] = of_rank[item[j]]
            if height == 0:
                first[literal[at]] = at
            path[height] = at
            height += 1
            at += 1
        if height > 0:
            ends[at - 1] = end_of[here]
    while height > 0:
        height -= 1
        behind[path[height]] = at
    return Trie(first, literal, behind, ends)


@inner_kernel
def _mark_ends(
    held: NDArray[np.int32],
    begin: int,
    end: int,
    trie: Trie,
    rules: Lists,
    bits: Bits,
) -> None:
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
def match_trie(trie: Trie, rules: Lists, always: NDArray[np.int32], held: Lists, bits: Bits) -> Lists:
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
        if size + matches + SPARE > found.size:
            longer = np.empty(enlarged(found.size, size + matches + SPARE), np.int32)
            longer[:size] = found[:size]
            found = longer
        size += take(bits.rule_bit, bits.rule_line, 0, 64 * bits.rule_bit.size, 0, found[size:])
        clear(bits.rule_bit, bits.rule_line)
        start[event + 1] = size
    return Lists(start, found[:size].copy())
