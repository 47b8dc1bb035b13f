"""The options by which commands take events, and whether Spark is to work on them."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tocsin.cli.console import say
from tocsin.errors import MissingExtraError, need_extra
from tocsin.printable import number_of

if TYPE_CHECKING:
    from tocsin.events import Slice

SMALL_BYTES = 512 << 20
"""Files of no more bytes than this are read in this process, unless --spark says otherwise."""
EVENTS_HELP = (
    "events: .jsonl .json .csv .tsv .parquet files (also packed), folders of files of one kind, patterns such"
    " as 'logs/*.jsonl.gz', or - for standard input; several may be given"
)
_UNPACKED_TIMES = 6
_UNITS = ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "kB"))


def add_events_argument(parser: argparse.ArgumentParser, more: str = "", *, required: bool = True) -> None:
    """The option --events."""
    parser.add_argument(
        "--events",
        required=required,
        nargs="+",
        action="extend",
        metavar="FILE_OR_FOLDER",
        help=EVENTS_HELP + more,
    )


def add_place_arguments(parser: argparse._ActionsContainer) -> None:
    """The options that say where the work is done."""
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--spark", action="store_true", help="work on Spark, however small the files are")
    place.add_argument(
        "--no-spark", action="store_true", help="work in this process, however large the files are"
    )


def is_for_spark(arguments: argparse.Namespace, slices: Sequence[Slice]) -> bool:
    """Whether Spark is to do it: what the user says, else by the size of the files, which is said."""
    if arguments.spark:
        need_extra("--spark", "spark", "pyspark", "pandas")
    if arguments.spark or arguments.no_spark:
        return bool(arguments.spark and slices)
    files = {piece.file for piece in slices}
    size = sum(map(_size, files))
    read = f"{number_of(len(files), 'file')} of {_shown(size)}" if files else "nothing to read"
    if size <= SMALL_BYTES:
        say(f"Working in this process: {read} (--spark for Spark)")
        return False
    try:
        need_extra("Spark", "spark", "pyspark", "pandas")
    except MissingExtraError as error:
        say(f"Working in this process: {read}, for which Spark would pay, but {error}")
        return False
    say(f"Working on Spark: {read} (--no-spark for this process alone)")
    return True


def _size(file: str) -> int:
    from tocsin.storage import is_packed

    size = Path(file).stat().st_size
    return _UNPACKED_TIMES * size if is_packed(file) else size


def _shown(size: int) -> str:
    for unit, name in _UNITS:
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return number_of(size, "byte")


def paths_of(given: Iterable[str]) -> list[str]:
    """The files and folders that events are read from."""
    from tocsin.storage import files_at

    return [each for path in given for each in files_at(path)]
