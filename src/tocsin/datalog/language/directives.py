"""What `.input`, `.output` and `.printsize` ask for. The parameters of the first two:

IO          file (the default), stdin for inputs, stdout for outputs
filename    the file's name, where it is not the relation's
delimiter   what stands between two values
headers     true when the first line names the columns
rfc4180     true for commas between values and quotes around them
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tocsin.datalog.language.syntax import CheckedProgram, Directive

PARAMETERS = ("IO", "filename", "delimiter", "headers", "rfc4180")
"""All that there are."""

STREAM = {"input": "stdin", "output": "stdout"}
"""What IO may be besides file."""


def mistakes_in(kind: str, parameters: Mapping[str, str]) -> Iterator[str]:
    """What is wrong with the parameters of a directive."""
    for name in parameters:
        if name not in PARAMETERS:
            yield f"the parameter '{name}' of .{kind} is not supported: there are {', '.join(PARAMETERS)}"
    if parameters.get("IO", "file") not in ("file", STREAM[kind]):
        yield f"IO of .{kind} is file or {STREAM[kind]}: '{parameters['IO']}' is not supported"
    for name in ("headers", "rfc4180"):
        if parameters.get(name, "true") not in ("true", "false"):
            yield f"{name} is true or false, not '{parameters[name]}'"
    delimiter = parameters.get("delimiter", "\t")
    if not delimiter or "\n" in delimiter or "\r" in delimiter:
        yield "a delimiter is one or more characters that do not end a line"
    elif parameters.get("rfc4180") == "true" and (len(delimiter) > 1 or delimiter == '"'):
        yield "with rfc4180 a delimiter is one character, and no quote"
    filename = parameters.get("filename", "file")
    if not filename:
        yield "the filename is empty"
    elif not filename.isprintable():
        yield "the filename has a character that cannot be printed"


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
    stream, rfc4180 = said.get("IO") == STREAM[directive.kind], said.get("rfc4180") == "true"
    headers = said["headers"] == "true" if "headers" in said else None
    names = (said.get("filename"), said.get("delimiter"))
    return Transfer(directive.relation, stream, *names, headers, rfc4180)
