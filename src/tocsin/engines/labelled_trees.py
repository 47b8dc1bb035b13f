"""What the two engines of the first paper have in common: an index of conjunctions, and where these stand.

literals that hold ── search ── conjunctions ── sort ── places in trees ── evaluate ── rules
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.array_checks import Array, Check, typed
from tocsin.arrays.byte_copy import gather_spans
from tocsin.arrays.distinct_texts import number_pieces
from tocsin.arrays.dtypes import Flags, Ints, Longs
from tocsin.arrays.lists import Lists
from tocsin.arrays.packed import starts
from tocsin.arrays.radix_sort import no_tally
from tocsin.arrays.scratch import Scratch
from tocsin.engines.conjunction_index import ConjunctionIndex, SavedConjunctions, check_conjunctions
from tocsin.engines.kernels.conjunction_leaves import with_conjunction_leaves
from tocsin.engines.kernels.expressions import Expressions, always_true
from tocsin.engines.kernels.tree_places import (
    BLOCK_BITS,
    OrderingRoom,
    Places,
    TreeLeaves,
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

    LABELS: ClassVar[Any]
    """The tuple of arrays that has the labels."""

    def __init__(self, conjunctions: ConjunctionIndex, places: Places, labels: Any) -> None:
        self._conjunctions = conjunctions
        self._places = places
        self._labelling = labels
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
        index = ConjunctionIndex.of(conjunctions, expressions.literals)
        return cls.of_trees(trees_of(over), index, always_true(over))

    @classmethod
    @abstractmethod
    def of_trees(cls, trees: Trees, conjunctions: ConjunctionIndex, always: Flags) -> Self:
        """The same for trees whose leaves are conjunctions. A rule without a tree holds always, or never."""

    @abstractmethod
    def evaluate(self, places: Lists) -> Lists:
        """The rules that match, given the places that hold."""

    def bytes_of_parts(self) -> Mapping[str, int]:
        """The memory of the index of conjunctions, of their places, and of the labels."""
        return {
            **self._conjunctions.bytes_of_parts(),
            "places": sum(array.nbytes for array in self._places),
            "labels": sum(array.nbytes for array in self._labelling),
        }

    def saved(self) -> Mapping[str, Any]:
        """The tuples of arrays that a file is to hold."""
        return {"conjunctions": self._conjunctions.saved(), "places": self._places, "labels": self._labelling}

    @classmethod
    def of_file(cls, file: str, arrays: dict[str, Array], literals: int, rules: int, *, verify: bool) -> Self:
        """The engine of so many literals and rules that a file holds; is it sound, if `verify`?"""
        conjunctions: SavedConjunctions = typed(file, "conjunctions", SavedConjunctions, arrays)
        places: Places = typed(file, "places", Places, arrays)
        labels = typed(file, "labels", cls.LABELS, arrays)
        if verify:
            check = Check(file)
            count = max(0, len(places.opening_start) - 1)
            check_conjunctions(check, "conjunctions", conjunctions, literals, count)
            _check_places(check, "places", places, count, rules)
            cls.check_labels(check, "labels", labels, places.rule_start)
        return cls(ConjunctionIndex.of_saved(conjunctions), places, labels)

    @staticmethod
    @abstractmethod
    def check_labels(check: Check, name: str, labels: Any, rule_start: Ints) -> None:
        """IndexFileError unless there is a label for every place of the rules."""


def no_leaves(counts: Longs) -> TreeLeaves:
    """Room for so many places of each rule."""
    rule_start = starts(counts, np.int32)
    return TreeLeaves(rule_start, np.full(rule_start[-1], -1, np.int32), np.zeros(rule_start[-1], np.bool_))


def share_labels(span: Longs, label: NDArray[Any]) -> tuple[Longs, NDArray[Any]]:
    """Where each rule finds its labels, until now label[span[r] : span[r + 1]], and the labels that are left.

    Labels of rules whose trees have the same shape are the same, and are stored once.
    """
    data = label.view(np.uint8)
    number, begin, end = number_pieces(data, label.itemsize * span)
    start, kept = gather_spans(data, begin, end)
    return start[number] // label.itemsize, kept.view(label.dtype)


def lay_out_places(leaves: TreeLeaves, conjunctions: int, always: Flags) -> Places:
    """Places by conjunction.

    `leaves.opens` is changed: a rule with very many places counts all of them as opening ones, and so do all
    rules when these are not few.
    """
    rule_start, _, opens = leaves
    opens |= np.repeat(np.diff(rule_start) > _MOST_PLACES, np.diff(rule_start))
    if _FEW_OPENING * np.count_nonzero(opens) > len(opens):
        opens[:] = True
    block = blocks_of_rules(rule_start)
    opening = _listed(leaves, True, conjunctions)
    other = _listed(leaves, False, conjunctions)
    return Places(
        *opening,
        last_places(opening.item if len(other.item) else other.item, rule_start, block),
        *other,
        rule_start,
        block,
        np.flatnonzero(always).astype(np.int32),
    )


def _check_places(check: Check, name: str, places: Places, conjunctions: int, rules: int) -> None:
    """IndexFileError unless these are the places of so many conjunctions in so many rules."""
    start = places.rule_start
    check.length(f"{name}.rule_start", start, rules + 1)
    ascends = start[0] == 0 and bool((start[1:] > start[:-1]).all())
    check.that(f"{name}.rule_start", ascends, "does not ascend from 0")
    count = int(start[-1])
    check.length(f"{name}.block", places.block, 2 * ((count >> BLOCK_BITS) + 1))
    is_so = np.array_equal(places.block, blocks_of_rules(start))
    check.that(f"{name}.block", is_so, "does not tell where rules begin")
    taken = np.zeros(count, np.bool_)
    for kind in ("opening", "other"):
        its_start, place = getattr(places, f"{kind}_start"), getattr(places, kind)
        check.offsets(f"{name}.{kind}_start", its_start, conjunctions, len(place))
        check.references(f"{name}.{kind}", place, count)
        taken[place] = True
    once = np.count_nonzero(taken) == len(places.opening) + len(places.other)
    check.that(f"{name}.opening", once, "has a place twice")
    noted = places.opening if len(places.other) else places.other
    last = np.array_equal(places.opening_last, last_places(noted, start, places.block))
    check.that(f"{name}.opening_last", last, "does not tell where rules end")
    check.references(f"{name}.always", places.always, rules)
    check.that(f"{name}.always", bool((np.diff(places.always) > 0).all()), "does not ascend")


def _listed(leaves: TreeLeaves, opening: bool, conjunctions: int) -> Lists:
    """The opening or the other places of each conjunction.

    The arrays are not made by the kernel: NumPy asks the system for large pages, and every list is a jump.
    """
    start = np.empty(conjunctions + 1, np.int64)
    count = np.count_nonzero((leaves.opens == opening) & (leaves.conjunction_of >= 0))
    place = np.empty(count, np.int32)
    list_places(leaves, opening, start, place)
    return Lists(start, place)
