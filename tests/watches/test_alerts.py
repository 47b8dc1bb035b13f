"""Values in the texts of alerts: one text for one value, wherever an event comes from."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

import tocsin
from tocsin.events import json_texts
from tocsin.rules.rule_files import rules_of_triggers
from tocsin.tables import parsed
from tocsin.watches import TOO_DEEP
from tocsin.watches.alerts import value_text

NOON = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "null"),
        (float("nan"), "null"),
        (True, "true"),
        (7, "7"),
        (1.5, "1.5"),
        (float("-inf"), "-1e999"),
        ("as it is", "as it is"),
        (Decimal("1.50"), "1.5"),
        (Decimal("0.1234567890123456789"), "0.1234567890123456789"),
        (NOON, "2026-03-01T12:30:00Z"),
        (NOON.astimezone(timezone(timedelta(hours=2))), "2026-03-01T12:30:00Z"),
        (NOON.replace(tzinfo=None, microsecond=250_000), "2026-03-01T12:30:00.25Z"),
        (np.datetime64("2026-03-01T12:30:00.25"), "2026-03-01T12:30:00.25Z"),
        (np.int64(7), "7"),
        (np.bool_(True), "true"),
        (date(2026, 3, 1), "2026-03-01"),
        ([1, "é", {"p": Decimal("2.50"), "at": NOON}], '[1, "é", {"p": 2.5, "at": "2026-03-01T12:30:00Z"}]'),
    ],
)
def test_texts_of_values(value: object, expected: str) -> None:
    assert value_text(value) == expected


def test_too_deep() -> None:
    deep: list[object] = []
    for _ in range(5_000):
        deep = [deep]
    assert value_text(deep) == TOO_DEEP


@pytest.mark.parametrize(
    "column",
    [
        pa.array([NOON, None]),
        pa.array([NOON], pa.timestamp("ms")),
        pa.array([date(2026, 3, 1)]),
        pa.array([Decimal("1.50"), Decimal("3.00"), Decimal("0.07")]),
        pa.array([Decimal("12345678901234567.89")]),
        pa.array([0.1, 1e300, float("inf"), 2.0]),
        pa.array([0.1], pa.float32()),
        pa.array([2**63 - 1]),
        pa.array([[Decimal("1.50"), None]]),
        pa.array([{"at": NOON, "n": 1.0}]),
        pa.array([timedelta(days=1, seconds=2)]),
        pa.array([b"raw"]),
    ],
    ids=lambda column: str(column.type),
)
def test_a_stream_writes_what_a_watch_does(column: pa.Array) -> None:
    """A stream knows values by their JSON texts, a watch as Python has them."""
    for text, value in zip(json_texts(column), column.to_pylist(), strict=True):
        assert value_text(None if text is None else parsed(text)) == value_text(value)


def test_a_watch() -> None:
    trigger = "create trigger a when n > 1 do alert '{n} at {at}';"
    watch = tocsin.watch(tocsin.Rules.concat([rules_of_triggers(trigger)]))
    (alert,) = watch.insert("t", {"n": Decimal("2.50"), "at": NOON})
    assert alert.text == "2.5 at 2026-03-01T12:30:00Z"
