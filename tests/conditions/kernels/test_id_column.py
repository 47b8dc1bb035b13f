"""Ids gathered into Arrow columns, ids found by their bytes, and matches of layers put together."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from tocsin.arrays.packed import packed_bytes
from tocsin.arrays.text_table import find_text, table_of_texts
from tocsin.conditions.kernels.id_column import repeat_rows
from tocsin.conditions.kernels.layer_matches import interleave, keep_alive
from tocsin.conditions.matching.rule_names import Names

texts = st.lists(st.text(max_size=30), min_size=1, max_size=20)


@given(texts, st.integers(0, 20), st.data())
def test_columns_are_what_arrow_takes(given_texts: list[str], old: int, data: st.DataObject) -> None:
    numbers = np.array(data.draw(st.lists(st.integers(0, len(given_texts) - 1), max_size=60)), np.int32)
    names = Names.of(pa.array(given_texts[:old], pa.large_string()))
    names = Names(names._old, given_texts[old:])
    column = names.column(numbers)
    column.validate(full=True)
    assert column.type == pa.string()
    assert column.to_pylist() == [given_texts[number] for number in numbers]
    assert [names.name(number) for number in numbers] == column.to_pylist()


def test_names_that_come_later_are_found() -> None:
    younger = ["c"]
    names = Names(Names.of(pa.array(["a", "b"], pa.large_string()))._old, younger)
    assert names.column(np.array([2, 0], np.int32)).to_pylist() == ["c", "a"]
    younger.append("d")
    assert names.column(np.array([3, 1, 2], np.int32)).to_pylist() == ["d", "b", "c"]


@given(st.lists(st.integers(0, 5), max_size=10), st.integers(0, 100))
def test_rows_are_repeated(counts: list[int], first: int) -> None:
    per_row = np.array(counts, np.int64)
    row = np.empty(per_row.sum(), np.int64)
    repeat_rows(first, per_row, row)
    assert row.tolist() == np.repeat(first + np.arange(len(counts)), per_row).tolist()


@given(st.lists(st.text(max_size=12), unique=True, max_size=30), st.lists(st.text(max_size=12), max_size=10))
def test_a_table_finds_each_name_and_no_other(known: list[str], others: list[str]) -> None:
    start, data = packed_bytes([name.encode() for name in known])
    groups = np.zeros(len(known), np.int32)
    table = table_of_texts(groups, start, data)
    for name in [*known, *others]:
        wanted = np.frombuffer(name.encode(), np.uint8)
        place = find_text(table, groups, start, data, 0, wanted, 0, len(wanted))
        assert place == (known.index(name) if name in known else -1)


matches_of_events = st.lists(st.lists(st.integers(0, 9), max_size=5), max_size=8)


def _flat(matched: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    rules = np.array([rule for each in matched for rule in each], np.int32)
    return rules, np.array([len(each) for each in matched], np.int64)


@given(matches_of_events, st.lists(st.integers(0, 4), min_size=10, max_size=10), st.integers(0, 4))
def test_the_dead_are_left_out(matched: list[list[int]], dead_at: list[int], change: int) -> None:
    rules, per_event = _flat(matched)
    kept = keep_alive(rules, per_event, np.array(dead_at, np.int64), change)
    right = [[rule for rule in each if dead_at[rule] > change] for each in matched]
    assert rules[:kept].tolist() == [rule for each in right for rule in each]
    assert per_event.tolist() == [len(each) for each in right]


@given(matches_of_events, matches_of_events)
def test_each_event_has_the_older_then_the_younger(older: list[list[int]], younger: list[list[int]]) -> None:
    events = min(len(older), len(younger))
    older, younger = older[:events], younger[:events]
    right = [one + other for one, other in zip(older, younger, strict=True)]
    rule = np.empty(sum(map(len, right)), np.int32)
    interleave(*_flat(older), *_flat(younger), rule)
    assert rule.tolist() == [each for both in right for each in both]
