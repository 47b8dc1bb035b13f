"""Every error that tocsin raises on purpose, in one tree.

    TocsinError
    ├── RuleError             a rule cannot be taken: .file .line .column .reason .rule
    │   └── RuleErrors        several at once: the first one's fields, and all of them in .errors
    ├── InputError            a file or table is missing, empty, unreadable or lacks a column
    │   └── LimitError        it is larger than a limit allows: .setting is what moves the limit
    ├── EventError            an event cannot be read: .row .reason .file
    ├── IndexFileError        a saved index is damaged, foreign or of another format version
    ├── MissingExtraError     a package that is not installed is needed: .extra brings it (an ImportError too)
    ├── JournalError          a journal is damaged, open elsewhere or cannot be written: .reason .file .offset
    ├── DerivationError       a program's rule has no result for some tuples: .rule .reason
    ├── OutOfMemory           there is not enough memory for what is being done (a MemoryError too)
    ├── ServerAway            a server cannot be reached: trying again may help
    ├── UnknownRuleError      there is no rule of this id (a KeyError too)
    ├── UnsupportedError      an engine does not have this operation
    └── UsageError            an argument makes no sense (unknown engine, a kept column named "rule")

`TocsinWarning` is for what is odd but has a defined meaning, such as a field that no event has.

Printed, all of them are printable (printable.py), whatever the rules, files and servers are called and say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from importlib.util import find_spec
from typing import NoReturn, ParamSpec, TypeVar

from tocsin.printable import printable, printable_lines

P = ParamSpec("P")
R = TypeVar("R")


class TocsinError(Exception):
    """The root: catch this to catch everything that tocsin raises on purpose."""

    def __str__(self) -> str:
        return printable(super().__str__())


class TocsinWarning(UserWarning):
    """Something odd that has a defined meaning all the same."""

    def __str__(self) -> str:
        return printable_lines(super().__str__())


class RuleError(TocsinError):
    """One rule cannot be taken.

    `line` and `column` count from 1 within `file`; for a rule that came from a table, `line` is the
    row's line or number and `column` the place within the condition. `excerpt` is the offending line
    of text, shown with a caret under `column` when the error is printed.
    """

    def __init__(
        self,
        reason: str,
        *,
        rule: str | None = None,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        excerpt: str | None = None,
        caret: int | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.rule = rule
        self.file = file
        self.line = line
        self.column = column
        self.excerpt = excerpt
        self.caret = column if caret is None else caret

    @property
    def place(self) -> str:
        """`file:line:column`, leaving out what is not known."""
        parts = [self.file, self.line, self.column]
        return ":".join(printable(str(part)) for part in parts if part is not None)

    def summary(self) -> str:
        """One line: `file:line:column: reason`, with the rule's id when it is known."""
        rule = "" if self.rule is None else f" (rule {self.rule})"
        said = printable(f"{self.reason}{rule}")
        return f"{self.place}: {said}" if self.place else said

    def __str__(self) -> str:
        if self.excerpt is None or self.caret is None:
            return self.summary()
        line, caret = window_around(self.excerpt, self.caret)
        before, after = (
            printable(part.replace("\t", " ")) for part in (line[: caret - 1], line[caret - 1 :])
        )
        return f"{self.summary()}\n    {before}{after}\n    {' ' * len(before)}^"


class RuleErrors(RuleError):
    """Several rules cannot be taken; it stands where its first error stands.

    `total` is how many there are, which may be more than `errors` holds.
    """

    SHOWN = 20

    def __init__(self, errors: Sequence[RuleError], total: int | None = None) -> None:
        first = errors[0]
        super().__init__(
            first.reason,
            rule=first.rule,
            file=first.file,
            line=first.line,
            column=first.column,
            excerpt=first.excerpt,
            caret=first.caret,
        )
        self.errors = tuple(errors)
        self.total = len(self.errors) if total is None else total

    def __reduce__(self) -> tuple[object, ...]:
        """Pickled as it is made, from its errors: exceptions cross process borders on Spark."""
        return type(self), (self.errors,), self.__dict__

    def __str__(self) -> str:
        shown = [str(error) for error in self.errors[: self.SHOWN]]
        if self.total > len(shown):
            shown.append(f"... and {self.total - len(shown)} more")
        return f"{self.total} errors\n" + "\n".join(shown)


