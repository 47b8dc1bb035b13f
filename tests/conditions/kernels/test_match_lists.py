"""Matches written by event are those that the planes list by rule."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tocsin.conditions.kernels.bitmap_store import WORDS, is_whole
from tocsin.conditions.kernels.match_counts import Living
from tocsin.conditions.kernels.match_lists import ROWS, SQUARES, turn, write_matches


def bits_of(squares: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """[square, row, column]"""
    rows = squares.reshape(ROWS, SQUARES).T.copy()
    return np.unpackbits(rows.view(np.uint8).reshape(SQUARES, ROWS, 8), axis=2, bitorder="little").astype(
        bool
    )


def test_turned_over_the_diagonal() -> None:
    squares = np.random.default_rng(1).integers(0, 2**64, ROWS * SQUARES, np.uint64)
    before = bits_of(squares)
    turn(squares)
    assert np.array_equal(bits_of(squares), before.transpose(0, 2, 1))


def living_of(held: NDArray[np.bool_]) -> tuple[Living, NDArray[np.uint64]]:
    """Planes, stored as conditions/kernels/bitmap_store.py says, of the rules that hold for some event:
    [rule, event].
    """
    rules, events = held.shape
    words = -(-events // 64)
    padded = np.zeros((rules, 64 * words), bool)
    padded[:, :events] = held
    planes = np.packbits(padded, axis=1, bitorder="little").view(np.uint64)
    living = np.flatnonzero(held.any(axis=1))
    mask: list[int] = []
    at: list[int] = []
    word: list[int] = []
    for plane in planes[living]:
        filled = np.flatnonzero(plane)
        mask.append(sum(1 << int(place) for place in filled))
        at.append(len(word))
        word.extend((plane if is_whole(np.uint64(mask[-1])) else plane[filled]).tolist())
    rule = np.zeros(rules + 65, np.int32)
    rule[: len(living)] = living
    room = np.zeros(rules + 1, np.uint64), np.zeros(rules + 1, np.uint32)
    room[0][: len(living)], room[1][: len(living)] = mask, at
    return Living(rule, *room), np.array(word or [0], np.uint64)


@pytest.mark.parametrize("events", [1, 64, 65, 500, 1300, 64 * WORDS])
@pytest.mark.parametrize("density", [0.0005, 0.005, 0.02, 0.1, 0.5, 1.0])
def test_written_by_event(events: int, density: float) -> None:
    rng = np.random.default_rng(int(1000 * density) + events)
    held = rng.random((300, events)) < density * rng.random((300, 1)) * 2
    living, word = living_of(held)
    count = int(held.any(axis=1).sum())
    per_event = held.sum(axis=0)
    words = -(-events // 64)
    squares = np.empty(ROWS * SQUARES, np.uint64)
    for first, last in ((0, words), (words // 3, words - words // 4)):
        counts = per_event[64 * first : 64 * last]
        limit = np.zeros(events, np.int64)
        limit[64 * first : 64 * last] = np.cumsum(counts)
        found = np.full(int(counts.sum()), -1, np.int32)
        write_matches(living, count, word, first, last, limit - per_event, limit, squares, found)
        expected = np.nonzero(held[:, 64 * first : 64 * last].T)[1]
        assert np.array_equal(found, expected)
