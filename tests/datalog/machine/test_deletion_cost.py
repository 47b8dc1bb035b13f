"""When so many facts go that recursive relations are sooner worked out anew."""

from __future__ import annotations

import pytest

from tocsin.datalog.language.strata import components_in_order
from tocsin.datalog.machine.deletion_cost import DeletionCost

NEEDS = {
    "e": set[str](),
    "p": {"e", "p"},
    "above": {"p"},
    "f": set[str](),
    "q": {"r", "f"},
    "r": {"q"},
    "plain": {"f"},
}
COST = DeletionCost(NEEDS, components_in_order(NEEDS), {"p", "q", "r"})


@pytest.mark.parametrize(
    ("sizes", "going", "exceeds_rebuild"),
    [
        ({"e": 1_000, "p": 500_500}, {"e": 10}, True),  # a chain, which falls into pieces
        ({"e": 38_000, "p": 380_000}, {"e": 3_800}, False),  # chains of 20, some of which do
        ({"e": 38_000, "p": 380_000}, {"e": 10_000}, True),
        ({"e": 2_400, "p": 342_800}, {"e": 5}, False),  # a graph with many ways, and with fewer
        ({"e": 2_400, "p": 342_800}, {"e": 24}, False),
        ({"e": 2_400, "p": 342_800}, {"e": 30}, True),
        ({"e": 1_000, "p": 500_500, "above": 10**9}, {"e": 10}, True),  # what is above goes too
        ({"e": 1_000, "p": 500_500, "plain": 10**6}, {"e": 10}, False),  # what is beside does not
        ({"e": 1_000, "p": 500_500, "f": 2_000, "q": 900, "r": 900}, {"f": 1_900}, False),
        ({"f": 1_000, "q": 250_000, "r": 250_000}, {"f": 10}, True),
        ({"e": 1_000, "p": 500_500}, {"e": 0, "plain": 7}, False),
        ({}, {"e": 0}, False),
    ],
)
def test_it_is_told_from_sizes(sizes: dict[str, int], going: dict[str, int], exceeds_rebuild: bool) -> None:
    def size(name: str) -> int:
        return sizes.get(name, 0)

    def facts(name: str) -> int:
        return 0 if NEEDS[name] else size(name)

    assert COST.exceeds_rebuild(size, facts, going) is exceeds_rebuild
