"""A result that is a folder: a file for each slice that has matches, so that no process sees all of it.

    matches/part-0000000.parquet      the rows of slice 0, by event and then by rule
    matches/part-0000003.parquet      in the order of the names they are the rows of one file

Without Spark the files are written as slices are matched, and so is a result that is one file. Parts of
Spark's tasks (slice_matches.py) are written anew in the result's format, each on its own: only when all
slices are matched it is known there which types suit the kept columns of all of them.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from tocsin.events import KeptColumn
from tocsin.matches.match_files import FORMATS, Output, output_format, output_of
from tocsin.matches.slice_matches import MatchedEvents, PartReport, part_path, read_part

FOLDER_FORMAT = ".parquet"
"""The format of a folder whose name does not ask for one."""


@dataclass(frozen=True, slots=True)
class ResultPlace:
    """Where a result goes, and in which format: one file, or a folder of them."""

    path: Path
    suffix: str
    is_folder: bool
    safe_csv: bool = False

    @staticmethod
    def of(out: str, safe_csv: bool = False) -> ResultPlace:
        """What a user's word means: a folder when it is one, or ends as one; UsageError for no format."""
        path = Path(out)
        if not out.endswith(os.sep) and not path.is_dir():
            return ResultPlace(path, output_format(out), is_folder=False, safe_csv=safe_csv)
        suffix = path.suffix.lower()
        return ResultPlace(path, suffix if suffix in FORMATS else FOLDER_FORMAT, True, safe_csv)


@dataclass(frozen=True, slots=True)
class ResultFiles:
    """How parts become the files of a result. Made to be pickled.

    parts     the folder of the parts, and of files that are not finished
    folder    where files go, on the same file system
    columns   the kept columns, with types that suit all parts
    """

    parts: str
    folder: str
    suffix: str
    columns: tuple[KeptColumn, ...]
    safe_csv: bool = False

    def write(self, names: pa.StringArray, report: PartReport) -> None:
        """Write the file of one slice, whole or not at all, and take its part away; it may be asked twice."""
        file = Path(self.folder) / file_name(report.slice, self.suffix)
        if file.exists():
            return
        draft = Path(self.parts) / f"{report.name}-{uuid.uuid4().hex}.file"
        with draft.open("wb") as stream:
            sink = output_of(self.suffix, self.safe_csv)(stream, names, self.columns)
            for batch in read_part(self.parts, report):
                sink.write(batch)
            sink.finish()
        draft.replace(file)
        part_path(self.parts, report).unlink(missing_ok=True)


class DirectResult:
    """A result that is written while slices are matched in this process, in their order.

    The draft is a file, or a folder with a file for each slice that has matches.
    """

    def __init__(
        self, place: ResultPlace | None, draft: Path, names: pa.StringArray, columns: Sequence[KeptColumn]
    ) -> None:
        self._is_folder = place is not None and place.is_folder
        self._suffix = ".jsonl" if place is None else place.suffix
        self._output = output_of(self._suffix, place is not None and place.safe_csv)
        self._draft = draft
        self._names = names
        self._columns = columns
        self._stream: BinaryIO | None = None
        self._sink: Output | None = None
        if self._is_folder:
            draft.mkdir()
        else:
            self._open(draft)

    def __enter__(self) -> DirectResult:
        return self

    def __exit__(self, *exception: object) -> None:
        self._close()

    def writer(self, number: int) -> Callable[[MatchedEvents], None]:
        """What writes the matches of a slice."""
        if self._is_folder:
            self._close()

        def write(batch: MatchedEvents) -> None:
            if len(batch.event):
                (self._sink or self._open(self._draft / file_name(number, self._suffix))).write(batch)

        return write

    def finish(self) -> None:
        """All is written; a folder without rows gets a file that tells the columns."""
        self._close()
        if self._is_folder and not any(self._draft.iterdir()):
            self._open(self._draft / file_name(0, self._suffix))
            self._close()

    def _open(self, file: Path) -> Output:
        self._stream = file.open("wb")
        self._sink = self._output(self._stream, self._names, self._columns)
        return self._sink

    def _close(self) -> None:
        if self._sink is not None and self._stream is not None:
            self._sink.finish()
            self._stream.close()
        self._sink = self._stream = None


def file_name(number: int, suffix: str) -> str:
    """The name of the file of a slice."""
    return f"part-{number:07d}{suffix}"
