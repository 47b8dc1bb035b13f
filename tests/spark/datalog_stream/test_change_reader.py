"""Rows of changes, good and bad: what is read, and why the others are refused."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin.datalog.engine.fact_files import read_value
from tocsin.datalog.machine import Symbols
from tocsin.datalog.spark.stream.change_reader import read_changes
from tocsin.datalog.spark.stream.initial_facts import Setting
from tocsin.datalog.spark.stream.step_rows import texts_of, values_of
from tocsin.errors import InputError

SETTING = Setting(
    """
    .decl r(n: number, u: unsigned)
    .decl s(f: float, t: symbol)
    .decl none()
    none() :- r(_, _).
    """
)
RELATIONS = SETTING.plan.program.relations
COLUMNS = pa.schema(
    [
        ("op", pa.string()),
        ("relation", pa.string()),
        ("tuple", pa.list_(pa.string())),
        ("seq", pa.int64()),
        ("time", pa.timestamp("us", "UTC")),
        ("valid", pa.bool_()),
    ]
)
TEXTS = st.one_of(
    st.none(),
    st.sampled_from(
        [
            "0",
            "-0",
            "007",
            " 7 ",
            "0x1F",
            "-0b11",
            str(2**63),
            str(-(2**63)),
            str(2**64 - 1),
            str(2**64),
            "1.5",
            "-0.0",
            "1e300",
            "1e999",
            "nan",
            "inf",
            ".5",
            "",
            "é",
            "\n",
            '"',
        ]
    ),
    st.integers(-(2**65), 2**65).map(str),
    st.floats().map(repr),
    st.text(max_size=3),
)
ROWS = st.tuples(
    st.sampled_from(["+", "-", "+", "-", "*", None]),
    st.sampled_from(["r", "s", "none", "r", "s", "x", None]),
    st.one_of(st.none(), st.lists(TEXTS, max_size=3), st.lists(TEXTS, min_size=2, max_size=2)),
    st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)),
    st.one_of(st.none(), st.integers(0, 10**12)),
)


def batch(rows: list[tuple[Any, ...]]) -> pa.RecordBatch:
    named = [dict(zip(COLUMNS.names, (*row, True), strict=True)) for row in rows]
    return pa.RecordBatch.from_pylist(named, schema=COLUMNS)


def read(rows: list[tuple[Any, ...]], *mortal: str) -> list[dict[str, Any]]:
    return [row for each in read_changes(SETTING, mortal, False, [batch(rows)]) for row in each.to_pylist()]


def obvious(row: tuple[Any, ...]) -> list[str] | None:
    """The texts of a row that is a change; None of one that is none."""
    op, relation, texts, seq, time = row
    if op not in ("+", "-") or relation not in RELATIONS or texts is None or seq is None:
        return None
    types = RELATIONS[relation].types
    if len(texts) != len(types) or None in texts or (relation == "s" and time is None):
        return None
    try:
        values = [read_value(text, kind, "x") for text, kind in zip(texts, types, strict=True)]
        symbols = Symbols()
        words = [symbols.word(value, kind) for value, kind in zip(values, types, strict=True)]
    except (InputError, ValueError):
        return None
    return list(texts_of([symbols.value(word, kind) for word, kind in zip(words, types, strict=True)]))


@settings(max_examples=150, deadline=None)
@given(st.lists(ROWS, max_size=30))
def test_a_row_is_read_as_a_file_of_facts_would_be_or_refused(rows: list[tuple[Any, ...]]) -> None:
    found = read(rows, "s")
    assert len(found) == len(rows)
    for row, seen in zip(rows, found, strict=True):
        expected = obvious(row)
        assert (seen["kind"], seen["reason"] is None) == (
            ("refused", False) if expected is None else ("given", True)
        )
        assert (seen["op"], seen["relation"], seen["seq"]) == (row[0], row[1], row[3])
        if expected is not None:
            assert seen["tuple"] == expected
            assert seen["time"] == (None if row[4] is None else row[4] // 1000)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (("x", "r", ["1", "2"], 1, None), "op is neither + nor -"),
        (("+", "q", ["1", "2"], 1, None), "there is no relation 'q'"),
        (("+", "r", ["1"], 1, None), "tuple has not 2 values"),
        (("+", "none", ["1"], 1, None), "tuple has not 0 values"),
        (("+", "r", None, 1, None), "tuple has no value"),
        (("+", "r", ["1", None], 1, None), "r.u has no value"),
        (("+", "r", ["one", "2"], 1, None), "r.n takes integers, not 'one'"),
        (("+", "r", ["1", "-2"], 1, None), "r.u takes an integer from 0 to 18446744073709551615, not '-2'"),
        (("+", "r", ["1", "2"], None, None), "seq has no value"),
        (("+", "s", ["1", "2"], 1, None), "it has no time"),
    ],
)
def test_the_reason_is_said(row: tuple[Any, ...], reason: str) -> None:
    assert read([row], "s")[0]["reason"] == reason


def test_the_first_row_that_is_no_change_is_an_error_if_that_is_wanted() -> None:
    rows = [("+", "r", ["1", "2"], 1, None), ("+", "r", ["1"], 2, None), ("+", "q", [], 3, None)]
    with pytest.raises(InputError, match=r"tuple has not 2 values: .*'seq': 2"):
        list(read_changes(SETTING, [], True, [batch(rows)]))


@given(st.floats(allow_nan=False), st.integers(0, 2**64 - 1), st.text(), st.integers(-(2**63), 2**63 - 1))
def test_values_survive_their_texts(real: float, unsigned: int, text: str, number: int) -> None:
    types = [*RELATIONS["s"].types, *RELATIONS["r"].types]
    values = (real, text, number, unsigned)
    assert repr(values_of(texts_of(values), types)) == repr(values)
