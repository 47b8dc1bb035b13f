"""Expressions as a forest of pools: every node is made once and used as often as it is drawn.

    level 3    and or ... not      draws its children from the levels below
    level 2    or xor ... and
    level 1    predicates

Nodes are numbered from the bottom: the predicates are 0 .. P-1, then the nodes of level 2, and so
on. So a child has a smaller number than whoever uses it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tocsin.arrays.dtypes import Ints, Longs
from tocsin_lab.abe_gen.predicates import Predicates, predicate_texts
from tocsin_lab.abe_gen.texts import chosen, joined, side_by_side

AND, OR, NOT, XOR, XNOR = range(5)

JOINT = (" and ", " or ", "", " xor ", " xnor ")
RULES_AT_ONCE = 1 << 16


class Level(NamedTuple):
    """The inner nodes of one level, n of them.

    first      the number of the level's first node
    operator   int8[n]       AND ... XNOR
    start      int64[n+1]    children of node i: child[start[i] : start[i+1]]
    child      int32[...]
    """

    first: int
    operator: NDArray[np.int8]
    start: Longs
    child: Ints


class Forest(NamedTuple):
    """Predicates, the levels above them, and the node that is the root of each rule (int32[R])."""

    predicates: Predicates
    levels: list[Level]
    root: Ints

    @property
    def size(self) -> int:
        """All nodes."""
        return len(self.predicates.field) + sum(len(level.operator) for level in self.levels)


def rule_texts(forest: Forest) -> Iterator[pa.LargeStringArray]:
    """The conditions of the rules, in portions.

    The roots of a level that only rules use, each once and in order, are written straight to a portion.
    """
    texts = [predicate_texts(forest.predicates)]
    for level in forest.levels:
        if level is forest.levels[-1] and _is_all_roots(forest, level):
            for begin in range(0, len(level.operator), RULES_AT_ONCE):
                yield _written(level, begin, begin + RULES_AT_ONCE, texts)
            return
        texts.append(_written(level, 0, len(level.operator), texts))
    every = pa.chunked_array(texts)
    for begin in range(0, len(forest.root), RULES_AT_ONCE):
        yield from every.take(pa.array(forest.root[begin : begin + RULES_AT_ONCE])).chunks


def _is_all_roots(forest: Forest, level: Level) -> bool:
    nodes = np.arange(level.first, level.first + len(level.operator))
    return np.array_equal(forest.root, nodes)


def _written(level: Level, begin: int, end: int, below: list[pa.LargeStringArray]) -> pa.LargeStringArray:
    """The texts of some nodes of a level, from those of the levels below."""
    start = level.start[begin : end + 1]
    child = pa.array(level.child[start[0] : start[-1]])
    children = pa.chunked_array(below).take(child).combine_chunks()
    operator = level.operator[begin:end]
    together = joined(children, start - start[0], chosen(JOINT, operator))
    return side_by_side(chosen(("(", "(not "), operator == NOT), together, ")")
