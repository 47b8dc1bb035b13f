"""Compressed files that unfold to more than anyone meant."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tocsin
from tocsin.cli import main
from tocsin.storage import most_unpacked, open_input, packed_files
from tocsin.storage.packed_files import SETTING

EVENT = b'{"a": 1, "padding": "' + b" " * 1000 + b'"}\n'


@pytest.fixture
def tight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SETTING, "100000")
    monkeypatch.setattr(packed_files, "UNPACKED_TIMES", 5)


def packed(path: Path, data: bytes) -> Path:
    path.write_bytes(gzip.compress(data))
    return path


def test_the_limit_is_a_floor_and_a_ratio(monkeypatch: pytest.MonkeyPatch) -> None:
    assert most_unpacked(10) == 1 << 30
    assert most_unpacked(1 << 30) == 200 << 30
    monkeypatch.setenv(SETTING, "5000")
    assert (most_unpacked(10), most_unpacked(100)) == (5000, 20_000)
    monkeypatch.setenv(SETTING, "much")
    with pytest.raises(tocsin.UsageError, match=SETTING):
        most_unpacked(10)


def test_what_is_within_the_limit_is_read_whole(tmp_path: Path, tight: None) -> None:
    data = bytes(range(256)) * 390
    with open_input(packed(tmp_path / "some.gz", data)) as stream:
        assert stream.readline() == data[:11]
        assert stream.read() == data[11:]
    (tmp_path / "two.gz").write_bytes(gzip.compress(b"one\n") + gzip.compress(b"two\n"))
    with open_input(tmp_path / "two.gz") as stream:
        assert stream.readlines() == [b"one\n", b"two\n"]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("events.jsonl.gz", EVENT * 200),
        ("endless.jsonl.gz", b" " * 200_000),
        ("events.csv.gz", b"a,b\n" + b"1,xxxxxxxxxxxxxxxxxxxxxxxx\n" * 20_000),
        ("open.csv.gz", b'a,b\n1,"' + b"x\n" * 200_000),
    ],
)
def test_bombs_of_events(
    tmp_path: Path, tight: None, capsys: pytest.CaptureFixture[str], name: str, data: bytes
) -> None:
    file = packed(tmp_path / name, data)
    with pytest.raises(
        tocsin.LimitError, match=f"{name}: unpacked, it has more than 100,000 bytes"
    ) as caught:
        tocsin.backtest([("r", "a = 1")], file)
    assert caught.value.setting == SETTING
    rules = tmp_path / "rules.csv"
    rules.write_text("id,when\nr,a = 1\n")
    assert main(["match", str(rules), "--events", str(file), "--no-spark"]) == 1
    said = capsys.readouterr().err
    assert f"tocsin: {file}: unpacked, it has more than" in said
    assert "Traceback" not in said


@pytest.mark.parametrize("name", ["rules.csv.gz", "rules.jsonl.gz", "rules.sql.gz"])
def test_bombs_of_rules(tmp_path: Path, tight: None, name: str) -> None:
    with pytest.raises(tocsin.LimitError, match="unpacked, it has more than"):
        tocsin.read_rules(packed(tmp_path / name, b"-" * 200_000))


def test_bombs_in_parquet(tmp_path: Path, tight: None) -> None:
    table = pa.table({"a": [f"{'x' * 200}{row}" for row in range(2000)], "b": list(range(2000))})
    pq.write_table(table, tmp_path / "events.parquet", compression="zstd", use_dictionary=False)
    with pytest.raises(tocsin.LimitError, match="unpacked, it has more than"):
        tocsin.backtest([("r", "a = 'y'")], tmp_path / "events.parquet")


def test_bombs_of_rules_in_parquet(tmp_path: Path, tight: None) -> None:
    table = pa.table(
        {"id": list(map(str, range(2000))), "when": [f"a = '{'x' * 200}{row}'" for row in range(2000)]}
    )
    pq.write_table(table, tmp_path / "rules.parquet", compression="zstd", use_dictionary=False)
    with pytest.raises(tocsin.LimitError, match="unpacked, it has more than"):
        tocsin.read_rules(tmp_path / "rules.parquet")


def repeated(text: object, rows: int) -> pa.Array:
    """One value in all rows of a column, which Parquet keeps once."""
    return pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array([text]))


REPEATED = [
    repeated("x" * 20_000, 100),
    repeated("x" * 20_000, 100).cast(pa.string()).cast(pa.large_string()),
    pa.array([["x" * 20_000]] * 100),
    pa.array([{"b": "x" * 20_000}] * 100),
    pa.array([[("x" * 20_000, 1)]] * 100, pa.map_(pa.string(), pa.int64())),
    pa.array([None, *["x" * 20_000] * 99]),
]


@pytest.mark.parametrize("column", REPEATED, ids=lambda column: str(column.type)[:20])
def test_bombs_in_dictionaries(tmp_path: Path, tight: None, column: pa.Array) -> None:
    """The pages are small, as is what they say of themselves, and the texts are not."""
    events, rules = tmp_path / "events.parquet", tmp_path / "rules.parquet"
    pq.write_table(pa.table({"a": column}), events)
    pq.write_table(
        pa.table({"id": [str(n) for n in range(100)], "when": ["b = 1"] * 100, "a": column}), rules
    )
    assert pq.read_metadata(events).row_group(0).total_byte_size < 30_000
    with pytest.raises(tocsin.LimitError, match="unpacked, it has more than 100,000 bytes"):
        tocsin.backtest([("r", "a = 'y'")], events)
    with pytest.raises(tocsin.LimitError, match="unpacked, it has more than"):
        tocsin.read_rules(rules)


@pytest.mark.parametrize("columns", [1, 7])
def test_bombs_in_many_small_row_groups(tmp_path: Path, tight: None, columns: int) -> None:
    """Each group is small, and each column of it, and all of them together are not."""
    rules = tmp_path / "rules.parquet"
    table = pa.table({"id": [str(n) for n in range(400)], "when": ["b = 1"] * 400})
    for number in range(columns):
        table = table.append_column(f"c{number}", repeated("x" * (140_000 // columns), 400))
    pq.write_table(table, rules, row_group_size=5)
    with pytest.raises(tocsin.LimitError, match="unpacked, it has more than"):
        tocsin.read_rules(rules)


@pytest.mark.parametrize("rows", [4, 50])
def test_many_row_groups_within_the_limit(tmp_path: Path, tight: None, rows: int) -> None:
    rules = tmp_path / "rules.parquet"
    texts = [text for n in range(20) for text in ("x" * 500 + str(n), "y", "y", "z")]
    pq.write_table(
        pa.table({"id": [str(n) for n in range(80)], "when": ["b = 1"] * 80, "c": texts}),
        rules,
        row_group_size=rows,
    )
    assert len(tocsin.read_rules(rules)) == 80


def test_a_dictionary_with_one_long_text_that_is_rare(tmp_path: Path, tight: None) -> None:
    texts = ["x" * 20_000, *["y", "z", None] * 1000]
    pq.write_table(pa.table({"a": texts}), tmp_path / "events.parquet")
    found = tocsin.backtest([("r", "a = 'y'")], tmp_path / "events.parquet")
    assert (found.summary.events, found.summary.matches) == (3001, 1000)


def test_bombs_of_equal_numbers(tmp_path: Path, tight: None) -> None:
    pq.write_table(pa.table({"a": repeated(7, 100_000).cast(pa.int64())}), tmp_path / "events.parquet")
    with pytest.raises(tocsin.LimitError, match="unpacked, it has more than"):
        tocsin.backtest([("r", "a = 1")], tmp_path / "events.parquet")


def test_a_record_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tocsin.tables.csv_records.LONGEST_RECORD", 1000)
    (tmp_path / "events.csv").write_text("a\n" + '"x\n",' * 1000)
    with pytest.raises(tocsin.InputError, match="a record is longer than 2,000 characters"):
        tocsin.backtest([("r", "a = 1")], tmp_path / "events.csv")
