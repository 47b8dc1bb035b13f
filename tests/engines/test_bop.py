"""The engine bop against the obvious evaluator, and the parts that it is made of."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from tests.engines.paper_forms import CONJ, DISJ, LEAF, encoding, least
from tests.expressions import expected_matches, expressions, expressions_from, lists_of, plain_lists

from tocsin.engines import Expressions, RefusedRules
from tocsin.engines.bop import BopEngine
from tocsin.engines.kernels.literal_counts import MOST_COUNTED


def written_out(made: Expressions, node: int) -> list[int]:
    """The paper's encoding of a node, without anything clever."""
    if node < made.literals:
        return [LEAF, node]
    inner = node - made.literals
    children = made.child[made.child_start[inner] : made.child_start[inner + 1]].tolist()
    code = [CONJ if made.is_and[inner] else DISJ, len(children)]
    for child in children:
        code += written_out(made, child)
    return code


def fewest_leaves(made: Expressions, node: int) -> int:
    if node < made.literals:
        return 1
    inner = node - made.literals
    below = [
        fewest_leaves(made, child)
        for child in made.child[made.child_start[inner] : made.child_start[inner + 1]].tolist()
    ]
    return sum(below) if made.is_and[inner] else min(below)


@given(expressions())
def test_encodings_and_least_numbers(made: Expressions) -> None:
    engine = BopEngine.of(made)
    for rule, root in enumerate(made.root.tolist()):
        if root < made.literals + len(made.is_and):
            assert encoding(engine, rule) == written_out(made, root)
            assert least(engine, rule) == min(fewest_leaves(made, root), MOST_COUNTED)
        else:
            assert encoding(engine, rule) == []


def test_more_leaves_than_a_counter_holds():
    """Rule 0 needs 600 leaves; rule 1 has 600 and needs one; rule 2 counts one leaf 300 times."""
    nodes = [(True, range(600)), (False, range(600)), (True, [7] * 300 + [8])]
    made = expressions_from(600, nodes, [600, 601, 602])
    engine = BopEngine.of(made)
    assert [least(engine, rule) for rule in range(3)] == [MOST_COUNTED, 1, MOST_COUNTED]
    everything = list(range(600))
    held = lists_of([everything, everything[1:], everything[:300], [7, 8], [7], [], [599]])
    assert plain_lists(engine.match(held)) == expected_matches(made, held)


def test_a_leaf_that_no_other_can_stand_in_for():
    """(0 or 1) and (2 and 3) and 4: leaf 2 is the first; in (0 or 1) there is none."""
    made = expressions_from(5, [(False, [0, 1]), (True, [2, 3]), (True, [5, 6, 4])], [7, 5, 3, 8, 9])
    assert BopEngine.of(made).bop.indispensable.tolist() == [2, 5, 3, 5, 5]


def test_postings_name_a_rule_once_for_every_place():
    made = expressions_from(3, [(False, [0, 1, 0]), (True, [3, 0])], [4, 0])
    bop = BopEngine.of(made).bop
    spans = zip(bop.posting_start[:-1].tolist(), bop.posting_start[1:].tolist(), strict=True)
    assert [bop.posting_rule[first:last].tolist() for first, last in spans] == [[0, 0, 0, 1], [0], []]


def test_a_tree_that_doubles_with_every_level_is_refused():
    nodes = [(level % 2 == 0, [level, level]) for level in range(40)]
    with pytest.raises(RefusedRules) as refused:
        BopEngine.of(expressions_from(1, nodes, [0, 40, 3]))
    assert list(refused.value.reasons) == [1]


def test_a_hundred_thousand_levels():
    depth = 100_000
    nodes = [(level % 2 == 0, [level % 3, 1 + level]) for level in range(1, depth)]
    made = expressions_from(3, nodes, [depth + 1])
    held = lists_of([[0, 1], [0, 1, 2], [2], []])
    assert plain_lists(BopEngine.of(made).match(held)) == expected_matches(made, held)


def test_what_it_takes_is_what_its_arrays_take():
    made = expressions_from(3, [(True, [0, 1]), (False, [2, 3])], [4, 3])
    engine = BopEngine.of(made)
    assert sum(engine.bytes_of_parts().values()) == sum(np.asarray(array).nbytes for array in engine.bop)
