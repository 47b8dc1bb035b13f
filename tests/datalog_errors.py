"""The errors of a program, as tables of bad programs want them."""

from __future__ import annotations

from tocsin.datalog.language.checker import check_program
from tocsin.errors import RuleError, each_error

DECLARED = """\
.decl n(x: number, y: number)
.decl s(x: symbol)
.decl f(x: float)
.decl u(x: unsigned)
.decl z()
"""
"""What the programs of the tables may use."""


def errors_of(program: str) -> list[str]:
    """`line:column: reason` of every error of a program that stands behind what is declared."""
    try:
        check_program(DECLARED + program)
    except RuleError as error:
        before = DECLARED.count("\n")
        return [f"{(found.line or 0) - before}:{found.column}: {found.reason}" for found in each_error(error)]
    return []
