"""CSV records, and their types over the whole input."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from tests.events.reading import seen_batch

from tocsin.errors import InputError
from tocsin.events import EventChunk, layout_of, plan_slices, read_slice
from tocsin.events.csv_chunks import CsvFile, Wanted
from tocsin.events.csv_columns import ColumnType


def written(folder: Path, *texts: str | bytes) -> Path:
    for number, text in enumerate(texts):
        data = text.encode() if isinstance(text, str) else text
        (folder / f"{number}.csv").write_bytes(data)
    return folder


def column_type(folder: Path, *values: str) -> ColumnType:
    lines = "".join(f'1,"{value}"\n' for value in values)
    file = written(folder, "id,x\n" + lines) / "0.csv"
    return dict(layout_of([str(file)])[0])["x"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["true", "FALSE", "", "True"], ColumnType.BOOLEAN),
        (["true", "1"], ColumnType.STRING),
        (["0", "1"], ColumnType.INTEGER),
        (["+7", "-007", " 12\t", ""], ColumnType.INTEGER),
        (["9223372036854775807", "-9223372036854775808"], ColumnType.INTEGER),
        (["9223372036854775808"], ColumnType.LONG_INTEGER),
        (["1", "9" * 5000], ColumnType.LONG_INTEGER),
        (["1", "9223372036854775808", "1.5"], ColumnType.FLOAT),
        (["1", ".5", "5.", "-1e5", "NaN", "-inf", "Infinity"], ColumnType.FLOAT),
        (["NaN", "inf"], ColumnType.STRING),
        (["1", "NULL"], ColumnType.STRING),
        (["1_000"], ColumnType.STRING),
        (["٣"], ColumnType.STRING),
        (["0x10"], ColumnType.STRING),
        ([" "], ColumnType.STRING),
        (["1\n2"], ColumnType.STRING),
        (["", ""], ColumnType.EMPTY),
        ([], ColumnType.EMPTY),
    ],
)
def test_types(tmp_path: Path, values: list[str], expected: ColumnType) -> None:
    assert column_type(tmp_path, *values) is expected


def chunks(path: Path, *fields: str, keep: tuple[str, ...] = (), batch_rows: int = 8192) -> list[EventChunk]:
    wanted = [(field,) for field in fields]
    return [chunk for piece in plan_slices(path) for chunk in read_slice(piece, wanted, keep, batch_rows)]


def test_cells(tmp_path: Path) -> None:
    header = "\ufeffb,i,l,f,s,a.b\r\n"
    first, second = 'TRUE,+7,9223372036854775808, 1.5 ," x",1\r\n', ',,,nan,"a ""q""\nb",\r\n'
    text = header + first + second + "false,-1,5,-0,é,2\r\n"
    (chunk,) = chunks(written(tmp_path, text), "b", "i", "l", "f", "s", "a.b", "absent", keep=("s", "i", "l"))
    assert seen_batch(chunk.events) == {
        ("b",): {0: (False, [("boolean", True)]), 2: (False, [("boolean", False)])},
        ("i",): {0: (False, [("number", 7)]), 2: (False, [("number", -1)])},
        ("l",): {0: (False, [("number", 2**63)]), 2: (False, [("number", 5)])},
        ("f",): {0: (False, [("number", 1.5)]), 2: (False, [("number", 0)])},
        ("s",): {row: (False, [("string", value)]) for row, value in enumerate([" x", 'a "q"\nb', "é"])},
        ("a.b",): {0: (False, [("number", 1)]), 2: (False, [("number", 2)])},
    }
    assert chunk.events.length == 3
    assert chunk.kept.to_pydict() == {
        "s": [" x", 'a "q"\nb', "é"],
        "i": [7, None, -1],
        "l": ["9223372036854775808", None, "5"],
    }


def test_files_are_typed_together(tmp_path: Path) -> None:
    folder = written(tmp_path, "x,y\n1,2\n", "", "y,x,z\n3,,true\n4.5,abc,\n")
    found = chunks(folder, "x", "y", "z", keep=("z", "x"))
    assert [chunk.rows.tolist() for chunk in found] == [[0], [1, 2]]
    assert seen_batch(found[0].events) == {
        ("x",): {0: (False, [("string", "1")])},
        ("y",): {0: (False, [("number", 2)])},
    }
    assert [chunk.kept.to_pydict() for chunk in found] == [
        {"z": [None], "x": ["1"]},
        {"z": [True, None], "x": [None, "abc"]},
    ]
    assert found[0].kept.schema == found[1].kept.schema


def test_rejects_keep_their_numbers(tmp_path: Path) -> None:
    text = b'x,y\n1,2\n3\n\n4,5,6\n"7"8,9\n"\xff",1\n10,11\n'
    found = chunks(written(tmp_path, text), "x", batch_rows=2)
    assert [row for chunk in found for row in chunk.rows] == [0, 5]
    assert [chunk.first_row for chunk in found] == [0, 2, 4]
    assert [reject[:2] for chunk in found for reject in chunk.rejects] == [
        (1, "1 values where the header names 2"),
        (2, "3 values where the header names 2"),
        (3, "quotes out of place: ',' expected after '\"'"),
        (4, "not valid UTF-8"),
    ]
    assert [reject.text for chunk in found for reject in chunk.rejects] == [
        "3",
        "4,5,6",
        '"7"8,9',
        '"\\xff",1',
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x,y,x\n1,2,3\n", r"0\.csv: the header names 'x' more than once"),
        (b"x,\xff\n", r"0\.csv: the header cannot be read: not valid UTF-8"),
        ('x\n1\n2\n"3\n4\n', r"0\.csv:4: a quote is never closed"),
    ],
)
def test_inputs_that_cannot_be_read(tmp_path: Path, text: str | bytes, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        plan_slices(written(tmp_path, text))


def test_a_column_to_keep_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no column named 'z' to keep"):
        chunks(written(tmp_path, "x\n1\n"), keep=("z",))


def test_long_values_and_long_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = "v" * 200_000
    (chunk,) = chunks(written(tmp_path, f"x\n{long}\n"), keep=("x",))
    assert chunk.kept.to_pydict() == {"x": [long]}
    monkeypatch.setattr("tocsin.tables.csv_records.LONGEST_RECORD", 1000)
    with pytest.raises(InputError, match=r"0\.csv:2: a line is longer than 1,000 characters"):
        plan_slices(tmp_path)


def test_header_only_and_packed_files(tmp_path: Path) -> None:
    assert [chunk.events.length for chunk in chunks(written(tmp_path, "x,y\n"), "x")] == []
    packed = tmp_path / "packed.csv.gz"
    packed.write_bytes(gzip.compress(b"x\n1\n2\n"))
    (chunk,) = chunks(packed, "x")
    assert chunk.rows.tolist() == [0, 1]
    packed.write_bytes(gzip.compress(b"x\n1\n2\n" * 1000)[:-20])
    with pytest.raises(InputError, match=r"packed\.csv\.gz: cannot be read"):
        plan_slices(packed)


def test_an_empty_file_has_no_columns(tmp_path: Path) -> None:
    with CsvFile(str(written(tmp_path, "") / "0.csv")) as opened:
        assert opened.names == []
        assert list(opened.batches(Wanted(), 0, 10)) == []
