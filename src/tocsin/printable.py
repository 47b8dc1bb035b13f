"""Text from outside as it can be shown: rule ids, values and servers' answers may hold anything.

A terminal obeys escape sequences, and direction marks and invisible characters make a text look like another.
So whatever is shown to a person passes through here where a message is made, and each such character becomes
its escape (`\\x1b`, `\\u202e`, `\\n`). Data stay what they are, and so do the fields of errors.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

_LONGEST_GIVEN = 60
_KINDS = {"dict": "dictionary", "type": "class"}
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_UNSHOWN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f\ud800-\udfff"
)
_IN_LINES = re.compile(f"[{_UNSHOWN}]")
_IN_ONE_LINE = re.compile(f"[\n\t{_UNSHOWN}]")


def printable(text: str) -> str:
    """A text on one line, its control characters, direction marks and invisible characters escaped."""
    return text if text.isprintable() else _IN_ONE_LINE.sub(_escaped, text)


def printable_lines(text: str) -> str:
    """The same of a text whose line feeds and tabs are its own, and not from outside."""
    return text if text.isprintable() else _IN_LINES.sub(_escaped, text)


def printable_json(text: str) -> str:
    """A line of JSON that says the same without characters that a terminal would obey."""
    return text if text.isprintable() else _IN_ONE_LINE.sub(_escaped_in_json, text)


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    if found[0] in _SHORT:
        return _SHORT[found[0]]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _escaped_in_json(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def number_of(count: int, one: str, several: str | None = None) -> str:
    """`1 rule`, `2,000 rules`; a plural that is not made by an s is given as `several`."""
    return f"{count:,} {one if count == 1 else several or f'{one}s'}"


def first_few(names: Sequence[str], most: int = 5) -> str:
    """`a, b, c, d, e and 2,000 more`."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


def one_line(text: str, longest: int) -> str:
    """A text of at most so many characters, all printable; of several lines the blanks are made one."""
    clean = printable(" ".join(text.split()) if "\n" in text else text)
    return clean if len(clean) <= longest else clean[: longest - 3] + "..."


def described(value: object) -> str:
    """What a door was given, for a message that says what it expects: `the string 'a'`, `a polars Series`."""
    if value is None:
        return "None"
    if isinstance(value, str | bytes | os.PathLike):
        kind = "path" if isinstance(value, os.PathLike) else "string" if isinstance(value, str) else "bytes"
        shown = os.fspath(value) if isinstance(value, os.PathLike) else value
        return f"the {kind} {one_line(repr(shown), _LONGEST_GIVEN)}"
    if isinstance(value, bool | int | float):
        kind = "truth value" if isinstance(value, bool) else "number"
        return f"the {kind} {one_line(repr(value), _LONGEST_GIVEN)}"
    name, library = type(value).__name__, type(value).__module__.partition(".")[0].lstrip("_")
    known = _KINDS.get(name, name) if library == "builtins" else f"{library} {name}"
    return f"{'an' if known[0] in 'aeiouAEIOU' else 'a'} {known}"
