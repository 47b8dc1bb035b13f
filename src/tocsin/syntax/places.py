"""From an offset in a text to the line and column that a reader looks for."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from tocsin.errors import RuleError, RuleErrors, window_around

Problem = tuple[int, str]
"""A mistake as a parser finds it: the offset in the text, in characters, and the reason."""


class Lines:
    """The lines of one text. Made once per text that has errors, so that each further error is cheap."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0]
        at = text.find("\n")
        while at >= 0:
            self._starts.append(at + 1)
            at = text.find("\n", at + 1)
        self._shown_line = 0
        self._shown = ""

    def place(self, offset: int) -> tuple[int, int]:
        """The line and column of an offset, both from 1."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def offset(self, place: tuple[int, int]) -> int:
        """The offset of a line and column."""
        return self._starts[place[0] - 1] + place[1] - 1

    def line(self, number: int) -> str:
        """The text of a line, without its end."""
        if number != self._shown_line:
            start = self._starts[number - 1]
            end = self._starts[number] - 1 if number < len(self._starts) else len(self._text)
            self._shown = self._text[start:end].removesuffix("\r")
            self._shown_line = number
        return self._shown

    def error(self, problem: Problem, *, rule: str | None = None, file: str | None = None) -> RuleError:
        """The problem as an error that shows its line, or the part of a long line around it."""
        offset, reason = problem
        line, column = self.place(offset)
        excerpt, caret = window_around(self.line(line), column)
        return RuleError(reason, rule=rule, file=file, line=line, column=column, excerpt=excerpt, caret=caret)


def errors_at(
    text: str, problems: Iterable[Problem], *, rule: str | None = None, file: str | None = None
) -> list[RuleError]:
    """An error for every problem of the text, in the order of their places."""
    found = sorted(problems)
    if not found:
        return []
    lines = Lines(text)
    return [lines.error(problem, rule=rule, file=file) for problem in found]


def error_of(text: str, problems: Iterable[Problem]) -> RuleError:
    """One error for one or more problems of the text."""
    errors = errors_at(text, problems)
    return errors[0] if len(errors) == 1 else RuleErrors(errors)
