"""The second paper's BoP: rules are counted by the literals that hold, and evaluated when enough do.

A rule needs a least number of its leaves: a leaf needs 1, an AND the sum of its children's, an OR the
smallest. A rule that has so many leaves that hold is a *candidate*, and its packed encoding says whether
it matches. A literal that stands twice in a rule is counted twice.

Counting goes down: each rule starts with what it needs, and every posting takes one away until nothing is
missing. A candidate's encoding is read only if the first leaf that no other can stand in for holds: that
leaf is kept apart, in an array that is read in order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.bits import prefetch
from tocsin.arrays.dtypes import Bytes, Ints, Longs, Words
from tocsin.arrays.jit import inner_kernel, kernel
from tocsin.arrays.lists import Lists, with_room
from tocsin.engines.kernels.expressions import Expressions
from tocsin.engines.kernels.tree_code import clear_bits, set_bits
from tocsin.engines.kernels.unfolded_trees import Trees, children_of_code, is_and_code

MOST_COUNTED = 255
"""Counters are bytes: a rule that needs more is a candidate when so many of its leaves hold."""

_AHEAD = 16
"""How many candidates ahead encodings are asked for; twice as many for where they begin."""

_LINE = 16
"""Places of an encoding that memory brings at once."""

_WORD = np.uint64(6)
_IN_WORD = np.uint64(63)
_ONE = np.uint64(1)


class Bop(NamedTuple):
    """Rules packed for counting and for evaluation. L literals, R rules.

    needed          uint8[R]     the least number of leaves of rule r, at most MOST_COUNTED
    indispensable   int32[R]     the first leaf of rule r that has only ANDs above it; L when there is none
    posting_start   int64[L+1]   literal n stands in the rules
    posting_rule    int32[...]       posting_rule[posting_start[n] : posting_start[n+1]], ascending, in each
                                     once for every place where it stands
    code_start      int64[R+1]   rule r: code[code_start[r] : code_start[r+1]], empty when it always or
    code            int32[...]       never holds: its tree in preorder, leaf n: n;
                                     an AND of subtrees that fill the next d places: -2d;  an OR: -2d - 1

        (1 or 2 or 3) and 4 and (5 or 6)    -16  -7 1 2 3  4  -5 5 6

    The paper's encoding has the number of children where this one has their extent: each follows from the
    other, and the extent is what to leave out when one child decides.
    """

    needed: Bytes
    indispensable: Ints
    posting_start: Longs
    posting_rule: Ints
    code_start: Longs
    code: Ints


class Counters(NamedTuple):
    """What matching writes to; between events `missing` is as Bop.needed, and no bit is set.

    missing     uint8[R]         leaves that a rule still lacks
    holds       uint64[L/64+1]   one bit for each literal, and one for literal L, that always holds
    candidate   int32[R+2A]      the candidates of one event; looked at behind their end
    end         int64[D]         of the operators around a place in a rule: where they end,
    is_and      uint64[D]            and whether they are ANDs, 1 or 0
    """

    missing: Bytes
    holds: Words
    candidate: Ints
    end: Longs
    is_and: Words


def no_counters(bop: Bop, deepest: int) -> Counters:
    """Counters for one thread; `deepest` is the most operators that are around a place."""
    return Counters(
        bop.needed.copy(),
        np.zeros((len(bop.posting_start) >> 6) + 1, np.uint64),
        np.zeros(len(bop.needed) + 2 * _AHEAD, np.int32),
        np.zeros(deepest, np.int64),
        np.zeros(deepest, np.uint64),
    )


@kernel
def least_leaves(expressions: Expressions) -> Bytes:
    """Of every node, and of the two constants, how many leaves must hold; at most MOST_COUNTED."""
    literals, is_and, child_start, child, _ = expressions
    inner = is_and.size
    least = np.ones(literals + inner + 2, np.uint8)
    for i in range(inner):
        total = 0
        smallest = MOST_COUNTED
        for j in range(child_start[i], child_start[i + 1]):
            here = np.int64(least[child[j]])
            total += here
            smallest = min(smallest, here)
        least[literals + i] = min(total, MOST_COUNTED) if is_and[i] else smallest
    least[literals + inner] = 0
    least[literals + inner + 1] = MOST_COUNTED
    return least


@kernel
def with_extents(trees: Trees) -> tuple[Ints, int]:
    """The code of trees with extents in place of numbers of children, and how deep the deepest tree is."""
    code = trees.code.copy()
    at = np.empty(1, np.int64)
    left = np.empty(1, np.int64)
    deepest = 0
    height = 0
    for i in range(code.size):
        if height > 0:
            left[height - 1] -= 1
        if code[i] < 0:
            if height == at.size:
                at = np.append(at, np.empty(height, np.int64))
                left = np.append(left, np.empty(height, np.int64))
            at[height] = i
            left[height] = children_of_code(code[i])
            height += 1
            deepest = max(deepest, height)
        while height > 0 and left[height - 1] == 0:
            height -= 1
            start = at[height]
            code[start] = -2 * (i - start) - (0 if is_and_code(code[start]) else 1)
    return code, deepest


@kernel
def postings_of(trees: Trees, literals: int) -> tuple[Longs, Ints]:
    """In which rules each literal stands."""
    start = np.zeros(literals + 2, np.int64)
    for i in range(trees.code.size):
        if trees.code[i] >= 0:
            start[trees.code[i] + 2] += 1
    for literal in range(literals):
        start[literal + 2] += start[literal + 1]
    rules = np.empty(start[literals + 1], np.int32)
    for rule in range(trees.start.size - 1):
        for i in range(trees.start[rule], trees.start[rule + 1]):
            if trees.code[i] >= 0:
                at = start[trees.code[i] + 1]
                rules[at] = rule
                start[trees.code[i] + 1] = at + 1
    return start[: literals + 1].copy(), rules


@kernel
def indispensable_leaves(code_start: Longs, code: Ints, literals: int) -> Ints:
    """The first leaf of each rule that has only ANDs above it, or `literals`; `code` has extents."""
    leaf = np.full(code_start.size - 1, literals, np.int32)
    for rule in range(leaf.size):
        at = code_start[rule]
        while at < code_start[rule + 1]:
            here = np.int64(code[at])
            at += 1
            if here >= 0:
                leaf[rule] = here
                break
            if not is_and_code(here):
                at += children_of_code(here)
    return leaf


@inner_kernel
def _is_held(holds: Words, literal: int) -> np.uint64:
    """1 or 0."""
    at = np.uint64(literal)
    return (holds[at >> _WORD] >> (at & _IN_WORD)) & _ONE


@inner_kernel
def _is_true(code: Ints, first: int, last: int, holds: Words, outer_end: Longs, outer_and: Words) -> bool:
    """Whether code[first:last] is true: an operator ends at the first child that decides it."""
    at = first
    end = last
    conjunctive = _ONE
    height = 0
    while True:
        value = conjunctive
        while at < end and code[at] >= 0 and value == conjunctive:
            value = _is_held(holds, code[at])
            at += 1
        if value == conjunctive and at < end:
            outer_end[height] = end
            outer_and[height] = conjunctive
            height += 1
            here = np.int64(code[at])
            at += 1
            end = at + children_of_code(here)
            conjunctive = np.uint64(is_and_code(here))
            continue
        while True:
            if height == 0:
                return value != 0
            at = end
            height -= 1
            end = outer_end[height]
            conjunctive = outer_and[height]
            if value == conjunctive and at < end:
                break


@inner_kernel
def count_down(
    held: Ints, first: int, last: int, posting_start: Longs, posting_rule: Ints, missing: Bytes
) -> None:
    """The literals held[first:last] hold: every rule that has them lacks as many leaves less."""
    for i in range(first, last):
        prefetch(posting_start, np.int64(held[min(i + 2 * _AHEAD, last - 1)]))
        prefetch(posting_rule, posting_start[held[min(i + _AHEAD, last - 1)]])
        literal = np.int64(held[i])
        for j in range(np.uint64(posting_start[literal]), np.uint64(posting_start[literal + 1])):
            rule = np.uint64(posting_rule[j])
            missing[rule] -= missing[rule] != 0


@inner_kernel
def take_candidates(needed: Bytes, missing: Bytes, candidate: Ints) -> int:
    """The rules that lack nothing, ascending; how many. All lack what they need again."""
    found = 0
    for rule in range(missing.size):
        candidate[found] = rule
        found += missing[rule] == 0
    for rule in range(missing.size):
        missing[rule] = needed[rule]
    return found


@inner_kernel
def _without_hopeless(candidate: Ints, count: int, indispensable: Ints, holds: Words) -> int:
    """Keep the candidates whose indispensable leaf holds; how many."""
    kept = 0
    for i in range(count):
        candidate[kept] = candidate[i]
        kept += np.int64(_is_held(holds, indispensable[candidate[i]]))
    return kept


@kernel
def match_by_counting(bop: Bop, held: Lists, counters: Counters) -> Lists:
    """For each event the rules that match, ascending."""
    needed, indispensable, posting_start, posting_rule, code_start, code = bop
    missing, holds, candidate, outer_end, outer_and = counters
    literals = posting_start.size - 1
    start = np.zeros(held.start.size, np.int64)
    found = np.empty(64, np.int32)
    size = 0
    for event in range(held.start.size - 1):
        first = held.start[event]
        last = held.start[event + 1]
        count_down(held.item, first, last, posting_start, posting_rule, missing)
        set_bits(held.item, first, last, holds)
        holds[literals >> 6] |= _ONE << np.uint64(literals & 63)
        candidates = take_candidates(needed, missing, candidate)
        candidates = _without_hopeless(candidate, candidates, indispensable, holds)
        found = with_room(found, size, candidates)
        for i in range(candidates):
            prefetch(code_start, candidate[i + 2 * _AHEAD])
            soon = code_start[candidate[i + _AHEAD]]
            prefetch(code, soon)
            prefetch(code, soon + _LINE)
            rule = np.int64(candidate[i])
            if _is_true(code, code_start[rule], code_start[rule + 1], holds, outer_end, outer_and):
                found[size] = rule
                size += 1
        start[event + 1] = size
        clear_bits(held.item, first, last, holds)
        holds[literals >> 6] = 0
    return Lists(start, found[:size].copy())