class InputError(TocsinError):
    """A file or a table is missing, empty, unreadable or not of the shape that was expected."""


class LimitError(InputError):
    """An input is larger than a limit allows. `setting` names what moves the limit."""

    def __init__(self, reason: str, *, setting: str | None = None) -> None:
        super().__init__(reason)
        self.setting = setting


class EventError(TocsinError):
    """One event cannot be read. `row` counts from 0 within what was being read."""

    def __init__(self, reason: str, *, row: int | None = None, file: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.row = row
        self.file = file

    def __str__(self) -> str:
        where = printable(self.file or "")
        if self.row is not None:
            where += f"{':' if where else ''}event {self.row}"
        reason = printable_lines(self.reason)
        return f"{where}: {reason}" if where else reason


class IndexFileError(TocsinError):
    """A saved index is damaged, foreign, or of a format version that this release does not read."""


class MissingExtraError(TocsinError, ImportError):
    """What was asked for needs packages that are not installed: `tocsin[extra]` brings them."""

    def __init__(self, what: str, extra: str, package: str = "") -> None:
        super().__init__(what, extra, package)
        self.extra = extra
        self.name = package or None

    def __str__(self) -> str:
        what, extra, package = self.args
        lacking = f" ({package} is not installed)" if package else ""
        return f"{what} needs tocsin[{extra}]{lacking}: pip install 'tocsin[{extra}]'"


class JournalError(TocsinError):
    """The journal of an engine or a watch is damaged, is open elsewhere, or cannot be written."""

    def __init__(self, reason: str, *, file: str | None = None, offset: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.file = file
        self.offset = offset

    def __str__(self) -> str:
        place = "" if self.offset is None else f", byte {self.offset}"
        return printable(f"the journal {self.file} {self.reason}{place}")


class DerivationError(TocsinError):
    """A rule of a program has no result for the tuples there are: division by zero, or no end in sight."""

    def __init__(self, reason: str, *, rule: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.rule = rule

    def __str__(self) -> str:
        return printable(self.reason if self.rule is None else f"{self.reason}, in the rule: {self.rule}")


class OutOfMemory(TocsinError, MemoryError):
    """There is not enough memory for what is being done, which the message says."""


class ServerAway(TocsinError):
    """A server cannot be reached, or its connection has ended: trying again may help."""


class UnknownRuleError(TocsinError, KeyError):
    """There is no rule of this id."""

    def __init__(self, rule: str) -> None:
        super().__init__(rule)
        self.rule = rule

    def __str__(self) -> str:
        return f"there is no rule {self.rule!r}"


class UnsupportedError(TocsinError):
    """The chosen engine does not have this operation."""


class UsageError(TocsinError):
    """An argument makes no sense."""


def need_extra(what: str, extra: str, *packages: str) -> None:
    """MissingExtraError when a package that `tocsin[extra]` brings is not installed."""
    for package in packages:
        try:
            found = find_spec(package)
        except ImportError:
            found = None
        if found is None:
            raise MissingExtraError(what, extra, package)


def telling(doing: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """For a function that users call: when memory runs out in it, OutOfMemory says what it was doing."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def opened(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return function(*args, **kwargs)
            except (MemoryError, TocsinError) as error:
                tell(error, doing)

        return opened

    return decorate


def tell(error: BaseException, doing: str) -> NoReturn:
    """Raise what an error means to a user who asked for this to be done.

    NumPy, Arrow and Numba each have a MemoryError of their own, and Arrow's may already have been taken for
    an unreadable file.
    """
    if isinstance(error, OutOfMemory):
        raise error
    if isinstance(error, MemoryError) or (
        isinstance(error, TocsinError) and isinstance(error.__context__, MemoryError)
    ):
        raise OutOfMemory(f"out of memory while {doing}") from error
    raise error


def each_error(error: RuleError) -> Sequence[RuleError]:
    """The errors that one exception stands for."""
    return error.errors if isinstance(error, RuleErrors) else (error,)


def raise_all(errors: Sequence[RuleError]) -> None:
    """Raise the errors as one, or return when there are none."""
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise RuleErrors(errors)


def window_around(line: str, caret: int, width: int = 100) -> tuple[str, int]:
    """The part of a long line around a 1-based column, and the column within that part."""
    if len(line) <= width:
        return line, caret
    start = max(0, min(caret - 1 - width // 2, len(line) - width))
    return line[start : start + width], caret - start
