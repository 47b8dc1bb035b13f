"""Automata that find many literals in one pass over a text (Aho and Corasick), as a double array.

The literals of an automaton form a tree of bytes; a state is a node of it and stands for the bytes on
the way to it. In a text the automaton is always in the state of the longest such bytes that end here:
when the next byte leads nowhere, it falls to the state of the next shorter ones. Every byte of a text
is one step down, so falls are no more than steps, whatever the literals.

All automata share one array of slots. A state is a slot, and the child of a state over byte b is the
slot `base ^ b`, when that slot's `byte` is b. No two states with children have the same base, so that
is all there is to check. One word holds all that a step needs:

    bit   62 ... 37   36 ... 11   10      9     8 ... 0
          base        fall        ENDS    OWN   byte, or FREE: a free slot or a root

    ENDS  a literal ends in this state: its own, or one that is an end of its own bytes
    OWN   a literal is exactly this state's bytes

Slot 0 is no state, and base 0 is that of the states without children. A base lies in the same 256
slots as its children; new states go to one of the last few such blocks, in order of depth, so that
building takes time in proportion to the literals and the shallow states, which texts visit most, lie
together.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.dtypes import Bytes, Ints, Longs
from tocsin.arrays.jit import kernel

BASE_SHIFT = 37
FALL_SHIFT = 11
SLOT_MASK = (1 << 26) - 1
ENDS = 1 << 10
OWN = 1 << 9
BYTE_MASK = 511
FREE = 256

BLOCK = 256
OPEN_BLOCKS = 16

Scalar = TypeVar("Scalar", bound=np.generic)


class Automata(NamedTuple):
    """S slots, A automata, N literals ordered by automaton and then by bytes.

    root     int32[A]   its first state, or -1 for one without literals
    word     int64[S]   see above
    ending   int32[S]   the longest literal that ends in this state, or -1
    shorter  int32[N]   the next shorter literal that ends wherever this one does, or -1
    """

    root: Ints
    word: Longs
    ending: Ints
    shorter: Ints


class _Room(NamedTuple):
    """Which slots and bases are free while building; slot 0 is the head of a ring of the free slots.

    after, before   int32[S]
    taken           uint8[S]
    is_base         uint8[S]
    """

    after: Ints
    before: Ints
    taken: Bytes
    is_base: Bytes


@kernel
def _take(room: _Room, slot: int) -> None:
    room.after[room.before[slot]] = room.after[slot]
    room.before[room.after[slot]] = room.before[slot]
    room.taken[slot] = 1


@kernel
def _open_block(room: _Room, size: int) -> None:
    """Add the slots from `size` to the free ones, and give up those of the oldest open block."""
    old = size - OPEN_BLOCKS * BLOCK
    if old >= 0:
        for slot in range(max(old, 1), old + BLOCK):
            if not room.taken[slot]:
                _take(room, slot)
    for slot in range(max(size, 1), size + BLOCK):
        last = room.before[0]
        room.after[last] = slot
        room.before[slot] = last
        room.after[slot] = 0
        room.before[0] = slot


@kernel
def _free_base(room: _Room, labels: Longs, count: int) -> int:
    """A base whose slots for these bytes are free, or -1."""
    slot = room.after[0]
    while slot != 0:
        base = slot ^ labels[0]
        if not room.is_base[base]:
            fits = True
            for i in range(1, count):
                if room.taken[base ^ labels[i]]:
                    fits = False
                    break
            if fits:
                return base
        slot = room.after[slot]
    return -1


@kernel
def _child(word: Longs, state: int, label: int) -> int:
    """The state behind a byte, or -1."""
    slot = (word[state] >> BASE_SHIFT) ^ label
    return slot if word[slot] & BYTE_MASK == label else -1


@kernel
def _fall(word: Longs, root: int, parent: int, label: int) -> int:
    """Where the child of `parent` over this byte falls to."""
    if parent == root:
        return root
    state = (word[parent] >> FALL_SHIFT) & SLOT_MASK
    while True:
        child = _child(word, state, label)
        if child >= 0:
            return child
        if state == root:
            return root
        state = (word[state] >> FALL_SHIFT) & SLOT_MASK


@kernel
def _grown(array: NDArray[Scalar], fill: int) -> NDArray[Scalar]:
    """The array with as much room again."""
    grown = np.empty(2 * array.size, array.dtype)
    for i in range(array.size):
        grown[i] = array[i]
        grown[array.size + i] = fill
    return grown


@kernel
def _split(offset: Longs, data: Bytes, low: int, high: int, depth: int, labels: Longs, firsts: Longs) -> int:
    """The different bytes at this depth of the literals low ... high, and the first literal of each."""
    if offset[low + 1] - offset[low] == depth:
        low += 1
    count = 0
    for literal in range(low, high):
        label = np.int64(data[offset[literal] + depth])
        if count == 0 or labels[count - 1] != label:
            labels[count] = label
            firsts[count] = literal
            count += 1
    firsts[count] = high
    return count


@kernel
def build_automata(literal_start: Longs, offset: Longs, data: Bytes) -> Automata:
    """Automata of literals: those of automaton a are literal_start[a] ... literal_start[a + 1].

    Literal i is data[offset[i] : offset[i + 1]]; none is empty, and those of an automaton are distinct
    and ascend. OverflowError when there are more states than a word can tell apart.
    """
    automata = literal_start.size - 1
    most = 0
    for a in range(automata):
        most = max(most, offset[literal_start[a + 1]] - offset[literal_start[a]])
    queue = np.empty((most + 1, 3), np.int64)  # a state, and the literals that begin with its bytes
    labels = np.empty(BLOCK, np.int64)
    firsts = np.empty(BLOCK + 1, np.int64)
    root = np.full(automata, -1, np.int32)
    shorter = np.full(offset.size - 1, -1, np.int32)
    capacity = (offset[-1] // BLOCK + 3) * BLOCK
    word = np.full(capacity, FREE, np.int64)
    ending = np.full(capacity, -1, np.int32)
    room = _Room(
        np.zeros(capacity, np.int32),
        np.zeros(capacity, np.int32),
        np.zeros(capacity, np.uint8),
        np.zeros(capacity, np.uint8),
    )
    room.taken[0] = 1
    room.is_base[0] = 1
    _open_block(room, 0)
    size = BLOCK
    for a in range(automata):
        if literal_start[a] == literal_start[a + 1]:
            continue
        if room.after[0] == 0:
            _open_block(room, size)
            size += BLOCK
        root[a] = room.after[0]
        _take(room, root[a])
        word[root[a]] = np.int64(root[a]) << FALL_SHIFT | FREE
        queue[0, 0] = root[a]
        queue[0, 1] = literal_start[a]
        queue[0, 2] = literal_start[a + 1]
        read = 0
        written = 1
        depth = 0
        level_end = 1
        while read < written:
            if read == level_end:
                depth += 1
                level_end = written
            state = queue[read, 0]
            count = _split(offset, data, queue[read, 1], queue[read, 2], depth, labels, firsts)
            read += 1
            if count == 0:
                continue
            base = _free_base(room, labels, count)
            if base < 0:
                base = size
                _open_block(room, size)
                size += BLOCK
            room.is_base[base] = 1
            word[state] |= np.int64(base) << BASE_SHIFT
            for i in range(count):
                child = base ^ labels[i]
                _take(room, child)
                fall = _fall(word, root[a], state, labels[i])
                word[child] = np.int64(fall) << FALL_SHIFT | labels[i]
                ending[child] = ending[fall]
                literal = firsts[i]
                if offset[literal + 1] - offset[literal] == depth + 1:
                    shorter[literal] = ending[fall]
                    ending[child] = literal
                    word[child] |= OWN
                if ending[child] >= 0:
                    word[child] |= ENDS
                queue[written, 0] = child
                queue[written, 1] = literal
                queue[written, 2] = firsts[i + 1]
                written += 1
            if size + 2 * BLOCK > capacity:
                if 2 * capacity > SLOT_MASK:
                    raise OverflowError("too many states")
                capacity *= 2
                word = _grown(word, FREE)
                ending = _grown(ending, -1)
                room = _Room(
                    _grown(room.after, 0),
                    _grown(room.before, 0),
                    _grown(room.taken, 0),
                    _grown(room.is_base, 0),
                )
    return Automata(root, word[:size].copy(), ending[:size].copy(), shorter)
