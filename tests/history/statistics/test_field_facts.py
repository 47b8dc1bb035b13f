"""Facts of fields: exact while there are few values, bounded when there are many, the same in any order."""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.events import FieldPlan, Kind
from tocsin.history.statistics import merge_facts
from tocsin.history.statistics.field_facts import DISTINCT, FREQUENT, SAMPLE, facts_of
from tocsin.history.statistics.sketch_hashes import row_hashes
from tocsin.history.statistics.value_counts import FieldStatistics, field_statistics

VALUES = st.one_of(
    st.none(),
    st.integers(-5, 5),
    st.sampled_from([0.5, float("nan"), -0.0, 2**70, "a", "b", "", True, False, Decimal("1.5")]),
    st.lists(st.one_of(st.none(), st.integers(0, 3), st.sampled_from(["a", "b"])), max_size=3),
)


def facts(values: Sequence[object], first: int = 0) -> list[pa.Table]:
    batch = FieldPlan([("f",)]).batch([{"f": value} for value in values])
    column = batch.columns.get(("f",))
    return [] if column is None else facts_of(0, column, row_hashes(1, 0, first, len(values)))


def statistics(values: list[object]) -> FieldStatistics:
    return field_statistics(("f",), len(values), merge_facts(facts(values)))


def test_of_a_few_values() -> None:
    found = statistics([1, 2, 2, None, "x", True, [2, 3, None], [], float("nan")])
    assert (found.rows, found.present) == (9, 7)
    numbers = found.kinds[Kind.NUMBER]
    assert (numbers.events, numbers.cells, numbers.distinct, numbers.lost) == (4, 5, 3, 0)
    assert numbers.most_frequent(1) == [(2, 3)]
    assert numbers.quantiles(2) == [1, 2, 3]
    assert found.kinds[Kind.STRING].most_frequent() == [("x", 1)]
    assert found.kinds[Kind.BOOLEAN].most_frequent() == [(True, 1)]


def test_values_come_back_as_they_were() -> None:
    instant = dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)
    found = statistics([2**60 + 1, 0.25, -7, Decimal("1.5"), instant, "日本"])
    shown = {value for kind in found.kinds.values() for value, _ in kind.most_frequent()}
    assert shown == {2**60 + 1, 0.25, -7, 1.5, int(instant.timestamp()) * 10**9, "日本"}


def test_never_seen() -> None:
    found = statistics([None, None])
    assert (found.rows, found.present, found.kinds, found.documents) == (2, 0, {}, None)


def in_order(table: pa.Table) -> list[dict[str, object]]:
    return sorted(table.to_pylist(), key=repr)


@given(st.lists(VALUES, max_size=20), st.integers(0, 20), st.integers(0, 20))
def test_merging_in_any_order_gives_the_same(values: list[object], one: int, two: int) -> None:
    low, high = sorted((one, two))
    parts = [facts(values[:low]), facts(values[low:high], low), facts(values[high:], high)]
    whole = merge_facts(facts(values))
    flat = [table for part in parts for table in part]
    assert in_order(merge_facts(flat)) == in_order(whole)
    random.Random(7).shuffle(flat)
    assert in_order(merge_facts(flat)) == in_order(whole)
    assert in_order(merge_facts([merge_facts(parts[0] + parts[1]), merge_facts(parts[2])])) == in_order(whole)


def test_many_values_stay_bounded_and_frequent_ones_are_found() -> None:
    chosen = random.Random(3)
    values: list[int] = [chosen.randrange(10**6) for _ in range(20_000)] + [7] * 3_000 + [8] * 1_500
    chosen.shuffle(values)
    batches = [facts(values[first : first + 2_500], first) for first in range(0, len(values), 2_500)]
    merged = merge_facts([merge_facts(batch) for batch in batches])
    per_fact = Counter(merged.column("fact").to_pylist())
    assert per_fact["frequent"] <= FREQUENT
    assert per_fact["sample"] == SAMPLE
    assert per_fact["distinct"] == DISTINCT
    numbers = field_statistics(("f",), len(values), merged).kinds[Kind.NUMBER]
    assert [value for value, _ in numbers.most_frequent(2)] == [7, 8]
    for value, counted in numbers.most_frequent(2):
        assert counted <= values.count(int(value)) <= counted + numbers.lost
    assert numbers.distinct == pytest.approx(len(set(values)), rel=4 / np.sqrt(DISTINCT))
    quartile = sorted(values)[len(values) // 4]
    assert numbers.quantiles(4)[1] == pytest.approx(quartile, abs=0.06 * 10**6)


def test_long_texts_are_cut_in_the_sample_and_never_frequent() -> None:
    long = "é" * 200
    strings = statistics([long, long, "short"]).kinds[Kind.STRING]
    assert strings.most_frequent() == [("short", 1)]
    assert strings.lost == 2
    assert strings.distinct == 2
    assert strings.sample == ["short", "é" * 128, "é" * 128]
