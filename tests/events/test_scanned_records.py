"""Records of CSV by the loop: the same types, cells, texts and rejects as one by one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.events.reading import seen_batch

from tocsin.errors import InputError
from tocsin.events import csv_chunks, layout_of, scanned_cells, scanned_records
from tocsin.events.csv_chunks import CsvFile, Records, Wanted, read_records
from tocsin.events.csv_columns import ColumnType, type_of

VALUES = [
    *("", "", "1", "-7", "+12", "007", "9223372036854775807", "9223372036854775808", "-9223372036854775808"),
    *("-9223372036854775809", "1" * 25, "0" * 30 + "5", "18446744073709551616", "36893488147419103232"),
    *("1.5", ".5", "5.", "-0", "-0.0", "1e5", "1E-400", "1e400", "2.5e+3", "0.1234567890123456789012"),
    *("9007199254740993", "9007199254740993.0", "123456789012345678.75", "nan", "NaN", "-inf", "Infinity"),
    *("+nan", "0nan", "true", "FALSE", "True", "a", "é", "\ufeff", "x y", " 3 ", "\t4", " ", "NULL", "1_0"),
    *(
        "1e",
        "e5",
        "+",
        "-",
        ".",
        "1.2.3",
        "1\x00",
        "٣",
        'q"q',
        "1,5",
        "1\n",
        "a\r\nb",
        '"',
        '""',
        "truE",
        "+true",
    ),
]
POOLS = [
    *(
        VALUES,
        VALUES[:12],
        VALUES[:22],
        ["true", "false", "TRUE", ""],
        ["0.5", "1", "", "nan"],
        ["nan", "inf"],
    ),
    *(["a", "b", "é", ""], ["1", "9" * 30, "", "-5"], [""], ["x" * 50, "1"]),
]
NAMES = ["a", "b", "c d"]
_BEHIND_HEADER = 12
"""With a byte order mark, and a line end of two bytes."""


@pytest.fixture(autouse=True)
def by_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_chunks, "FEW_BYTES", 3)
    monkeypatch.setattr(scanned_cells, "is_cached", lambda _: True)


def _written(value: str, is_quoted: bool) -> str:
    needs = value.startswith('"') or any(mark in value for mark in ",\r\n")
    return '"' + value.replace('"', '""') + '"' if is_quoted or needs else value


@st.composite
def csv_texts(draw: st.DrawFn) -> bytes:
    pools = [draw(st.sampled_from(POOLS)) for _ in NAMES]
    end = draw(st.sampled_from(["\n", "\n", "\r\n", "\r"]))
    lines = [",".join(NAMES)]
    for width in draw(st.lists(st.sampled_from([3] * 12 + [0, 1, 2, 4, 9]), max_size=12)):
        values = [draw(st.sampled_from(pools[place % 3])) for place in range(width)]
        lines.append(",".join(_written(value, draw(st.integers(0, 6)) == 0) for value in values))
    text = draw(st.sampled_from(["", "", "\ufeff"])) + end.join(lines) + draw(st.sampled_from(["", end]))
    data = text.encode()
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 3])) if len(data) > _BEHIND_HEADER else 0):
        place = draw(st.integers(_BEHIND_HEADER, len(data)))
        piece = draw(
            st.sampled_from([b'"', b"\xff", b"\r", b"\n", b",", b"\xc3", b"", b"\xed\xa0\x80", b'"7"8,'])
        )
        data = data[:place] + piece + data[place + 1 :]
    return data


def _all(records: list[Records]) -> tuple[object, ...]:
    cells: dict[object, dict[int, object]] = {}
    for some in records:
        for field, seen in seen_batch(some.events).items():
            cells.setdefault(field, {}).update({int(some.rows[row]): cell for row, cell in seen.items()})
    texts = {
        name: pa.chunked_array([some.texts[name] for some in records]).to_pylist()
        for name in NAMES
        if records
    }
    rows = [row for some in records for row in some.rows.tolist()]
    return rows, [reject for some in records for reject in some.rejects], cells, texts


def check(folder: Path, data: bytes, size: int) -> None:
    file = str(folder / "r.csv")
    Path(file).write_bytes(data)
    traits = dict.fromkeys(NAMES, 0)
    found: list[Records] = []
    failure = ""
    try:
        with CsvFile(file) as opened:
            names = opened.names
            found.extend(opened.batches(Wanted(traits=traits), 0, 100))
    except InputError as error:
        failure = str(error)
    types = {name: type_of(traits[name]) for name in names}
    if failure:
        with pytest.raises(InputError) as caught:
            layout_of([file])
        assert str(caught.value) == failure
    else:
        assert layout_of([file]) == (tuple(types.items()), [sum(len(_rows(some)) for some in found)])
    assert dict(layout_of([file], as_far_as_readable=True)[0]) == types
    wanted = Wanted({name: kind for name, kind in types.items() if kind is not ColumnType.EMPTY}, NAMES)
    with CsvFile(file) as opened:
        one_by_one = _up_to_failure(opened.batches(wanted, 7, 100))
    assert _up_to_failure(read_records(file, wanted, 7, size)) == one_by_one


def _rows(some: Records) -> list[int]:
    return [*some.rows.tolist(), *(reject.row for reject in some.rejects)]


def _up_to_failure(records: Iterator[Records]) -> tuple[object, ...]:
    found: list[Records] = []
    try:
        found.extend(records)
    except InputError as error:
        return *_all(found), str(error)
    return _all(found)


@given(csv_texts(), st.sampled_from([1, 2, 8192]))
def test_any_records(tmp_path_factory: pytest.TempPathFactory, data: bytes, size: int) -> None:
    check(tmp_path_factory.mktemp("records"), data, size)


@pytest.mark.parametrize("value", sorted({*VALUES}))
def test_values_one_by_one(tmp_path: Path, value: str) -> None:
    check(tmp_path, ("a,b,c d\n" + f"{_written(value, True)},1,{value}x\n" * 2).encode(), 8192)


def test_long_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A record may be longer than what is read at once; one that is too long is refused with its line."""
    monkeypatch.setattr(scanned_records, "FIRST_BYTES", 1 << 10)
    records = [b'1,"%s\n",2\n' % (b"x" * size) for size in (10, 5_000, 70_000, 20)]
    check(tmp_path, b"a,b,c d\n" + b"".join(records), 8192)
    check(tmp_path, b"a,b,c d\n" + b"".join(records) + b'1,"never closed', 2)
    monkeypatch.setattr("tocsin.tables.csv_records.LONGEST_RECORD", 3_000)
    check(tmp_path, b"a,b,c d\n" + b"".join(records), 8192)


def test_a_value_of_a_reject_does_not_count(tmp_path: Path) -> None:
    """A record that is set apart says nothing of what a column is."""
    check(tmp_path, b'a,b,c d\n1,2,3\nx,y\n4,5,6\n"x"y,true,1.5\n\xff,x,x\n', 8192)
    assert [kind.value for _, kind in layout_of([str(tmp_path / "r.csv")])[0]] == ["integer"] * 3
