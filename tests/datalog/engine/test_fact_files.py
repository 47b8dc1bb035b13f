"""Files of facts: what they say and what is wrong with them; the quick way reads as the slow one does."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.datalog.engine import BadLine, fact_files, read_facts
from tocsin.datalog.engine.fact_files import read_fact_file
from tocsin.datalog.language import Transfer, Type
from tocsin.datalog.machine import Symbols, TupleCode
from tocsin.errors import InputError

FILE = Transfer("r", stream=False)


def code_of(*types: Type) -> TupleCode:
    return TupleCode("r", types, Symbols(), [f"c{place}" for place in range(len(types))])


def read(
    folder: Path, name: str, content: str | bytes, code: TupleCode, source: Transfer = FILE
) -> list[Any]:
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return code.decode_rows(read_facts(source, folder, code))


def test_all_types(tmp_path: Path) -> None:
    code = code_of(Type.NUMBER, Type.UNSIGNED, Type.FLOAT, Type.SYMBOL)
    found = read(tmp_path, "r.facts", '-1\t18446744073709551615\t.5e1\ta "b"\n0x1F\t0b101\t-inf\t\n', code)
    assert found == [(-1, 2**64 - 1, 5.0, 'a "b"'), (31, 5, float("-inf"), "")]


def test_lines(tmp_path: Path) -> None:
    code = code_of(Type.NUMBER, Type.SYMBOL)
    assert read(tmp_path, "r.facts", "1\ta\r\n\n2\tb", code) == [(1, "a"), (2, "b")]
    assert read(tmp_path, "r.facts", "\ufeff1\ta\n", code) == [(1, "a")]
    assert read(tmp_path, "r.facts", "", code) == []
    assert read(tmp_path, "r.facts", " 1 \t a \n", code) == [(1, " a ")]
    assert read(tmp_path, "r.facts", "\na\n\n", code_of(Type.SYMBOL)) == [("",), ("a",), ("",)]
    assert read(tmp_path, "r.facts", "()\n", code_of()) == [()]


def test_parameters(tmp_path: Path) -> None:
    code = code_of(Type.NUMBER, Type.SYMBOL)
    said = Transfer("r", stream=False, filename="other.txt", delimiter=", ", headers=True)
    assert read(tmp_path, "other.txt", "c0, c1\n1, a\tb\n", code, said) == [(1, "a\tb")]
    assert read(tmp_path, "other.txt", '1,"a"\n', code, said._replace(delimiter=",", headers=None)) == [
        (1, '"a"')
    ]
    whole = said._replace(filename=str(tmp_path / "other.txt"), delimiter=",", headers=None)
    assert code.decode_rows(read_facts(whole, Path("/nowhere"), code)) == [(1, '"a"')]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"1\t2\n")))
    code = code_of(Type.NUMBER, Type.NUMBER)
    assert code.decode_rows(read_facts(FILE._replace(stream=True), Path("/nowhere"), code)) == [(1, 2)]


def test_csv(tmp_path: Path) -> None:
    code = code_of(Type.NUMBER, Type.SYMBOL)
    assert read(tmp_path, "r.csv", '1,"a, ""b"""\n2,"c\nd"\n', code) == [(1, 'a, "b"'), (2, "c\nd")]
    assert read(tmp_path, "r.csv", "c1,c0\na,1\n", code) == [(1, "a")]
    assert read(tmp_path, "r.csv", "1,a\n", code) == [(1, "a")]
    assert read(tmp_path, "r.csv", '1\ta,"b\n', code) == [(1, 'a,"b')]
    assert read(tmp_path, "r.csv", "n,s\n1,a\n", code, FILE._replace(headers=True)) == [(1, "a")]
    assert read(tmp_path, "r.csv", "a,b\n", code_of(Type.SYMBOL)) == [("a,b",)]


