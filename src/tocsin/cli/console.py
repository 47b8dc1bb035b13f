"""What a person reads while a command works: messages, warnings and progress, on standard error."""

from __future__ import annotations

import contextlib
import logging
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from typing import Any

from tocsin.errors import RuleErrors, TocsinError, TocsinWarning, need_extra
from tocsin.printable import number_of, printable, printable_lines
from tocsin.storage import shown

Advance = Callable[[int], None]
"""Called with how much is done by now."""


_COMPILING = "Compiling the kernels for this machine (once; it takes a while)"


def nearest(word: str, known: Iterable[str]) -> str:
    """`, did you mean ...?`, with the known word that is most like one; nothing when none is."""
    found = get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f", did you mean {found[0]}?" if found else ""


def say(text: str) -> None:
    """A message; whatever it names is printable."""
    print(printable_lines(shown(text)), file=sys.stderr, flush=True)


def warn(text: str) -> None:
    """A message about something odd."""
    say(f"warning: {text}")


def complain(text: str) -> None:
    """A message about what stopped the command."""
    say(f"tocsin: {text}")


def complain_of(error: TocsinError) -> None:
    """What stopped the command. Of several rules each is named, where the exception names the first few."""
    if not isinstance(error, RuleErrors):
        complain(str(error))
        return
    complain(number_of(error.total, "error"))
    for each in error.errors:
        say(str(each))
    if error.total > len(error.errors):
        say(f"... and {error.total - len(error.errors):,} more")


def warn_of_rules_left_out(errors: int, where: object) -> None:
    """A warning of mistakes in rules that the others go on without."""
    warn(f"{number_of(errors, 'error')} in rules that were left out: see {printable(str(where))}")


def left_out(count: int, what: str) -> str:
    """Of records that are not what they should be (`event`, `row`)."""
    if count == 1:
        return f"1 record is not a valid {what} and was left out"
    return f"{count:,} records are not valid {what}s and were left out"


def leave_pandas_alone() -> None:
    """Keep Arrow from loading pandas for its own checks, which takes half a second: no command has a use for
    it but those on Spark, which `start_spark` sees to."""
    if "pandas" in sys.modules:
        return
    sys.meta_path.insert(0, _WithoutPandas())
    try:
        import pyarrow as pa

        pa.array([1.5, "", None][:1])  # asks, and the answer stays
    finally:
        del sys.meta_path[0]


class _WithoutPandas:
    """Finds no pandas."""

    def find_spec(self, name: str, *_where: object) -> None:
        """What the import system asks."""
        if name == "pandas":
            raise ModuleNotFoundError(name=name)


def say_if_compiling() -> None:
    """The first command on a machine compiles the kernels, and that takes a while."""
    from tocsin.warmup import is_warm

    if not is_warm():
        say(_COMPILING)


def say_if_compiling_programs() -> None:
    """The same, of the kernels that programs over several relations need."""
    from tocsin.datalog.engine import is_warm

    if not is_warm():
        say(_COMPILING)


def start_spark(hint: str = "", *, programs: bool = False) -> Any:
    """A SparkSession for a command that shows its own progress; `hint` says when to do without.

    The compiled kernels, or those of programs, are on disk before several workers look for them.
    """
    need_extra("--spark", "spark", "pyspark", "pandas")
    say(f"Starting Spark ({hint})" if hint else "Starting Spark")
    if programs:
        from tocsin.datalog.engine import is_warm, warm_up
    else:
        from tocsin.warmup import is_warm, warm_up
    if not is_warm():
        warm_up()
    from pyarrow import lib

    from tocsin.spark.session import session
    from tocsin.spark.stage_progress import WITHOUT_SPARKS_BAR

    _ = lib._pandas_api.pd  # Spark's way from and to Arrow has a use for it
    logging.basicConfig(handlers=[logging.NullHandler()])  # or Ctrl-C shows what Spark thinks of it
    started = time.perf_counter()
    spark = session(config=WITHOUT_SPARKS_BAR)
    say(f"Spark started in {time.perf_counter() - started:.1f} s")
    return spark


@contextlib.contextmanager
def showing_warnings() -> Iterator[None]:
    """Show tocsin's warnings as messages, without the line of code that gave them."""

    def show(message: Warning | str, *_place: object, **_line: object) -> None:
        warn(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", TocsinWarning)
        warnings.showwarning = show
        yield


@contextlib.contextmanager
def progress(title: str, total: int, *, shows_rest: bool = False) -> Iterator[Advance]:
    """A bar on a terminal, nothing elsewhere; `shows_rest`: how long the rest will take, too."""
    if not sys.stderr.isatty():
        yield lambda _done: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    rest = (TimeRemainingColumn(),) if shows_rest else ()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        *rest,
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda done: bar.update(task, completed=done)
