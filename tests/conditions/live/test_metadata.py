"""Metadata of rules that come one by one: kept as given, whatever other rules carry."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tocsin

DATE = dt.date(2020, 1, 1)
NOON = dt.datetime(2020, 1, 1, 12)


def index_with(*values: Any) -> Any:
    index: Any = tocsin.build([("z", "x = 1")])
    for number, value in enumerate(values):
        index.insert(f"r{number}", "x = 1", {"k": value})
    return index


@pytest.mark.parametrize(
    "values",
    [
        (DATE, float("nan")),
        (DATE, np.array([1, 2])),
        (NOON, -(2**63)),
        (DATE, Decimal("NaN")),
        (DATE, NOON),
        ("y", b"y"),
    ],
)
def test_kinds_that_do_not_mix_break_nothing(values: tuple[Any, ...]) -> None:
    index = index_with(*values)
    index.match_table(pa.table({"x": [1]}))
    index.compact()
    assert len(index.match({"x": 1})) == 3
    assert isinstance(index.rule("r0").metadata["k"], str)


@pytest.mark.parametrize(
    ("values", "kept"),
    [
        ((1, 2), [1, 2]),
        ((1, 2.5), [1, 2.5]),
        ((DATE, DATE), [DATE, DATE]),
        ((DATE, 1), ["2020-01-01", "1"]),
        ((dt.timedelta(1), 5), ["1 day, 0:00:00", "5"]),
        ((NOON, NOON.replace(tzinfo=dt.UTC)), ["2020-01-01 12:00:00", "2020-01-01 12:00:00+00:00"]),
        ((1, "x"), ["1", "x"]),
        (([1], "x"), ["[1]", "x"]),
    ],
)
def test_what_a_compaction_makes_of_it(values: tuple[Any, Any], kept: list[Any]) -> None:
    index = index_with(*values)
    assert [index.rule(f"r{number}").metadata["k"] for number in range(2)] == list(values)
    index.compact()
    assert [index.rule(f"r{number}").metadata["k"] for number in range(2)] == kept


def test_later_edits_by_the_caller_change_nothing() -> None:
    index: Any = tocsin.build([("z", "x = 1")])
    given = {"k": ["a"]}
    index.insert("p", "x = 1", given)
    given["k"][0] = "\ud800"
    assert index.rule("p").metadata == {"k": ["a"]}
    index.compact()


@pytest.mark.parametrize("metadata", ["", 0, [], "m", [("k", 1)]])
def test_metadata_is_a_mapping(metadata: Any) -> None:
    index: Any = tocsin.build([("z", "x = 1")])
    with pytest.raises(tocsin.UsageError, match="the metadata of a rule is a mapping"):
        index.insert("q", "x = 1", metadata)
    assert len(index) == 1
