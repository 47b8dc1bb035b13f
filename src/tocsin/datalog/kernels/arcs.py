"""A set of arcs between numbered vertices, and the words that the vertices stand for.

    word  --table-->  number  --known-->  word            vertices, numbered as they come, never forgotten
    (tail, head)  --table-->  place in two columns        arcs, close together: the last one fills a gap
    vertex  --first, links-->  places                     the arcs out of it, and those into it: two lists

Both tables use open addressing with linear probing, are at most half full and are read with confirmation by
comparison. No array grows here: whoever calls has made room.

    first   int32[2, vertices]   a vertex's first arc out (OUT) and its first arc in (IN), or -1
    links   int32[4, arcs]       of an arc, in the list of its tail and in that of its head: the next arc, and
                                 the one before it, or -1; without columns as long as nobody wants the lists
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.jit import bare_kernel
from tocsin.arrays.row_table import hash_word

Numbers = NDArray[np.int32]
Words = NDArray[np.int64]

OUT, IN = 0, 1


@bare_kernel
def _home(tail: int, head: int, mask: int) -> int:
    """The slot that an arc wants."""
    return np.int64(hash_word(hash_word(np.uint64(0), tail), head) & np.uint64(mask))


@bare_kernel
def number_words(words: Words, numbers: Numbers, known: Words, used: int, table: Numbers) -> int:
    """Put the number of each word into `numbers`; words that are new get the next ones. How many there are.

    known   int64[used + words.size at least]   the word of each number
    table   int32[2^k]                          number, or -1
    """
    mask = table.size - 1
    for i in range(words.size):
        word = words[i]
        slot = np.int64(hash_word(np.uint64(0), word) & np.uint64(mask))
        number = table[slot]
        while number >= 0 and known[number] != word:
            slot = (slot + 1) & mask
            number = table[slot]
        if number < 0:
            number = np.int32(used)
            known[used] = word
            table[slot] = number
            used += 1
        numbers[i] = number
    return used


@bare_kernel
def find_words(words: Words, numbers: Numbers, known: Words, table: Numbers) -> None:
    """Put the number of each word into `numbers`, -1 for one that has none."""
    mask = table.size - 1
    for i in range(words.size):
        slot = np.int64(hash_word(np.uint64(0), words[i]) & np.uint64(mask))
        number = table[slot]
        while number >= 0 and known[number] != words[i]:
            slot = (slot + 1) & mask
            number = table[slot]
        numbers[i] = number


@bare_kernel
def _slot_of(tail: int, head: int, tails: Numbers, heads: Numbers, table: Numbers) -> int:
    """The slot of an arc, or the empty one where it belongs."""
    mask = table.size - 1
    slot = _home(tail, head, mask)
    place = table[slot]
    while place >= 0 and not (tails[place] == tail and heads[place] == head):
        slot = (slot + 1) & mask
        place = table[slot]
    return slot


@bare_kernel
def add_arcs(
    more: Numbers, is_new: NDArray[np.bool_], tails: Numbers, heads: Numbers, used: int, table: Numbers
) -> int:
    """Add the arcs more[2 i] -> more[2 i + 1], and say of each whether it is new. How many there are then."""
    for i in range(is_new.size):
        tail, head = more[2 * i], more[2 * i + 1]
        slot = _slot_of(tail, head, tails, heads, table)
        is_new[i] = table[slot] < 0
        if is_new[i]:
            tails[used] = tail
            heads[used] = head
            table[slot] = used
            used += 1
    return used


@bare_kernel
def find_arcs(wanted: Numbers, places: Numbers, tails: Numbers, heads: Numbers, table: Numbers) -> None:
    """Put the place of each arc wanted[2 i] -> wanted[2 i + 1] into `places`, -1 when it is not there."""
    for i in range(places.size):
        places[i] = table[_slot_of(wanted[2 * i], wanted[2 * i + 1], tails, heads, table)]


@bare_kernel
def link_arcs(tails: Numbers, heads: Numbers, start: int, used: int, first: Numbers, links: Numbers) -> None:
    """Put the arcs at start ... used - 1 into the lists of their ends."""
    for place in range(start, used):
        for side in range(2):
            vertex = tails[place] if side == OUT else heads[place]
            following = first[side, vertex]
            links[2 * side, place] = following
            links[2 * side + 1, place] = -1
            if following >= 0:
                links[2 * side + 1, following] = place
            first[side, vertex] = place


@bare_kernel
def _unlink_arc(tails: Numbers, heads: Numbers, place: int, first: Numbers, links: Numbers) -> None:
    for side in range(2):
        following, last = links[2 * side, place], links[2 * side + 1, place]
        if following >= 0:
            links[2 * side + 1, following] = last
        if last >= 0:
            links[2 * side, last] = following
        else:
            first[side, tails[place] if side == OUT else heads[place]] = following


@bare_kernel
def drop_arcs(
    fewer: Numbers,
    was_there: NDArray[np.bool_],
    tails: Numbers,
    heads: Numbers,
    used: int,
    table: Numbers,
    first: Numbers,
    links: Numbers,
) -> int:
    """Take out the arcs fewer[2 i] -> fewer[2 i + 1], and say of each if it was there. How many remain."""
    mask = table.size - 1
    for i in range(was_there.size):
        slot = _slot_of(fewer[2 * i], fewer[2 * i + 1], tails, heads, table)
        place = table[slot]
        was_there[i] = place >= 0
        if place < 0:
            continue
        # The hole moves on to the end of its run, past every arc that would not be found across it.
        after = (slot + 1) & mask
        while table[after] >= 0:
            other = table[after]
            home = _home(tails[other], heads[other], mask)
            if (after - home) & mask >= (after - slot) & mask:
                table[slot] = other
                slot = after
            after = (after + 1) & mask
        table[slot] = -1
        used -= 1
        if links.size:
            _unlink_arc(tails, heads, place, first, links)
        if place != used:
            if links.size:
                _unlink_arc(tails, heads, used, first, links)
            table[_slot_of(tails[used], heads[used], tails, heads, table)] = place
            tails[place] = tails[used]
            heads[place] = heads[used]
            if links.size:
                link_arcs(tails, heads, place, place + 1, first, links)
    return used


@bare_kernel
def by_tail(tails: Numbers, heads: Numbers, start: Numbers, target: Numbers) -> None:
    """Sort arcs by their tails: those of v end at target[start[v] : start[v + 1]].

    start    int32[n + 1], all zero before
    target   int32[arcs]
    """
    for i in range(tails.size):
        start[tails[i]] += 1
    end = np.int32(0)
    for vertex in range(start.size):
        end += start[vertex]
        start[vertex] = end
    for i in range(tails.size - 1, -1, -1):
        start[tails[i]] -= 1
        target[start[tails[i]]] = heads[i]
