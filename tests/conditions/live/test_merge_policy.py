"""When layers are put together: few of them, seldom compiled, whatever comes."""

from __future__ import annotations

import random

import pytest

from tocsin.conditions.live.merge_policy import (
    ALWAYS_MERGED,
    RATIO,
    READERS_SHARE,
    YOUNGER_AT_LEAST,
    absorbed_with,
    compaction_is_due,
    merged_above,
)


def test_what_a_reader_takes_along() -> None:
    assert absorbed_with(1, []) == 0
    assert absorbed_with(1, [ALWAYS_MERGED - 1]) == 1
    assert absorbed_with(1, [ALWAYS_MERGED]) == 0
    assert absorbed_with(40, [40 * RATIO]) == 1
    assert absorbed_with(40, [40 * RATIO + 1]) == 0
    assert absorbed_with(10, [200, 10 * RATIO]) == 2
    assert absorbed_with(10, [100_000, 10 * RATIO]) == 1
    assert absorbed_with(READERS_SHARE, [1]) == 0


def test_what_the_background_puts_together() -> None:
    assert merged_above([]) == 0
    assert merged_above([100_000]) == 1
    assert merged_above([100_000, 600]) == 2
    assert merged_above([2_400, 600]) == 0
    assert merged_above([100_000, 2_400, 600]) == 1
    assert merged_above([12_000, 2_400, 600]) == 0
    assert merged_above([10, 10]) == 2, "left to readers"
    assert merged_above([100_000, 600], dead=50_300) == 2
    assert merged_above([100_000, 600], dead=50_301) == 0, "most are dead"
    assert merged_above([100_000], dead=100_000) == 0
    assert merged_above([10], dead=10) == 1


def test_when_all_is_compiled() -> None:
    assert not compaction_is_due(0, YOUNGER_AT_LEAST, 0)
    assert compaction_is_due(0, YOUNGER_AT_LEAST, 1)
    assert not compaction_is_due(10_000_000, 900_000, 100_000)
    assert compaction_is_due(10_000_000, 900_000, 100_001)


@pytest.mark.parametrize("most_at_once", [1, 3, 40, 3_000])
def test_few_layers_and_little_work(most_at_once: int) -> None:
    """As many rules as ever lie beside a small main index, with a match after every few."""
    rng = random.Random(most_at_once)
    layers: list[int] = []
    compiled = written = highest = 0
    while written < YOUNGER_AT_LEAST:
        fresh = rng.randint(1, most_at_once)
        written += fresh
        taken = absorbed_with(fresh, layers)
        layers[len(layers) - taken :] = [fresh + sum(layers[len(layers) - taken :])]
        compiled += layers[-1]
        first = merged_above(layers)
        if first < len(layers):
            layers[first:] = [sum(layers[first:])]
            compiled += layers[-1]
        highest = max(highest, len(layers))
    assert sum(layers) == written
    assert highest <= 7
    assert compiled < 60 * written
