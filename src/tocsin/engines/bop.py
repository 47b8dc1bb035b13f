"""The engine `bop`: rules whose literals are counted, as in the second paper's section 2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from tocsin.arrays.lists import Lists
from tocsin.arrays.packed import in_large_pages
from tocsin.arrays.scratch import Scratch
from tocsin.engines.kernels.expressions import Expressions
from tocsin.engines.kernels.literal_counts import (
    Bop,
    indispensable_leaves,
    least_leaves,
    match_by_counting,
    no_counters,
    postings_of,
    with_extents,
)
from tocsin.engines.unfolded_rules import trees_of


class BopEngine:
    """Counts over postings, then evaluates the candidates; nothing is shared between rules."""

    def __init__(self, bop: Bop, deepest: int) -> None:
        self.bop = bop
        self._counters = Scratch(lambda: no_counters(bop, deepest))

    @classmethod
    def of(cls, expressions: Expressions) -> Self:
        """Pack expressions; RefusedRules when a tree is too large."""
        trees = trees_of(expressions)
        code, deepest = with_extents(trees)
        bop = Bop(
            least_leaves(expressions)[expressions.root],
            indispensable_leaves(trees.start, code, expressions.literals),
            *postings_of(trees, expressions.literals),
            trees.start,
            code,
        )
        return cls(in_large_pages(bop), deepest)

    def match(self, held: Lists) -> Lists:
        """For each event the rules that match, ascending."""
        with self._counters.lent() as counters:
            return match_by_counting(self.bop, held, counters)

    def bytes_of_parts(self) -> Mapping[str, int]:
        """The memory that its arrays take, by part."""
        bop = self.bop
        return {
            "counters": bop.needed.nbytes + bop.indispensable.nbytes,
            "postings": bop.posting_start.nbytes + bop.posting_rule.nbytes,
            "encodings": bop.code_start.nbytes + bop.code.nbytes,
        }
