"""Writers: the same rows in every format, in pieces as in one go."""

from __future__ import annotations

import csv
import io
import json
import math
from random import Random
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.errors import UsageError
from tocsin.events import KeptColumn
from tocsin.matches import MatchedEvents, PartReport, check_kept_names, match_files
from tocsin.matches.match_files import FORMATS, output_format

NAMES = pa.array(["r0", "r1", "r2"])
BATCH = MatchedEvents(
    np.array([3, 10]),
    np.array([0, 3, 5]),
    np.array([0, 1, 2, 1, 2], np.int32),
    None,
    {"text": pa.array(["x" * 500, None])},
)
COLUMNS = [KeptColumn("text", pa.string()), KeptColumn("lacking", pa.int64())]
ROWS = [(3, "r0", "x" * 500), (3, "r1", "x" * 500), (3, "r2", "x" * 500), (10, "r1", None), (10, "r2", None)]


def written(suffix: str) -> bytes:
    stream = io.BytesIO()
    sink = FORMATS[suffix](stream, NAMES, COLUMNS)
    sink.write(BATCH)
    sink.write(BATCH)
    sink.finish()
    return stream.getvalue()


def rows_of(suffix: str, data: bytes) -> list[tuple[int, str, str | None]]:
    if suffix == ".parquet":
        rows = pq.read_table(io.BytesIO(data)).to_pylist()
    elif suffix == ".csv":
        rows = [
            {**row, "event": int(row["event"]), "text": row["text"] or None}
            for row in csv.DictReader(io.StringIO(data.decode()))
        ]
    else:
        rows = [json.loads(line) for line in data.splitlines()]
    assert all(not row["lacking"] and not row["score"] for row in rows)
    return [(row["event"], row["rule"], row["text"]) for row in rows]


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("bytes_at_once", [1, 700, 1 << 20])
@pytest.mark.parametrize("few", [0, 1_000], ids=["loop", "no loop"])
def test_rows(suffix: str, bytes_at_once: int, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_files, "_BYTES_AT_ONCE", bytes_at_once)
    monkeypatch.setattr(match_files, "FEW_LINES", few)
    assert rows_of(suffix, written(suffix)) == ROWS * 2


texts = st.text(max_size=20)


@given(
    st.lists(texts, min_size=1, max_size=6, unique=True),
    st.lists(st.tuples(texts | st.none(), st.lists(st.integers(0, 5), max_size=5)), max_size=6),
    st.booleans(),
    st.randoms(use_true_random=False),
    st.sampled_from([1, 60, 1 << 20]),
)
def test_lines_are_those_of_json(
    names: list[str], events: list[tuple[str | None, list[int]]], scored: bool, rng: Random, at_once: int
) -> None:
    """The loop, and the way without it, beside what json writes of each match."""
    rules = [number % len(names) for _, numbers in events for number in numbers]
    scores = [rng.choice([math.nan, 0.0, rng.random(), 1e300]) for _ in rules]
    batch = MatchedEvents(
        np.arange(7, 7 + len(events)),
        np.cumsum([0, *(len(numbers) for _, numbers in events)]),
        np.array(rules, np.int32),
        np.array(scores) if scored else None,
        {"text": pa.array([text for text, _ in events], pa.string())},
    )
    row_of = [row for row, (_, numbers) in enumerate(events) for _ in numbers]
    expected = [
        {
            "event": 7 + row,
            "rule": names[rule],
            "score": None if not scored or math.isnan(score) else score,
            "text": events[row][0],
        }
        for row, rule, score in zip(row_of, rules, scores, strict=True)
    ]
    for few in (0, 1_000):
        stream = io.BytesIO()
        with (
            patch.object(match_files, "FEW_LINES", few),
            patch.object(match_files, "_BYTES_AT_ONCE", at_once),
        ):
            lines = match_files.JsonLines(stream, pa.array(names), COLUMNS[:1])
            lines.write(batch)
            lines.finish()
        written = stream.getvalue().split(b"\n")
        assert written.pop() == b""
        assert [json.loads(line) for line in written] == expected


def test_small_batches_make_one_row_group() -> None:
    assert pq.ParquetFile(io.BytesIO(written(".parquet"))).num_row_groups == 1


def test_names() -> None:
    assert output_format("a/B.CSV") == ".csv"
    for name in ("a", "a.txt", "a.csv.gz"):
        with pytest.raises(UsageError):
            output_format(name)
    assert check_kept_names(["a", "b", "a"]) == ("a", "b")
    with pytest.raises(UsageError):
        check_kept_names(["a", "rule"])


def test_a_report_comes_back_as_it_was() -> None:
    report = PartReport(3, "x", 1, 2, 3, [(4, "é")], [5], {"k": ["small"]})
    again = PartReport.from_json(report.to_json())
    assert again.kinds == report.kinds
    assert [tuple(each) for each in again.first_rejects] == report.first_rejects
    assert again.to_json() == report.to_json()
