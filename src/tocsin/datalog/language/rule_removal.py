"""A program's text without one of its rules: all else stays at its line and column."""

from __future__ import annotations

import re

from tocsin.datalog.language.clause_parser import one_line
from tocsin.datalog.language.syntax import Rule
from tocsin.datalog.language.tokens import tokenize


def without_rule(text: str, rule: Rule) -> str:
    """The text with spaces in the place of a rule that stands in it."""
    start = _offset(text, rule.place.line, rule.place.column)
    for token in tokenize(text, start):
        # A point may also join two names, so the rule ends at the one that makes it whole.
        if token.text == "." and one_line(text[start : token.end]) == rule.text:
            blank = re.sub(r"[^\n]", " ", text[start : token.end])
            return text[:start] + blank + text[token.end :]
    raise ValueError(f"the text does not hold the rule: {rule.text}")


def _offset(text: str, line: int, column: int) -> int:
    start = 0
    for _ in range(line - 1):
        start = text.index("\n", start) + 1
    return start + column - 1
