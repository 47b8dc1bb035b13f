"""The engine `bdd`: one shared decision diagram of all rules, as in the second paper's section 2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import numpy as np

from tocsin.arrays.lists import Lists
from tocsin.arrays.packed import in_large_pages
from tocsin.arrays.scratch import Scratch
from tocsin.engines.engine import RefusedRules
from tocsin.engines.kernels.bdd_construction import build_diagrams
from tocsin.engines.kernels.bdd_forest import Forest, grow_forest, match_forest, no_truth
from tocsin.engines.kernels.bdd_nodes import MOST_NODES, NO_ROOM, TOO_LARGE
from tocsin.engines.kernels.bdd_order import order_of_literals
from tocsin.engines.kernels.expressions import Expressions

MOST_STEPS = 1 << 16
"""Steps that the diagram of one expression, or of a part of it, may take; each makes one node at most."""


class BddEngine:
    """Diagrams laid out for matching from below: see engines/kernels/bdd_forest.py."""

    def __init__(self, forest: Forest) -> None:
        self.forest = forest
        self._truth = Scratch(lambda: no_truth(forest))

    @classmethod
    def of(cls, expressions: Expressions, most_steps: int = MOST_STEPS, most_nodes: int = MOST_NODES) -> Self:
        """Make the diagrams; RefusedRules for those that take too many steps or find no room."""
        variable = order_of_literals(expressions)
        diagrams = build_diagrams(expressions, variable, most_steps, most_nodes)
        reasons = {
            TOO_LARGE: f"its decision diagram takes more than {most_steps:,} steps",
            NO_ROOM: f"with the diagrams of the rules before it there are more than {most_nodes:,} nodes",
        }
        refused = {
            rule: reasons[int(diagrams.root[rule])] for rule in np.flatnonzero(diagrams.root < 0).tolist()
        }
        if refused:
            raise RefusedRules(refused)
        return cls(in_large_pages(grow_forest(diagrams, variable)))

    def match(self, held: Lists) -> Lists:
        """For each event the rules that match, ascending."""
        with self._truth.lent() as truth:
            return match_forest(self.forest, held, truth)

    def bytes_of_parts(self) -> Mapping[str, int]:
        """The memory that its arrays take, by part."""
        forest = self.forest
        return {
            "nodes": forest.plain.nbytes + forest.guarded.nbytes + forest.long_row.nbytes,
            "variables": forest.variable.nbytes + forest.start.nbytes,
            "rules": forest.top.nbytes + forest.rule_start.nbytes + forest.rule.nbytes,
        }
