"""Literals by hash and bounds by search, against a dictionary and Python's own bisect."""

from __future__ import annotations

import random
from bisect import bisect_left

import numpy as np
import pytest

from tocsin.arrays.lookup import Bounds, Literals
from tocsin.arrays.packed import packed_bytes, starts
from tocsin.arrays.row_table import table_of_rows
from tocsin.arrays.text_table import table_of_texts
from tocsin.conditions.kernels.batch_lookup import Parts, arrange, look_up_scalars, look_up_texts, traits_of

EDGES = [-(2**63), -(2**63) + 1, -1, 0, 1, 2**53, 2**63 - 2, 2**63 - 1]
GROUPS = 5

Pair = tuple[int, int]


def random_pair(rng: random.Random) -> Pair:
    return rng.choice([*EDGES, rng.randint(-50, 50)]), rng.choice([0, 0, 1, -1, *EDGES])


def random_pairs(rng: random.Random) -> list[Pair]:
    """None, some, many that repeat, or many of which nearly all differ; or first these and then those."""
    kind = rng.choice(["none", "some", "repeating", "different", "both"])
    repeating = [random_pair(rng) for _ in range(40)]
    different = [(rng.randint(-(2**63), 2**63 - 1), rng.choice([0, rng.randint(-9, 9)])) for _ in range(300)]
    return {
        "none": [],
        "some": repeating,
        "repeating": rng.choices(repeating, k=900),
        "different": different,
        "both": rng.choices(repeating, k=300) + different + rng.choices(different, k=300),
    }[kind]


def random_text(rng: random.Random) -> bytes:
    return bytes(rng.choice(b"a\x00\xff") for _ in range(rng.randint(0, 4)))


def slot_of(bounds: list, value: object) -> int:
    """Twice the bounds below, and one more on a bound; -1 where a group has none."""
    below = bisect_left(bounds, value)
    return 2 * below + (bounds[below : below + 1] == [value]) if bounds else -1


def shuffled(rng: random.Random, count: int) -> np.ndarray:
    return np.array(rng.sample(range(count), count), np.int32)


def packed(scalars: list[tuple[int, Pair]], texts: list[tuple[int, bytes]]) -> Literals:
    scalar = np.array([(*pair, group) for group, pair in scalars], np.int64).reshape(-1)
    text_group = np.array([number for number, _ in texts], np.int32)
    start, data = packed_bytes([text for _, text in texts])
    text_table = table_of_texts(text_group, start, data)
    return Literals(scalar, table_of_rows(scalar, 3), text_group, start, data, text_table)


def packed_bounds(scalars: list[list[Pair]], texts: list[list[bytes]]) -> Bounds:
    flat = [pair for pairs in scalars for pair in pairs]
    offset, data = packed_bytes([text for group in texts for text in group])
    return Bounds(
        starts([len(pairs) for pairs in scalars], np.int32),
        np.array([pair[0] for pair in flat], np.int64),
        np.array([pair[1] for pair in flat], np.int64),
        starts([len(group) for group in texts], np.int32),
        offset,
        data,
    )


@pytest.mark.parametrize("seed", range(15))
def test_against_python(seed: int) -> None:
    rng = random.Random(seed)
    scalars = sorted({(rng.randrange(GROUPS), random_pair(rng)) for _ in range(rng.choice([0, 3, 200]))})
    texts = sorted({(rng.randrange(GROUPS), random_text(rng)) for _ in range(rng.choice([0, 3, 200]))})
    scalar_bounds = [sorted({random_pair(rng) for _ in range(rng.choice([0, 1, 30]))}) for _ in range(GROUPS)]
    for pairs in scalar_bounds[::2]:
        pairs[:] = sorted(dict(pairs).items())  # one bound for each high
    text_bounds = [sorted({random_text(rng) for _ in range(rng.choice([0, 1, 30]))}) for _ in range(GROUPS)]
    literals, bounds = packed(scalars, texts), packed_bounds(scalar_bounds, text_bounds)
    order = rng.sample(range(GROUPS), GROUPS)

    values = {group: random_pairs(rng) for group in order}
    flat = [(group, pair) for group in order for pair in values[group]]
    start = starts([len(values[group]) for group in order], np.int64)
    group = np.array(order, np.int32)
    cell = shuffled(rng, len(flat))
    posting, slot = np.full(len(flat), -1, np.int32), np.full(len(flat), -1, np.int32)
    high = np.array([pair[0] for _, pair in flat], np.int64)
    low = np.array([pair[1] for _, pair in flat], np.int64)
    traits = traits_of(literals, bounds)
    assert traits.has_literals.tolist() == [group in {each for each, _ in scalars} for group in range(GROUPS)]
    assert traits.distinct_highs.tolist() == [len({high for high, _ in b}) == len(b) for b in scalar_bounds]
    look_up_scalars(literals, bounds, traits, Parts(group, start, cell), high, low, posting, slot)
    place = {key: number for number, key in enumerate(scalars)}
    assert posting[cell].tolist() == [place.get(key, -1) for key in flat]
    assert slot[cell].tolist() == [slot_of(scalar_bounds[group], pair) for group, pair in flat]

    words = {group: sorted({random_text(rng) for _ in range(20)}) for group in order}
    codes = {group: [rng.randrange(len(words[group])) for _ in range(30)] for group in order}
    cells = [(group, words[group][code]) for group in order for code in codes[group]]
    text_start = starts([len(words[group]) for group in order], np.int64)
    code_start = starts([len(codes[group]) for group in order], np.int64)
    offset, data = packed_bytes([text for group in order for text in words[group]])
    code = np.array([code for group in order for code in codes[group]], np.int32)
    cell = shuffled(rng, len(cells))
    posting, slot = np.full(len(cells), -1, np.int32), np.full(len(cells), -1, np.int32)
    parts = Parts(group, code_start, cell)
    look_up_texts(literals, bounds, parts, code, text_start, offset, data, posting, slot)
    text_place = {key: len(scalars) + number for number, key in enumerate(texts)}
    assert posting[cell].tolist() == [text_place.get(key, -1) for key in cells]
    assert slot[cell].tolist() == [slot_of(text_bounds[group], text) for group, text in cells]


@pytest.mark.parametrize("seed", range(15))
def test_cells_lie_by_group_and_event_and_of_equals_the_earlier_part_comes_first(seed: int) -> None:
    rng = random.Random(seed)
    parts = [
        (rng.randrange(GROUPS), sorted(rng.choices(range(20), k=rng.choice([0, 1, 15]))))
        for _ in range(rng.choice([0, 1, GROUPS, 4 * GROUPS]))
    ]
    values = [(group, row, part) for part, (group, rows) in enumerate(parts) for row in rows]
    group_start, cell, row = arrange(
        np.array([group for group, _ in parts], np.int32),
        starts([len(rows) for _, rows in parts], np.int64),
        np.array([row for _, row, _ in values], np.int32),
        GROUPS,
    )
    in_order = sorted(values)
    assert [in_order[place] for place in cell.tolist()] == values
    assert sorted(cell.tolist()) == list(range(len(values)))
    assert row.tolist() == [row for _, row, _ in in_order]
    assert group_start.tolist() == [
        sum(group < bound for group, _, _ in values) for bound in range(GROUPS + 1)
    ]
