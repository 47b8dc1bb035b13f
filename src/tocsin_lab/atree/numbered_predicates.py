"""Predicates numbered one by one, as conditions come: for an A-Tree that grows while it is used.

The product numbers a whole rule set's predicates at once, as arrays (conditions/graph/predicate_table.py);
here each is an object, and the order is that of arrival.
"""

from __future__ import annotations

from tocsin.conditions.graph import step_code
from tocsin.conditions.language import Condition, Predicate
from tocsin.conditions.operators import canonical_predicate


class NumberedPredicates:
    """The distinct predicates so far, in canonical form; predicate l has the references 2l+2 and 2l+3."""

    def __init__(self) -> None:
        self.distinct: list[Predicate] = []
        self._number: dict[Predicate, int] = {}

    def ref(self, predicate: Predicate) -> int:
        """The reference to a predicate, which is added when it is new."""
        canonical = canonical_predicate(predicate)
        number = self._number.setdefault(canonical, len(self.distinct))
        if number == len(self.distinct):
            self.distinct.append(canonical)
        return 2 * (number + 1)

    def steps_of(self, condition: Condition) -> tuple[list[int], list[int]]:
        """A parsed condition as the steps of kernels.skeleton, and the references they point to."""
        codes: list[int] = []
        refs: list[int] = []
        for step in condition.steps:
            if isinstance(step, Predicate):
                codes.append(len(refs))
                refs.append(self.ref(step))
            else:
                codes.append(step_code(step))
        return codes, refs
