"""Figure 3 of the A-Tree paper: the decision diagram of (P1 or P2 or P3) and P4 and (P5 or P6)."""

from __future__ import annotations

import numpy as np
from tests.expressions import expressions_from, lists_of, plain_lists

from tocsin.engines.bdd import BddEngine
from tocsin.engines.kernels.bdd_construction import build_diagrams
from tocsin.engines.kernels.bdd_nodes import FALSE, MOST_NODES, TRUE, Diagrams

# Literals have the numbers of the paper's predicates, and 0 is none of them.
EXAMPLE = expressions_from(7, [(False, [1, 2, 3]), (False, [5, 6]), (True, [7, 4, 8])], [9])


def branches(diagrams: Diagrams) -> dict[int, tuple[object, object]]:
    """For each predicate that the rule's diagram asks, once, what it asks next: if false, if true."""
    asks = {FALSE: False, TRUE: True, **{n: int(diagrams.node[n, 0]) for n in range(2, len(diagrams.node))}}
    found: dict[int, tuple[object, object]] = {}
    waiting = [int(diagrams.root[0])]
    while waiting:
        variable, low, high = diagrams.node[waiting.pop()].tolist()
        if low == high == 0:
            continue
        assert found.setdefault(variable, (asks[low], asks[high])) == (asks[low], asks[high])
        waiting += (low, high)
    return found


def test_figure_3():
    diagrams = build_diagrams(EXAMPLE, np.arange(7, dtype=np.int32), 1_000, MOST_NODES)
    assert branches(diagrams) == {
        1: (2, 4),
        2: (3, 4),
        3: (False, 4),
        4: (False, 5),
        5: (6, True),
        6: (False, True),
    }


def test_its_matches():
    events = [[1, 2, 3], [1, 4, 6], [4, 5, 6], [3, 4], [1, 2, 3, 4, 5, 6]]
    assert plain_lists(BddEngine.of(EXAMPLE).match(lists_of(events))) == [[], [0], [], [], [0]]
