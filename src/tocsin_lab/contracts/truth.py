"""Which contracts match which visits, by NumPy over bits: a judge that shares nothing with the engines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.dtypes import Flags, Longs, Words
from tocsin_lab.contracts.contracts import Contracts, taken
from tocsin_lab.contracts.targets import targets_of
from tocsin_lab.contracts.visits import Visits

_BYTES_AT_ONCE = 1 << 26

Bits = Words


def selectivity(contracts: Contracts, visits: Visits) -> float:
    """The share of all pairs of a contract and a visit that match."""
    return float(match_counts(contracts, visits).sum()) / (contracts[0].size * visits.size)


def match_counts(contracts: Contracts, visits: Visits) -> Longs:
    """int64[contracts]: how many of the visits a contract matches."""
    counts = [np.bitwise_count(part).sum(axis=1, dtype=np.int64) for part in _portions(contracts, visits)]
    return np.concatenate([np.zeros(0, np.int64), *counts])


def matches_of_visits(contracts: Contracts, visits: Visits) -> Longs:
    """int64[visits]: how many of the contracts match a visit."""
    counts = np.zeros(visits.size, np.int64)
    for part in _portions(contracts, visits):
        counts += _unpacked(part, visits).sum(axis=0)
    return counts


def matching(contracts: Contracts, visits: Visits) -> Flags:
    """bool[contracts, visits]."""
    return np.concatenate([_unpacked(part, visits) for part in _portions(contracts, visits)])


def _unpacked(bits: Bits, visits: Visits) -> Flags:
    return np.unpackbits(bits.view(np.uint8), axis=1, count=visits.size).view(np.bool_)


def _portions(contracts: Contracts, visits: Visits) -> Iterator[Bits]:
    """The truth of contracts, some at a time: a row for each, a bit for each visit."""
    predicates = _truth_of_predicates(visits)
    gathered = sum(len(level.predicate) for level in contracts) * predicates.strides[0]
    rows = max(1, contracts[0].size * _BYTES_AT_ONCE // max(1, gathered))
    for begin in range(0, contracts[0].size, rows):
        few = taken(contracts, np.arange(begin, min(begin + rows, contracts[0].size)))
        yield _truth(few, predicates)


def _truth_of_predicates(visits: Visits) -> Bits:
    """By predicate, as Level numbers them: in tocsin's language, where nothing holds of what is not told."""
    targets = targets_of(visits.attributes)
    rows = np.zeros((2 * int(targets.start[-1]), -(-max(1, visits.size) // 64) * 64), np.bool_)
    told = rows[:, : visits.size]
    for number, holds in enumerate(targets.holds):
        first, last = 2 * targets.start[number], 2 * targets.start[number + 1]
        value = visits.value[:, number]
        told[first:last:2] = holds[:, value]
        told[first + 1 : last : 2] = ~holds[:, value] & (value >= 0)
    return np.packbits(rows, axis=1).view(np.uint64)


def _truth(contracts: Contracts, predicates: Bits) -> Bits:
    """From the lowest level up."""
    truth = predicates[:0]
    for depth in reversed(range(len(contracts))):
        level = contracts[depth]
        below = truth
        truth = np.empty((level.size, predicates.shape[1]), np.uint64)
        _join(np.bitwise_and, predicates, level.predicate_start, level.predicate, truth)
        inner = np.bitwise_or if depth % 2 else np.bitwise_and
        _join(inner, below, level.child_start, np.arange(len(below)), truth)
    return truth


def _join(join: np.ufunc, parts: Bits, start: Longs, part: NDArray[np.integer[Any]], out: Bits) -> None:
    """out[i] becomes the join of parts[part[start[i]]], ...; rows that have none stay as they are.

    All first parts at once, then all second ones: the rows are long and have few parts.
    """
    counts = np.diff(start)
    rows = np.flatnonzero(counts)
    out[rows] = parts[part[start[rows]]]
    for place in range(1, int(counts.max(initial=0))):
        rows = rows[counts[rows] > place]
        out[rows] = join(out[rows], parts[part[start[rows] + place]])
