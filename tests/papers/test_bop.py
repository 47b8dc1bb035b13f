"""Figure 2 of the A-Tree paper, and what section 2 says of BoP."""

from __future__ import annotations

import numpy as np
from tests.engines.paper_forms import encoding, least
from tests.expressions import expressions_from, lists_of, plain_lists

from tocsin.engines.bop import BopEngine
from tocsin.engines.kernels.literal_counts import count_down, take_candidates

# (P1 or P2 or P3) and P4 and (P5 or P6): literals have the numbers of the paper's predicates.
EXAMPLE = expressions_from(7, [(False, [1, 2, 3]), (False, [5, 6]), (True, [7, 4, 8])], [9])


def is_candidate(engine: BopEngine, event: list[int]) -> bool:
    """Whether enough of the rule's leaves hold."""
    missing, candidate = engine.bop.needed.copy(), np.empty(2, np.int32)
    held = np.array(event, np.int32)
    count_down(held, 0, len(held), engine.bop.posting_start, engine.bop.posting_rule, missing)
    return take_candidates(engine.bop.needed, missing, candidate) == 1


def test_figure_2():
    """Conj 3, Disj 3, Leaf P1, Leaf P2, Leaf P3, Leaf P4, Disj 2, Leaf P5, Leaf P6."""
    assert encoding(BopEngine.of(EXAMPLE), 0) == [1, 3, 2, 3, 4, 1, 4, 2, 4, 3, 4, 4, 2, 2, 4, 5, 4, 6]


def test_the_packed_form_has_one_number_for_each_operator_and_leaf():
    """An operator's number says where its children end: -2 * distance for AND, one less for OR."""
    assert BopEngine.of(EXAMPLE).bop.code.tolist() == [-16, -7, 1, 2, 3, 4, -5, 5, 6]


def test_three_predicates_make_a_candidate_that_does_not_match():
    engine = BopEngine.of(EXAMPLE)
    assert least(engine, 0) == 3
    events = [[1, 2, 3], [1, 4, 6], [4, 5, 6], [3, 4], [1, 2, 3, 4, 5, 6]]
    assert [is_candidate(engine, each) for each in events] == [True, True, True, False, True]
    assert plain_lists(engine.match(lists_of(events))) == [[], [0], [], [], [0]]
