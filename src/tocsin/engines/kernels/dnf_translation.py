"""Expressions translated into conjunctions, as in the second paper's section 2: a rule holds when one does.

A conjunction that contains another of the same rule is dropped, so that what is left are the smallest sets
of literals with which the rule holds: there is one such translation of a rule, however it is written. A part
that rules share is translated once.

    (1 or 2 or 3) and 4 and (5 or 6)     {1 4 5} {1 4 6} {2 4 5} {2 4 6} {3 4 5} {3 4 6}

Sizes multiply, so they are looked at before anything is multiplied.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Ints, Longs, Words
from tocsin.arrays.jit import inner_kernel, kernel
from tocsin.arrays.lists import Lists, enlarged, with_room
from tocsin.arrays.radix_sort import bits_of, no_tally, order_by, sort_numbers
from tocsin.engines.kernels.expressions import Expressions
from tocsin.engines.kernels.rule_parts import postorder, with_inner_roots

TOO_MANY = -1
"""In place of a translation: it has, or would on the way have had, more conjunctions than one may."""

NO_ROOM = -2
"""In place of a translation: with all others it would have had more literals than they may."""

TOO_LONG = -3
"""In place of a translation: it would on the way have had more than MOST_IN_PART literals."""

MOST_IN_PART = 1 << 19
"""Literals that the conjunctions of one part of a rule may have. A deep rule has few conjunctions, but long
ones, and each of its parts has them again."""

_MOST_COMPARED = 1 << 21
"""Literals of a part that are compared to find conjunctions which contain others."""

_MIX = np.uint64(0x9E37_79B9_7F4A_7C15)
_SIEVE_SHIFT = np.uint64(58)
_KEY_SHIFT = np.uint64(53)
_KEY_BITS = np.uint64(11)
_ONE = np.uint64(1)


class Translation(NamedTuple):
    """What rules became. C conjunctions, T translations, R rules.

    conjunctions   C lists of literals, ascending; two translations may have equal ones
    translations   T lists of conjunctions, of ascending size
    of_rule        int32[R]   the translation of each rule; TOO_MANY, NO_ROOM or TOO_LONG when it has none

    A rule that never holds has no conjunctions; one that always holds has one without literals.
    """

    conjunctions: Lists
    translations: Lists
    of_rule: Ints


class _Pool(NamedTuple):
    """All conjunctions that were made. made[0] says how many there are, arrays may be longer.

    start     int64[n+1]    conjunction c: literal[start[c] : start[c+1]], ascending
    literal   int32[...]
    sieve     uint64[n]     for each of its literals one of 64 bits
    single    int32[L]      the conjunction of one literal, or -1
    made      int64[1]
    """

    start: Longs
    literal: Ints
    sieve: Words
    single: Ints
    made: Longs


class _Memory(NamedTuple):
    """The translations of inner nodes. I inner nodes.

    begin    int64[I]     node i: item[begin[i] : begin[i] + size[i]]
    size     int32[I]     TOO_MANY, NO_ROOM or TOO_LONG when there is none
    item     int32[...]   conjunctions
    """

    begin: Longs
    size: Ints
    item: Ints


@inner_kernel
def _keep(end: int, pool: _Pool) -> int:
    """Make a conjunction of the literals that were written behind the last one, up to `end`."""
    made = pool.made[0]
    bits = np.uint64(0)
    for i in range(pool.start[made], end):
        bits |= _ONE << (np.uint64(pool.literal[i]) * _MIX >> _SIEVE_SHIFT)
    pool.sieve[made] = bits
    pool.start[made + 1] = end
    pool.made[0] = made + 1
    return made


@inner_kernel
def _keep_union(one: int, other: int, pool: _Pool) -> int:
    """Make the conjunction with the literals of both."""
    start, literal = pool.start, pool.literal
    at = start[pool.made[0]]
    i, j = start[one], start[other]
    while i < start[one + 1] or j < start[other + 1]:
        if j == start[other + 1] or (i < start[one + 1] and literal[i] < literal[j]):
            literal[at] = literal[i]
            i += 1
        else:
            literal[at] = literal[j]
            i += i < start[one + 1] and literal[i] == literal[j]
            j += 1
        at += 1
    return _keep(at, pool)


@inner_kernel
def _contains(larger: int, smaller: int, start: Longs, literal: Ints) -> bool:
    """Whether every literal of the one is a literal of the other."""
    i = start[larger]
    for j in range(start[smaller], start[smaller + 1]):
        while i < start[larger + 1] and literal[i] < literal[j]:
            i += 1
        if i == start[larger + 1] or literal[i] != literal[j]:
            return False
    return True


@kernel
def _smallest(some: Ints, pool: _Pool) -> Ints:
    """The conjunctions that contain no other of the list, by ascending size; of equal ones, one.

    Only where a sieve has all bits of another can its conjunction contain the other's: so others are hardly
    looked at. They are compared with all shorter ones, and with those as long that have the same key. Long
    conjunctions have all bits set: when _MOST_COMPARED literals were looked at, the rest is kept as it is.
    """
    start, literal, sieve = pool.start, pool.literal, pool.sieve
    key = np.empty(some.size, np.uint64)
    for i in range(some.size):
        size = np.uint64(start[some[i] + 1] - start[some[i]])
        key[i] = size << _KEY_BITS | sieve[some[i]] * _MIX >> _KEY_SHIFT
    order = order_by(key)
    kept = np.empty(some.size, np.int32)
    sieve_of_kept = np.empty(some.size, np.uint64)
    found = 0
    shorter = 0
    alike = 0
    compared = np.int64(0)
    for i in range(some.size):
        here = np.int64(some[order[i]])
        if i > 0 and key[order[i]] != key[order[i - 1]]:
            alike = found
            if key[order[i]] >> _KEY_BITS != key[order[i - 1]] >> _KEY_BITS:
                shorter = found
        gaps = ~sieve[here]
        j = 0 if shorter > 0 else alike
        if compared > _MOST_COMPARED:
            j = found
        while j < found:
            if sieve_of_kept[j] & gaps == 0:
                compared += start[here + 1] - start[here]
                if _contains(here, np.int64(kept[j]), start, literal):
                    break
            j += 1
            if j == shorter:
                j = max(j, alike)
        if j == found:
            kept[found] = here
            sieve_of_kept[found] = sieve[here]
            found += 1
    return kept[:found]


@kernel
def _enlarged_pool(pool: _Pool, conjunctions: int, literals: int) -> _Pool:
    """The same pool, or a larger copy, with room for so many more conjunctions with so many literals."""
    start, literal, sieve, single, count = pool
    made = count[0]
    literal = with_room(literal, start[made], literals)
    if made + conjunctions > sieve.size:
        room = enlarged(sieve.size, made + conjunctions)
        longer_start = np.empty(room + 1, np.int64)
        longer_start[: made + 1] = start[: made + 1]
        longer_sieve = np.empty(room, np.uint64)
        longer_sieve[:made] = sieve[:made]
        start, sieve = longer_start, longer_sieve
    return _Pool(start, literal, sieve, single, count)


@kernel
def _count_literals(some: Ints, start: Longs) -> int:
    """How many literals conjunctions have together."""
    total = 0
    for each in some:
        total += start[each + 1] - start[each]
    return total


@kernel
def _any_of(children: Ints, memory: _Memory, pool: _Pool, most: int) -> tuple[int, Ints]:
    """The translation of an OR, and its size; or TOO_MANY. There is room for a conjunction for each child."""
    literals = pool.single.size
    total = 0
    for child in children:
        total += 1 if child < literals else memory.size[child - literals]
    if total > most:
        return TOO_MANY, children
    some = np.empty(total, np.int32)
    size = 0
    for child in children:
        if child < literals:
            if pool.single[child] < 0:
                end = pool.start[pool.made[0]]
                pool.literal[end] = child
                pool.single[child] = _keep(end + 1, pool)
            some[size] = pool.single[child]
            size += 1
        else:
            begin = memory.begin[child - literals]
            for i in range(begin, begin + memory.size[child - literals]):
                some[size] = memory.item[i]
                size += 1
    kept = _smallest(some, pool)
    return kept.size, kept


@kernel
def _all_literals(children: Ints, pool: _Pool, tally: Longs) -> Ints:
    """The conjunction of all children that are literals, which may be none."""
    literals = pool.single.size
    begin = pool.start[pool.made[0]]
    end = begin
    for child in children:
        if child < literals:
            pool.literal[end] = child
            end += 1
    found = pool.literal[begin:end]
    sort_numbers(found, np.empty(found.size, np.int32), bits_of(literals), tally)
    last = begin
    for i in range(begin, end):
        if i == begin or pool.literal[i] != pool.literal[i - 1]:
            pool.literal[last] = pool.literal[i]
            last += 1
    return np.array([_keep(last, pool)], np.int32)


@kernel
def _all_of(
    children: Ints, memory: _Memory, pool: _Pool, most: int, most_literals: int, tally: Longs
) -> tuple[int, Ints, _Pool]:
    """The translation of an AND, and its size, or TOO_MANY, NO_ROOM or TOO_LONG; the pool may be a new one.

    When all get the same literals, and none had one of them before, none contains another if none did.
    """
    literals = pool.single.size
    kept = pool.made[0]
    some = _all_literals(children, pool, tally)
    for child in children:
        if child < literals:
            continue
        begin = memory.begin[child - literals]
        others = memory.item[begin : begin + memory.size[child - literals]]
        of_some = _count_literals(some, pool.start) * others.size
        more = of_some + _count_literals(others, pool.start) * some.size
        if some.size * others.size > most or pool.start[pool.made[0]] + more > most_literals:
            pool.made[0] = kept
            return TOO_MANY if some.size * others.size > most else NO_ROOM, some, pool
        if more > MOST_IN_PART:
            pool.made[0] = kept
            return TOO_LONG, some, pool
        pool = _enlarged_pool(pool, some.size * others.size, more)
        both = np.empty(some.size * others.size, np.int32)
        at = 0
        for one in some:
            for other in others:
                both[at] = _keep_union(one, other, pool)
                at += 1
        if some.size > 1 or _count_literals(both, pool.start) < more:
            both = _smallest(both, pool)
        some = both
    return some.size, some, pool


@kernel
def _translate(
    is_and: bool, children: Ints, memory: _Memory, pool: _Pool, most: int, most_literals: int, tally: Longs
) -> tuple[int, Ints, _Pool]:
    """The translation of an inner node whose children have theirs, and its size, or why there is none."""
    literals = pool.single.size
    for child in children:
        if child >= literals and memory.size[child - literals] < 0:
            return np.int64(memory.size[child - literals]), children, pool
    if pool.start[pool.made[0]] + children.size > most_literals:
        return NO_ROOM, children, pool
    pool = _enlarged_pool(pool, children.size + 1, children.size)
    if is_and:
        return _all_of(children, memory, pool, most, most_literals, tally)
    size, some = _any_of(children, memory, pool, most)
    return size, some, pool


@kernel
def _of_rules(pool: _Pool, memory: _Memory, top: Ints) -> Translation:
    """The translations of the inner nodes `top`, each once, and only the conjunctions that they have."""
    begin, size, item = memory
    place = np.full(size.size, -1, np.int32)
    which = np.empty(top.size, np.int32)
    of_rule = np.empty(top.size, np.int32)
    number = np.full(pool.made[0], -1, np.int32)
    start = np.zeros(top.size + 1, np.int64)
    count = 0
    for rule in range(top.size):
        here = top[rule]
        if size[here] >= 0 and place[here] < 0:
            place[here] = count
            which[count] = here
            start[count + 1] = start[count] + size[here]
            count += 1
            for i in range(begin[here], begin[here] + size[here]):
                number[item[i]] = 0
        of_rule[rule] = size[here] if size[here] < 0 else place[here]
    used = 0
    literals = np.int64(0)
    for each in range(number.size):
        if number[each] == 0:
            number[each] = used
            used += 1
            literals += pool.start[each + 1] - pool.start[each]
    conjunctions = Lists(np.zeros(used + 1, np.int64), np.empty(literals, np.int32))
    for each in range(number.size):
        if number[each] >= 0:
            at = conjunctions.start[number[each]]
            for i in range(pool.start[each], pool.start[each + 1]):
                conjunctions.item[at] = pool.literal[i]
                at += 1
            conjunctions.start[number[each] + 1] = at
    translations = Lists(start[: count + 1].copy(), np.empty(start[count], np.int32))
    for t in range(count):
        for i in range(size[which[t]]):
            translations.item[start[t] + i] = number[item[begin[which[t]] + i]]
    return Translation(conjunctions, translations, of_rule)


def translate(expressions: Expressions, most: int, most_literals: int) -> Translation:
    """Translate rule after rule.

    A rule, and each part of it, may have `most` conjunctions, also before those that contain others are
    dropped; all that were made may have so many literals.
    """
    return _translate_all(with_inner_roots(expressions), most, most_literals, no_tally())


@kernel
def _translate_all(expressions: Expressions, most: int, most_literals: int, tally: Longs) -> Translation:
    literals, is_and, child_start, child, root = expressions
    pool = _Pool(
        np.zeros(2, np.int64),
        np.empty(1, np.int32),
        np.empty(1, np.uint64),
        np.full(literals, -1, np.int32),
        np.zeros(1, np.int64),
    )
    memory = _Memory(np.zeros(is_and.size, np.int64), np.zeros(is_and.size, np.int32), np.empty(1, np.int32))
    used = np.int64(0)
    for i in postorder(expressions):
        children = child[child_start[i] : child_start[i + 1]]
        size, some, pool = _translate(is_and[i], children, memory, pool, most, most_literals, tally)
        memory.begin[i] = used
        memory.size[i] = size
        if size > 0:
            memory = _Memory(memory.begin, memory.size, with_room(memory.item, used, size))
            memory.item[used : used + size] = some
            used += size
    return _of_rules(pool, memory, root - literals)
