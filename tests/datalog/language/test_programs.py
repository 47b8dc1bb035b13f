"""Programs that are right, and programs that are not with all that is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.datalog_errors import errors_of

from tocsin.datalog.language.checker import check_program
from tocsin.errors import RuleError, RuleErrors

HERE = Path(__file__).parent


def cases(file: str) -> list[str]:
    """The parts of a file between empty lines, without those that are titles."""
    parts = HERE.joinpath(file).read_text(encoding="utf-8").strip().split("\n\n")
    return [part.strip("\n") for part in parts if not part.startswith("# ") and not part.startswith("## ")]


@pytest.mark.parametrize("program", cases("good_programs.txt"))
def test_a_program_without_errors(program: str) -> None:
    assert errors_of(program) == []


@pytest.mark.parametrize("case", cases("bad_programs.txt"))
def test_a_program_with_errors(case: str) -> None:
    lines = case.split("\n")
    program = [line for line in lines if not line.startswith("--> ")]
    errors = [line.removeprefix("--> ") for line in lines if line.startswith("--> ")]
    assert errors
    assert errors_of("\n".join(program)) == errors


def test_an_error_shows_its_file_and_its_line() -> None:
    with pytest.raises(RuleError) as caught:
        check_program(".decl p(x: number)\n\n  p(x) :- q(x).\n", "rules/p.dl")
    assert str(caught.value) == (
        "rules/p.dl:3:11: there is no relation 'q'\n      p(x) :- q(x).\n              ^"
    )


def test_all_errors_come_at_once_in_the_order_of_the_text() -> None:
    with pytest.raises(RuleErrors) as caught:
        check_program(".decl p(x: number)\np(x) :- p(x y).\np(y) :- !p(1).\n.decl q(x: nosuch)\np(1, 2).\n")
    assert [(error.line, error.column) for error in caught.value.errors] == [
        (2, 13),
        (3, 3),
        (3, 10),
        (4, 12),
        (5, 1),
    ]
