"""The conjunctions of "Indexing Boolean Expressions", on whose index the Dewey and Interval paper builds.

A key stands for one of its predicates: `age in (3)`, `state in (CA)`, ...
"""

from __future__ import annotations

import pytest
from tests.expressions import lists_of, plain_lists

from tocsin.engines.conjunction_index import ConjunctionIndex

AGE_3, AGE_3_OR_4, NY, CA, CA_OR_NY, FEMALE, MALE = range(7)

CONJUNCTIONS: list[tuple[list[int], list[int]]] = [
    ([AGE_3, NY], []),
    ([AGE_3, FEMALE], []),
    ([AGE_3, MALE], [CA]),
    ([CA, MALE], []),
    ([AGE_3_OR_4], []),
    ([], [CA_OR_NY]),
]


@pytest.mark.parametrize(
    ("held", "expected"),
    [
        ({AGE_3, AGE_3_OR_4, CA, CA_OR_NY, MALE}, [3, 4]),
        ({AGE_3, AGE_3_OR_4, NY, CA_OR_NY, FEMALE}, [0, 1, 4]),
        ({AGE_3, AGE_3_OR_4, MALE}, [2, 4, 5]),
        ({AGE_3_OR_4}, [4, 5]),
        (set(), [5]),
    ],
)
def test_which_conjunctions_hold(held: set[int], expected: list[int]) -> None:
    index = ConjunctionIndex.of(
        lists_of([keys for keys, _ in CONJUNCTIONS]), 7, lists_of([negated for _, negated in CONJUNCTIONS])
    )
    assert plain_lists(index.search(lists_of([sorted(held)]))) == [expected]
