"""The workloads of the Yield-index paper (section 6.2), and the index structures it compares with.

rules        a rule as its body atoms, and the program that says so
workloads    UC, CF, RT and RG at any size, and dense variants of UC and CF
structures   which columns each of the compared structures indexes
joining      rows of a relation by a value of a column, many values at once
counting     a rule activated with one of them, every index and tuple access counted
semi_naive   the closure of RG by semi-naive evaluation with ordered indexes
"""

from __future__ import annotations

from tocsin.lab.activation.counting import Counted, activate_all, activate_arrivals, all_combinations
from tocsin.lab.activation.rules import Atom, ConjunctiveRule
from tocsin.lab.activation.semi_naive import SemiNaive, semi_naive_closure
from tocsin.lab.activation.structures import AAI, AMEM, FAI, FI, NO_INDEX, STRUCTURES, Structure
from tocsin.lab.activation.workloads import (
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
    "ConjunctiveRule",
    "Counted",
    "SemiNaive",
    "Structure",
    "Workload",
    "activate_all",
    "activate_arrivals",
    "all_combinations",
    "can_use",
    "directed_graph",
    "flights",
    "routing",
    "semi_naive_closure",
    "stored_at",
]
