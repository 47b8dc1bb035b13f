"""Whole rows of event files: every format, with values of their kinds, and what is no row."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tocsin.events.event_files as rows_module
from tocsin.events import plan_slices, read_rows
from tocsin.tables import Reject


def read(path: Path) -> tuple[list[tuple[int, dict[str, Any]]], list[Reject]]:
    chunks = [chunk for piece in plan_slices(path) for chunk in read_rows(piece)]
    rows = [pair for chunk in chunks for pair in zip(chunk.numbers, chunk.rows, strict=True)]
    return rows, [reject for chunk in chunks for reject in chunk.rejects]


def test_json_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows_module, "BATCH_ROWS", 2)
    file = tmp_path / "a.jsonl"
    file.write_text('{"a": 1, "b": {"c": [1, null]}}\n\n[1]\n{}\n{"a": 123456789012345678901234567890}\n')
    rows, rejects = read(file)
    assert rows == [(0, {"a": 1, "b": {"c": [1, None]}}), (2, {}), (3, {"a": 123456789012345678901234567890})]
    assert [(reject.row, reject.text) for reject in rejects] == [(1, "[1]")]


def test_csv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows_module, "BATCH_ROWS", 2)
    file = tmp_path / "a.csv"
    file.write_text('n,long,flag,text,none\n1,99999999999999999999,true,x,\n2\n,,,,\n1.5,7,false,"y\nz",\n')
    rows, rejects = read(file)
    assert rows == [
        (0, {"n": 1.0, "long": 99999999999999999999, "flag": True, "text": "x", "none": None}),
        (2, {"n": None, "long": None, "flag": None, "text": None, "none": None}),
        (3, {"n": 1.5, "long": 7, "flag": False, "text": "y\nz", "none": None}),
    ]
    assert [reject.row for reject in rejects] == [1]


def test_parquet(tmp_path: Path) -> None:
    noon = datetime(2026, 1, 31, 12, tzinfo=UTC)
    table = pa.table(
        {
            "n": pa.array([1, None], pa.int8()),
            "at": pa.array([noon, None], pa.timestamp("us", "UTC")),
            "d": pa.array([Decimal("1.50"), None], pa.decimal128(10, 2)),
            "o": [{"p": [1, 2]}, None],
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    rows, rejects = read(tmp_path / "a.parquet")
    assert rows == [
        (0, {"n": 1, "at": noon, "d": Decimal("1.50"), "o": {"p": [1, 2]}}),
        (1, {"n": None, "at": None, "d": None, "o": None}),
    ]
    assert rejects == []


def test_parquet_with_texts_and_instants_that_python_cannot_hold(tmp_path: Path) -> None:
    bad = pa.StringArray.from_buffers(2, pa.py_buffer(np.array([0, 1, 2], np.int32)), pa.py_buffer(b"a\xff"))
    far = pa.array([2**55, 5], pa.timestamp("ms"))
    pq.write_table(pa.table({"t": bad, "far": far}), tmp_path / "a.parquet")
    rows, rejects = read(tmp_path / "a.parquet")
    assert rows == [(0, {"t": "a", "far": np.datetime64(2**55, "ms")})]
    assert [reject.row for reject in rejects] == [1]
