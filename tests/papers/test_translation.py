"""Section 2 of the A-Tree paper: (P1 or P2 or P3) and P4 and (P5 or P6) becomes six conjunctions."""

from __future__ import annotations

from tests.engines.paper_forms import conjunctions_of
from tests.expressions import expressions_from, lists_of, plain_lists

from tocsin.engines.dnf import DnfEngine

# Literals have the numbers of the paper's predicates, and 0 is none of them.
EXAMPLE = expressions_from(7, [(False, [1, 2, 3]), (False, [5, 6]), (True, [7, 4, 8])], [9])


def test_six_conjunctions():
    assert sorted(conjunctions_of(EXAMPLE, 0)) == [
        [1, 4, 5],
        [1, 4, 6],
        [2, 4, 5],
        [2, 4, 6],
        [3, 4, 5],
        [3, 4, 6],
    ]


def test_when_any_of_them_matches_the_expression_does():
    events = [[1, 2, 3], [1, 4, 6], [4, 5, 6], [3, 4], [1, 2, 3, 4, 5, 6], [2, 4, 5]]
    assert plain_lists(DnfEngine.of(EXAMPLE).match(lists_of(events))) == [[], [0], [], [], [0], [0]]
