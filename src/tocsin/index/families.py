"""Leaves by operator family: every distinct predicate finds its place in the arrays that find it.

A group is one field and one kind (a field's null tests are a group of their own). Within a group a
predicate belongs to one family:

    points     =, in               literal -> leaves, by hash
    ranges     <, <=, >, >=,       sorted distinct bounds; each leaf an interval of slots
               between, cidr
    null       is null
    patterns   like, ilike,        asked of each distinct text of a batch (patterns.py)
               matches
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.events.kinds import Kind
from tocsin.grammar.patterns import parse_network
from tocsin.grammar.tree import Path, Predicate, Test
from tocsin.index.keys import Key, address_key, literal_key
from tocsin.index.packing import packed_bytes, starts
from tocsin.kernels.leaves import Ranges
from tocsin.kernels.lookup import Bounds, Literals, hash_scalars, hash_texts

NULLS = max(Kind) + 1
"""The kind of a group of null tests, beside the kinds of value."""

PATTERNS = frozenset({Test.LIKE, Test.ILIKE, Test.MATCHES})

Interval = tuple[int, Key | None, bool, Key | None, bool]
"""A leaf, its lower bound (None: open) and whether that is included, its upper bound likewise."""

_LIKELIHOOD = {
    Test.EQ: 0.02,
    Test.BETWEEN: 0.15,
    Test.NULL: 0.3,
    Test.LIKE: 0.05,
    Test.ILIKE: 0.05,
    Test.MATCHES: 0.05,
    Test.CIDR: 0.05,
}
_LIKELIHOOD_OF_RANGE = 0.35


class Families(NamedTuple):
    """Every leaf in its place.

    group_path      the field of each group; group_kind its Kind, or NULLS
    group_of        int32[L]     the group of each leaf
    likelihood      float64[L]   a guess at how often the leaf holds, when nothing is known
    null_leaf       int32[G]
    posting_start   int64[Q+1]   with posting_leaf: the leaves of each literal
    pattern_leaf    int32[...]   leaves of the pattern family, ascending
    """

    group_path: list[Path]
    group_kind: NDArray[np.uint8]
    group_of: NDArray[np.int32]
    likelihood: NDArray[np.float64]
    null_leaf: NDArray[np.int32]
    posting_start: NDArray[np.int64]
    posting_leaf: NDArray[np.int32]
    pattern_leaf: NDArray[np.int32]
    literals: Literals
    bounds: Bounds
    ranges: Ranges


@dataclass(slots=True)
class _Group:
    points: dict[Key, list[int]] = field(default_factory=lambda: defaultdict(list))
    intervals: list[Interval] = field(default_factory=list)
    null_leaf: int = -1


def group_kind(predicate: Predicate) -> int:
    """The kind of value a predicate asks about: a Kind, or NULLS."""
    if predicate.test is Test.NULL:
        return NULLS
    if predicate.test is Test.CIDR:
        return Kind.ADDRESS
    return predicate.operands[0].kind


def sort_into_families(predicates: Sequence[Predicate]) -> Families:
    """Give every canonical predicate its place; leaf l is predicates[l]."""
    numbers = {
        key: number
        for number, key in enumerate(
            sorted({(predicate.field, group_kind(predicate)) for predicate in predicates})
        )
    }
    groups = [_Group() for _ in numbers]
    group_of = np.empty(len(predicates), np.int32)
    likelihood = np.empty(len(predicates), np.float64)
    pattern_leaf: list[int] = []
    for leaf, predicate in enumerate(predicates):
        number = numbers[predicate.field, group_kind(predicate)]
        group_of[leaf] = number
        likelihood[leaf] = _likelihood(predicate)
        if predicate.test in PATTERNS:
            pattern_leaf.append(leaf)
        else:
            _place(groups[number], leaf, predicate)
    literals, posting_start, posting_leaf = _lay_out_points(groups)
    bounds, ranges = _lay_out_ranges(groups)
    return Families(
        [path for path, _ in numbers],
        np.array([kind for _, kind in numbers], np.uint8),
        group_of,
        likelihood,
        np.array([group.null_leaf for group in groups], np.int32),
        posting_start,
        posting_leaf,
        np.array(pattern_leaf, np.int32),
        literals,
        bounds,
        ranges,
    )


def _likelihood(predicate: Predicate) -> float:
    if predicate.test is Test.IN:
        return min(0.5, _LIKELIHOOD[Test.EQ] * len(predicate.operands))
    return _LIKELIHOOD.get(predicate.test, _LIKELIHOOD_OF_RANGE)


def _place(group: _Group, leaf: int, predicate: Predicate) -> None:
    test = predicate.test
    if test is Test.NULL:
        group.null_leaf = leaf
        return
    if test is Test.CIDR:
        for first, last in parse_network(str(predicate.operands[0].value)).ranges:
            group.intervals.append((leaf, address_key(first), True, address_key(last), True))
        return
    if test is Test.IN:
        for key in {literal_key(literal) for literal in predicate.operands}:
            group.points[key].append(leaf)
        return
    key = literal_key(predicate.operands[0])
    if test is Test.EQ:
        group.points[key].append(leaf)
    elif test is Test.BETWEEN:
        group.intervals.append((leaf, key, True, literal_key(predicate.operands[1]), True))
    elif test in (Test.LT, Test.LE):
        group.intervals.append((leaf, None, False, key, test is Test.LE))
    else:
        group.intervals.append((leaf, key, test is Test.GE, None, False))


def _lay_out_points(groups: Sequence[_Group]) -> tuple[Literals, NDArray[np.int64], NDArray[np.int32]]:
    scalars = [
        (number, key) for number, group in enumerate(groups) for key in group.points if isinstance(key, tuple)
    ]
    texts = [
        (number, key) for number, group in enumerate(groups) for key in group.points if isinstance(key, bytes)
    ]
    scalar_group = np.array([number for number, _ in scalars], np.int32)
    scalar_high = np.array([key[0] for _, key in scalars], np.int64)
    scalar_low = np.array([key[1] for _, key in scalars], np.int64)
    scalar_table = _empty_table(len(scalars))
    hash_scalars(scalar_group, scalar_high, scalar_low, scalar_table)
    text_group = np.array([number for number, _ in texts], np.int32)
    text_start, text_bytes = packed_bytes([key for _, key in texts])
    text_table = _empty_table(len(texts))
    hash_texts(text_group, text_start, text_bytes, text_table)
    postings = [groups[number].points[key] for number, key in scalars]
    postings += [groups[number].points[key] for number, key in texts]
    literals = Literals(
        scalar_group, scalar_high, scalar_low, scalar_table, text_group, text_start, text_bytes, text_table
    )
    posting_leaf = np.array([leaf for posting in postings for leaf in posting], np.int32)
    return literals, starts([len(posting) for posting in postings], np.int64), posting_leaf


def _empty_table(literals: int) -> NDArray[np.int32]:
    return np.full(1 << max(1, (2 * literals).bit_length()), -1, np.int32)


def _lay_out_ranges(groups: Sequence[_Group]) -> tuple[Bounds, Ranges]:
    scalars: list[list[tuple[int, int]]] = []
    texts: list[list[bytes]] = []
    prefixes: list[list[tuple[int, int]]] = []
    suffixes: list[list[tuple[int, int]]] = []
    middles: list[list[tuple[int, int, int]]] = []
    for group in groups:
        bounds = sorted(
            {key for interval in group.intervals for key in (interval[1], interval[3]) if key is not None}
        )
        scalars.append([key for key in bounds if isinstance(key, tuple)])
        texts.append([key for key in bounds if isinstance(key, bytes)])
        place = {key: number for number, key in enumerate(bounds)}
        prefix, suffix, middle = [], [], []
        for leaf, low, low_included, high, high_included in group.intervals:
            first = 0 if low is None else 2 * place[low] + (1 if low_included else 2)
            last = 2 * len(bounds) if high is None else 2 * place[high] + (1 if high_included else 0)
            if low is None:
                prefix.append((last, leaf))
            elif high is None:
                suffix.append((first, leaf))
            elif first <= last:
                middle.append((first, last, leaf))
        prefixes.append(sorted(prefix))
        suffixes.append(sorted(suffix, reverse=True))
        middles.append(sorted(middle))
    text_offset, text_bytes = packed_bytes([key for keys in texts for key in keys])
    flat_scalars = [key for keys in scalars for key in keys]
    flat_middles = [entry for entries in middles for entry in entries]
    return (
        Bounds(
            starts([len(keys) for keys in scalars], np.int32),
            np.array([high for high, _ in flat_scalars], np.int64),
            np.array([low for _, low in flat_scalars], np.int64),
            starts([len(keys) for keys in texts], np.int32),
            text_offset,
            text_bytes,
        ),
        Ranges(
            *_columns(prefixes),
            *_columns(suffixes),
            starts([len(entries) for entries in middles], np.int32),
            np.array([leaf for _, _, leaf in flat_middles], np.int32),
            np.array([first for first, _, _ in flat_middles], np.int32),
            np.array([last for _, last, _ in flat_middles], np.int32),
        ),
    )


def _columns(
    slots: Sequence[Sequence[tuple[int, int]]],
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    flat = [entry for entries in slots for entry in entries]
    return (
        starts([len(entries) for entries in slots], np.int32),
        np.array([leaf for _, leaf in flat], np.int32),
        np.array([slot for slot, _ in flat], np.int32),
    )
