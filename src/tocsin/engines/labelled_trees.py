"""What the two engines of the first paper have in common: an index of conjunctions, and where these stand.

literals that hold ── search ── conjunctions ── sort ── places in trees ── evaluate ── rules
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.dtypes import Flags, Ints
from tocsin.arrays.lists import Lists
from tocsin.arrays.radix_sort import no_tally
from tocsin.arrays.scratch import Scratch
from tocsin.engines.conjunction_index import ConjunctionIndex
from tocsin.engines.kernels.conjunction_leaves import with_conjunction_leaves
from tocsin.engines.kernels.expressions import Expressions, always_true
from tocsin.engines.kernels.tree_places import (
    BLOCK_BITS,
    OrderingRoom,
    Places,
    blocks_of_rules,
    last_places,
    list_places,
    put_in_order,
)
from tocsin.engines.kernels.unfolded_trees import Trees
from tocsin.engines.unfolded_rules import trees_of

_FEW_OPENING = 4
"""Opening places are few when at most one in so many places is one."""

_MOST_PLACES = 4_096
"""Places of a rule, up to which it pays to note them all when one of them opens it."""


class AnnotatedTrees(ABC):
    """Rules as places of conjunctions, each with a label; the trees themselves are not kept."""

    def __init__(self, conjunctions: ConjunctionIndex, places: Places) -> None:
        self._conjunctions = conjunctions
        self._places = places
        blocks = int(places.rule_start[-1] >> BLOCK_BITS) + 1
        self._ordering = Scratch(lambda: OrderingRoom(np.zeros((blocks >> 6) + 1, np.uint64), no_tally()))

    def match(self, held: Lists) -> Lists:
        """For each event the rules that match, ascending, given the literals that hold."""
        return self.evaluate(self.sort(self.search(held)))

    def search(self, held: Lists) -> Lists:
        """The conjunctions that hold."""
        return self._conjunctions.search(held)

    def sort(self, conjunctions: Lists) -> Lists:
        """The places of conjunctions as they are to be evaluated, without those of rules that cannot hold."""
        with self._ordering.lent() as room:
            return put_in_order(self._places, conjunctions, room)

    @classmethod
    def of(cls, expressions: Expressions) -> Self:
        """Label every rule; RefusedRules when the labels of one would be too many or too long."""
        over, conjunctions = with_conjunction_leaves(expressions)
        index = ConjunctionIndex(conjunctions, expressions.literals)
        return cls.of_trees(trees_of(over), index, always_true(over))

    @classmethod
    @abstractmethod
    def of_trees(cls, trees: Trees, conjunctions: ConjunctionIndex, always: Flags) -> Self:
        """The same for trees whose leaves are conjunctions. A rule without a tree holds always, or never."""

    @abstractmethod
    def evaluate(self, places: Lists) -> Lists:
        """The rules that match, given the places that hold."""

    def _span(self, rule: int) -> range:
        """The places of a rule."""
        first, last = self._places.rule_start[rule : rule + 2].tolist()
        return range(first, last)

    def _bytes_of_parts(self, labels: tuple[NDArray[np.generic], ...]) -> Mapping[str, int]:
        return {
            **self._conjunctions.bytes_of_parts(),
            "places": sum(array.nbytes for array in self._places),
            "labels": sum(array.nbytes for array in labels),
        }


def lay_out_places(
    conjunction_of: Ints, opens: Flags, conjunctions: int, rule_start: Ints, always: Flags
) -> Places:
    """Places by conjunction, given of each its conjunction, or -1, and whether it opens its rule.

    `opens` is changed: a rule with very many places counts all of them as opening ones, and so do all
    rules when these are not few.
    """
    opens |= np.repeat(np.diff(rule_start) > _MOST_PLACES, np.diff(rule_start))
    if _FEW_OPENING * np.count_nonzero(opens) > len(opens):
        opens[:] = True
    block = blocks_of_rules(rule_start)
    opening = _listed(conjunction_of, opens, True, conjunctions)
    other = _listed(conjunction_of, opens, False, conjunctions)
    return Places(
        *opening,
        last_places(opening.item if len(other.item) else other.item, rule_start, block),
        *other,
        rule_start,
        block,
        np.flatnonzero(always).astype(np.int32),
    )


def _listed(conjunction_of: Ints, opens: Flags, opening: bool, conjunctions: int) -> Lists:
    """The opening or the other places of each conjunction.

    The arrays are not made by the kernel: NumPy asks the system for large pages, and every list is a jump.
    """
    start = np.empty(conjunctions + 1, np.int64)
    place = np.empty(np.count_nonzero((opens == opening) & (conjunction_of >= 0)), np.int32)
    list_places(conjunction_of, opens, opening, start, place)
    return Lists(start, place)
