"""A folder that files of events are put into: every file is read once.

Spark keeps track of the files by their paths. What it hands to the tasks are the paths alone: a task reads
its files itself, with the code that `tocsin match` reads them with, so that the answers are the same. A file
is read by one task. An event's place is the file, as seen from the folder, and its row: `2026/day.jsonl:41`.

A file must be whole when it appears under its name: write it under a name that starts with `.` or `_`,
or in another folder, and move it.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from tocsin.errors import InputError, UsageError
from tocsin.events import BATCH_ROWS, FORMATS, EventChunk, Slice, format_of, is_hidden, layout_of, read_slice
from tocsin.events.kept_columns import kept_columns
from tocsin.matches import columns_present
from tocsin.spark.file_urls import to_read
from tocsin.spark.stream.match_task import Events, Finder, Rejected
from tocsin.spark.stream.source import Search, Source

FILES_PER_BATCH = 1_000
_FILE = "path string, modificationTime timestamp, length bigint, content binary"
"""What Spark tells of a file. Nothing but the path is asked for, and so no content is read."""
_AS_LONG_AS_THERE_ARE_FILES = "36500000d"
"""Spark counts it back from the newest file, whose time may be far ahead by mistake."""
_MOST_RULES_TIMES_EVENTS = 1 << 30
_SETTLED_NANOSECONDS = 2_000_000_000
"""A folder that was last changed so long ago has another time when it is changed again."""


@dataclass(frozen=True)
class FolderSource(Source):
    """A folder of .jsonl, .csv and .parquet files, with the folders below it."""

    folder: Path
    files_per_batch: int = FILES_PER_BATCH

    @staticmethod
    def of(uri: str) -> FolderSource:
        """`visits`, `file:///visits` or `visits?files=10`, which takes at most so many files at once."""
        found = re.fullmatch(r"(?:file:(?://(?=/))?)?+([^?]+)(?:\?(.*))?", uri, re.I | re.S)
        if found is None:
            raise UsageError(f"{uri!r} does not name a folder")
        options = {name: values[-1] for name, values in parse_qs(found[2] or "").items()}
        files = options.pop("files", str(FILES_PER_BATCH))
        if options or not files.isdecimal() or int(files) < 1:
            raise UsageError(f"{uri!r}: after the folder there can be ?files=NUMBER, the most for one batch")
        folder = Path(found[1]).absolute()
        if not folder.is_dir():
            hint = ": to match a file once, use tocsin match" if folder.exists() else ""
            raise InputError(f"{found[1]}: there is no such folder{hint}")
        return FolderSource(folder, int(files))

    @property
    def name(self) -> str:
        """The folder."""
        return str(self.folder)

    def identity(self) -> dict[str, Any]:
        """The folder."""
        return {"kind": "folder", "folder": str(self.folder)}

    def reads(self, folder: Path) -> bool:
        """As those below this one are."""
        return is_seen_in(folder, self.folder)

    def passed_over(self) -> PassedOver:
        """Names that Spark does not list."""
        return PassedOver(self.folder)

    def stream(self, session: SparkSession, checkpoint: Path) -> DataFrame:  # noqa: ARG002
        """The paths of the files."""
        return (
            session.readStream.format("binaryFile")
            .schema(_FILE)
            .option("recursiveFileLookup", "true")
            .option("maxFilesPerTrigger", self.files_per_batch)
            .option("maxFileAge", _AS_LONG_AS_THERE_ARE_FILES)
            .load(to_read(self.folder))
            .select("path")
        )

    def found(self, batch: DataFrame, search: Search) -> DataFrame:
        """One pass, which reads the files."""
        kept = self.check(search.wanted, search.rules)
        return search.found(batch, (), kept, partial(_look, str(self.folder)))


# ---- In a worker: files to found rows. What of one cannot be read is a reject, and no more


def _look(folder: str, finder: Finder, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for path in batch.column(0).to_pylist():
            yield from _rows_of_file(finder, folder, path)


def _rows_of_file(finder: Finder, folder: str, uri: str) -> Iterator[pa.RecordBatch]:
    """The found rows of a file that Spark names by a URI."""
    file = _local_path(uri)
    name = os.path.relpath(file, folder)
    row = 0
    try:
        piece = _slice(file)
        present = columns_present(piece, set(finder.columns))
        rows = max(1, min(BATCH_ROWS, _MOST_RULES_TIMES_EVENTS // max(1, finder.rule_count)))
        for chunk in read_slice(piece, finder.fields, present, rows):
            yield from _rows_of_chunk(finder, name, piece, chunk)
            row = chunk.first_row + len(chunk.rows) + len(chunk.rejects)
    except (InputError, OSError, EOFError) as error:
        reason = str(error).replace(f"{file}: ", "").replace(f"{file}:", "line ")
        where = f"from row {row} on: {reason}" if row else reason
        yield from finder.rejected([Rejected(name, f"{name}:{row:015d}", where)])


def _local_path(uri: str) -> str:
    """The path of a file as Spark names it."""
    return "/" + uri.removeprefix("file:").lstrip("/")


def _slice(file: str) -> Slice:
    """The whole file; InputError when its name is not that of an event file."""
    file_format = format_of(file)
    if file_format is None:
        raise InputError(f"no event file: the name of one ends in {', '.join(FORMATS)}")
    layout = layout_of([file], as_far_as_readable=True)[0] if file_format == "csv" else ()
    return Slice(file, file_format, 0, None, layout=layout)


def _rows_of_chunk(finder: Finder, name: str, piece: Slice, chunk: EventChunk) -> Iterator[pa.RecordBatch]:
    yield from finder.rejected(
        Rejected(f"{name}:{row}", f"{name}:{row:015d}", reason, text) for row, reason, text in chunk.rejects
    )
    rows = chunk.rows.tolist()
    place = pa.array([f"{name}:{row}" for row in rows], pa.string())
    ordinal = pa.array([f"{name}:{row:015d}" for row in rows], pa.string())
    yield from finder.rows(Events(chunk.events, place, ordinal, kept_columns(piece, chunk.kept)))


# ---- Names that Spark passes over without a word


class PassedOver:
    """Looks at a folder again and again, and at those parts alone that have changed; tells once of each.

    Spark lists a folder by Java's means. A name that is not UTF-8 stands for no file there, and a link that
    leads nowhere is left out; a folder with such a name is left out with all that is in it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen: dict[Path, tuple[int, list[Path]]] = {}
        self._told: set[Path] = set()

    def new(self) -> list[str]:
        """What has not been told of before, with the reason."""
        found = []
        for path, reason in self._odd():
            if path not in self._told:
                self._told.add(path)
                name = os.fsencode(path.relative_to(self._folder)).decode("utf-8", "backslashreplace")
                found.append(f"{name} in the folder of events is passed over: {reason}")
        return found

    def _odd(self) -> Iterator[tuple[Path, str]]:
        waiting, entered = [self._folder], set()
        while waiting:
            folder = waiting.pop()
            try:
                state = folder.stat()
            except OSError:
                continue
            if (state.st_dev, state.st_ino) in entered:
                continue
            entered.add((state.st_dev, state.st_ino))
            changed, inner = self._seen.get(folder, (None, []))
            if changed != state.st_mtime_ns:
                inner = []
                yield from _looked_at(folder, inner)
                if time.time_ns() - state.st_mtime_ns > _SETTLED_NANOSECONDS:
                    self._seen[folder] = (state.st_mtime_ns, inner)
            waiting += inner


def is_seen_in(other: Path, folder: Path) -> bool:
    """Whether who reads a folder reads what is in another one: it is the same, or below it and not hidden."""
    whole, inner = folder.resolve(), other.resolve()
    if not inner.is_relative_to(whole):
        return False
    return not any(is_hidden(name) for name in inner.relative_to(whole).parts)


def _looked_at(folder: Path, inner: list[Path]) -> Iterator[tuple[Path, str]]:
    """What is odd in a folder; the folders in it that are not are added to `inner`."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        path = Path(entry.path)
        if is_hidden(entry.name):
            continue
        if not _is_utf_8(entry.name):
            yield path, "its name is not UTF-8"
        elif entry.is_symlink() and not path.exists():
            yield path, "it is a link to nothing"
        elif entry.is_dir():
            inner.append(path)


def _is_utf_8(name: str) -> bool:
    try:
        os.fsencode(name).decode()
    except UnicodeDecodeError:
        return False
    return True
