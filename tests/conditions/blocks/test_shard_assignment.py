"""Rules shared out among parts: equally heavy, and what few share stays together."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.conditions.blocks.pipeline import blocks_of, compared

from tocsin.conditions.blocks import Work, rule_weights, rules_of_shard, shards_wanted, share_out
from tocsin.conditions.blocks.shard_assignment import cut

FAMILIES = 40
MEMBERS = 25


def families(seed: int) -> pa.Table:
    """Families of rules: its members share a part that no other family has, and all share one part."""
    rng = random.Random(seed)
    rows = [
        (
            f"f{family}-{member}",
            f"(a = {family} and b < {family}) or (c = 'all' and d = {member} and k = {family})",
        )
        for family in range(FAMILIES)
        for member in range(MEMBERS)
    ]
    rng.shuffle(rows)
    ids = [f"{number:04}" for number in range(len(rows))]
    return pa.table({"id": ids, "when": [when for _, when in rows], "family": [name[:3] for name, _ in rows]})


def worked(table: pa.Table, folder: Path) -> Work:
    pieces = [table.slice(start, 300) for start in range(0, table.num_rows, 300)]
    return compared(blocks_of(pieces, folder)[0])


@pytest.mark.parametrize("parts", [2, 4, 10])
def test_parts_are_equally_heavy_and_families_stay_together(parts: int, tmp_path: Path) -> None:
    table = families(parts)
    work = worked(table, tmp_path)
    weights = rule_weights(work)
    part = share_out(work, weights, parts)
    heavy = np.bincount(part, weights, parts)
    assert heavy.max() - heavy.min() <= 2 * weights.max()
    homes: dict[str, set[int]] = {}
    for family, home in zip(table.column("family").to_pylist(), part.tolist(), strict=True):
        homes.setdefault(family, set()).add(home)
    assert sum(len(each) for each in homes.values()) < len(homes) + 2 * parts


def test_every_rule_is_in_one_part_with_all_that_it_has(tmp_path: Path) -> None:
    table = families(1)
    work = worked(table, tmp_path)
    part = share_out(work, rule_weights(work), 3)
    found = [rules_of_shard(work, part, number) for number in range(3)]
    rows = sorted((rule.id, rule.when, rule.metadata["family"]) for rules in found for rule in rules)
    assert rows == [tuple(row.values()) for row in table.to_pylist()]
    for rules in found:
        assert rules.ids.to_pylist() == sorted(rules.ids.to_pylist())


def test_a_condition_that_all_rules_have_is_cut_all_the_same(tmp_path: Path) -> None:
    table = pa.table({"id": [f"{number:03}" for number in range(400)], "when": ["a = 1 and b = 2"] * 400})
    work = worked(table, tmp_path)
    part = share_out(work, rule_weights(work), 4)
    assert np.bincount(part).tolist() == [100] * 4


def test_rules_with_free_text_and_constants_are_shared_out_too(tmp_path: Path) -> None:
    whens = ["contains(t, 'golf') and a = 1", "true", "a = 1", "not a = 1", "false"] * 20
    table = pa.table({"id": [f"{number:03}" for number in range(100)], "when": whens})
    work = worked(table, tmp_path)
    part = share_out(work, rule_weights(work), 2)
    assert set(part.tolist()) == {0, 1}


def test_cuts_never_leave_the_order_of_clusters() -> None:
    cluster = np.array([5, 5, 2, 2, 5, 9], np.int32)
    weights = np.array([1, 1, 1, 1, 1, 1], np.int64)
    assert cut([cluster], weights, 2).tolist() == [0, 0, 1, 1, 0, 1]
    assert cut([cluster], weights, 1).tolist() == [0] * 6
    small = np.array([1, 2, 3, 3, 1, 4], np.int32)
    assert cut([np.zeros(6, np.int32), small], weights, 3).tolist() == [0, 1, 1, 2, 0, 2]


def test_how_many_parts_are_made() -> None:
    small = np.full(10, 1000, np.int64)
    assert shards_wanted("auto", small) == 1
    assert shards_wanted("auto", np.full(10, 1 << 29, np.int64)) == 10
    assert shards_wanted(4, small) == 4
    assert shards_wanted(40, small) == 10
