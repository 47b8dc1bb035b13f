"""The closure of RG by semi-naive evaluation with ordered indexes, its index entry accesses counted.

    path(x, y) :- arc(x, y).
    path(x, y) :- arc(x, z), path(z, y).

Round by round, each path tuple that is new is joined with the arcs that end where it starts; what comes
out is looked up among the paths, and what is not there is new. A search of an ordered index of n entries
goes past 1 + log2(n) of them, and every entry that it finds is one more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tocsin.arrays.dtypes import Longs
from tocsin_lab.yield_index.joins import Column, different
from tocsin_lab.yield_index.yield_workloads import Rows

Numbers = Longs


@dataclass(frozen=True)
class SemiNaive:
    """The closure, sorted, and what it took."""

    paths: Rows
    rounds: int
    derived: int
    entry_accesses: int


def semi_naive_closure(arcs: Rows) -> SemiNaive:
    """All pairs with a path between them."""
    width = int(arcs.max(initial=0)) + 1
    source, target = arcs[:, 0], arcs[:, 1]
    by_target = Column(target)
    known = different(source * width + target)
    new = known
    accesses = len(arcs) * entries_passed(len(arcs))
    rounds = derived = 0
    while len(new):
        rounds += 1
        place, arc = by_target.find(new // width)
        reached = source[arc] * width + new[place] % width
        accesses += len(new) * entries_passed(len(arcs)) + len(reached)
        accesses += len(reached) * entries_passed(len(known))
        derived += len(reached)
        new = _absent(different(reached), known)
        known = np.sort(np.concatenate([known, new]), kind="stable")
    return SemiNaive(np.column_stack([known // width, known % width]), rounds, derived, accesses)


def entries_passed(size: int) -> int:
    """The entries that a search of an ordered index of this size goes past."""
    return max(size, 1).bit_length()


def _absent(wanted: Numbers, known: Numbers) -> Numbers:
    """Those of the first that are not among the second; both are sorted."""
    if not len(known):
        return wanted
    place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return wanted.compress(known[place] != wanted)
