"""Event files in slices: which files, where they are cut, and what each slice gives."""

from __future__ import annotations

import gzip
import json
import pickle
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.events.reading import seen_batch

from tocsin.errors import InputError, TocsinWarning
from tocsin.events import EventChunk, Slice, layout_of, plan_slices, read_slice
from tocsin.events.slices import count_records, event_files


def read(
    slices: list[Slice], *fields: str, keep: tuple[str, ...] = (), batch_rows: int = 8192
) -> list[EventChunk]:
    wanted = [tuple(field.split(".")) for field in fields]
    slices = pickle.loads(pickle.dumps(slices))
    return [chunk for piece in slices for chunk in read_slice(piece, wanted, keep, batch_rows)]


def values_by_row(chunks: list[EventChunk], field: str) -> dict[int, object]:
    """The one number of each event, under its row number."""
    found = {}
    for chunk in chunks:
        assert chunk.events.length == len(chunk.rows) == chunk.kept.num_rows
        for row, (_, cells) in seen_batch(chunk.events).get((field,), {}).items():
            found[int(chunk.rows[row])] = cells[0][1]  # type: ignore[index]
    return found


def test_which_files_in_which_order(tmp_path: Path) -> None:
    for name in [
        "b.jsonl",
        "a/z.JSONL",
        "a/_SUCCESS",
        "a/.z.jsonl.crc",
        "_temporary/x.jsonl",
        ".h/y.jsonl",
        "_k=1/c.json",
    ]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}\n")
    files, file_format = event_files(tmp_path)
    assert [str(Path(file).relative_to(tmp_path)) for file in files] == [
        "_k=1/c.json",
        "a/z.JSONL",
        "b.jsonl",
    ]
    assert file_format == "jsonl"
    assert [piece.first_row for piece in plan_slices(tmp_path)] == [0, 1, 2]


def test_paths_that_are_no_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file or folder"):
        plan_slices(tmp_path / "absent.jsonl")
    with pytest.raises(InputError, match="the folder has no event files"):
        plan_slices(tmp_path)
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(InputError, match=r"neither its name nor what is in it"):
        plan_slices(tmp_path / "notes.txt")
    (tmp_path / "a.jsonl").write_text("{}")
    with pytest.warns(TocsinWarning, match=r"not read.*notes\.txt"):
        assert len(plan_slices(tmp_path)) == 1
    (tmp_path / "notes.txt").unlink()
    (tmp_path / "b.csv").write_text("x\n")
    with pytest.raises(InputError, match=r"one format are expected: .*b\.csv is CSV, .*a\.jsonl is JSON"):
        plan_slices(tmp_path)


@pytest.mark.parametrize("name", ["x.parquet", "x.jsonl.gz", "x.csv.gz"])
def test_a_file_that_is_not_what_its_name_says(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"this is something else")
    with pytest.raises(InputError, match="cannot be read"):
        read(plan_slices(tmp_path / name), "x")


LINES = st.lists(
    st.sampled_from(
        [b'{"n": 1}', b"{}", b"", b" \t", b"\r", b"oops", b'{"n": "' + b"x" * 40 + b'"}', b"\xff"]
    )
)


@settings(deadline=None)
@given(LINES, st.integers(16, 80), st.sampled_from([b"", b"\n"]), st.sampled_from([b"", b"\xef\xbb\xbf"]))
def test_slices_are_the_whole(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], slice_bytes: int, end: bytes, mark: bytes
) -> None:
    folder = tmp_path_factory.mktemp("slices")
    (folder / "a.jsonl").write_bytes(mark + b"\n".join(lines) + end)
    (folder / "b.jsonl").write_bytes(b'{"n": 2}')
    slices = plan_slices(folder, slice_bytes)
    records = [line for line in lines if line.strip()]
    first_row = 0
    for piece in slices:
        assert piece.first_row == first_row
        chunks = read([piece], "n", batch_rows=3)
        assert sum(len(chunk.rows) + len(chunk.rejects) for chunk in chunks) == piece.rows
        first_row += piece.rows or 0
    assert first_row == len(records) + 1
    whole = read(slices, "n", batch_rows=3)
    assert [row for chunk in whole for row in chunk.rows] == [
        row for row, line in enumerate([*records, b"{}"]) if line.startswith(b"{")
    ]
    assert [reject.row for chunk in whole for reject in chunk.rejects] == [
        row for row, line in enumerate(records) if not line.startswith(b"{")
    ]


@given(st.lists(st.sampled_from([b"x", b" x", b"", b" ", b"\t\r", b"\r"])))
def test_counting_lines(lines: list[bytes]) -> None:
    assert count_records(b"\n".join(lines)) == sum(1 for line in lines if line.strip())


def test_json_lines_with_kept_values(tmp_path: Path) -> None:
    lines = ['{"n": 1, "u": {"v": 2}, "k": "é"}', "[]", '{"k": {"a": null}}']
    (tmp_path / "x.ndjson").write_text("\n".join(lines))
    (chunk,) = read(plan_slices(tmp_path / "x.ndjson"), "n", "u.v", keep=("k", "absent"))
    assert chunk.first_row == 0
    assert chunk.rows.tolist() == [0, 2]
    assert set(chunk.events.columns) == {("n",), ("u", "v")}
    assert chunk.kept.to_pydict() == {"k": ['"é"', '{"a": null}'], "absent": [None, None]}
    assert [tuple(reject) for reject in chunk.rejects] == [(1, "not an object but a list", "[]")]


