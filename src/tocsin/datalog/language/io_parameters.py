"""The parameters of `.input` and `.output`.

IO          file (the default), stdin for inputs, stdout for outputs
filename    the file's name, where it is not the relation's
delimiter   what stands between two values
headers     true when the first line names the columns
rfc4180     true for commas between values and quotes around them
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

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
