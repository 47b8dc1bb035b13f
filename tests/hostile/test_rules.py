"""Collections of rules that cannot all be taken, or barely."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.contract.doors import indexed
from tests.hostile.clock import not_hanging

import tocsin
from tocsin.engines import ENGINES
from tocsin.errors import InputError, RuleError, RuleErrors, TocsinError, UsageError


@pytest.fixture(params=list(ENGINES))
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_ids_that_occur_twice(engine: str) -> None:
    rules = [("a", "x = 1"), ("b", "x = 2"), ("a", "x = 3"), ("a", "x = 4"), (1, "x = 5"), ("1", "x = 6")]
    with pytest.raises(RuleErrors) as caught:
        indexed(rules, engine=engine)
    assert [error.rule for error in caught.value.errors] == ["a", "a", "1"]
    assert [error.line for error in caught.value.errors] == [3, 4, 6]
    assert "already taken" in str(caught.value)
    index, errors = tocsin.build_good(rules, engine=engine)
    assert len(index) == 3
    assert len(errors) == 3
    assert [match.rule for match in index.match({"x": [1, 3, 5, 6]})] == ["a", "1"]


@pytest.mark.parametrize(
    "rules",
    [
        [(None, "x = 1")],
        [("", "x = 1")],
        [("a", None)],
        [("a", 5)],
        [("a", b"x = 1")],
        [(1.5, "x = 1")],
        [(True, "x = 1")],
        [("a",)],
        [("a", "x = 1", "extra")],
        ["ab"[:1]],
        [None],
        [5],
        [("\ud800", "x = 1")],
        [("a", "x = '\ud800'")],
        {"a": None},
        pa.table({"id": pa.array([None], pa.string()), "when": ["x = 1"]}),
        pa.table({"id": ["a"], "when": pa.array([None], pa.string())}),
    ],
    ids=lambda rules: repr(rules)[:50],
)
def test_rows_that_are_no_rules(rules: object, engine: str) -> None:
    with pytest.raises(RuleError):
        indexed(rules, engine=engine)


@pytest.mark.parametrize("rules", [None, 5, "x = 1", b"x = 1", object(), 1.5])
def test_what_is_no_collection_of_rules(rules: object, engine: str) -> None:
    with pytest.raises(UsageError):
        indexed(rules, engine=engine)


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (pa.table({}), "no column 'id'"),
        (pa.table({"id": ["a"]}), "no column 'when'"),
        (pa.table({"when": ["x = 1"]}), "no column 'id'"),
        (pa.table({"ID": ["a"], "When": ["x = 1"]}), "no column 'id'"),
        (pa.table({"id": [1.5], "when": ["x = 1"]}), "id"),
        (pa.table({"id": [[1]], "when": ["x = 1"]}), "id"),
        (pa.table({"id": ["a"], "when": [5]}), "when"),
        (pa.table({"id": [b"\xff"], "when": ["x = 1"]}), "id"),
        (pa.Table.from_arrays([pa.array(["a"])] * 3, names=["id", "when", "id"]), "twice"),
    ],
    ids=lambda part: str(part)[:40],
)
def test_tables_of_another_shape(table: pa.Table, reason: str) -> None:
    with pytest.raises(TocsinError, match=reason):
        indexed(table)


@pytest.mark.parametrize(
    "make",
    [
        lambda ids, whens: list(zip(ids, whens, strict=True)),
        lambda ids, whens: dict(zip(ids, whens, strict=True)),
        lambda ids, whens: ((name, when) for name, when in zip(ids, whens, strict=True)),
        lambda ids, whens: [[name, when] for name, when in zip(ids, whens, strict=True)],
        lambda ids, whens: pa.table({"id": ids, "when": whens}),
        lambda ids, whens: pa.table({"when": whens, "severity": ["high"] * len(ids), "id": ids}),
        lambda ids, whens: pa.record_batch({"id": ids, "when": whens}),
        lambda ids, whens: pa.table({"id": ids, "when": whens}).to_reader(max_chunksize=1),
        lambda ids, whens: pa.table(
            {"id": pa.array(ids).dictionary_encode(), "when": pa.array(whens, pa.string_view())}
        ),
        lambda ids, whens: pa.table({"id": [None, *ids], "when": [None, *whens]}).slice(1),
        lambda ids, whens: pd.DataFrame({"id": ids, "when": whens}),
    ],
)
def test_every_form_of_rules(make: Callable[[list[str], list[str]], object], engine: str) -> None:
    index = indexed(make(["a", "é", "c"], ["x = 1", "x > 0", "not x = 1"]), engine=engine)
    assert [match.rule for match in index.match({"x": 1})] == ["a", "é"]
    assert [index.rule(name).when for name in ("a", "é", "c")] == ["x = 1", "x > 0", "not x = 1"]


def test_integer_ids_are_their_digits(engine: str) -> None:
    index = indexed([(1, "x"), (np.int64(-2), "x"), (10**30, "x")], engine=engine)
    assert [match.rule for match in index.match({"x": True})] == ["1", "-2", str(10**30)]
    table = pa.table({"id": pa.array([1, 2**64 - 1], pa.uint64()), "when": ["x", "x"]})
    assert [match.rule for match in indexed(table, engine=engine).match({"x": True})] == [
        "1",
        str(2**64 - 1),
    ]


def test_odd_ids(engine: str) -> None:
    names = ["a b", "☃", "\x00", "a\nb", "'", '"', "x" * 100_000, "😀", " ", "e\u0301", "é"]
    index = indexed([(name, "x = 1") for name in names], engine=engine)
    assert [match.rule for match in index.match({"x": 1})] == names
    assert index.match_table(pa.table({"x": [1]}))["rule"].to_pylist() == names
    assert all(name in index and index.rule(name).id == name for name in names)
    assert "none" not in index
    with pytest.raises(KeyError):
        index.rule("none")
    with pytest.raises(KeyError):
        index.explain("none", {})


def test_an_unknown_engine() -> None:
    with pytest.raises(UsageError, match=r"no engine 'quick'.*atree"):
        indexed([], engine="quick")


def test_a_hundred_thousand_rules_of_one_condition() -> None:
    with not_hanging():
        index = indexed([(str(number), "x = 1 and y = 2") for number in range(100_000)])
        assert len(index.match({"x": 1, "y": 2})) == 100_000
        assert index.match_table(pa.table({"x": [1, 1], "y": [2, 3]})).num_rows == 100_000
    assert index.stats().distinct_conditions == 1


def test_folders_and_files_without_rules(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no rule files"):
        tocsin.read_rules(tmp_path)
    with pytest.raises(InputError, match="no such file"):
        tocsin.read_rules(tmp_path / "none.csv")
    for name, content in {
        "empty.csv": b"",
        "columns.csv": b"id,condition\na,x = 1\n",
        "columns.parquet": b"PAR1 this is not Parquet PAR1",
        "latin.sql": b"create trigger a when x = '\xe9';",
        "broken.sql.gz": b"\x1f\x8b broken",
    }.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(TocsinError, match=name):
            tocsin.read_rules(tmp_path / name)
    for name, content in {"empty.sql": b"", "empty.jsonl": b"", "only.csv": b"id,when\n"}.items():
        (tmp_path / name).write_bytes(content)
        assert len(indexed(tocsin.read_rules(tmp_path / name))) == 0


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"[]",
        b"5",
        b'{"id": "a"}',
        b'{"when": "x"}',
        b'{"id": null, "when": "x"}',
        b'{"id": 1.5, "when": "x"}',
        b"[" * 100_000,
    ],
)
def test_bad_lines_among_good_ones(line: bytes, tmp_path: Path) -> None:
    path = tmp_path / "rules.jsonl"
    path.write_bytes(b'{"id": "a", "when": "x = 1"}\n' + line + b'\n{"id": "b", "when": "x = 1"}\n')
    with not_hanging(), pytest.raises(RuleError) as caught:
        tocsin.read_rules(path)
    assert caught.value.file == str(path)
    assert caught.value.line == 2
    rules = tocsin.read_rules(path, skip_bad=True)
    assert [rule.id for rule in rules] == ["a", "b"]
    assert [error.line for error in rules.rejected] == [2]


def test_a_trigger_file_of_ten_thousand_errors(tmp_path: Path) -> None:
    path = tmp_path / "bad.sql"
    path.write_text("".join(f"create trigger t{number} when x = ;\n" for number in range(10_000)))
    with not_hanging(), pytest.raises(RuleErrors) as caught:
        tocsin.read_rules(path)
    assert len(caught.value.errors) == 10_000
    assert [error.line for error in caught.value.errors[:3]] == [1, 2, 3]
