"""The compiled folding against the grammar's, which works on characters and not on bytes."""

from __future__ import annotations

import sys

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tocsin.conditions.graph.pattern_arrays import fold_table
from tocsin.conditions.kernels.case_folding import fold_text, room_to_fold
from tocsin.conditions.language import fold


def folded(text: str) -> str:
    """What the kernel makes of a text, without writing past the room for it."""
    content = np.frombuffer(bytearray(text.encode()), np.uint8)
    room = np.full(room_to_fold(len(content)) + 1, 0xFF, np.uint8)
    size = fold_text(fold_table(), content, room)
    assert room[-1] == 0xFF
    return room[:size].tobytes().decode()


def test_every_code_point() -> None:
    everything = "".join(chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000)
    assert folded(everything) == fold(everything)


def test_no_code_point_outgrows_the_room_for_it() -> None:
    """So neither does any text, however its code points are mixed."""
    page, fold_by = fold_table()
    for block in np.flatnonzero(page).tolist():
        for code in range(256 * block, 256 * (block + 1)):
            if fold_by[256 * page[block] + code % 256]:
                assert len(fold(chr(code)).encode()) <= room_to_fold(len(chr(code).encode()))


def test_texts_that_grow_and_shrink() -> None:
    for text in (
        "",
        "\x00",
        "Ⱥ" * 100,
        "\u212a" * 100,
        "ẞß",
        "İiIı",
        "ſS",
        "ΑΣς",
        "𐐀𐐨",
        "E\u0301É",
        "Ⱥ\u212aA",
    ):
        assert folded(text) == fold(text)


@given(st.text(max_size=40))
def test_random_texts(text: str) -> None:
    assert folded(text) == fold(text)
