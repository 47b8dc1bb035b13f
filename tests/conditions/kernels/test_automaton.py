"""Automata against looking for each literal at each place, and the promises of their layout."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import examples

from tocsin.arrays.packed import packed_bytes, starts
from tocsin.conditions.kernels.automaton import (
    BASE_SHIFT,
    BYTE_MASK,
    ENDS,
    FALL_SHIFT,
    FREE,
    OPEN_BLOCKS,
    OWN,
    SLOT_MASK,
    Automata,
    build_automata,
)


def built(*literals: set[bytes]) -> tuple[Automata, list[list[bytes]]]:
    """An automaton for each set, and the sets in order."""
    ordered = [sorted(each) for each in literals]
    start = starts([len(each) for each in ordered], np.int64)
    return build_automata(start, *packed_bytes([literal for each in ordered for literal in each])), ordered


def child_of(automata: Automata, state: int, byte: int) -> int | None:
    slot = (int(automata.word[state]) >> BASE_SHIFT) ^ byte
    return slot if int(automata.word[slot]) & BYTE_MASK == byte else None


def ends_in(automata: Automata, number: int, text: bytes) -> list[set[int]]:
    """For each byte of the text, the literals that end with it."""
    state = root = int(automata.root[number])
    found = []
    for byte in text:
        while (child := child_of(automata, state, byte)) is None and state != root:
            state = (int(automata.word[state]) >> FALL_SHIFT) & SLOT_MASK
        state = root if child is None else child
        here: set[int] = set()
        literal = int(automata.ending[state])
        assert (literal >= 0) == bool(automata.word[state] & ENDS)
        while literal >= 0:
            assert literal not in here
            here.add(literal)
            literal = int(automata.shorter[literal])
        found.append(here)
    return found


def judged(literals: list[bytes], first: int, text: bytes) -> list[set[int]]:
    return [
        {first + number for number, literal in enumerate(literals) if text[: at + 1].endswith(literal)}
        for at in range(len(text))
    ]


def check_layout(automata: Automata, ordered: list[list[bytes]]) -> None:
    """Every literal has a path, each slot one parent, and no more states than beginnings of literals."""
    states = 0
    for number, literals in enumerate(ordered):
        if not literals:
            assert automata.root[number] == -1
            continue
        paths = {literal[:size] for literal in literals for size in range(len(literal) + 1)}
        slots = {b"": int(automata.root[number])}
        for path in sorted(paths, key=len)[1:]:
            slot = child_of(automata, slots[path[:-1]], path[-1])
            assert slot is not None
            slots[path] = slot
            assert bool(automata.word[slot] & OWN) == (path in literals)
        assert len(set(slots.values())) == len(paths)
        for path, slot in slots.items():
            children = {byte for byte in range(256) if child_of(automata, slot, byte) is not None}
            assert children == {longer[-1] for longer in paths if longer and longer[:-1] == path}
        states += len(paths)
    roots = int(np.count_nonzero(automata.root >= 0))
    assert np.count_nonzero(automata.word & BYTE_MASK != FREE) == states - roots


BYTES = st.binary(min_size=1, max_size=5) | st.text("ab", min_size=1, max_size=6).map(str.encode)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.sets(BYTES, max_size=10), min_size=1, max_size=3), st.data())
def test_random_literals(sets: list[set[bytes]], data: st.DataObject) -> None:
    automata, ordered = built(*sets)
    check_layout(automata, ordered)
    pool = [literal for literals in ordered for literal in literals]
    piece = st.sampled_from(pool) | st.binary(max_size=3) if pool else st.binary(max_size=3)
    text = b"".join(data.draw(st.lists(piece, max_size=8)))
    first = 0
    for number, literals in enumerate(ordered):
        if literals:
            assert ends_in(automata, number, text) == judged(literals, first, text)
        first += len(literals)


def test_no_literals_at_all() -> None:
    automata, _ = built(set(), set())
    assert automata.root.tolist() == [-1, -1]


def test_a_state_with_a_child_for_every_byte() -> None:
    everything = {bytes([one, two]) for one in (0, 97, 255) for two in range(256)}
    automata, ordered = built(everything, {bytes([one]) for one in range(256)})
    check_layout(automata, ordered)


@pytest.mark.parametrize("size", [3, 4])
def test_many_states_leave_few_slots_free(size: int) -> None:
    """Blocks are closed while the array grows; what is left free is a small part."""
    automata, ordered = built({bytes(each) for each in product(b"abcdefgh", repeat=size)})
    check_layout(automata, ordered)
    states = sum(8**depth for depth in range(size + 1))
    assert len(automata.word) <= 1.1 * states + 256 * OPEN_BLOCKS


def test_nested_literals_are_linked() -> None:
    text = b"a" * 50
    automata, ordered = built({text[:size] for size in range(1, 40)})
    assert ends_in(automata, 0, text) == judged(ordered[0], 0, text)
