"""Families from arrays, against families by dictionary from the predicates themselves."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import examples
from tests.strategies import predicates

from tocsin.conditions.graph import Predicates, scalar_key, sort_into_families
from tocsin.conditions.graph.leaf_families import Families
from tocsin.conditions.graph.value_keys import address_key
from tocsin.conditions.kernels.predicate_parser import NULLS
from tocsin.conditions.language import Literal, Path, Predicate, Test, parse_network
from tocsin.conditions.operators import canonical_predicate
from tocsin.events import Kind

Key = tuple[int, int] | bytes
PATTERNS = (Test.LIKE, Test.ILIKE, Test.MATCHES)
RANGES = (Test.LT, Test.LE, Test.GT, Test.GE, Test.BETWEEN, Test.CIDR)


def key_of(literal: Literal) -> Key:
    return str(literal.value).encode() if literal.kind is Kind.STRING else scalar_key(literal)


def group_of(predicate: Predicate) -> tuple[Path, int]:
    if predicate.test is Test.NULL:
        return predicate.field, NULLS
    kind = Kind.ADDRESS if predicate.test is Test.CIDR else predicate.operands[0].kind
    return predicate.field, kind


def sorted_leaves(found: list[Predicate]) -> tuple[Families, list[Predicate]]:
    """The families of predicates, and the predicate that each leaf is."""
    gathered = Predicates()
    ref = gathered.add(found)
    table, leaf = gathered.table()
    of_leaf = dict(zip(leaf[ref >> 1].tolist(), map(canonical_predicate, found), strict=True))
    return sort_into_families(table), [of_leaf[number] for number in range(len(of_leaf))]


def points(families: Families) -> dict[tuple[int, Key], list[int]]:
    literals = families.literals
    keys: list[tuple[int, Key]] = [
        (group, (high, low)) for high, low, group in literals.scalar.reshape(-1, 3).tolist()
    ]
    for number, group in enumerate(literals.text_group.tolist()):
        begin, end = literals.text_start[number], literals.text_start[number + 1]
        keys.append((group, literals.text_bytes[begin:end].tobytes()))
    posted = np.split(families.posting_leaf, families.posting_start[1:-1])
    return {key: posting.tolist() for key, posting in zip(keys, posted, strict=True)} if keys else {}


def bounds_of(families: Families, group: int) -> list[Key]:
    bounds = families.bounds
    scalars = slice(bounds.scalar_start[group], bounds.scalar_start[group + 1])
    found: list[Key] = list(
        zip(bounds.scalar_high[scalars].tolist(), bounds.scalar_low[scalars].tolist(), strict=True)
    )
    for text in range(bounds.text_start[group], bounds.text_start[group + 1]):
        found.append(bounds.text_bytes[bounds.text_offset[text] : bounds.text_offset[text + 1]].tobytes())
    return found


def slots_of(families: Families, group: int, last: int) -> dict[int, set[int]]:
    """The slots that satisfy each ranged leaf of a group whose slots are 0 ... last."""
    ranges = families.ranges
    found: dict[int, set[int]] = defaultdict(set)
    for at in range(ranges.prefix_start[group], ranges.prefix_start[group + 1]):
        found[int(ranges.prefix_leaf[at])] |= set(range(int(ranges.prefix_to[at]) + 1))
    for at in range(ranges.suffix_start[group], ranges.suffix_start[group + 1]):
        found[int(ranges.suffix_leaf[at])] |= set(range(int(ranges.suffix_from[at]), last + 1))
    for at in range(ranges.middle_start[group], ranges.middle_start[group + 1]):
        inside = range(int(ranges.middle_from[at]), int(ranges.middle_to[at]) + 1)
        found[int(ranges.middle_leaf[at])] |= set(inside)
    return found


def naive_bounds(predicate: Predicate) -> list[Key]:
    if predicate.test is Test.CIDR:
        ranges = parse_network(str(predicate.operands[0].value)).ranges
        return [address_key(place) for ends in ranges for place in ends]
    return [key_of(literal) for literal in predicate.operands]


def naive_slots(predicate: Predicate, bounds: list[Key]) -> set[int]:
    """By trying every slot: on a bound (odd), or between two (even)."""
    mine = [2 * bounds.index(key) + 1 for key in naive_bounds(predicate)]
    every = range(2 * len(bounds) + 1)
    if predicate.test in (Test.BETWEEN, Test.CIDR):
        pairs = list(zip(mine[::2], mine[1::2], strict=True))
        return {slot for slot in every if any(low <= slot <= high for low, high in pairs)}
    compare = {
        Test.LT: lambda slot: slot < mine[0],
        Test.LE: lambda slot: slot <= mine[0],
        Test.GT: lambda slot: slot > mine[0],
        Test.GE: lambda slot: slot >= mine[0],
    }[predicate.test]
    return {slot for slot in every if compare(slot)}


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(predicates(), min_size=1, max_size=40))
def test_every_leaf_is_in_its_place(found: list[Predicate]) -> None:
    families, leaves = sorted_leaves(found)
    groups = sorted({group_of(predicate) for predicate in leaves})
    assert list(zip(families.group_path, families.group_kind.tolist(), strict=True)) == groups
    number = [groups.index(group_of(predicate)) for predicate in leaves]
    assert families.group_of.tolist() == number

    naive_points: dict[tuple[int, Key], list[int]] = defaultdict(list)
    for leaf, predicate in enumerate(leaves):
        if predicate.test in (Test.EQ, Test.IN):
            for key in set(map(key_of, predicate.operands)):
                naive_points[number[leaf], key].append(leaf)
    assert points(families) == naive_points

    patterns = [leaf for leaf, predicate in enumerate(leaves) if predicate.test in PATTERNS]
    assert families.pattern_leaf.tolist() == patterns
    nulls = {number[leaf]: leaf for leaf, predicate in enumerate(leaves) if predicate.test is Test.NULL}
    assert families.null_leaf.tolist() == [nulls.get(group, -1) for group in range(len(groups))]

    for group in range(len(groups)):
        ranged = [
            leaf
            for leaf, predicate in enumerate(leaves)
            if number[leaf] == group and predicate.test in RANGES
        ]
        bounds = sorted({key for leaf in ranged for key in naive_bounds(leaves[leaf])})
        assert bounds_of(families, group) == bounds
        slots = slots_of(families, group, 2 * len(bounds))
        assert {leaf: slots.get(leaf, set()) for leaf in ranged} == {
            leaf: naive_slots(leaves[leaf], bounds) for leaf in ranged
        }
        assert set(slots) <= set(ranged)


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(predicates(), min_size=1, max_size=40))
def test_slots_are_in_the_order_that_matching_walks_them(found: list[Predicate]) -> None:
    families, _ = sorted_leaves(found)
    ranges = families.ranges
    for group in range(len(families.group_path)):
        to = ranges.prefix_to[ranges.prefix_start[group] : ranges.prefix_start[group + 1]].tolist()
        since = ranges.suffix_from[ranges.suffix_start[group] : ranges.suffix_start[group + 1]].tolist()
        inside = ranges.middle_from[ranges.middle_start[group] : ranges.middle_start[group + 1]].tolist()
        assert to == sorted(to)
        assert since == sorted(since, reverse=True)
        assert inside == sorted(inside)
