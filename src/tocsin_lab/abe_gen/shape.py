"""What a workload looks like, in the figures that the paper gives of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Longs
from tocsin_lab.abe_gen.forest import Forest


@dataclass(frozen=True)
class Shape:
    """Of the rules as written, expanded.

    A predicate is level 1, an operator one more than the highest of its children. uses[k] is how
    often a node of level k + 1 stands in the rules, on average over the different nodes that do
    (two nodes are different when they were made apart).
    """

    rules: int
    distinct_rules: int
    fewest_predicates: int
    mean_predicates: float
    most_predicates: int
    distinct_predicates: int
    most_used_predicate: int
    depth: int
    dimensions: int
    uses: tuple[float, ...]

    def __str__(self) -> str:
        extremes = f"from {self.fewest_predicates} to {self.most_predicates}"
        rows = [
            ("rules", f"{self.rules:,} ({self.distinct_rules:,} distinct)"),
            ("predicates of a rule", f"{self.mean_predicates:.2f}, {extremes}"),
            ("distinct predicates", f"{self.distinct_predicates:,} on {self.dimensions:,} dimensions"),
            ("most used predicate", f"{self.most_used_predicate:,} times"),
            ("uses by level", ", ".join(f"{each:.2f}" for each in self.uses)),
        ]
        return "\n".join(f"{name:<22}{value}" for name, value in rows)


class Uses(NamedTuple):
    """Of each node of a forest: how often it stands in the expanded rules, and its level."""

    shown: Longs
    level: Longs


def uses_of(forest: Forest) -> Uses:
    """Count levels from the bottom up and uses from the top down."""
    level_of = np.ones(forest.size, np.int64)
    shown = np.bincount(forest.root, minlength=forest.size)
    for level in forest.levels:
        nodes = slice(level.first, level.first + len(level.operator))
        level_of[nodes] = 1 + np.maximum.reduceat(level_of[level.child], level.start[:-1])
    for level in reversed(forest.levels):
        own = shown[level.first : level.first + len(level.operator)]
        weight = np.repeat(own, np.diff(level.start))
        shown += np.bincount(level.child, weight, forest.size).astype(np.int64)
    return Uses(shown, level_of)


def shape_of(forest: Forest) -> Shape:
    """Count."""
    plain = len(forest.predicates.field)
    predicates = np.ones(forest.size, np.int64)
    for level in forest.levels:
        nodes = slice(level.first, level.first + len(level.operator))
        predicates[nodes] = np.add.reduceat(predicates[level.child], level.start[:-1])
    shown, level_of = uses_of(forest)
    used = shown > 0
    of_rule = predicates[forest.root]
    return Shape(
        rules=len(forest.root),
        distinct_rules=len(np.unique(forest.root)),
        fewest_predicates=int(of_rule.min()),
        mean_predicates=float(of_rule.mean()),
        most_predicates=int(of_rule.max()),
        distinct_predicates=int(np.count_nonzero(used[:plain])),
        most_used_predicate=int(shown[:plain].max()),
        depth=int(level_of[forest.root].max()),
        dimensions=len(np.unique(forest.predicates.field[used[:plain]])),
        uses=_uses(shown[used], level_of[used]),
    )


def _uses(shown: Longs, level: Longs) -> tuple[float, ...]:
    nodes = np.bincount(level)[1:]
    return tuple((np.bincount(level, shown)[1:] / nodes).tolist())
