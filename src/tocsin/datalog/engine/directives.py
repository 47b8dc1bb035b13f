"""What `.input`, `.output` and `.printsize` ask for, in the order of the program."""

from __future__ import annotations

from typing import NamedTuple

from tocsin.datalog.language.io_parameters import STREAM
from tocsin.datalog.language.syntax import CheckedProgram, Directive


class Transfer(NamedTuple):
    """One relation to be read or written. What a directive does not say is None."""

    relation: str
    stream: bool
    filename: str | None = None
    delimiter: str | None = None
    headers: bool | None = None
    rfc4180: bool = False

    @property
    def between(self) -> str:
        """What stands between two values of a result."""
        return self.delimiter or ("," if self.rfc4180 else "\t")


def inputs(program: CheckedProgram) -> list[Transfer]:
    """What `.input` asks for."""
    return [_transfer(directive) for directive in program.directives if directive.kind == "input"]


def outputs(program: CheckedProgram) -> list[Transfer]:
    """What `.output` asks for."""
    return [_transfer(directive) for directive in program.directives if directive.kind == "output"]


def printed_sizes(program: CheckedProgram) -> list[str]:
    """The relations whose sizes are to be told."""
    return [directive.relation for directive in program.directives if directive.kind == "printsize"]


def _transfer(directive: Directive) -> Transfer:
    said = directive.parameters
    headers = said.get("headers")
    return Transfer(
        directive.relation,
        said.get("IO") == STREAM[directive.kind],
        said.get("filename"),
        said.get("delimiter"),
        None if headers is None else headers == "true",
        said.get("rfc4180") == "true",
    )
