"""What files a program may name, and how much its files and texts may come to."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tocsin import Program
from tocsin.cli import main
from tocsin.errors import DerivationError, LimitError

DOUBLING = """
.decl p(s: symbol, n: number)
p("ab", 0).
p(cat(s, s), n + 1) :- p(s, n), n < 40.
"""


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with facts/, out/ and elsewhere/ in it, of which the last holds a secret."""
    for name in ("facts", "out", "elsewhere"):
        (tmp_path / name).mkdir()
    (tmp_path / "elsewhere/secret.facts").write_text("1\t2\n")
    (tmp_path / "facts/a.facts").write_text("1\t2\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(text: str, *options: str) -> int:
    Path("p.dl").write_text(f".decl a(x: number, y: number)\n.decl b(x: number, y: number)\n{text}\n")
    return main(["datalog", "p.dl", "--facts", "facts", "--out", "out", *options])


READING = [
    ('.input a(filename="{folder}/elsewhere/secret.facts")', "leads out of facts"),
    ('.input a(filename="../elsewhere/secret.facts")', "leads out of facts"),
    ('.input a(filename="sub/../../elsewhere/secret.facts")', "leads out of facts"),
    ('.input a(filename="link.facts")', "a link that leads out of facts"),
    ('.input a(filename="linked/secret.facts")', "a link that leads out of facts"),
]


@pytest.mark.parametrize(("text", "reason"), READING)
def test_only_what_is_below_the_facts_is_read(
    folders: Path, text: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folders / "facts/sub").mkdir()
    (folders / "facts/link.facts").symlink_to(folders / "elsewhere/secret.facts")
    (folders / "facts/linked").symlink_to(folders / "elsewhere")
    text = text.format(folder=folders) + " .output a"
    assert run(text) == 1
    assert reason in capsys.readouterr().err
    assert not (folders / "out/a.csv").exists()
    assert run(text, "--allow-outside") == 0
    assert (folders / "out/a.csv").read_text() == "1\t2\n"


@pytest.mark.parametrize("name", ["file:{}", "file://{}", "./file:{}", "local:{}", "s3:{}", "hdfs:{}"])
@pytest.mark.parametrize("facts", [".", "facts", "{}"])
def test_a_name_is_never_an_address(
    folders: Path, name: str, facts: str, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = folders / "elsewhere/secret.parquet"
    pq.write_table(pa.table({"x": [1], "y": [2]}), secret)
    text = f'.input a(filename="{name.format(secret)}") .output a'
    assert run(text, "--facts", facts.format(folders / "facts"), "--out", "out") == 1
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert "secret.parquet" in said
    assert not (folders / "out/a.csv").exists()


def test_outputs_overwrite_no_part_of_a_folder_that_is_read(
    folders: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folders / "d.parquet").mkdir()
    part = folders / "d.parquet/part.parquet"
    pq.write_table(pa.table({"x": [1], "y": [2]}), part)
    before = part.read_bytes()
    for extra in ((), ("--allow-outside",)):
        text = '.input a(filename="d.parquet") .output a(filename="d.parquet/part.parquet")'
        assert run(text, "--facts", ".", "--out", ".", *extra) == 1
        assert "would overwrite what .input a reads" in capsys.readouterr().err
    assert part.read_bytes() == before


WRITING = [
    ('.output a(filename="{folder}/elsewhere/mine.csv")', "leads out of out"),
    ('.output a(filename="../elsewhere/mine.csv")', "leads out of out"),
    ('.output a(filename="linked/mine.csv")', "a link that leads out of out"),
]


@pytest.mark.parametrize(("text", "reason"), WRITING)
def test_only_below_out_is_written(
    folders: Path, text: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folders / "out/linked").symlink_to(folders / "elsewhere")
    text = ".input a " + text.format(folder=folders)
    assert run(text) == 1
    assert reason in capsys.readouterr().err
    assert not (folders / "elsewhere/mine.csv").exists()
    assert run(text, "--allow-outside") == 0
    assert (folders / "elsewhere/mine.csv").read_text() == "1\t2\n"


def test_a_link_in_out_is_not_written_through(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folders / "out/a.csv").symlink_to(folders / "elsewhere/secret.facts")
    assert run(".input a .output a") == 1
    assert "a link that leads out of out" in capsys.readouterr().err
    assert (folders / "elsewhere/secret.facts").read_text() == "1\t2\n"


def test_links_within_the_folder_are_followed(folders: Path) -> None:
    (folders / "facts/same.facts").symlink_to("a.facts")
    assert run('.input a(filename="same.facts") .output a') == 0


def test_pipes_and_devices_are_not_read(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(folders / "facts/pipe.facts")
    assert run('.input a(filename="pipe.facts") .output a') == 1
    assert "not an ordinary file" in capsys.readouterr().err


OVERWRITING = [
    ('.input a(filename="x.facts") .output a(filename="x.facts")', "what .input a reads"),
    ('.input a(filename="x.facts") .output a(filename="./sub/../p.dl")', "leads out of"),
    ('.input a(filename="x.facts") .output a(filename="p.dl")', "what the program is read from"),
    ('.output a(filename="y.csv") .output b(filename="y.csv")', "both .output a and .output b"),
]


@pytest.mark.parametrize(("text", "reason"), OVERWRITING)
def test_outputs_overwrite_no_input_and_not_one_another(
    folders: Path, text: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folders / "x.facts").write_text("1\t2\n")
    assert run(text, "--facts", ".", "--out", ".") == 1
    assert reason in capsys.readouterr().err
    assert (folders / "x.facts").read_text() == "1\t2\n"


@pytest.mark.parametrize("name", [r"a\nb", r"a\tb", r"a\vb", "\x00"])
def test_names_that_cannot_be_printed_are_errors(name: str) -> None:
    with pytest.raises(Exception, match="cannot be printed"):
        Program.parse(f'.decl a(x: number) .input a(filename="{name}")')


def test_made_texts_are_bounded() -> None:
    with pytest.raises(DerivationError, match=r"more than 100,000 bytes of texts are made.*cat\(s, s\)"):
        Program.parse(DOUBLING).start(text_limit=100_000)
    with pytest.raises(DerivationError, match="limit"):
        Program.parse(DOUBLING).start()


def test_one_text_is_bounded_within_a_rule() -> None:
    lets = ", ".join(f"x{n + 1} = cat(x{n}, x{n})" for n in range(60))
    program = Program.parse(f'.decl q(s: symbol) .decl r(s: symbol) r(x60) :- q(x0), {lets}. q("ab").')
    with pytest.raises(DerivationError, match="cat makes a text of more than"):
        program.start()


def test_a_change_that_makes_too_much_text_leaves_nothing_behind() -> None:
    program = Program.parse(".decl p(s: symbol) .decl q(s: symbol) q(cat(s, s)) :- p(s).")
    engine = program.start(text_limit=100)
    engine.insert("p", ("a" * 20,))
    for _ in range(3):
        before = engine.stats()["symbols"]
        with pytest.raises(DerivationError, match="more than 100 bytes"):
            engine.insert("p", ("b" * 60,))
        assert engine.stats()["symbols"] <= before + 1
    engine.insert("p", ("c" * 20,))
    assert engine.query("q") == [("a" * 40,), ("c" * 40,)]
    with pytest.raises(DerivationError, match="more than 100 bytes"):
        engine.insert("p", ("d" * 20,))


def test_the_limit_on_texts_is_saved(tmp_path: Path) -> None:
    import tocsin

    program = Program.parse(".decl p(s: symbol) .decl q(s: symbol) q(cat(s, s)) :- p(s).")
    program.start(text_limit=100).save(tmp_path / "e.tocsin")
    with pytest.raises(DerivationError, match="more than 100 bytes"):
        tocsin.open(tmp_path / "e.tocsin").insert("p", ("b" * 60,))


def test_packed_facts_are_bounded(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folders / "facts/a.facts").unlink()
    with gzip.open(folders / "facts/a.facts.gz", "wb") as stream:
        stream.write(b"1\t2\n" * 100_000)
    assert run(".input a .output a", "--unpacked-limit", "100000") == 1
    assert "unpacked, it has more than 100,000 bytes, the limit, of a" in capsys.readouterr().err
    assert run(".input a .output a", "--unpacked-limit", "400000") == 0
    program = Program.parse(".decl a(x: number, y: number)")
    with pytest.raises(LimitError, match="more than 10 bytes"):
        program.start(facts={"a": folders / "facts/a.facts.gz"}, unpacked_limit=10)


def test_parquet_is_bounded_by_what_it_says_of_itself(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [7] * 100_000, "y": [7] * 100_000}), tmp_path / "a.parquet")
    assert (tmp_path / "a.parquet").stat().st_size < 10_000
    program = Program.parse(".decl a(x: number, y: number)")
    with pytest.raises(LimitError, match="more than 1,000,000 bytes"):
        program.start(facts={"a": tmp_path / "a.parquet"}, unpacked_limit=1_000_000)
    assert program.start(facts={"a": tmp_path / "a.parquet"}).size("a") == 1
    pq.write_table(pa.table({"x": ["x" * 50_000] * 100}), tmp_path / "b.parquet")
    program = Program.parse(".decl b(x: symbol)")
    with pytest.raises(LimitError, match="more than 1,000,000 bytes"):
        program.start(facts={"b": tmp_path / "b.parquet"}, unpacked_limit=1_000_000)
    assert program.start(facts={"b": tmp_path / "b.parquet"}).size("b") == 1


def test_every_file_of_a_folder_counts(tmp_path: Path) -> None:
    (tmp_path / "b.parquet").mkdir()
    pq.write_table(pa.table({"x": ["x" * 50_000] * 100}), tmp_path / "b.parquet/part.bin")
    (tmp_path / "b.parquet/_SUCCESS").write_text("")
    program = Program.parse(".decl b(x: symbol)")
    assert program.start(facts={"b": tmp_path / "b.parquet"}).size("b") == 1
    with pytest.raises(LimitError, match="more than 1,000,000 bytes"):
        program.start(facts={"b": tmp_path / "b.parquet"}, unpacked_limit=1_000_000)
    for part in range(30):
        pq.write_table(pa.table({"x": ["x" * 5_000] * 100}), tmp_path / f"b.parquet/{part}.parquet")
    (tmp_path / "b.parquet/part.bin").unlink()
    with pytest.raises(LimitError, match="more than 10,000,000 bytes"):
        program.start(facts={"b": tmp_path / "b.parquet"}, unpacked_limit=10_000_000)
    assert program.start(facts={"b": tmp_path / "b.parquet"}, unpacked_limit=20_000_000).size("b") == 1
