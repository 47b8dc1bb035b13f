"""Frames of any kind at every door: the same answers as the same rows as dictionaries."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tocsin
from tocsin.tables import batches_of, is_frame, table_of

COLUMNS: dict[str, Any] = {"x": [1, 2, None, 4], "s": ["q", None, "r", "q"], "l": [[1], [], None, [2, 9]]}
RULES = [
    ("x", "x > 1"),
    ("s", "s = 'q'"),
    ("l", "l = 9"),
    ("free", "contains(s, 'q')"),
    ("none", "x is null"),
]
EVENTS = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]
FACTS = {"a": [1, 2], "b": ["x", "y"]}


def _arrow(columns: dict[str, Any]) -> Any:
    return pa.table(columns)


def _polars(columns: dict[str, Any], lazy: bool = False) -> Any:
    polars = pytest.importorskip("polars", reason="polars is not installed")
    frame = polars.DataFrame(columns)
    return frame.lazy() if lazy else frame


def _duckdb(columns: dict[str, Any], as_result: bool = False) -> Any:
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    connection = duckdb.connect()
    connection.register("given", pa.table(columns))
    query = "select * from given"
    return connection.execute(query) if as_result else connection.sql(query)


class _Foreign:
    """A frame of a package that nobody here knows."""

    def __init__(self, columns: dict[str, Any]) -> None:
        self._table = pa.table(columns)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)


IN_MEMORY: dict[str, Callable[[dict[str, Any]], Any]] = {
    "arrow table": _arrow,
    "arrow batch": lambda columns: pa.record_batch(columns),
    "structs": lambda columns: pa.array(pa.table(columns).to_pylist()),
    "foreign": _Foreign,
    "pandas": lambda columns: pd.DataFrame(
        columns, index=[f"row {n}" for n in range(len(columns[min(columns)]))]
    ),
    "polars": _polars,
}
STREAMS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "reader": lambda columns: pa.table(columns).to_reader(max_chunksize=3),
    "dataset": lambda columns: ds.dataset(pa.table(columns)),
    "scanner": lambda columns: ds.dataset(pa.table(columns)).scanner(),
    "lazy polars": lambda columns: _polars(columns, lazy=True),
    "duckdb relation": _duckdb,
    "duckdb result": lambda columns: _duckdb(columns, as_result=True),
}
KINDS = {**IN_MEMORY, **STREAMS}
pytestmark = pytest.mark.filterwarnings("ignore:Arrow output on a DB-API result:UserWarning")


def _matched(index: tocsin.Index, events: list[dict[str, Any]]) -> list[tuple[int, str]]:
    return [(row, match.rule) for row, event in enumerate(events) for match in index.match(event)]


@pytest.mark.parametrize("kind", KINDS)
def test_events_of_every_kind(kind: str, tmp_path: Path) -> None:
    index = tocsin.build(RULES)
    frame = KINDS[kind]
    found = index.match_table(frame(COLUMNS))
    assert isinstance(found, pa.RecordBatchReader if kind in STREAMS else pa.Table)
    rows = (found.read_all() if kind in STREAMS else found).to_pylist()
    assert [(row["event"], row["rule"]) for row in rows] == _matched(index, EVENTS)
    counts = index.match_table(frame(COLUMNS), count=True)
    assert counts.per_event.to_pylist() == [len(index.match(event)) for event in EVENTS]
    hits = tocsin.backtest(RULES, frame(COLUMNS)).rules.sort_by("rule")["hits"].to_pylist()
    assert hits == tocsin.backtest(RULES, EVENTS).rules.sort_by("rule")["hits"].to_pylist()
    assert tocsin.backtest(RULES, frame(COLUMNS), rule="free").hits == 2
    assert tocsin.statistics(frame(COLUMNS), tmp_path / "history").rows == len(EVENTS)
    assert _matched(tocsin.build(RULES, sample=frame(COLUMNS)), EVENTS) == _matched(index, EVENTS)


@pytest.mark.parametrize("kind", KINDS)
def test_rules_and_facts_of_every_kind(kind: str) -> None:
    rules = {"id": ["a", "b"], "when": ["x > 1", "s = 'q'"], "severity": ["high", None]}
    frame = KINDS[kind]
    index = tocsin.build(frame(rules))
    assert [index.rule(rule).metadata for rule in ("a", "b")] == [{"severity": "high"}, {}]
    assert len(tocsin.watch(frame(rules)).insert("t", {"x": 2, "s": "q"})) == 2
    assert len(tocsin.read_rules(frame(rules))) == 2
    assert len(tocsin.backtest(frame(rules), EVENTS, compare=frame(rules)).rules) == 2
    program = tocsin.Program.parse(".decl a(a: number, b: symbol)\n.decl p(b: symbol)\np(B) :- a(_, B).")
    assert program.start(facts={"a": frame(FACTS)}).query("p") == [("x",), ("y",)]
    assert program.start().load("a", frame(FACTS)).added == {"p": {("x",), ("y",)}}


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_counted_of_a_frame_without_wanted_columns(kind: str) -> None:
    with pytest.warns(tocsin.TocsinWarning, match="do not have"):
        counts = tocsin.build([("r", "other is null")]).match_table(KINDS[kind](COLUMNS), count=True)
    assert counts.per_rule.to_pylist() == [len(EVENTS)]


def test_only_wanted_columns_of_pandas_are_read() -> None:
    frame = pd.DataFrame({"x": [1, 2], "other": [object(), object()]})
    assert len(tocsin.build([("r", "x > 1")]).match_table(frame)) == 1
    with pytest.raises(tocsin.InputError, match="column 'other' of the DataFrame"):
        table_of(frame)


@pytest.mark.parametrize(
    ("values", "missing"),
    [
        (np.array([1.0, np.nan]), [1]),
        (pd.array([1, None], dtype="Int64"), [1]),
        (pd.array([True, None], dtype="boolean"), [1]),
        (pd.array(["a", None], dtype="string"), [1]),
        (pd.Categorical(["a", None, "b"]), [1]),
        (pd.to_datetime(["2024-01-01", None]), [1]),
        (pd.to_datetime(["2024-01-01", None]).tz_localize("Asia/Tokyo"), [1]),
        ([None, "a", np.nan, pd.NA, pd.NaT], [0, 2, 3, 4]),
    ],
)
def test_what_is_missing_in_pandas(values: Any, missing: list[int]) -> None:
    found = tocsin.build([("r", "x is null")]).match_table(pd.DataFrame({"x": values}))
    assert found["event"].to_pylist() == missing


def test_times_of_pandas_without_a_zone_are_utc() -> None:
    times = pd.to_datetime(["2024-01-01 00:00", "2024-01-01 09:00"])
    index = tocsin.build([("r", "t = timestamp '2024-01-01T00:00:00Z'")])
    assert index.match_table(pd.DataFrame({"t": times}))["event"].to_pylist() == [0]
    tokyo = pd.DataFrame({"t": times.tz_localize("Asia/Tokyo")})
    assert index.match_table(tokyo)["event"].to_pylist() == [1]


_VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([2**70, -(2**63), 2**64]),
    st.sampled_from([1.5, 2.0, float("nan"), float("inf")]),
    st.sampled_from(["a", "b", "1", ""]),
    st.sampled_from([Decimal("2"), Decimal("1.50")]),
    st.sampled_from([dt.date(2024, 1, 1), dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 1, 1)]),
    st.lists(st.integers(0, 3), max_size=2),
    st.fixed_dictionaries({"y": st.integers(0, 3)}),
)
_ASKED = [
    *("x = 1", "x = 1.5", "x = 'a'", "x = ''", "x = true", "x is null", "x > 2", "x != 2", "x.y = 1"),
    *("not x in (1, 2)", "x = timestamp '2024-01-01T00:00:00Z'"),
]


@pytest.mark.filterwarnings("ignore:rules name fields:tocsin.TocsinWarning")
@given(st.lists(_VALUES, max_size=6))
def test_columns_of_mixed_objects_are_read_value_by_value(values: list[Any]) -> None:
    index = tocsin.build([(when, when) for when in _ASKED])
    column = pd.Series(values, dtype=object)
    found = index.match_table(pd.DataFrame({"x": column})).to_pylist()
    assert [(row["event"], row["rule"]) for row in found] == _matched(
        index, [{"x": value} for value in values]
    )


def test_unions_below_lists_and_objects() -> None:
    codes, offsets = pa.array([0, 1, 0], pa.int8()), pa.array([0, 0, 1], pa.int32())
    either = pa.UnionArray.from_dense(codes, offsets, [pa.array([1, 2]), pa.array(["a"])])
    table = pa.table(
        {
            "bare": either,
            "object": pa.StructArray.from_arrays([either], ["y"]),
            "list": pa.ListArray.from_arrays(pa.array([0, 2, 2, 3]), either),
        }
    )
    rules = [("1", "bare = 'a'"), ("2", "object.y = 2"), ("3", "list = 'a'"), ("4", "list > 1")]
    index = tocsin.build(rules)
    found = [(row["event"], row["rule"]) for row in index.match_table(table).to_pylist()]
    assert found == _matched(index, table.to_pylist()) == [(0, "3"), (1, "1"), (2, "2"), (2, "4")]


def test_names_of_pandas_columns() -> None:
    index = tocsin.build([("r", "x > 1")])
    with pytest.raises(tocsin.InputError, match=r"a column named 0, the number 0: expected strings"):
        index.match_table(pd.DataFrame([[1, 2]]))
    with pytest.raises(tocsin.InputError, match="the DataFrame has 2 columns named 'y'"):
        index.match_table(pd.DataFrame([[1, 2, 3]], columns=["x", "y", "y"]))


def test_types_of_polars() -> None:
    pl = pytest.importorskip("polars", reason="polars is not installed")
    frame = pl.DataFrame(
        {
            "text": ["a", "b"],
            "category": pl.Series(["a", "b"], dtype=pl.Categorical),
            "enum": pl.Series(["a", "b"], dtype=pl.Enum(["a", "b"])),
            "decimal": [Decimal("1.5"), Decimal("2")],
            "nan": [float("nan"), 1.0],
            "list": [["a"], ["b", "c"]],
            "object": [{"y": 1}, {"y": 2}],
            "time": [dt.datetime(2024, 1, 1), None],
            "length": [dt.timedelta(1), dt.timedelta(2)],
        }
    )
    rules = [
        ("text", "text = 'a'"),
        ("category", "category = 'b'"),
        ("enum", "enum like 'b%'"),
        ("decimal", "decimal = 1.5"),
        ("nan", "nan is null"),
        ("list", "list = 'c'"),
        ("object", "object.y = 2"),
        ("time", "time < timestamp '2025-01-01T00:00:00Z'"),
    ]
    index = tocsin.build(rules)
    found = index.match_table(frame).to_pylist()
    assert [(row["event"], row["rule"]) for row in found] == _matched(index, frame.to_dicts())
    assert len(found) == len(rules)
    with pytest.raises(tocsin.InputError, match="field length has the type duration"):
        tocsin.build([("r", "length > 1")]).match_table(frame)


def test_what_a_lazy_frame_cannot_run_is_said() -> None:
    pl = pytest.importorskip("polars", reason="polars is not installed")
    frame = pl.LazyFrame({"x": [1]}).select(pl.col("y"))
    with pytest.raises(tocsin.InputError, match="a polars LazyFrame cannot be read as a table"):
        tocsin.build(RULES).match_table(frame)


@pytest.mark.parametrize("column", [pa.array([1]), pa.chunked_array([[1]])])
def test_a_column_is_no_table(column: Any) -> None:
    with pytest.raises(tocsin.UsageError, match="a table is expected, not one column: a pyarrow"):
        batches_of(column)


@pytest.mark.parametrize("given", [None, 5, "x.parquet", {"x": 1}, [{"x": 1}], pd.Series([1])])
def test_what_is_no_frame(given: Any) -> None:
    assert not is_frame(given)
    with pytest.raises(tocsin.UsageError, match="a table is expected, not "):
        table_of(given)


def test_nothing_is_imported_for_frames_that_nobody_has() -> None:
    code = (
        "import sys, pyarrow as pa\nfrom tocsin.tables import batches_of\n"
        "batches_of(pa.table({'x': [1]}))\n"
        "print({'polars', 'duckdb'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


MISTAKES: list[tuple[str, str, Any, str]] = [
    ("match", "EventError", pd.DataFrame({"x": [1]}), "not a pandas DataFrame: match_table takes tables"),
    ("match", "EventError", [{"x": 1}], "not a list: match_many takes several"),
    ("match", "EventError", '{"x": 1}', "not the string .*: json.loads makes one"),
    ("match", "EventError", None, "an event is a dictionary, not None"),
    ("match_table", "UsageError", {"x": 1}, "not a dictionary: match takes one event"),
    ("match_table", "UsageError", [{"x": 1}], "not a list: .*from_pylist"),
    (
        "match_table",
        "UsageError",
        Path("events.parquet"),
        "not the path 'events.parquet': read the file first",
    ),
    ("match_table", "UsageError", 5, r"takes a table \(Arrow, pandas, polars, DuckDB\), not the number 5"),
]


@pytest.mark.parametrize(("door", "error", "given", "said"), MISTAKES)
def test_mistakes_at_the_doors_of_an_index(door: str, error: str, given: Any, said: str) -> None:
    index = tocsin.build([("r", "x = 1")])
    with pytest.raises(getattr(tocsin, error), match=said):
        getattr(index, door)(given)
    if door == "match":
        with pytest.raises(tocsin.EventError, match=said):
            index.explain("r", given)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            "rules.csv",
            "the string 'rules.csv': read_rules reads files and folders, and a condition needs an id",
        ),
        (Path("rules"), "the path 'rules': read_rules reads files"),
        ({"id": "r", "when": "x = 1"}, "one rule as a dictionary: put it into a list"),
        (5, r"rules cannot be the number 5\. Expected are \(id, condition\) pairs"),
    ],
)
def test_mistakes_at_build(given: Any, said: str) -> None:
    with pytest.raises(tocsin.UsageError, match=said):
        tocsin.build(given)
