"""Blocks that are full: what is done at once for many events must be what is done for each.

Random rules and few events never have so many cells of a kind; here every way of marking leaves is taken:
few keys and many, few slots and many, runs of cells that are long, short or empty, events with no value,
one or several.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
import pytest

import tocsin
from tocsin.conditions.language import parse_condition
from tocsin.conditions.meaning import matches

EVENTS = 4_500
"""One block, and a part of another."""

RULES = [
    *(f"few = {value}" for value in range(5)),
    "few in (0, 2, 4) and many > 500",
    "not few in (1, 3)",
    "few is null or gone = 1",
    *(f"many between {low} and {low + width}" for low in range(0, 1_000, 90) for width in (0, 15, 400)),
    "many between 2000 and 3000",
    *(f"hour {sign} {value}" for sign in ("<", "<=", ">", ">=", "!=") for value in (0, 5, 23, 30)),
    *(f"hour between {low} and {low + 3}" for low in range(-2, 26, 4)),
    "not hour < 6 and few >= 1",
    *(f"wide between {low} and {low + width}" for low in range(0, 8_000, 200) for width in (3, 2_000)),
    *(f"wide < {value}" for value in range(0, 8_000, 1_001)),
    *(f"wide >= {value}" for value in range(0, 8_000, 999)),
    *(f"several between {low} and {low + 30}" for low in range(0, 100, 4)),
    "several = 3 and not several between 50 and 60",
    *(f"name = 'n{value}'" for value in range(0, 3_000, 41)),
    "not name in ('n1', 'n2') and few < 3",
    *(f"rare between {low} and {low + 2}" for low in range(0, 40, 2)),
    "flag and many >= 900",
    "not flag",
]

SCHEMA = pa.schema(
    [
        ("many", pa.int64()),
        ("name", pa.string()),
        ("flag", pa.bool_()),
        ("several", pa.list_(pa.int32())),
        ("hour", pa.int32()),
        ("wide", pa.float64()),
        ("few", pa.int8()),
        ("rare", pa.float64()),
        ("gone", pa.int64()),
    ]
)


def event(rng: Random) -> dict[str, object]:
    made: dict[str, object] = {
        "many": rng.randrange(1_000),
        "name": f"n{rng.randrange(3_000)}",
        "flag": rng.random() < 0.3,
        "wide": float(rng.randrange(8_000)),
        "several": [rng.randrange(100) for _ in range(rng.choice([0, 1, 1, 1, 2, 3]))],
    }
    if rng.random() < 0.9:
        made["few"] = rng.randrange(6)
    if rng.random() < 0.95:
        made["hour"] = rng.randrange(24)
    if rng.random() < 0.02:
        made["rare"] = rng.randrange(50)
    return made


@pytest.mark.parametrize("seed", range(2))
def test_full_blocks(seed: int) -> None:
    rng = Random(seed)
    events = [event(rng) for _ in range(EVENTS)]
    index = tocsin.build([(str(number), when) for number, when in enumerate(RULES)])
    conditions = [parse_condition(when) for when in RULES]
    assert isinstance(index, tocsin.Index)
    table: Any = index.match_table(pa.Table.from_pylist(events, SCHEMA))
    found = sorted(zip(table["event"].to_pylist(), table["rule"].to_pylist(), strict=True))
    expected = sorted(
        (place, str(number))
        for place, each in enumerate(events)
        for number, condition in enumerate(conditions)
        if matches(condition, each)
    )
    assert found == expected
