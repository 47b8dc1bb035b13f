"""Results as Soufflé writes them."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest

from tocsin.datalog.engine import print_result, result_path, write_result
from tocsin.datalog.engine.fact_files import read_fact_file
from tocsin.datalog.language import Transfer, Type
from tocsin.datalog.machine import Symbols, TupleCode
from tocsin.errors import InputError, TocsinWarning

CODE = TupleCode("r", [Type.NUMBER, Type.FLOAT, Type.UNSIGNED, Type.SYMBOL], Symbols(), ["n", "f", "u", "s"])
ROWS = CODE.rows([(10, 0.1, 2**64 - 1, "a b"), (-2, 2.5, 0, ""), (-2, 1e100, 7, '"x"'), (-2, 2.0, 1, "é")])
TEXT = '-2\t2\t1\té\n-2\t2.5\t0\t\n-2\t1e+100\t7\t"x"\n10\t0.10000000000000001\t18446744073709551615\ta b\n'


def test_a_file(tmp_path: Path) -> None:
    target = Transfer("r", stream=False)
    path = result_path(target, tmp_path / "new" / "folder")
    write_result(target, path, CODE, ROWS)
    assert path.name == "r.csv"
    assert path.read_text() == TEXT
    assert sorted(CODE.decode_rows(read_fact_file(path, CODE))) == sorted(CODE.decode_rows(ROWS))
    assert [each.name for each in path.parent.iterdir()] == ["r.csv"]


def test_parameters(tmp_path: Path) -> None:
    target = Transfer("r", stream=False, filename="out.txt.gz", delimiter=", ", headers=True)
    path = result_path(target, tmp_path)
    write_result(target, path, CODE, ROWS[:1])
    assert (
        gzip.decompress(path.read_bytes())
        == b"n, f, u, s\n10, 0.10000000000000001, 18446744073709551615, a b\n"
    )
    assert result_path(target._replace(filename="/x/y"), tmp_path) == Path("/x/y")


def test_standard_output() -> None:
    stream = io.StringIO()
    print_result(Transfer("r", stream=True, headers=True), stream, CODE, ROWS)
    assert stream.getvalue() == f"---------------\nr\nn\tf\tu\ts\n===============\n{TEXT}===============\n"
    stream = io.StringIO()
    print_result(Transfer("r", stream=True), stream, CODE, ROWS[:0])
    assert stream.getvalue() == "---------------\nr\n===============\n===============\n"


def test_a_relation_without_columns(tmp_path: Path) -> None:
    code = TupleCode("on", [], Symbols(), [])
    for tuples, text in (([], ""), ([()], "()\n")):
        write_result(Transfer("on", stream=False), tmp_path / "on.csv", code, code.rows(tuples))
        assert (tmp_path / "on.csv").read_text() == text


def test_symbols_that_cannot_be_read_back(tmp_path: Path) -> None:
    code = TupleCode("r", [Type.SYMBOL, Type.SYMBOL], Symbols(), ["a", "b"])
    rows = code.rows([("x\ty", "z"), ("p", "q\nr")])
    with pytest.warns(TocsinWarning, match="r: 2 symbols with a line's end or the delimiter"):
        write_result(Transfer("r", stream=False), tmp_path / "r.csv", code, rows)
    assert (tmp_path / "r.csv").read_text() == "p\tq\nr\nx\ty\tz\n"


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        write_result(Transfer("r", stream=False), tmp_path / "file" / "r.csv", CODE, ROWS)
