"""What Soufflé's own programs rely on, done as Soufflé does it; batch, live and in the obvious evaluator."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path

import pytest

from tocsin.cli import main
from tocsin.errors import DerivationError, InputError, RuleError, TocsinWarning
from tocsin.grammar.datalog.meaning import evaluate
from tocsin.monitor.programs.program import Program


def found(text: str, relation: str) -> Sequence[tuple[object, ...]]:
    """A relation of a program: the engine and the obvious evaluator must agree."""
    program = Program.parse(text)
    engine = program.start()
    assert sorted(evaluate(program.checked, {})[relation]) == engine.query(relation)
    return engine.query(relation)


def test_an_expression_that_is_none_matches_nothing() -> None:
    text = """
    .decl p(s: symbol) .decl q(s: symbol) .decl r(s: symbol)
    p("a.*"). p("b.*[").
    q(s) :- p(s), match(s, "abc").
    r(s) :- p(s), !match(s, "abc").
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TocsinWarning)
        assert found(text, "q") == [("a.*",)]
        assert found(text, "r") == [("b.*[",)]


def test_an_expression_that_only_souffle_takes_is_an_error() -> None:
    with pytest.raises(DerivationError, match="back-references"):
        found(r'.decl p(s: symbol) p("aa"). .decl q(s: symbol) q(s) :- p(s), match("(a)\\1", s).', "q")


def test_an_address_is_a_number_of_32_bits() -> None:
    assert found(".decl n(x: number) n(10.0.0.1). n(255.255.255.255). n(0.0.1.0 + 1).", "n") == [
        (-1,),
        (257,),
        (10 << 24 | 1,),
    ]
    with pytest.raises(RuleError, match=r"'1\.2\.3\.256' is no IPv4 address"):
        Program.parse(".decl n(x: number) n(1.2.3.256).")


@pytest.mark.parametrize("word", ["__FILE__", "__LINE__", "__INCL__", "__ITERATION__()"])
def test_what_depends_on_places_is_refused_by_name(word: str) -> None:
    with pytest.raises(RuleError, match=f"{word[:6]}.*is not supported"):
        Program.parse(f".decl n(x: number) n(x) :- x = {word}.")


def test_values_behind_the_columns_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.facts").write_text("1\tx\tmore\tand more\n2\ty\n")
    program = Program.parse(".decl a(n: number, s: symbol)")
    assert program.start(facts={"a": tmp_path / "a.facts"}).query("a") == [(1, "x"), (2, "y")]
    (tmp_path / "a.facts").write_text("1\n")
    with pytest.raises(InputError, match="1 value, where a has 2 columns"):
        program.start(facts={"a": tmp_path / "a.facts"})


def test_rfc4180_in_and_out(tmp_path: Path) -> None:
    (tmp_path / "a.facts").write_text('x,1\n"a ""b"", c",2\n"two\nlines",3,more\n')
    (tmp_path / "p.dl").write_text(
        ".decl a(s: symbol, n: number) .input a(rfc4180=true)\n"
        '.output a(rfc4180=true, headers=true)\n.output a(rfc4180=true, delimiter=";", filename="b.csv")\n'
    )
    folder = str(tmp_path)
    assert main(["datalog", str(tmp_path / "p.dl"), "-F", folder, "-D", folder]) == 0
    assert (tmp_path / "a.csv").read_text() == 's,n\n"a ""b"", c",2\n"two\nlines",3\n"x",1\n'
    assert (tmp_path / "b.csv").read_text() == '"a ""b"", c";2\n"two\nlines";3\n"x";1\n'


def test_wrong_parameters_of_rfc4180() -> None:
    with pytest.raises(RuleError, match="rfc4180 is true or false"):
        Program.parse(".decl a(x: number) .input a(rfc4180=yes)")
    with pytest.raises(RuleError, match="one character"):
        Program.parse('.decl a(x: number) .input a(rfc4180=true, delimiter="::")')


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder / "p.dl"


def test_included_files_are_one_program(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        {
            "p.dl": '// .include "no"\n.include "sub/a.dl" .include "sub/a.dl"\nb(x + 1) :- a(x).\n',
            "sub/a.dl": '.once\n.include "../decl.dl"\na(1). // no end of the line',
            "decl.dl": ".decl a(x: number) .decl b(x: number)",
        },
    )
    program = Program.read(path)
    assert program.start().query("b") == [(2,)]
    assert program.files == tuple(str(tmp_path / name) for name in ("p.dl", "sub/a.dl", "decl.dl"))
    engine = program.start()
    path.unlink()  # the program has it all
    engine.add_rule("b(x + 2) :- a(x).")
    assert engine.query("b") == [(2,), (3,)]
    engine.save(tmp_path / "e.tocsin")
    assert main(["datalog", str(tmp_path / "p.dl")]) == 1


def test_errors_name_the_included_file(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        {"p.dl": '.decl a(x: number)\n.include "b.dl"\nc(1).\n', "b.dl": "\n.decl a(x: number)\n  b(1).\n"},
    )
    with pytest.raises(RuleError) as caught:
        Program.read(path)
    assert str(caught.value).split("\n")[1::3] == [
        f"{tmp_path}/b.dl:2:7: the relation 'a' is declared in line 1 already",
        f"{tmp_path}/b.dl:3:3: there is no relation 'b'",
        f"{tmp_path}/p.dl:3:1: there is no relation 'c'",
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('.include "none.dl"', "p.dl:1:1: .*none.dl: cannot be read: No such file"),
        ('\n .include "/etc/passwd"', "p.dl:2:2: .include names /etc/passwd, which leads out of"),
        ('.include "../secret.dl"', "p.dl:1:1: .include names .*secret.dl, which leads out of"),
        ('.include "link.dl"', "p.dl:1:1: .include names link.dl, a link that leads out of"),
        ('.include "p.dl"', "p.dl includes itself"),
        ('.include "loop.dl"', "loop.dl:1:1: .*p.dl includes itself"),
        (".include none", "expected a file's name"),
        ('.include "open.dl" */', "open.dl:1:1: this comment never ends"),
        ('.include "bomb0.dl"', "more than 1,000 files are included"),
        ('#include "loop.dl"', "a preprocessor is not supported"),
    ],
)
def test_what_cannot_be_included(text: str, reason: str, tmp_path: Path) -> None:
    files = {f"in/bomb{n}.dl": f'.include "bomb{n + 1}.dl"\n' * 2 for n in range(20)}
    files |= {"secret.dl": "SECRET", "in/loop.dl": '.include "p.dl"', "in/open.dl": "/* "}
    written(tmp_path, files | {"in/bomb20.dl": "", "in/p.dl": text})
    (tmp_path / "in/link.dl").symlink_to(tmp_path / "secret.dl")
    with pytest.raises(RuleError, match=reason) as caught:
        Program.read(tmp_path / "in/p.dl")
    assert "SECRET" not in str(caught.value)
    assert "root:" not in str(caught.value)


def test_a_text_includes_nothing() -> None:
    with pytest.raises(RuleError, match="read from a file"):
        Program.parse('.include "a.dl"', file="somewhere/p.dl")
