"""Pieces of text are numbered as a dictionary numbers them."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tocsin.arrays.distinct_texts import no_texts, number_pieces, number_texts
from tocsin.arrays.packed import packed_bytes


def random_piece(rng: random.Random) -> bytes:
    return bytes(rng.choice(b"ab\x00\xff") for _ in range(rng.choice([0, 1, 2, 7, 8, 9, 16, 40])))


def naive_numbers(pieces: list[bytes]) -> list[int]:
    numbers: dict[bytes, int] = {}
    return [numbers.setdefault(piece, len(numbers)) for piece in pieces]


@pytest.mark.parametrize("seed", range(20))
def test_against_a_dictionary(seed: int) -> None:
    rng = random.Random(seed)
    pieces = [random_piece(rng) for _ in range(rng.choice([0, 1, 5, 64, 65, 2_000]))]
    start, data = packed_bytes(pieces)
    number, first, end = number_pieces(data, start)
    assert number.tolist() == naive_numbers(pieces)
    spans = zip(first.tolist(), end.tolist(), strict=True)
    assert [data[a:b].tobytes() for a, b in spans] == list(dict.fromkeys(pieces))


@pytest.mark.parametrize("piece", [b"a", b"01234567", b"0123456789"])
def test_a_hash_alone_is_not_enough(piece: bytes) -> None:
    """A known piece that has the same hash but other bytes, or another length, is another piece."""
    start, data = packed_bytes([piece])
    texts = no_texts(4, 16)
    number, room = np.empty(1, np.int32), np.empty(1, np.uint64)
    for expected, spoiled in enumerate([0, 1, None]):
        number_texts(texts, data, start[:-1], start[1:], 1, number, room)
        assert int(number[0]) == expected
        if spoiled is not None:
            texts.word[int(texts.place[expected]) + spoiled] ^= np.uint64(1)
    number_texts(texts, data, start[:-1], start[1:], 1, number, room)
    assert int(number[0]) == 2
