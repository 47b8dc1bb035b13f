"""Expressions translated into conjunctions, as in the second paper's section 2: a rule holds when one does.

A conjunction that contains another of the same rule is dropped, so that what is left are the smallest sets
of literals with which the rule holds: there is one such translation of a rule, however it is written.
Conjunctions are stored once, whatever rules they come from, and a part that rules share is translated once.

    (1 or 2 or 3) and 4 and (5 or 6)     {1 4 5} {1 4 6} {2 4 5} {2 4 6} {3 4 5} {3 4 6}

Sizes multiply, so they are looked at before anything is multiplied.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.bits import HALF, LOWER_HALF
from tocsin.kernels.expressions import Expressions
from tocsin.kernels.growing import enlarged
from tocsin.kernels.jit import inner_kernel, kernel
from tocsin.kernels.lists import Lists
from tocsin.kernels.postorder import postorder

TOO_MANY = -1
"""In place of a translation: it has, or would on the way have had, more conjunctions than one may."""

NO_ROOM = -2
"""In place of a translation: with all others it would have had more literals than they may."""

_MADE, _STAMP = range(2)
"""What is counted: the conjunctions that there are, and the lists that were looked through so far."""

_MIX = np.uint64(0x9E37_79B9_7F4A_7C15)
_ONE = np.uint64(1)


class Translation(NamedTuple):
    """What rules became. C conjunctions, T translations, R rules.

    conjunctions   C lists of literals, ascending
    translations   T lists of conjunctions, of ascending size
    of_rule        int32[R]   the translation of each rule; TOO_MANY or NO_ROOM when it has none

    A rule that never holds has no conjunctions; one that always holds has one without literals.
    """

    conjunctions: Lists
    translations: Lists
    of_rule: NDArray[np.int32]


class _Pool(NamedTuple):
    """Conjunctions that were met, each once. `count` says how many there are, arrays may be longer.

    start     int64[n+1]    conjunction c: literal[start[c] : start[c+1]], ascending
    literal   int32[...]
    sieve     uint64[n]     for each of its literals one of 64 bits
    stamp     int32[n]      the last list in which it was seen
    slot      uint64[2^k]   half a hash, and the number of its conjunction and one more, at the place that
                            the hash says or behind it; 0: empty. So none but equal ones are compared
    """

    start: NDArray[np.int64]
    literal: NDArray[np.int32]
    sieve: NDArray[np.uint64]
    stamp: NDArray[np.int32]
    slot: NDArray[np.uint64]


class _Memory(NamedTuple):
    """The translations of inner nodes. I inner nodes.

    begin    int64[I+1]   node i: item[begin[i] : begin[i] + size[i]]; the last place is for anything else
    size     int32[I+1]   TOO_MANY or NO_ROOM when there is none
    item     int32[...]   conjunctions
    """

    begin: NDArray[np.int64]
    size: NDArray[np.int32]
    item: NDArray[np.int32]


@inner_kernel
def _hash(literal: NDArray[np.int32], first: int, last: int) -> np.uint64:
    """A number of 32 bits that follows from the literals first ... last."""
    mixed = np.uint64(last - first)
    for i in range(first, last):
        mixed = (mixed ^ np.uint64(literal[i])) * _MIX
        mixed ^= mixed >> np.uint64(29)
    return mixed >> HALF


@inner_kernel
def _slot_of(
    hashed: np.uint64,
    literal: NDArray[np.int32],
    first: int,
    last: int,
    start: NDArray[np.int64],
    slot: NDArray[np.uint64],
) -> np.uint64:
    """Where the conjunction literal[first:last] is, or would be."""
    mask = np.uint64(slot.size - 1)
    at = hashed & mask
    while slot[at] != 0:
        if slot[at] >> HALF == hashed:
            known = np.int64(slot[at] & LOWER_HALF) - 1
            begin = start[known]
            if start[known + 1] - begin == last - first:
                i = first
                while i < last and literal[i] == literal[begin + i - first]:
                    i += 1
                if i == last:
                    break
        at = (at + _ONE) & mask
    return at


@inner_kernel
def _keep(end: int, pool: _Pool, count: NDArray[np.int64]) -> int:
    """The conjunction whose literals were written behind the last one, up to `end`."""
    start, literal, sieve, stamp, slot = pool
    made = count[_MADE]
    hashed = _hash(literal, start[made], end)
    at = _slot_of(hashed, literal, start[made], end, start, slot)
    if slot[at] != 0:
        return np.int64(slot[at] & LOWER_HALF) - 1
    bits = np.uint64(0)
    for i in range(start[made], end):
        bits |= _ONE << (np.uint64(literal[i]) * _MIX >> np.uint64(58))
    slot[at] = hashed << HALF | np.uint64(made + 1)
    sieve[made] = bits
    stamp[made] = -1
    start[made + 1] = end
    count[_MADE] = made + 1
    return made


@inner_kernel
def _keep_union(one: int, other: int, pool: _Pool, count: NDArray[np.int64]) -> int:
    """The conjunction with the literals of both."""
    start, literal = pool.start, pool.literal
    at = start[count[_MADE]]
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
    return _keep(at, pool, count)


@inner_kernel
def _contains(larger: int, smaller: int, start: NDArray[np.int64], literal: NDArray[np.int32]) -> bool:
    """Whether every literal of the one is a literal of the other."""
    i = start[larger]
    for j in range(start[smaller], start[smaller + 1]):
        while i < start[larger + 1] and literal[i] < literal[j]:
            i += 1
        if i == start[larger + 1] or literal[i] != literal[j]:
            return False
    return True


@kernel
def _smallest(some: NDArray[np.int32], pool: _Pool, count: NDArray[np.int64]) -> NDArray[np.int32]:
    """The conjunctions that contain no other of the list, by ascending size; of equal ones, one.

    Only where a sieve has all bits of another can its conjunction contain the other's.
    """
    start, literal, sieve, stamp, _ = pool
    count[_STAMP] += 1
    key = np.empty(some.size, np.int64)
    distinct = 0
    for i in range(some.size):
        here = np.int64(some[i])
        if stamp[here] != count[_STAMP]:
            stamp[here] = count[_STAMP]
            key[distinct] = (start[here + 1] - start[here]) << 32 | here
            distinct += 1
    key = key[:distinct]
    key.sort()
    kept = np.empty(distinct, np.int32)
    sieve_of_kept = np.empty(distinct, np.uint64)
    found = 0
    shorter = 0
    for i in range(distinct):
        here = key[i] & 0xFFFF_FFFF
        if i > 0 and key[i] >> 32 != key[i - 1] >> 32:
            shorter = found
        gaps = ~sieve[here]
        contains_one = False
        for j in range(shorter):
            if sieve_of_kept[j] & gaps == 0 and _contains(here, np.int64(kept[j]), start, literal):
                contains_one = True
                break
        if not contains_one:
            kept[found] = here
            sieve_of_kept[found] = sieve[here]
            found += 1
    return kept[:found]


@kernel
def _fill_slots(
    made: int, start: NDArray[np.int64], literal: NDArray[np.int32], slot: NDArray[np.uint64]
) -> None:
    """Enter the first `made` conjunctions, all different, in their order: the last one can leave first."""
    mask = np.uint64(slot.size - 1)
    for i in range(made):
        hashed = _hash(literal, start[i], start[i + 1])
        at = hashed & mask
        while slot[at] != 0:
            at = (at + _ONE) & mask
        slot[at] = hashed << HALF | np.uint64(i + 1)


@kernel
def _with_room(pool: _Pool, made: int, conjunctions: int, literals: int) -> _Pool:
    """The same pool, or a larger copy, with room for so many more conjunctions with so many literals."""
    start, literal, sieve, stamp, slot = pool
    needed = start[made] + literals
    if needed > literal.size:
        longer = np.empty(enlarged(literal.size, needed), np.int32)
        longer[: literal.size] = literal
        literal = longer
    if made + conjunctions > sieve.size:
        room = enlarged(sieve.size, made + conjunctions)
        longer_start = np.empty(room + 1, np.int64)
        longer_start[: made + 1] = start[: made + 1]
        longer_sieve = np.empty(room, np.uint64)
        longer_sieve[:made] = sieve[:made]
        longer_stamp = np.empty(room, np.int32)
        longer_stamp[:made] = stamp[:made]
        start, sieve, stamp = longer_start, longer_sieve, longer_stamp
        size = slot.size
        while size < 2 * room:
            size *= 2
        slot = np.zeros(size, np.uint64)
        _fill_slots(made, start, literal, slot)
    return _Pool(start, literal, sieve, stamp, slot)


@kernel
def _forget(kept: int, pool: _Pool, count: NDArray[np.int64]) -> None:
    """Take the conjunctions from `kept` on away, the last one first."""
    start, literal, _, _, slot = pool
    for i in range(count[_MADE] - 1, kept - 1, -1):
        hashed = _hash(literal, start[i], start[i + 1])
        slot[_slot_of(hashed, literal, start[i], start[i + 1], start, slot)] = 0
    count[_MADE] = kept


@kernel
def _count_literals(some: NDArray[np.int32], start: NDArray[np.int64]) -> int:
    """How many literals conjunctions have together."""
    total = 0
    for each in some:
        total += start[each + 1] - start[each]
    return total


@kernel
def _any_of(
    children: NDArray[np.int32],
    literals: int,
    memory: _Memory,
    pool: _Pool,
    count: NDArray[np.int64],
    most: int,
) -> tuple[int, NDArray[np.int32]]:
    """The translation of an OR, and its size; or TOO_MANY. There is room for a conjunction for each child."""
    total = 0
    for child in children:
        total += 1 if child < literals else memory.size[child - literals]
    if total > most:
        return TOO_MANY, children
    some = np.empty(total, np.int32)
    size = 0
    for child in children:
        if child < literals:
            end = pool.start[count[_MADE]]
            pool.literal[end] = child
            some[size] = _keep(end + 1, pool, count)
            size += 1
        else:
            begin = memory.begin[child - literals]
            for i in range(begin, begin + memory.size[child - literals]):
                some[size] = memory.item[i]
                size += 1
    kept = _smallest(some, pool, count)
    return kept.size, kept


@kernel
def _all_literals(
    children: NDArray[np.int32], literals: int, pool: _Pool, count: NDArray[np.int64]
) -> NDArray[np.int32]:
    """The conjunction of all children that are literals, which may be none."""
    begin = pool.start[count[_MADE]]
    end = begin
    for child in children:
        if child < literals:
            pool.literal[end] = child
            end += 1
    pool.literal[begin:end].sort()
    last = begin
    for i in range(begin, end):
        if i == begin or pool.literal[i] != pool.literal[i - 1]:
            pool.literal[last] = pool.literal[i]
            last += 1
    return np.array([_keep(last, pool, count)], np.int32)


@kernel
def _all_of(
    children: NDArray[np.int32],
    literals: int,
    memory: _Memory,
    pool: _Pool,
    count: NDArray[np.int64],
    most: int,
    most_literals: int,
) -> tuple[int, NDArray[np.int32], _Pool]:
    """The translation of an AND, and its size, or TOO_MANY or NO_ROOM; the pool may be a new one.

    When all get the same literals, and none had one of them before, none contains another if none did.
    """
    some = _all_literals(children, literals, pool, count)
    for child in children:
        if child < literals:
            continue
        begin = memory.begin[child - literals]
        others = memory.item[begin : begin + memory.size[child - literals]]
        if some.size * others.size > most:
            return TOO_MANY, some, pool
        of_some = _count_literals(some, pool.start) * others.size
        more = of_some + _count_literals(others, pool.start) * some.size
        if pool.start[count[_MADE]] + more > most_literals:
            return NO_ROOM, some, pool
        pool = _with_room(pool, count[_MADE], some.size * others.size, more)
        both = np.empty(some.size * others.size, np.int32)
        at = 0
        for one in some:
            for other in others:
                both[at] = _keep_union(one, other, pool, count)
                at += 1
        if some.size > 1 or _count_literals(both, pool.start) < more:
            both = _smallest(both, pool, count)
        some = both
    return some.size, some, pool


@kernel
def _translate(
    is_and: bool,
    children: NDArray[np.int32],
    literals: int,
    memory: _Memory,
    pool: _Pool,
    count: NDArray[np.int64],
    most: int,
    most_literals: int,
) -> tuple[int, NDArray[np.int32], _Pool]:
    """The translation of an inner node whose children have theirs, and its size, or TOO_MANY or NO_ROOM."""
    for child in children:
        if child >= literals and memory.size[child - literals] < 0:
            return np.int64(memory.size[child - literals]), children, pool
    if pool.start[count[_MADE]] + children.size > most_literals:
        return NO_ROOM, children, pool
    kept = count[_MADE]
    pool = _with_room(pool, kept, children.size + 1, children.size)
    if is_and:
        size, some, pool = _all_of(children, literals, memory, pool, count, most, most_literals)
    else:
        size, some = _any_of(children, literals, memory, pool, count, most)
    if size < 0:
        _forget(kept, pool, count)
    return size, some, pool


@kernel
def _add(memory: _Memory, used: int, node: int, size: int, some: NDArray[np.int32]) -> _Memory:
    """Remember the translation of a node, behind the `used` conjunctions that are remembered already."""
    begin, sizes, item = memory
    sizes[node] = size
    begin[node] = used
    if size > 0:
        if used + size > item.size:
            longer = np.empty(enlarged(item.size, used + size), np.int32)
            longer[:used] = item[:used]
            item = longer
        item[used : used + size] = some
    return _Memory(begin, sizes, item)


@kernel
def _without_unused(
    pool: _Pool, made: int, begin: NDArray[np.int64], size: NDArray[np.int32], item: NDArray[np.int32]
) -> tuple[Lists, Lists]:
    """The conjunctions that some translation has, and the translations with their new numbers."""
    number = np.full(made, -1, np.int32)
    start = np.zeros(size.size + 1, np.int64)
    for i in range(size.size):
        start[i + 1] = start[i] + size[i]
        for j in range(begin[i], begin[i] + size[i]):
            number[item[j]] = 0
    used = 0
    literals = 0
    for each in range(made):
        if number[each] == 0:
            number[each] = used
            used += 1
            literals += pool.start[each + 1] - pool.start[each]
    conjunctions = Lists(np.zeros(used + 1, np.int64), np.empty(literals, np.int32))
    for each in range(made):
        if number[each] >= 0:
            at = conjunctions.start[number[each]]
            end = at + pool.start[each + 1] - pool.start[each]
            conjunctions.item[at:end] = pool.literal[pool.start[each] : pool.start[each + 1]]
            conjunctions.start[number[each] + 1] = end
    translations = Lists(start, np.empty(start[-1], np.int32))
    for i in range(size.size):
        for j in range(size[i]):
            translations.item[start[i] + j] = number[item[begin[i] + j]]
    return conjunctions, translations


@kernel
def translate(expressions: Expressions, most: int, most_literals: int) -> Translation:
    """Translate rule after rule.

    A rule, and each part of it, may have `most` conjunctions, also before those that contain others are
    dropped; all that were met may have so many literals.
    """
    literals, is_and, child_start, child, root = expressions
    inner = is_and.size
    pool = _Pool(
        np.zeros(2, np.int64),
        np.empty(1, np.int32),
        np.empty(1, np.uint64),
        np.empty(1, np.int32),
        np.zeros(2, np.uint64),
    )
    count = np.zeros(2, np.int64)
    memory = _Memory(np.zeros(inner + 1, np.int64), np.zeros(inner + 1, np.int32), np.empty(1, np.int32))
    used = np.int64(0)
    for i in postorder(expressions):
        children = child[child_start[i] : child_start[i + 1]]
        size, some, pool = _translate(is_and[i], children, literals, memory, pool, count, most, most_literals)
        memory = _add(memory, used, i, size, some)
        used += max(size, 0)
    known = np.full(literals + inner + 2, -1, np.int32)
    begins = np.empty(root.size, np.int64)
    sizes = np.empty(root.size, np.int32)
    of_rule = np.empty(root.size, np.int32)
    distinct = 0
    for rule in range(root.size):
        top = np.int64(root[rule]) - literals
        if known[root[rule]] >= 0:
            of_rule[rule] = known[root[rule]]
            continue
        if top < 0 or top >= inner:
            alone = root[rule : rule + 1] if top < 0 else root[:0]
            size, some, pool = _translate(
                top == inner, alone, literals, memory, pool, count, most, most_literals
            )
            top = inner
            memory = _add(memory, used, top, size, some)
            used += max(size, 0)
        if memory.size[top] < 0:
            of_rule[rule] = memory.size[top]
            continue
        begins[distinct] = memory.begin[top]
        sizes[distinct] = memory.size[top]
        known[root[rule]] = distinct
        of_rule[rule] = distinct
        distinct += 1
    conjunctions, translations = _without_unused(
        pool, count[_MADE], begins[:distinct], sizes[:distinct], memory.item
    )
    return Translation(conjunctions, translations, of_rule)
