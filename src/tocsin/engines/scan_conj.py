"""The engine `scan-conj`: the scan of the rules that have at least one conjunction which holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Self

import numpy as np

from tocsin.arrays.dtypes import Bytes, Ints, Words
from tocsin.arrays.lists import Lists
from tocsin.arrays.packed import in_large_pages
from tocsin.arrays.scratch import Scratch
from tocsin.conditions.kernels import SPARE
from tocsin.engines.conjunction_index import ConjunctionIndex
from tocsin.engines.kernels.candidate_scan import scan_candidates
from tocsin.engines.kernels.conjunction_leaves import with_conjunction_leaves
from tocsin.engines.kernels.conjunctions import turned_over
from tocsin.engines.kernels.expressions import Expressions, always_true
from tocsin.engines.kernels.tree_code import TreeCode, write_code
from tocsin.engines.unfolded_rules import trees_of


class _Room(NamedTuple):
    """Zero bits for conjunctions and for rules, and room for rules to ask."""

    leaf_bit: Words
    rule_bit: Words
    rule_line: Bytes
    candidate: Ints


class ScanConjunctionsEngine:
    """Rules as straight code over conjunctions, and an index of these."""

    def __init__(self, conjunctions: ConjunctionIndex, code: TreeCode, leaves: int) -> None:
        self._conjunctions = conjunctions
        self._code = in_large_pages(code)
        every = np.arange(len(code.start) - 1, dtype=np.int32)
        asking = turned_over(Lists(code.start, code.asked >> 1), every, leaves + 1)
        self._rules_by_leaf = in_large_pages(asking)
        self._room = Scratch(self._make_room)

    @classmethod
    def of(cls, expressions: Expressions) -> Self:
        """Write every rule out; RefusedRules when one is too large for that."""
        over, conjunctions = with_conjunction_leaves(expressions)
        code = write_code(trees_of(over), always_true(over), over.literals)
        return cls(ConjunctionIndex.of(conjunctions, expressions.literals), code, over.literals)

    def match(self, held: Lists) -> Lists:
        """For each event the rules that match, ascending."""
        return self.evaluate(self.search(held))

    def search(self, held: Lists) -> Lists:
        """The conjunctions that hold."""
        return self._conjunctions.search(held)

    def evaluate(self, conjunctions: Lists) -> Lists:
        """The rules that match, given the conjunctions that hold."""
        with self._room.lent() as room:
            return scan_candidates(self._code, self._rules_by_leaf, conjunctions, *room)

    def bytes_of_parts(self) -> Mapping[str, int]:
        """The memory of the index of conjunctions, of the rules of each, and of the code."""
        return {
            **self._conjunctions.bytes_of_parts(),
            "rules of conjunctions": sum(array.nbytes for array in self._rules_by_leaf),
            "code": sum(array.nbytes for array in self._code),
        }

    def _make_room(self) -> _Room:
        leaves, rules = len(self._rules_by_leaf.start) - 1, len(self._code.start) - 1
        lines = (rules >> 9) + 1
        return _Room(
            np.zeros((leaves >> 6) + 1, np.uint64),
            np.zeros(8 * lines, np.uint64),
            np.zeros(lines, np.uint8),
            np.zeros(rules + SPARE, np.int32),
        )
