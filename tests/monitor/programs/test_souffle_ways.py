"""What Soufflé's own programs rely on, done as Soufflé does it; batch, live and in the obvious evaluator."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from tocsin.cli import main
from tocsin.errors import DerivationError, InputError, RuleError, TocsinWarning
from tocsin.grammar.datalog.meaning import evaluate
from tocsin.monitor.programs.program import Program


def found(text: str, relation: str) -> list[tuple[object, ...]]:
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