def test_other_kinds_of_file(tmp_path: Path) -> None:
    code = code_of(Type.NUMBER, Type.SYMBOL)
    pq.write_table(pa.table({"c1": ["a"], "c0": [1]}), tmp_path / "r.parquet")
    assert code.decode_rows(read_facts(FILE, tmp_path, code)) == [(1, "a")]
    assert read(tmp_path, "r.csv.gz", gzip.compress(b"2,b\n"), code) == [(2, "b")]
    assert read(tmp_path, "r.facts.gz", gzip.compress(b"3\tc\n"), code) == [(3, "c")]
    assert read(tmp_path, "r.facts", "4\td\n", code) == [(4, "d")]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"1\ta\n2\n", "2: 1 value, where r has 2 columns"),
        (b"\n\n1x\ta\n", "3: c0 takes integers, not '1x'"),
        (b"1_0\ta\n", "1: c0 takes integers, not '1_0'"),
        (b"\ta\n", "1: c0 takes integers, not ''"),
        (b"9223372036854775808\ta\n", "1: r.c0 takes an integer from"),
        (b"1\ta\n2\t\xff\n", "2: not valid UTF-8"),
    ],
)
def test_bad_lines(content: bytes, said: str, tmp_path: Path) -> None:
    code = code_of(Type.NUMBER, Type.SYMBOL)
    with pytest.raises(InputError) as caught:
        read(tmp_path, "r.facts", content, code)
    assert str(caught.value).startswith(f"{tmp_path / 'r.facts'}:{said}")


def test_bad_lines_set_apart(tmp_path: Path) -> None:
    code = code_of(Type.FLOAT)
    path = tmp_path / "r.facts"
    path.write_text("1\nnan\n\n1e999999\n2 3\n-2.5\n")
    bad: list[BadLine] = []
    rows = read_fact_file(path, code, on_bad=bad.append)
    assert code.decode_rows(rows) == [(1.0,), (float("inf"),), (-2.5,)]
    assert bad == [
        BadLine(str(path), 2, "c0 takes floats, not 'nan'", "nan"),
        BadLine(str(path), 5, "c0 takes floats, not '2 3'", "2 3"),
    ]


def test_bad_csv(tmp_path: Path) -> None:
    code = code_of(Type.NUMBER, Type.SYMBOL)
    path = tmp_path / "r.csv"
    path.write_bytes(b'1,"a\nb"\n2,"c"d\n3,\xff\n4,"e"\n')
    bad: list[BadLine] = []
    assert code.decode_rows(read_fact_file(path, code, on_bad=bad.append)) == [(1, "a\nb"), (4, "e")]
    assert [(each.line, each.text) for each in bad] == [(3, '2,"c"d'), (4, "3,\\xff")]
    with pytest.raises(InputError, match=r"r\.csv:2: a quote is never closed"):
        read(tmp_path, "r.csv", '1,a\n2,"b\n', code)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    code = code_of(Type.NUMBER)
    with pytest.raises(InputError, match=r"r\.facts: cannot be read: No such file"):
        read_facts(FILE, tmp_path, code)
    with pytest.raises(InputError, match=r"r\.facts\.gz: cannot be read"):
        read(tmp_path, "r.facts.gz", b"not packed", code)
    (tmp_path / "r.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"r\.parquet: "):
        read_fact_file(tmp_path / "r.parquet", code)


PIECES = st.sampled_from(
    [
        *("\t", "\t", "\n", "\n", "1", "23", "-4", "+5", " ", "0x1F", "0b1", "1.5", "1e3", ".", "inf", "nan"),
        *("a", '"', ",", "\r", "é", "9223372036854775807", "9223372036854775808", "NULL", "_"),
    ]
)


@given(
    st.lists(PIECES, max_size=12).map("".join), st.lists(st.sampled_from(list(Type)), min_size=1, max_size=3)
)
def test_the_quick_way_reads_what_the_slow_one_does(text: str, types: list[Type]) -> None:
    for name in ("r.facts", "r.csv"):
        code = code_of(*types)
        layout = fact_files.layout_of(name, text.encode(), FILE, code)
        quick = fact_files._read_plain(text.encode(), layout, code)
        bad: list[BadLine] = []
        try:
            slow = fact_files._read_each_line(name, text.encode(), layout, code, bad.append)
        except InputError:
            assert quick is None
            continue
        if quick is not None:
            assert not bad
            assert code.decode_rows(quick) == code.decode_rows(slow)
