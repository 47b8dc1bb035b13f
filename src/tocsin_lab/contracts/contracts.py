"""Contracts, made by the level: all nodes of one depth of all trees at once.

depth 0    AND   AND   AND ...        one for each contract
depth 1    OR OR   OR OR OR   ...     in the order of their parents
depth 2    {} {}  {} ...              conjunctions
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Doubles, Flags, Ints, Longs
from tocsin_lab.contracts.settings import ContractSetting
from tocsin_lab.contracts.targets import targets_of

Numbers = Longs


class Level(NamedTuple):
    """The n nodes of one depth. A node has either children or predicates, then it is a conjunction.

    child_start       int64[n+1]   children of node i: nodes child_start[i] .. child_start[i+1]-1 of the
                                   next level
    predicate_start   int64[n+1]   its predicates: predicate[predicate_start[i] : predicate_start[i+1]]
    predicate         int32[...]   2 * target, and 1 more for `not in`
    """

    child_start: Numbers
    predicate_start: Numbers
    predicate: Ints

    @property
    def size(self) -> int:
        """The number of nodes."""
        return len(self.child_start) - 1


Contracts = list[Level]
"""From the top level, which has a node for each contract. Nodes of even levels with children are ANDs,
those of odd levels ORs. No contract refers to another's nodes, and their nodes are in their order."""


def make_contracts(setting: ContractSetting) -> Contracts:
    """The contracts of a setting; the same for the same setting."""
    return _drawn(np.random.default_rng(setting.seed), setting)


def more_contracts(setting: ContractSetting, portion: int) -> Contracts:
    """As many others of the same kind: a portion from 1 on gives the same for the same number."""
    return _drawn(np.random.default_rng([setting.seed, portion]), setting)


def _drawn(rng: np.random.Generator, setting: ContractSetting) -> Contracts:
    targets = targets_of(setting.attributes)
    asked = np.array([attribute.asked for attribute in setting.attributes])
    levels = []
    count = setting.contracts
    for depth in range(setting.max_depth + 1):
        children = np.zeros(count, np.int64)
        if depth < setting.max_depth:
            stops = depth >= setting.min_depth
            chances = {many: each for many, each in setting.children.items() if many or stops}
            children = _counts(rng, chances, count)
        is_leaf = children == 0
        sizes = np.zeros(count, np.int64)
        sizes[is_leaf] = _counts(rng, setting.sizes, int(is_leaf.sum()))
        attribute = _different(rng, asked, sizes[is_leaf])
        target = np.searchsorted(targets.chance, attribute + rng.random(len(attribute)), side="right")
        target = np.minimum(target, targets.start[attribute + 1] - 1)  # the sum may have been rounded up
        negated = rng.random(len(target)) < setting.not_in
        levels.append(Level(_starts(children), _starts(sizes), (2 * target + negated).astype(np.int32)))
        count = int(children.sum())
        if not count:
            break
    return levels


def taken(contracts: Contracts, rows: Numbers) -> Contracts:
    """Some of the contracts, in this order."""
    levels = []
    for level in contracts:
        predicates = places_of(level.predicate_start, rows)
        levels.append(
            Level(
                _starts(np.diff(level.child_start)[rows]),
                _starts(np.diff(level.predicate_start)[rows]),
                level.predicate[predicates],
            )
        )
        rows = places_of(level.child_start, rows)
    return levels


def joined(parts: Sequence[Contracts]) -> Contracts:
    """The contracts of all parts, in order."""
    none = Level(np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int32))
    levels = []
    for depth in range(max(map(len, parts))):
        here = [part[depth] if depth < len(part) else none for part in parts]
        levels.append(
            Level(
                _starts(np.concatenate([np.diff(level.child_start) for level in here])),
                _starts(np.concatenate([np.diff(level.predicate_start) for level in here])),
                np.concatenate([level.predicate for level in here]),
            )
        )
    return levels


def parts_of(level: Level, predicates: Ints, below: int) -> tuple[Numbers, Ints]:
    """What the nodes of a level are made of: node i of part[start[i] : start[i+1]].

    For each predicate of the level it is the number given in `predicates`, for its child c below + c.
    """
    start = level.child_start + level.predicate_start
    is_leaf = np.diff(level.predicate_start) > 0
    of_leaf = np.repeat(is_leaf, np.diff(start))
    part = np.empty(len(of_leaf), np.int32)
    part[of_leaf] = predicates
    part[~of_leaf] = np.arange(below, below + int(level.child_start[-1]))
    return start, part


def is_and(level: Level, depth: int) -> Flags:
    """Which nodes of the level at this depth are ANDs; conjunctions are."""
    return (np.diff(level.predicate_start) > 0) | (depth % 2 == 0)


def places_of(start: Numbers, rows: Numbers) -> Numbers:
    """The places start[r] .. start[r+1]-1 of all rows r, one after the other."""
    lengths = start[rows + 1] - start[rows]
    shift = start[rows] - _starts(lengths)[:-1]
    places: Numbers = np.arange(lengths.sum()) + np.repeat(shift, lengths)
    return places


def _starts(counts: Numbers) -> Numbers:
    return np.concatenate([[0], np.cumsum(counts)])


def _counts(rng: np.random.Generator, chances: Mapping[int, float], size: int) -> Numbers:
    """Counts by their chances, which need not add up to 1."""
    counts = np.array(list(chances), np.int64)
    edges = np.cumsum(list(chances.values()))
    return counts[np.searchsorted(edges / edges[-1], rng.random(size), side="right")]


def _different(rng: np.random.Generator, weights: Doubles, sizes: Numbers) -> Numbers:
    """For each row so many different places by their weights, one row behind the other.

    Drawn one after the other, without replacement: what is drawn a second time is drawn again.
    """
    edges = np.cumsum(weights)
    edges /= edges[-1]
    drawn = np.full((len(sizes), int(sizes.max(initial=0))), -1, np.int64)
    for slot in range(drawn.shape[1]):
        rows = np.flatnonzero(sizes > slot)
        while len(rows):
            found = np.searchsorted(edges, rng.random(len(rows)), side="right")
            again = (drawn[rows, :slot] == found[:, None]).any(axis=1)
            drawn[rows[~again], slot] = found[~again]
            rows = rows[again]
    return drawn[drawn >= 0]
