"""The engine `scan`: every rule's tree is asked about every event.

Its trees are read in advance and stop as soon as they can, and every predicate is looked up once for
all of them. So this is what an index has to beat.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import numpy as np

from tocsin.arrays.dtypes import Words
from tocsin.arrays.lists import Lists
from tocsin.arrays.packed import in_large_pages
from tocsin.arrays.scratch import Scratch
from tocsin.engines.kernels.expressions import Expressions, always_true
from tocsin.engines.kernels.tree_code import TreeCode, scan, write_code
from tocsin.engines.unfolded_rules import trees_of


class ScanEngine:
    """Rules as straight code over literals."""

    def __init__(self, code: TreeCode, literals: int) -> None:
        self._code = in_large_pages(code)
        self._literals = literals
        self._bits = Scratch(self._no_bits)

    @classmethod
    def of(cls, expressions: Expressions) -> Self:
        """Write every rule out; RefusedRules when one is too large for that."""
        trees = trees_of(expressions)
        return cls(write_code(trees, always_true(expressions), expressions.literals), expressions.literals)

    def match(self, held: Lists) -> Lists:
        """For each event the rules that match, ascending."""
        with self._bits.lent() as bits:
            return scan(self._code, self._literals, held, bits)

    def bytes_of_parts(self) -> Mapping[str, int]:
        """The memory of the code."""
        return {"code": sum(array.nbytes for array in self._code)}

    def _no_bits(self) -> Words:
        return np.zeros((self._literals >> 6) + 1, np.uint64)