def test_packed_json_lines_are_counted(tmp_path: Path) -> None:
    for name, numbers in [("a.jsonl.gz", [1, 2, 3]), ("b.jsonl", [4]), ("c.jsonl.gz", [5, 6])]:
        text = "\n\n".join(json.dumps({"n": number}) for number in numbers).encode()
        (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    slices = plan_slices(tmp_path)
    assert [(piece.first_row, piece.rows) for piece in slices] == [(0, 3), (3, 1), (4, None)]
    assert values_by_row(read(slices, "n"), "n") == {row: row + 1 for row in range(6)}


def test_what_comes_before_a_cut_is_read(tmp_path: Path) -> None:
    packed = gzip.compress(b'{"n": 1}\n{"n": 2}\n' + bytes(range(128, 228)))
    (tmp_path / "a.jsonl.gz").write_bytes(packed[:-40])
    chunks = read_slice(Slice(str(tmp_path / "a.jsonl.gz"), "jsonl", 0, None), [("n",)])
    assert values_by_row([next(chunks)], "n") == {0: 1, 1: 2}
    with pytest.raises(InputError, match="cannot be read"):
        list(chunks)


def test_what_comes_before_a_quote_that_is_never_closed_is_read(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text('n,m\n1,2\n2,3\n"3,4\n5,6\n')
    with pytest.raises(InputError, match="never closed"):
        layout_of([str(file)])
    layout, counts = layout_of([str(file)], as_far_as_readable=True)
    assert counts == [2]
    chunks = read_slice(Slice(str(file), "csv", 0, None, layout=layout), [("n",)])
    assert values_by_row([next(chunks)], "n") == {0: 1, 1: 2}
    with pytest.raises(InputError, match=r"a\.csv:4: a quote is never closed"):
        list(chunks)


def test_parquet_by_row_groups(tmp_path: Path) -> None:
    table = pa.table({"n": range(100), "other": ["x"] * 100, "a.b": [7] * 100, "a": [{"b": 8}] * 100})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=10)
    pq.write_table(table.slice(0, 0), tmp_path / "b.parquet")
    pq.write_table(table.slice(50), tmp_path / "c.parquet")
    slices = plan_slices(tmp_path, slice_bytes=1)
    assert [piece.first_row for piece in slices[:11]] == list(range(0, 101, 10))
    assert sum(piece.rows or 0 for piece in slices) == 150
    assert values_by_row(read(slices, "n", batch_rows=7), "n") == {
        row: row if row < 100 else row - 50 for row in range(150)
    }
    (chunk,) = read(plan_slices(tmp_path / "a.parquet"), "a.b", keep=("other", "n"))
    assert seen_batch(chunk.events)["a", "b"][99] == (False, [("number", 8)])
    assert chunk.kept.column_names == ["other", "n"]
    counted = read(plan_slices(tmp_path / "a.parquet"))
    assert [row for chunk in counted for row in chunk.rows] == list(range(100))
    assert sum(chunk.kept.num_rows for chunk in counted) == 100
    with pytest.raises(InputError, match=r"a\.parquet: there is no column named 'z' to keep"):
        read(plan_slices(tmp_path / "a.parquet"), keep=("z",))


def test_parquet_rows_that_are_not_utf_8(tmp_path: Path) -> None:
    texts = pa.array([b"a", b"\xff", b"b", b"\xfe", b"\xff"]).view(pa.string())
    pq.write_table(pa.table({"s": texts, "n": range(5)}), tmp_path / "x.parquet")
    (chunk,) = read(plan_slices(tmp_path / "x.parquet"), "s", "n", keep=("n",))
    assert chunk.rows.tolist() == [0, 2]
    assert chunk.kept.to_pydict() == {"n": [0, 2]}
    assert [reject.row for reject in chunk.rejects] == [1, 3, 4]
    assert values_by_row([chunk], "s") == {0: "a", 2: "b"}


def test_empty_files(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("")
    (tmp_path / "b.jsonl").write_text('{"n": 1}')
    assert values_by_row(read(plan_slices(tmp_path), "n"), "n") == {0: 1}
    assert plan_slices(tmp_path / "a.jsonl") == []


def test_chunks_of_long_texts_are_bounded(tmp_path: Path) -> None:
    """By the columns that are read, whatever others there are; a row that is larger comes alone."""
    texts = [f"{row}{'x' * 2**20}" for row in range(70)]
    table = pa.table({"n": range(70), "long": texts, "other": texts})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=35)
    slices = plan_slices(tmp_path / "a.parquet", slice_bytes=2**30)
    assert len(slices) == 1
    assert len(read(slices, "n")) == 1
    chunks = read(slices, "n", keep=("long",))
    assert max(chunk.kept.nbytes for chunk in chunks) <= 33 * 2**20
    assert values_by_row(chunks, "n") == {row: row for row in range(70)}
    pq.write_table(pa.table({"long": ["x" * 2**25] * 2}), tmp_path / "b.parquet", use_dictionary=False)
    assert [len(chunk.rows) for chunk in read(plan_slices(tmp_path / "b.parquet"), keep=("long",))] == [1, 1]


def test_files_that_cannot_be_read_can_be_left_out(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        pq.write_table(pa.table({"n": [1, 2]}), tmp_path / f"{name}.parquet")
    (tmp_path / "b.parquet").write_bytes(b"PAR1 this is none")
    with pytest.raises(InputError, match=r"b\.parquet: cannot be read"):
        plan_slices(tmp_path)
    unreadable: dict[str, str] = {}
    slices = plan_slices(tmp_path, unreadable=unreadable)
    assert list(unreadable) == [str(tmp_path / "b.parquet")]
    assert [(Path(piece.file).name, piece.first_row) for piece in slices] == [
        ("a.parquet", 0),
        ("c.parquet", 2),
    ]
