"""The local address of an engine, and the located arguments (`@x`) of rules that are held to it."""

from __future__ import annotations

from collections.abc import Iterator

from tocsin.datalog.language.printer import print_argument
from tocsin.datalog.language.syntax import CheckedProgram, Constant, Type, Value, Variable, type_of
from tocsin.datalog.language.tree_walk import walk
from tocsin.datalog.machine.symbols import Symbols, Unfit
from tocsin.errors import UsageError


def check_local(program: CheckedProgram, local: Value | None) -> None:
    """Refuse an address that some located argument can never have."""
    if local is None:
        return
    symbols = Symbols()
    for argument in _located(program):
        try:
            symbols.word(local, type_of(argument))
        except Unfit as unfit:
            raise UsageError(
                f"local is what {print_argument(argument)} is held to, {unfit}, not {local!r}"
            ) from None


def read_local(program: CheckedProgram, written: str) -> Value:
    """A written address: a number where it looks like one, unless a located argument is a symbol."""
    is_text = any(type_of(argument) is Type.SYMBOL for argument in _located(program))
    return int(written) if not is_text and written.removeprefix("-").isdecimal() else written


def _located(program: CheckedProgram) -> Iterator[Variable | Constant]:
    for rule in program.rules:
        for node in walk(rule.body):
            if isinstance(node, Variable | Constant) and node.located:
                yield node
