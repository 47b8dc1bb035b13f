"""Keys in order do what sorted lists do, and look the same in whatever order they came."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tocsin.datalog.kernels.key_order import (
    FREE,
    HEIGHT,
    LEVELS,
    ROOM_FOR_ONE,
    TOP,
    USED,
    SkipList,
    at_or_above,
    at_or_below,
    delete_key,
    insert_key,
    level_of,
    previous,
)

LEAST, GREATEST = -(2**63), 2**63 - 1
KEY = st.one_of(st.integers(-20, 20), st.integers(LEAST, GREATEST), st.sampled_from([LEAST, GREATEST]))


def _word(key: int) -> int:
    """A key as kernels have it: without the compiler an int of Python would not become an unsigned one."""
    return np.int64(key)  # type: ignore[return-value]


class Ordered:
    """A skip list, its arrays longer before every insertion when they have to be."""

    def __init__(self) -> None:
        right, down, left = (np.empty(0, np.int32) for _ in range(3))
        self.keys = SkipList(np.empty(0, np.int64), right, down, left, np.array([0, -1, -1, 0], np.int64))

    def insert(self, key: int, entry: int) -> int:
        if self.keys.state[USED] + ROOM_FOR_ONE > self.keys.key.size:
            more = ROOM_FOR_ONE + self.keys.key.size
            right, down, left = (np.append(each, np.zeros(more, np.int32)) for each in self.keys[1:4])
            keys = np.append(self.keys.key, np.zeros(more, np.int64))
            self.keys = SkipList(keys, right, down, left, self.keys.state)
        return insert_key(self.keys, _word(key), entry)

    def delete(self, key: int) -> int:
        return delete_key(self.keys, _word(key))

    def above(self, key: int) -> int:
        return at_or_above(self.keys, key)

    def below(self, key: int) -> int:
        return at_or_below(self.keys, key)

    def entry(self, node: int) -> int:
        return int(~self.keys.down[node])

    def upwards(self) -> list[int]:
        """The nodes of all keys, from the least one."""
        nodes = [self.above(LEAST)]
        while nodes[-1] >= 0:
            nodes.append(int(self.keys.right[nodes[-1]]))
        return nodes[:-1]

    def drawing(self) -> list[list[int]]:
        """The keys of each level, from the uppermost."""
        levels = []
        head = int(self.keys.state[TOP])
        for _ in range(self.keys.state[HEIGHT]):
            level, node = [], int(self.keys.right[head])
            while node >= 0:
                level.append(int(self.keys.key[node]))
                node = int(self.keys.right[node])
            levels.append(level)
            head = int(self.keys.down[head])
        return levels

    def free(self) -> int:
        count, node = 0, int(self.keys.state[FREE])
        while node >= 0:
            count, node = count + 1, int(self.keys.right[node])
        return count


class OrderedMachine(RuleBasedStateMachine):
    """Insertions, deletions and searches."""

    def __init__(self) -> None:
        super().__init__()
        self.keys = Ordered()
        self.model: dict[int, tuple[int, int]] = {}
        self.entries = 0

    @rule(key=KEY)
    def insert(self, key: int) -> None:
        node = self.keys.insert(key, self.entries)
        known = self.model.setdefault(key, (node, self.entries))
        assert node == known[0]
        self.entries += 1

    @rule(key=KEY)
    def delete(self, key: int) -> None:
        _, entry = self.model.pop(key, (-1, -1))
        assert self.keys.delete(key) == entry

    @rule(data=st.data())
    def delete_one_that_is_there(self, data: st.DataObject) -> None:
        if self.model:
            self.delete(data.draw(st.sampled_from(sorted(self.model))))

    @rule(key=KEY)
    def search(self, key: int) -> None:
        keys = sorted(self.model)
        nodes = [*(self.model[known][0] for known in keys), -1]
        assert self.keys.above(key) == nodes[bisect_left(keys, key)]
        assert self.keys.below(key) == nodes[bisect_right(keys, key) - 1]

    @invariant()
    def holds_what_the_model_holds(self) -> None:
        keys, listed = sorted(self.model), self.keys.keys
        nodes = self.keys.upwards()
        assert [int(listed.key[node]) for node in nodes] == keys
        assert [(node, self.keys.entry(node)) for node in nodes] == [self.model[key] for key in keys]
        assert [previous(node, listed.left) for node in nodes] == [-1, *nodes][: len(nodes)]
        used = sum(1 + len(level) for level in self.keys.drawing())
        assert used + self.keys.free() == listed.state[USED], "a node is lost or used twice"


TestOrdered = OrderedMachine.TestCase
TestOrdered.settings = settings(deadline=None, stateful_step_count=40)


@given(keys=st.lists(KEY, unique=True, min_size=1), data=st.data())
@settings(deadline=None)
def test_the_same_keys_look_the_same(keys: list[int], data: st.DataObject) -> None:
    one, other = Ordered(), Ordered()
    for entry, key in enumerate(keys):
        one.insert(key, entry)
    for entry, key in enumerate(data.draw(st.permutations(keys))):
        other.insert(key, entry)
    drawing = one.drawing()
    assert drawing == other.drawing()
    uppermost = {key: level_of(_word(key)) for key in keys}
    assert drawing == [
        sorted(key for key in keys if uppermost[key] >= level)
        for level in range(max(uppermost.values()), -1, -1)
    ]


@given(keys=st.lists(KEY, unique=True, min_size=1), wanted=KEY)
@settings(deadline=None)
def test_a_search_goes_past_every_entry_where_it_ever_ended(keys: list[int], wanted: int) -> None:
    ordered = Ordered()
    ended = []
    for entry, key in enumerate(keys):
        ordered.insert(key, entry)
        ended.append(ordered.below(wanted))
    way = [node for node in ordered.upwards() if ordered.keys.key[node] <= wanted]
    assert {node for node in ended if node >= 0} <= set(way)
    moved_to = [int(ordered.keys.key[node]) for node in ended if node >= 0]
    assert all(earlier <= later for earlier, later in pairwise(moved_to))


def test_a_large_list_has_few_nodes_on_each_level() -> None:
    ordered = Ordered()
    for key in range(20_000):
        ordered.insert(1_000 * key, key)
    sizes = [len(level) for level in ordered.drawing()]
    assert sizes[-1] == 20_000
    assert len(sizes) <= LEVELS
    assert sum(sizes) < 1.4 * 20_000
    assert all(3 < lower / upper < 5 for upper, lower in pairwise(sizes) if upper > 100)
    for key in range(20_000):
        assert ordered.delete(1_000 * key) == key
    assert ordered.keys.state[HEIGHT] == 0
    assert ordered.free() == ordered.keys.state[USED]
