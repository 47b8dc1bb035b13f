"""What `.input`, `.output` and `.printsize` ask for. Their parameters have the right names already:

IO          file (the default), stdin for inputs, stdout for outputs
filename    within the folder of facts or of results, unless it is a whole path
delimiter   what stands between two values; a tab when it is not said
headers     true when the first line names the columns
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tocsin.errors import RuleError, raise_all
from tocsin.grammar.datalog.syntax import CheckedProgram, Directive

_STREAM = {"input": "stdin", "output": "stdout"}


class Transfer(NamedTuple):
    """One relation to be read or written. What a directive does not say is None."""

    relation: str
    stream: bool
    filename: str | None = None
    delimiter: str | None = None
    headers: bool | None = None


def inputs(program: CheckedProgram) -> list[Transfer]:
    """What `.input` asks for, in the order of the program; RuleError for a parameter that makes no sense."""
    return _transfers(program, "input")


def outputs(program: CheckedProgram) -> list[Transfer]:
    """What `.output` asks for, in the order of the program; RuleError for a parameter that makes no sense."""
    return _transfers(program, "output")


def printed_sizes(program: CheckedProgram) -> list[str]:
    """The relations whose sizes are to be told."""
    return [directive.relation for directive in program.directives if directive.kind == "printsize"]


def _transfers(program: CheckedProgram, kind: str) -> list[Transfer]:
    wanted = [directive for directive in program.directives if directive.kind == kind]
    raise_all([error for directive in wanted for error in _mistakes(directive, program.file)])
    return [_transfer(directive) for directive in wanted]


def _transfer(directive: Directive) -> Transfer:
    said = directive.parameters
    headers = said.get("headers")
    return Transfer(
        directive.relation,
        said.get("IO") == _STREAM[directive.kind],
        said.get("filename"),
        said.get("delimiter"),
        None if headers is None else headers == "true",
    )


def _mistakes(directive: Directive, file: str | None) -> list[RuleError]:
    return [
        RuleError(reason, file=file, line=directive.place.line, column=directive.place.column)
        for reason in _reasons(directive.parameters)
    ]


def _reasons(said: Mapping[str, str]) -> list[str]:
    reasons = []
    if said.get("headers", "true") not in ("true", "false"):
        reasons.append(f"headers is true or false, not {said['headers']}")
    if said.get("delimiter") == "" or "\n" in said.get("delimiter", ""):
        reasons.append("the delimiter is some characters, none of which ends a line")
    if said.get("filename") == "":
        reasons.append("the filename is empty")
    return reasons
