"""Ordered maps do what sorted lists do, and look the same in whatever order their keys came."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tocsin.datalog.kernels.ordered_maps import (
    LEVELS,
    ROOM_FOR_ONE,
    at_or_above,
    at_or_below,
    delete_key,
    insert_key,
    level_of,
    previous,
)

LEAST, GREATEST = -(2**63), 2**63 - 1
KEY = st.one_of(st.integers(-20, 20), st.integers(LEAST, GREATEST), st.sampled_from([LEAST, GREATEST]))
MAPS = 3


def _word(key: int) -> int:
    """A key as kernels have it: without the compiler an int of Python would not become an unsigned one."""
    return np.int64(key)  # type: ignore[return-value]


class Ordered:
    """Maps that share arrays, the arrays longer before every insertion when they have to be."""

    def __init__(self, maps: int = MAPS) -> None:
        self.key = np.empty(0, np.int64)
        self.right, self.down, self.left = (np.empty(0, np.int32) for _ in range(3))
        self.top = np.full(maps, -1, np.int32)
        self.levels = np.zeros(maps, np.int32)
        self.supply = np.array([0, -1], np.int64)

    def insert(self, one: int, key: int, entry: int) -> int:
        if self.supply[0] + ROOM_FOR_ONE > self.key.size:
            more = ROOM_FOR_ONE + self.key.size
            self.key = np.append(self.key, np.zeros(more, np.int64))
            self.right, self.down, self.left = (
                np.append(links, np.zeros(more, np.int32)) for links in (self.right, self.down, self.left)
            )
        nodes = (self.key, self.right, self.down, self.left)
        return insert_key(one, _word(key), entry, *nodes, self.top, self.levels, self.supply)

    def delete(self, one: int, key: int) -> int:
        nodes = (self.key, self.right, self.down, self.left)
        return delete_key(one, _word(key), *nodes, self.top, self.levels, self.supply)

    def above(self, one: int, key: int) -> int:
        return at_or_above(one, key, self.key, self.right, self.down, self.top, self.levels)

    def below(self, one: int, key: int) -> int:
        return at_or_below(one, key, self.key, self.right, self.down, self.left, self.top, self.levels)

    def entry(self, node: int) -> int:
        return int(~self.down[node])

    def upwards(self, one: int) -> list[int]:
        """The nodes of all keys, from the least one."""
        nodes = [self.above(one, LEAST)]
        while nodes[-1] >= 0:
            nodes.append(int(self.right[nodes[-1]]))
        return nodes[:-1]

    def drawing(self, one: int) -> list[list[int]]:
        """The keys of each level, from the uppermost."""
        levels = []
        head = int(self.top[one])
        for _ in range(self.levels[one]):
            level, node = [], int(self.right[head])
            while node >= 0:
                level.append(int(self.key[node]))
                node = int(self.right[node])
            levels.append(level)
            head = int(self.down[head])
        return levels

    def free(self) -> int:
        count, node = 0, int(self.supply[1])
        while node >= 0:
            count, node = count + 1, int(self.right[node])
        return count


class OrderedMachine(RuleBasedStateMachine):
    """Insertions, deletions and searches in several maps at once."""

    def __init__(self) -> None:
        super().__init__()
        self.maps = Ordered()
        self.model: list[dict[int, tuple[int, int]]] = [{} for _ in range(MAPS)]
        self.entries = 0

    @rule(one=st.integers(0, MAPS - 1), key=KEY)
    def insert(self, one: int, key: int) -> None:
        node = self.maps.insert(one, key, self.entries)
        known = self.model[one].setdefault(key, (node, self.entries))
        assert node == known[0]
        self.entries += 1

    @rule(one=st.integers(0, MAPS - 1), key=KEY)
    def delete(self, one: int, key: int) -> None:
        _, entry = self.model[one].pop(key, (-1, -1))
        assert self.maps.delete(one, key) == entry

    @rule(one=st.integers(0, MAPS - 1), data=st.data())
    def delete_one_that_is_there(self, one: int, data: st.DataObject) -> None:
        if self.model[one]:
            self.delete(one, data.draw(st.sampled_from(sorted(self.model[one]))))

    @rule(one=st.integers(0, MAPS - 1), key=KEY)
    def search(self, one: int, key: int) -> None:
        keys = sorted(self.model[one])
        nodes = [*(self.model[one][known][0] for known in keys), -1]
        assert self.maps.above(one, key) == nodes[bisect_left(keys, key)]
        assert self.maps.below(one, key) == nodes[bisect_right(keys, key) - 1]

    @invariant()
    def holds_what_the_model_holds(self) -> None:
        used = 0
        for one in range(MAPS):
            keys = sorted(self.model[one])
            nodes = self.maps.upwards(one)
            assert [int(self.maps.key[node]) for node in nodes] == keys
            assert [(node, self.maps.entry(node)) for node in nodes] == [self.model[one][key] for key in keys]
            assert [previous(node, self.maps.left) for node in nodes] == [-1, *nodes][: len(nodes)]
            used += sum(1 + len(level) for level in self.maps.drawing(one))
        assert used + self.maps.free() == self.maps.supply[0], "a node is lost or used twice"


TestOrdered = OrderedMachine.TestCase
TestOrdered.settings = settings(deadline=None, stateful_step_count=40)


@given(keys=st.lists(KEY, unique=True, min_size=1), data=st.data())
@settings(deadline=None)
def test_the_same_keys_look_the_same(keys: list[int], data: st.DataObject) -> None:
    one, other = Ordered(1), Ordered(1)
    for entry, key in enumerate(keys):
        one.insert(0, key, entry)
    for entry, key in enumerate(data.draw(st.permutations(keys))):
        other.insert(0, key, entry)
    drawing = one.drawing(0)
    assert drawing == other.drawing(0)
    uppermost = {key: level_of(_word(key)) for key in keys}
    assert drawing == [
        sorted(key for key in keys if uppermost[key] >= level)
        for level in range(max(uppermost.values()), -1, -1)
    ]


@given(keys=st.lists(KEY, unique=True, min_size=1), wanted=KEY)
@settings(deadline=None)
def test_a_search_goes_past_every_entry_where_it_ever_ended(keys: list[int], wanted: int) -> None:
    maps = Ordered(1)
    ended = []
    for entry, key in enumerate(keys):
        maps.insert(0, key, entry)
        ended.append(maps.below(0, wanted))
    way = [node for node in maps.upwards(0) if maps.key[node] <= wanted]
    assert {node for node in ended if node >= 0} <= set(way)
    moved_to = [int(maps.key[node]) for node in ended if node >= 0]
    assert all(earlier <= later for earlier, later in pairwise(moved_to))


def test_a_large_map_has_few_nodes_on_each_level() -> None:
    maps = Ordered(1)
    for key in range(20_000):
        maps.insert(0, 1_000 * key, key)
    sizes = [len(level) for level in maps.drawing(0)]
    assert sizes[-1] == 20_000
    assert len(sizes) <= LEVELS
    assert sum(sizes) < 1.4 * 20_000
    assert all(3 < lower / upper < 5 for upper, lower in pairwise(sizes) if upper > 100)
    for key in range(20_000):
        assert maps.delete(0, 1_000 * key) == key
    assert maps.levels[0] == 0
    assert maps.free() == maps.supply[0]
