"""The workloads of the Yield-index paper (section 6.2), and the index structures it compares with.

rules        a rule as its body atoms, and the program that says so
workloads    UC, CF, RT and RG at any size, and dense variants of UC and CF
structures   which columns each of the compared structures indexes
joining      rows of a relation by a value of a column, many values at once
counting     a rule activated with one of them, every index and tuple access counted
building     what it takes to build them
yield_index  the same in tocsin's own index
semi_naive   the closure of RG by semi-naive evaluation with ordered indexes
"""

from __future__ import annotations

from tocsin_lab.yield_index.access_counts import Counted, activate_all, activate_arrivals, all_combinations
from tocsin_lab.yield_index.rule_atoms import Atom, ConjunctiveRule
from tocsin_lab.yield_index.semi_naive_closure import SemiNaive, semi_naive_closure
from tocsin_lab.yield_index.structure_costs import Built, build
from tocsin_lab.yield_index.structures import AAI, AMEM, FAI, FI, NO_INDEX, STRUCTURES, Structure
from tocsin_lab.yield_index.yield_index import (
    activate_all_with_tocsin,
    activate_arrivals_with_tocsin,
    build_with_tocsin,
)
from tocsin_lab.yield_index.yield_workloads import (
    Workload,
    can_use,
    directed_graph,
    flights,
    routing,
    stored_at,
)

__all__ = [
    "AAI",
    "AMEM",
    "FAI",
    "FI",
    "NO_INDEX",
    "STRUCTURES",
    "Atom",
    "Built",
    "ConjunctiveRule",
    "Counted",
    "SemiNaive",
    "Structure",
    "Workload",
    "activate_all",
    "activate_all_with_tocsin",
    "activate_arrivals",
    "activate_arrivals_with_tocsin",
    "all_combinations",
    "build",
    "build_with_tocsin",
    "can_use",
    "directed_graph",
    "flights",
    "routing",
    "semi_naive_closure",
    "stored_at",
]
