"""Relations written as Soufflé writes them: a tuple a line, values between tabs, nothing quoted.

    number, unsigned    in decimal
    float               with 17 digits at most, as C's %.17g: 0.10000000000000001, 2.5, 1e+100
    symbol              as it is, so one that holds a delimiter or a line's end cannot be read back;
                        a warning says so
    no column           ()

With rfc4180 there are commas between values, and symbols stand in quotes.

Tuples are sorted by what their columns hold, the first one first. On standard output a relation stands
between two lines of signs, under its name.
"""

from __future__ import annotations

import gzip
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from tocsin.datalog.language.directives import Transfer
from tocsin.datalog.language.syntax import Type, Value
from tocsin.datalog.machine.tuples import Rows, TupleCode
from tocsin.errors import InputError, TocsinWarning
from tocsin.storage import AS_USUAL, draft_of

_PORTION = 100_000
_ABOVE, _BELOW = "-" * 15, "=" * 15


def result_path(target: Transfer, folder: Path) -> Path:
    """The file that a relation is written to."""
    return folder / (target.filename or f"{target.relation}.csv")


def write_result(target: Transfer, path: Path, code: TupleCode, rows: Rows) -> None:
    """Write a relation to its file, whole or not at all; packed when the name ends in .gz."""
    write_whole(path, (portion.encode() for portion in _written(target, code, rows)))


def write_whole(path: Path, portions: Iterable[bytes]) -> None:
    """Write a file, whole or not at all; packed when the name ends in .gz."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with (
            draft_of(path, AS_USUAL) as draft,
            gzip.open(draft, "wb") if path.suffix == ".gz" else draft.open("wb") as stream,
        ):
            for portion in portions:
                stream.write(portion)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error


def print_result(target: Transfer, stream: IO[str], code: TupleCode, rows: Rows) -> None:
    """Write a relation between its two lines."""
    print_portions(target, stream, _written(target, code, rows))


def print_portions(target: Transfer, stream: IO[str], portions: Iterator[str]) -> None:
    """Write what is written of a relation between its two lines; the header, if there is one, comes first."""
    stream.write(f"{_ABOVE}\n{target.relation}\n")
    if target.headers:
        stream.write(next(portions))
    stream.write(f"{_BELOW}\n")
    for portion in portions:
        stream.write(portion)
    stream.write(f"{_BELOW}\n")


def header_line(target: Transfer, columns: Sequence[str]) -> str:
    """The names of the columns, if they are asked for."""
    return target.between.join(columns) + "\n" if target.headers else ""


def _written(target: Transfer, code: TupleCode, rows: Rows) -> Iterator[str]:
    """The lines of a relation, many at once; the header, if there is one, by itself."""
    if target.headers:
        yield header_line(target, code.columns)
    if not code.types:
        yield "()\n" * len(rows)
        return
    ordered = code.in_order(rows)
    unreadable = 0
    for start in range(0, len(ordered), _PORTION):
        columns = list(zip(*code.decode_rows(ordered[start : start + _PORTION]), strict=True))
        lines = lines_of_columns(columns, code.types, target.between, target.rfc4180)
        unreadable += lines.unreadable
        yield lines.text
    warn_of_unreadable(target.relation, unreadable)


class Lines(NamedTuple):
    """Tuples as they are written, and how many of their symbols cannot be read back."""

    text: str
    unreadable: int


def lines_of_columns(
    columns: Sequence[Sequence[Value]], types: Sequence[Type], delimiter: str, quoted: bool
) -> Lines:
    """The lines of tuples that are given column by column; there is at least one.

    `quoted` as RFC 4180 has it: every symbol in quotes, a quote in it twice.
    """
    texts: list[list[str]] = []
    unreadable = 0
    for values, kind in zip(columns, types, strict=True):
        column = list(map("{:.17g}".format if kind is Type.FLOAT else str, values))
        if kind is Type.SYMBOL and quoted:
            column = ['"' + text.replace('"', '""') + '"' for text in column]
        elif kind is Type.SYMBOL:
            unreadable += sum(delimiter in text or "\n" in text for text in column)
        texts.append(column)
    return Lines("\n".join(map(delimiter.join, zip(*texts, strict=True))) + "\n", unreadable)


def warn_of_unreadable(relation: str, count: int) -> None:
    """Say so when symbols are written that cannot be read back."""
    if count:
        warnings.warn(
            f"{relation}: {count:,} symbols with a line's end or the delimiter in them are "
            f"written as they are, and cannot be read back",
            TocsinWarning,
            stacklevel=3,
        )
