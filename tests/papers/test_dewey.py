"""Section 3 of the first paper, label by label: the tree of figure 2, and the evaluation of section 3.3."""

from __future__ import annotations

import numpy as np
import pytest
from tests.engines.paper_forms import labels_of
from tests.expressions import lists_of, plain_lists
from tests.trees import engine_of

from tocsin.engines.dewey import DeweyEngine
from tocsin.engines.kernels.dewey_labels import count_label

A, B, C, D, E, F = range(6)
FIGURE_2 = ("or", ("and", A, B), C, ("and", D, E, F))
LABELS = ["1*.1.1", "1*.1.2*", "1*.2", "1*.3.1", "1*.3.2", "1*.3.3*"]


def test_figure_2() -> None:
    """The root is no AND, so one is put above it."""
    assert labels_of(engine_of(DeweyEngine, FIGURE_2), 0) == LABELS


@pytest.mark.parametrize(
    ("tree", "labels"),
    [
        (A, ["1*"]),
        (("and", A, B), ["1", "2*"]),
        (("or", A, B), ["1*.1", "1*.2"]),
        (("and", A, ("or", B, ("and", C, D))), ["1", "2*.1", "2*.2.1", "2*.2.2*"]),
    ],
)
def test_other_labels(tree, labels: list[str]) -> None:
    assert labels_of(engine_of(DeweyEngine, tree), 0) == labels


def test_figure_1_of_the_a_tree_paper() -> None:
    """(P1 or P2 or P3) and P4 and (P5 or P6)."""
    engine = engine_of(DeweyEngine, ("and", ("or", A, B, C), D, ("or", E, F)))
    assert labels_of(engine, 0) == ["1.1", "1.2", "1.3", "2", "3*.1", "3*.2"]


def packed(label: str) -> np.uint64:
    """A label in 64 bits, 8 for each number."""
    word = 0
    for level, number in enumerate(label.split(".")):
        word |= (2 * int(number.rstrip("*")) + number.endswith("*")) << (56 - 8 * level)
    return np.uint64(word)


def counts(word: np.uint64, levels: int) -> list[int]:
    return [int(word) >> (57 - 8 * level) & 127 for level in range(levels)]


def test_section_3_3() -> None:
    """A, D, E and F hold: the AND of A waits for B in vain, that of D, E and F holds, and so the root."""
    before = counted = np.uint64(0)
    seen = []
    for label in (LABELS[leaf] for leaf in (A, D, E, F)):
        counted, holds = count_label(packed(label), before, counted, 3)
        before = packed(label)
        seen.append((label, counts(counted, 3), holds))
    assert seen == [
        ("1*.1.1", [0, 0, 1], False),
        ("1*.3.1", [0, 0, 1], False),
        ("1*.3.2", [0, 0, 2], False),
        ("1*.3.3*", [1, 0, 3], True),
    ]
    engine = engine_of(DeweyEngine, FIGURE_2)
    held = [[A, D, E, F], [A, D, E], [D, F], [A, E, F], [B, D], [A, B], [C], []]
    assert plain_lists(engine.match(lists_of(held))) == [[0], [], [], [], [], [0], [0], []]
