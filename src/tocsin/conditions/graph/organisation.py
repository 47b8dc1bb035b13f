"""How the nodes of the shared graph are put together: as they were written, or from each other.

    unique   every subexpression is a node, and is there once
    full     and a node that has all children of another, and more, has that one as a child: the A-Tree
             paper's reorganisation and self-adjustment (kernels/reorganisation.py)
    auto     full where it pays, by an estimate on a sample of the nodes, else unique

It changes no match. What `auto` goes by is how many edges ANDs would be spared: an AND that waits for another
AND is seldom woken, and seldom looked at in a block. Edges that only ORs are spared make little difference.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tocsin.arrays.dtypes import Bytes, Ints, Longs
from tocsin.conditions.kernels.planes import mark_needed
from tocsin.conditions.kernels.reorganisation import (
    count_uses,
    cover_nodes,
    list_covers,
    with_children,
)
from tocsin.conditions.kernels.shared_nodes import SharedNodes
from tocsin.errors import IndexFileError
from tocsin.printable import number_of

AUTO, UNIQUE, FULL = "auto", "unique", "full"
ORGANISE = (AUTO, UNIQUE, FULL)
"""What can be asked for."""

PAYS_FROM = 0.2
"""The share of all edges from which on `auto` is full. What it goes by and what came of it stands in
docs/performance.md for every workload of the benchmarks.
"""

FEW = 256
"""With fewer ANDs of three children and more there is little to gain, and `auto` does not ask."""

_SAMPLE = 4096
"""Nodes that `auto` estimates by."""

_PLANES = np.array([0, 1, 1, 2])
"""How many planes a node is, by its sign (see kernels.reorganisation.Covers)."""


@dataclass(frozen=True, slots=True)
class Organisation:
    """What was asked for, what was chosen, and why.

    spared     edges fewer than with unique nodes
    estimate   the share of all edges that ANDs would be spared, where `auto` estimated it
    """

    asked: str
    chosen: str
    spared: int = 0
    estimate: float | None = None

    def __str__(self) -> str:
        fewer = f", {number_of(self.spared, 'edge')} fewer" if self.spared else ""
        chosen = f"full{fewer}" if self.chosen == FULL else "unique nodes"
        if self.asked != AUTO:
            return f"{chosen}: as asked"
        if self.estimate is None:
            return f"{chosen}: too few ANDs to gain by more (auto)"
        would = "take" if self.chosen == FULL else "take only"
        return (
            f"{chosen}: covers {would} an estimated {100 * self.estimate:.0f} % of the edges from ANDs"
            f" (auto: full from {100 * PAYS_FROM:.0f} % on)"
        )

    @staticmethod
    def of_header(name: str, said: object) -> Organisation:
        """What the header of a file says; IndexFileError when it makes no sense."""
        try:
            found = Organisation(**said)  # type: ignore[arg-type]
            estimate = found.estimate
            makes_sense = (
                found.asked in ORGANISE
                and found.chosen in (UNIQUE, FULL)
                and found.asked in (AUTO, found.chosen)
                and type(found.spared) is int
                and found.spared >= 0
                and (found.asked == AUTO or estimate is None)
                and (estimate is None or (type(estimate) is float and 0 <= estimate <= 1))
            )
        except TypeError:
            makes_sense = False
        if not makes_sense:
            raise IndexFileError(f"{name} is damaged: its header has no organisation")
        return found


def organised(
    nodes: SharedNodes, root: Ints, leaves: int, asked: str
) -> tuple[SharedNodes, Ints, Organisation]:
    """The graph put together as asked, the references of its roots, and what was done.

    Nothing can be added to a graph that is put together in full.
    """
    if asked == UNIQUE:
        return nodes, root, Organisation(UNIQUE, UNIQUE)
    sign = _signs(nodes, root, leaves)
    chosen = _choose(nodes, sign) if asked == AUTO else Organisation(FULL, FULL)
    if chosen.chosen == UNIQUE:
        return nodes, root, chosen
    needed = np.flatnonzero(sign).astype(np.int32)
    covers = list_covers(nodes, sign, count_uses(nodes, needed), 2)
    child_start, child = cover_nodes(nodes, covers, np.arange(len(sign), dtype=np.int32))
    fewer = _widths(nodes, sign) - np.diff(child_start)
    full, number = with_children(nodes, leaves, child_start, child)
    new_root = np.where(root < 0, root, 2 * number[root >> 1] + (root & 1)).astype(np.int32)
    spared = int((fewer * _PLANES[sign]).sum())
    return full, new_root, Organisation(asked, FULL, spared, chosen.estimate)


def _choose(nodes: SharedNodes, sign: Bytes) -> Organisation:
    """What `auto` chooses, without a look at most nodes."""
    width = _widths(nodes, sign)
    ands = np.flatnonzero((sign & 1 == 1) & (width > 2)).astype(np.int32)
    if len(ands) < FEW:
        return Organisation(AUTO, UNIQUE)
    some = ands
    if len(ands) > _SAMPLE:
        some = np.sort(np.random.default_rng(0).choice(ands, _SAMPLE, replace=False))
    _, child = cover_nodes(nodes, list_covers(nodes, sign, count_uses(nodes, some), 1), some)
    spared = int(width[some].sum()) - len(child)
    estimate = min(1.0, spared * len(ands) / len(some) / int((width * _PLANES[sign]).sum()))
    return Organisation(AUTO, FULL if estimate >= PAYS_FROM else UNIQUE, 0, estimate)


def _widths(nodes: SharedNodes, sign: Bytes) -> Longs:
    """How many children each node has."""
    return np.diff(nodes.child_start[: len(sign) + 1])


def _signs(nodes: SharedNodes, root: Ints, leaves: int) -> Bytes:
    """In which ways the roots need each node: see kernels.reorganisation.Covers."""
    needed = mark_needed(nodes, leaves, root).view(np.uint8)
    sign = needed[0::2] | needed[1::2] << 1
    sign[: leaves + 1] = 0
    return np.asarray(sign)
