"""Conjunctions are found as sets of keys would find them, whichever way."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.expressions import lists_of, plain_lists

from tocsin.engines.conjunction_index import ConjunctionIndex
from tocsin.engines.kernels.conjunction_cursors import MOST_LISTS, no_cursors, skip_through, skipping_pays

KEYS = 9
Keys = frozenset[int]

some_keys = st.frozensets(st.integers(0, KEYS - 1), max_size=6)
events = st.lists(st.frozensets(st.integers(0, KEYS + 1)), max_size=4)


def holding(conjunctions: dict[int, tuple[Keys, Keys]], held: Keys) -> list[int]:
    return [
        number
        for number, (keys, negated) in sorted(conjunctions.items())
        if keys <= held and not negated & held
    ]


@given(st.lists(st.tuples(some_keys, some_keys)), events)
def test_like_sets(conjunctions: list[tuple[Keys, Keys]], events: list[Keys]) -> None:
    index = ConjunctionIndex.of(
        lists_of([[*keys, *keys] for keys, _ in conjunctions]),
        KEYS,
        lists_of([sorted(negated) for _, negated in conjunctions]),
    )
    expected = dict(enumerate(conjunctions))
    found = index.search(lists_of([sorted(held) for held in events]))
    assert plain_lists(found) == [holding(expected, held) for held in events]


def random_conjunctions(seed: int, keys: int, count: int, most: int) -> list[list[int]]:
    """Some keys are far commoner than others, so that the lists differ in length."""
    rng = np.random.default_rng(seed)
    weight = 1 / np.arange(1, keys + 1)
    return [
        rng.choice(keys, rng.integers(1, most + 1), replace=False, p=weight / weight.sum()).tolist()
        for _ in range(count)
    ]


@pytest.mark.parametrize("held_count", [2, 3, 5, 20, MOST_LISTS + 10])
@pytest.mark.parametrize("most", [1, 2, 4, 8])
def test_long_lists(held_count: int, most: int) -> None:
    """So many postings that for few lists the way is chosen."""
    keys = MOST_LISTS + 20
    conjunctions = random_conjunctions(held_count + most, keys, 3_000, most)
    rng = np.random.default_rng(1)
    held = [sorted(rng.choice(keys, held_count, replace=False).tolist()) for _ in range(5)]
    held[0] = list(range(held_count))
    found = ConjunctionIndex.of(lists_of(conjunctions), keys).search(lists_of(held))
    sets = {number: (frozenset(some), frozenset[int]()) for number, some in enumerate(conjunctions)}
    assert plain_lists(found) == [holding(sets, frozenset(some)) for some in held]


def skipped(size: int, lists: Sequence[Sequence[int]]) -> list[int]:
    start, item = lists_of(lists)
    cursors = no_cursors()
    cursors.place[: len(lists)] = start[:-1]
    cursors.end[: len(lists)] = start[1:]
    found = np.empty(len(item), np.int32)
    return found[: skip_through(size, len(lists), item, *cursors, found, 0)].tolist()  # type: ignore[no-any-return]


@given(st.lists(st.frozensets(st.integers(0, 60)), min_size=1, max_size=7), st.data())
def test_skipping_finds_what_enough_lists_have(lists: list[Keys], data: st.DataObject) -> None:
    """No conjunction of the size is in more lists than that."""
    size = data.draw(st.integers(1, len(lists)))
    every = {number: sum(number in each for each in lists) for each in lists for number in each}
    fitting = [[number for number in sorted(each) if every[number] <= size] for each in lists]
    assert skipped(size, fitting) == sorted(number for number, count in every.items() if count == size)


def test_skipping_pays_where_all_lists_but_a_short_one_are_long() -> None:
    cursors = no_cursors()
    cursors.place[:3] = 0
    cursors.end[:3] = [1_000, 5, 1_000]
    assert skipping_pays(3, 3, *cursors), "a conjunction of three is one of five"
    assert not skipping_pays(2, 3, *cursors), "a conjunction of two may be any"


@pytest.mark.parametrize("size", [255, 256, 300, 70_000])
def test_large_conjunctions(size: int) -> None:
    keys = size + 1
    index = ConjunctionIndex.of(lists_of([range(size), range(1, keys), [0]]), keys)
    held = [range(keys), range(size), range(size - 1), range(1, keys)]
    assert plain_lists(index.search(lists_of(held))) == [[0, 1, 2], [0, 2], [2], [1]]


def test_nothing() -> None:
    index = ConjunctionIndex.of(lists_of([]), 0)
    assert plain_lists(index.search(lists_of([[], [0, 3]]))) == [[], []]
    assert plain_lists(index.search(lists_of([]))) == []
