"""Sets of arcs and numbered words do what sets and dictionaries do."""

from __future__ import annotations

import numpy as np
import pytest

from tocsin.datalog.machine.arc_set import PIECE, ArcSet, VertexNumbers


@pytest.mark.parametrize("vertices", [4, 40, 4_000])
def test_arcs_that_come_and_go(vertices: int) -> None:
    rng = np.random.default_rng(vertices)
    arcs, model = ArcSet(), set[tuple[int, int]]()
    for _ in range(200):
        some = rng.integers(vertices, size=(rng.integers(40), 2)).astype(np.int32)
        comes = bool(rng.random() < 0.55)
        said = (arcs.add if comes else arcs.drop)(some.ravel())
        for arc, changed in zip(map(tuple, some.tolist()), said.tolist(), strict=True):
            assert changed == ((arc in model) != comes)
            (model.add if comes else model.discard)(arc)
        listed = list(zip(arcs.tails.tolist(), arcs.heads.tolist(), strict=True))
        assert sorted(listed) == sorted(model)
        places = arcs.find(some.ravel()).tolist()
        for arc, place in zip(map(tuple, some.tolist()), places, strict=True):
            assert place == (listed.index(arc) if arc in model else -1)


def test_words_keep_their_numbers() -> None:
    rng = np.random.default_rng(1)
    vertices, model = VertexNumbers(), dict[int, int]()
    for size in (0, 1, 10, 3 * PIECE, 5):
        words = rng.integers(-(2**63), 2**63 - 1, size=size)
        words[size // 2 :] >>= 50
        numbers = vertices.numbers(words)
        for word, number in zip(words.tolist(), numbers.tolist(), strict=True):
            assert model.setdefault(word, len(model)) == number
        assert vertices.words.tolist() == list(model)
        assert np.array_equal(vertices.find(words), numbers)
    assert vertices.find(np.array([2**62 + 1], np.int64)).tolist() == [-1]
