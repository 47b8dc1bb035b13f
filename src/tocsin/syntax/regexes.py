"""`matches`: RE2 expressions, found anywhere in a text.

RE2 takes time in proportion to the text, whatever the expression, and refuses what would break that
promise (look-around, back-references). Both sides are Unicode: `.` is one code point. As in RE2, `.`
stops at a newline unless (?s) is set, and `^` and `$` are the ends of the whole text unless (?m) is.
"""

from __future__ import annotations

import re2

LONGEST_PATTERN = 32_768
"""In bytes. RE2 searches in linear time but compiles some patterns in quadratic time: at this length
the worst take a few seconds, and beyond it minutes."""


class Regex:
    """A compiled expression."""

    __slots__ = ("_compiled", "pattern")

    def __init__(self, pattern: str, compiled: re2._Regexp) -> None:
        self.pattern = pattern
        self._compiled = compiled

    def search(self, text: str) -> bool:
        """Whether the expression is found anywhere in the text.

        RE2 reads UTF-8. Handing it bytes instead of str spares its Python wrapper the translation of
        match offsets back to code points, which costs more than the search on long text.
        """
        return self.search_utf8(text.encode())

    def search_utf8(self, text: bytes) -> bool:
        """The same for a text that is UTF-8 already."""
        return self._compiled.search(text) is not None


def compile_regex(pattern: str) -> Regex:
    """Compile an expression. Raises ValueError with RE2's reason when it is not one, or is too large."""
    try:
        encoded = pattern.encode()
    except UnicodeEncodeError:
        raise ValueError("the expression is not Unicode text: it holds a lone surrogate") from None
    if len(encoded) > LONGEST_PATTERN:
        raise ValueError(f"the expression is longer than {LONGEST_PATTERN:,} bytes of UTF-8")
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    try:
        return Regex(pattern, re2.compile(encoded, options))
    except re2.error as error:
        raise ValueError(_reason(error)) from None


def _reason(error: Exception) -> str:
    said = error.args[0] if error.args else "unknown"
    reason = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
    if reason.startswith(("invalid perl operator", "invalid named capture")) and any(
        opening in reason for opening in ("(?=", "(?!", "(?<=", "(?<!")
    ):
        reason += " (RE2 has no look-around)"
    elif reason.startswith("invalid escape sequence: \\") and reason[-1].isdigit():
        reason += " (RE2 has no back-references)"
    return f"not an RE2 expression: {reason}"
